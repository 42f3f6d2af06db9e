"""A check of the checks: whether the audit notices that a printed number has changed.

Each mutant of a claim that holds is refuted, or proved as well (the number has slack, the mutant does no harm), or left
open. A constant that has slack at two per cent is changed by ever more, until it does harm. What is checked on
instances cannot be proved harmless: a mutant that no instance refutes counts as one that may do harm.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import sympy as sp

from bounds.ledger.own import StepError
from bounds.ledger.step import Check, Enumerated, Step
from ratecheck.algebra.time_limit import OutOfTime, limit
from ratecheck.auditing.decision import Answer, Decision
from ratecheck.auditing.mutation import mutants
from ratecheck.auditing.mutation.mutants import TWO_PERCENT
from ratecheck.auditing.mutation.probe import Probe

SECONDS = 90.0
_SHARES = (TWO_PERCENT, sp.Rational(1, 2), sp.Rational(9, 10), sp.Rational(99, 100), sp.Rational(999, 1000))


class MutantStatus(Enum):
    """What became of a mutant."""

    REFUTED = "refuted"
    HARMLESS = "proved as well"
    OPEN = "neither proved nor refuted"
    UNSEEN = "no instance tells"


@dataclass(frozen=True)
class ChangedStep:
    """A mutant: ``change`` is what was changed, ``by`` how, such as "-50%"; ``why`` is the evidence if it survives."""

    change: str
    by: str
    fate: MutantStatus
    why: str

    @property
    def text(self) -> str:
        """Such as ``129 on the right, -50%``."""
        return f"{self.change}, {self.by}"

    @property
    def reason(self) -> str:
        """Why it survives."""
        return self.fate.value if self.fate is MutantStatus.HARMLESS else f"{self.fate.value}: {self.why}"


@dataclass(frozen=True)
class Tested:
    """A step and its mutants, none where it does not hold as printed; whether it was checked on instances.

    ``file`` is the file of a user's own ledger, and "" for a ledger of a paper.
    """

    id: str
    on_instances: bool
    mutants: tuple[ChangedStep, ...]
    file: str = ""

    @property
    def paper(self) -> str:
        """The prefix of the id, or the file of a user's own ledger."""
        return self.file or self.id.partition("/")[0]

    def fields(self) -> dict[str, Any]:
        """As data for a file."""
        listed = [[m.change, m.by, m.fate.name, m.why] for m in self.mutants]
        return {"id": self.id, "on_instances": self.on_instances, "mutants": listed}

    @classmethod
    def read(cls, fields: dict[str, Any]) -> Tested:
        """The inverse of `fields`."""
        listed = (ChangedStep(change, by, MutantStatus[fate], why) for change, by, fate, why in fields["mutants"])
        return cls(fields["id"], fields["on_instances"], tuple(listed))


def test_step(step: Step) -> Tested:
    """The mutants of a step; none where the claim as printed does not hold."""
    end = time.process_time() + SECONDS
    probe = Probe(step.check)
    settled = Decision(answer=Answer.UNKNOWN)
    try:
        with limit(SECONDS):
            settled = probe.settle()
    except OutOfTime:
        pass
    except StepError:
        raise
    except Exception:  # noqa: BLE001, S110  # what is not decided has no mutants: the audit says why
        pass
    found = tuple(_mutants(probe, end)) if settled.true else ()
    return Tested(step.id, settled.certified == "instances", found)


def _mutants(probe: Probe, end: float) -> Iterator[ChangedStep]:
    check = probe.check
    for constant in mutants.constants(check):
        if constant.exponent:
            for by in (1, -1):
                mutant = mutants.changed(check, constant, constant.value + by)
                yield _mutated(probe, mutant, (constant.text, f"{by:+d}"), end)
            continue
        sign = 0 if getattr(check, "operator", "==") == "==" else probe.direction(constant)
        for each in (sign,) if sign else (-1, 1):
            yield _worst(probe, constant, each, end)
    turned = mutants.turned(check)
    if turned is not None:
        yield _mutated(probe, turned, ("inequality", "turned round"), end)


