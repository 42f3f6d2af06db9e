"""How many mutants of each kind there are, and what the audit says of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bounds.statement import Statement
from ratecheck.checks.selftest.audit import SECONDS, Audited, Fate, audited
from ratecheck.checks.selftest.mutants import Kind, Mutant, mutants


@dataclass(frozen=True)
class Tried:
    """A mutant and what the audit said of it."""

    mutant: Mutant
    answer: Audited

    @property
    def accused(self) -> bool:
        """Whether a mutant that follows from its original was taken for a wrong one."""
        return self.mutant.weaker and self.answer.fate is Fate.CAUGHT


@dataclass(frozen=True)
class Share:
    """The mutants of one kind, and how many of them the audit caught.

    ``weaker`` of the ``mutants`` follow from their originals, of which ``accused`` were caught. Of the others,
    ``caught`` were told from their originals, ``harmless`` follow by the same argument, ``undecided`` got no answer,
    and ``untouched`` are conclusions of no argument between statements.
    """

    kind: Kind
    mutants: int
    weaker: int
    accused: int
    caught: int
    harmless: int
    undecided: int
    untouched: int

    @property
    def share(self) -> float | None:
        """Of the mutants that an argument is about and that are not known to be harmless, the share caught."""
        harmful = self.caught + self.undecided
        return self.caught / harmful if harmful else None


def tried(statements: Iterable[Statement], *, every: int = 1, seconds: float = SECONDS) -> Iterator[Tried]:
    """The mutants of the statements, or one of so many, each given ``seconds`` of computing per argument."""
    for statement in statements:
        for mutant in mutants(statement)[::every]:
            yield Tried(mutant, audited(mutant, seconds))


def shares(answers: Iterable[Tried]) -> list[Share]:
    """The answers by kind, in the order of the kinds."""
    answers = list(answers)
    return [_share(kind, [each for each in answers if each.mutant.kind is kind]) for kind in Kind]


def _share(kind: Kind, answers: list[Tried]) -> Share:
    others = [each.answer.fate for each in answers if not each.mutant.weaker]
    return Share(
        kind=kind,
        mutants=len(answers),
        weaker=len(answers) - len(others),
        accused=sum(each.accused for each in answers),
        caught=others.count(Fate.CAUGHT),
        harmless=others.count(Fate.HARMLESS),
        undecided=others.count(Fate.OPEN),
        untouched=others.count(Fate.UNTOUCHED),
    )