def _worst(probe: Probe, constant: mutants.PrintedConstant, sign: int, end: float) -> ChangedStep:
    """The smallest change of a constant that is refuted, or what became of the largest."""
    found = None
    for share in _SHARES:
        by = f"{'-' if sign < 0 else '+'}{float(100 * share):g}%"
        found = _mutated(probe, mutants.strengthened(probe.check, constant, share, sign), (constant.text, by), end)
        if found.fate in (MutantStatus.REFUTED, MutantStatus.OPEN):
            break
    assert found is not None
    return found


def _mutated(probe: Probe, mutant: Check, name: tuple[str, str], end: float) -> ChangedStep:
    decision = _decision(probe, mutant, end)
    if decision.false:
        return ChangedStep(*name, MutantStatus.REFUTED, "")
    if isinstance(mutant, Enumerated) and decision.certified in ("", "instances"):
        return ChangedStep(*name, MutantStatus.UNSEEN, decision.evidence)
    return (
        ChangedStep(*name, MutantStatus.HARMLESS, "")
        if decision.true
        else ChangedStep(*name, MutantStatus.OPEN, decision.evidence)
    )


def _decision(probe: Probe, mutant: Check, end: float) -> Decision:
    left = end - time.process_time()
    if left <= 0:
        return Decision(answer=Answer.UNKNOWN, evidence="out of time")
    try:
        with limit(left):
            return probe.decide(mutant)
    except OutOfTime:
        return Decision(answer=Answer.UNKNOWN, evidence="out of time")
    except (ValueError, TypeError, ArithmeticError, IndexError) as error:
        # A changed whole number may make no sense where it counts something.
        return Decision(answer=Answer.UNKNOWN, evidence=f"{type(error).__name__}: {error}")


@dataclass(frozen=True)
class Share:
    """How many mutants there are of each fate."""

    counts: dict[str, int]

    @staticmethod
    def of(found: Sequence[ChangedStep]) -> Share:
        """Of some mutants."""
        return Share({fate.value: sum(m.fate is fate for m in found) for fate in MutantStatus})

    @property
    def refuted(self) -> int:
        """How many are refuted."""
        return self.counts[MutantStatus.REFUTED.value]

    @property
    def harmful(self) -> int:
        """How many may do harm: all but those that are proved as well."""
        return sum(self.counts.values()) - self.counts[MutantStatus.HARMLESS.value]

    @property
    def share(self) -> float:
        """The share of the refuted among those that may do harm."""
        return self.refuted / self.harmful if self.harmful else 1.0

    def fields(self) -> dict[str, Any]:
        """As JSON data."""
        return {**self.counts, "share": self.share}


@dataclass(frozen=True)
class MutationSummary:
    """The mutants of some steps: all, those of claims decided by algebra, and those of claims checked on instances.

    ``noticed`` says by how much constants of the latter had to be changed until an instance refuted the claim.
    """

    name: str
    steps: int
    all: Share
    algebra: Share
    instances: Share
    noticed: dict[str, int]
    survivors: tuple[tuple[str, str, str], ...]

    def fields(self) -> dict[str, Any]:
        """As JSON data."""
        survivors = [{"id": i, "mutant": m, "reason": r} for i, m, r in self.survivors]
        shares = {name: getattr(self, name).fields() for name in ("all", "algebra", "instances")}
        return {"paper": self.name, "steps": self.steps, **shares, "noticed": self.noticed, "survivors": survivors}


def summarise(tested: Sequence[Tested], name: str = "") -> MutationSummary:
    """All mutants together."""
    by_instances = [m for each in tested if each.on_instances for m in each.mutants]
    noticed = Counter(m.by.lstrip("+-") for m in by_instances if m.fate is MutantStatus.REFUTED and m.by.endswith("%"))
    return MutationSummary(
        name,
        len(tested),
        Share.of([m for each in tested for m in each.mutants]),
        Share.of([m for each in tested if not each.on_instances for m in each.mutants]),
        Share.of(by_instances),
        {by: noticed[by] for by in (f"{float(100 * share):g}%" for share in _SHARES)},
        tuple(
            (each.id, m.text, m.reason) for each in tested for m in each.mutants if m.fate is not MutantStatus.REFUTED
        ),
    )
