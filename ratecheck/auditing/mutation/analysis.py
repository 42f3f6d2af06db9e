"""A check of the checks: whether the audit notices that a printed number has changed.

Each mutant of a claim that holds is refuted, or proved as well (the number has slack, the mutant does no harm), or left
open. A constant that has slack at two per cent is changed by ever more, until it does harm. What is checked on
instances cannot be proved harmless: a mutant that no instance refutes counts as one that may do harm.
"""

from __future__ import annotations

import dataclasses
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from bounds.ledger.own import StepError
from bounds.ledger.step import Check, Draws, Enumerated, Identity, Step
from ratecheck.algebra.time_limit import OutOfTime, limit
from ratecheck.auditing.decision import Answer, Decision, unknown
from ratecheck.auditing.mutation import code, mutants, structure
from ratecheck.auditing.mutation.mutants import TWO_PERCENT, MutantKind, MutantStatus
from ratecheck.auditing.mutation.probe import Probe, Probed
from ratecheck.auditing.mutation.rewrites import Rewrite, rewrites
from ratecheck.plain import picked, plain

SECONDS = 90.0
# How many claims of a step with something in another's place are tried: of a formula, of the form of a claim on
# instances, of its constants, of its code, and of this with those that make no sense.
SWAPPED, SWAPPED_IN_FORM, EXCHANGED, REWRITTEN, MOST_TRIED = 6, 2, 1, 8, 24
_SECONDS_EACH = 20.0
_SHARES = (TWO_PERCENT, sp.Rational(1, 2), sp.Rational(9, 10), sp.Rational(99, 100), sp.Rational(999, 1000))


@dataclass(frozen=True)
class ChangedStep:
    """A mutant: ``change`` is what was changed, ``by`` how, such as "-50%"; ``why`` is the evidence if it survives."""

    change: str
    by: str
    fate: MutantStatus
    why: str
    kind: MutantKind = MutantKind.NUMBER

    @property
    def text(self) -> str:
        """The change in words, such as ``129 on the right, -50%``."""
        return f"{self.change}, {self.by}"

    @property
    def reason(self) -> str:
        """The reason for which it survives."""
        return (
            self.fate.value
            if self.fate in (MutantStatus.HARMLESS, MutantStatus.SAME)
            else f"{self.fate.value}: {self.why}"
        )


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
    found = (*_mutants(probe, end), *_structural(probe)) if settled.true else ()
    return Tested(step.id, settled.certified == "instances", found)


def _mutants(probe: Probe, end: float) -> Iterator[ChangedStep]:
    check = probe.check
    for constant in mutants.constants(check):
        if constant.exponent:
            for by in (1, -1):
                mutant = mutants.changed(check, constant, constant.value + by)
                yield _mutated(probe, mutant, (constant.text, f"{by:+d}"), end, MutantKind.EXPONENT)
            continue
        sign = 0 if check.operator == "==" else probe.direction(constant)
        for each in (sign,) if sign else (-1, 1):
            yield _worst(probe, constant, each, end)
    turned = mutants.turned(check)
    if turned is not None:
        yield _mutated(probe, turned, ("inequality", "turned round"), end, MutantKind.DIRECTION)


def _structural(probe: Probe) -> Iterator[ChangedStep]:
    """Structural mutants: of a formula, or of the code of a claim on instances and of its form."""
    check, end = probe.check, time.process_time() + SECONDS
    strict = structure.strict(check)
    if not isinstance(check, Enumerated):
        for each in [*([strict] if strict else []), *structure.swapped(check, SWAPPED)]:
            yield _mutated(probe, each.check, (each.change, each.by), end, each.kind)
        return
    form = check.algebraic
    of_form = None if form is None else Probe(form)
    exchanged = structure.spread([structure.constants_exchanged(check)], EXCHANGED)
    for each in [*([strict] if strict else []), *exchanged]:
        found = _mutated(probe, each.check, (each.change, each.by), end, each.kind)
        yield _sought(probe, of_form, each.check, found, end) if found.fate is MutantStatus.UNSEEN else found
    yield from _rewritten(probe, check, end)
    if form is not None and of_form is not None:
        for each in structure.swapped(form, SWAPPED_IN_FORM):
            yield _mutated(of_form, each.check, (f"{each.change} in the form", each.by), end, each.kind)


def _sought(probe: Probe, of_form: Probe | None, check: Check, found: ChangedStep, end: float) -> ChangedStep:
    """The fate of a changed claim that no instance at hand refutes: by others, or by its form for all values."""
    assert isinstance(check, Enumerated)
    refuted = dataclasses.replace(found, fate=MutantStatus.REFUTED, why="")
    try:
        with limit(min(_SECONDS_EACH, max(end - time.process_time(), 0.01))):
            if probe.sought(check.sides, check.operator, check.constants) is not None:
                return refuted
    except OutOfTime:
        return found
    if of_form is None or isinstance(of_form.check, Identity):
        return found
    # A claim with < has no form of vectors, of which nothing is proved; it may be false all the same.
    form = check.algebraic or mutants.with_operator(of_form.check, check.operator)
    by_form = _mutated(of_form, form, (found.change, found.by), end, found.kind)
    return refuted if by_form.fate is MutantStatus.REFUTED else found


def _rewritten(probe: Probe, check: Enumerated, end: float) -> Iterator[ChangedStep]:
    """Other code, of which the instances alone decide: the form, which says the same as the code, is what it was."""
    listed = code.sources(check.sides, drawn=isinstance(check.instances, Draws))
    by_kind: dict[MutantKind, list[Rewrite]] = {kind: [] for kind in MutantKind}
    for source in listed:
        for each in rewrites(source):
            by_kind[each.kind].append(each)
    left = REWRITTEN
    for each in structure.spread([*by_kind.values()], MOST_TRIED):
        found = _compared(probe, check, each, listed, end)
        yield found
        left -= found.fate is not MutantStatus.SENSELESS
        if not left:
            break


def _compared(
    probe: Probe, check: Enumerated, rewrite: Rewrite, listed: tuple[code.FunctionSource, ...], end: float
) -> ChangedStep:
    try:
        sides = code.with_mutant(check.sides, listed, rewrite.source, rewrite.node())
        with limit(min(_SECONDS_EACH, max(end - time.process_time(), 0.01))):
            found = probe.compare(sides)
    except OutOfTime:
        found = Probed(MutantStatus.UNSEEN, "out of time")
    except ValueError as error:
        found = Probed(MutantStatus.SENSELESS, str(error))
    return ChangedStep(rewrite.change, rewrite.text, found.fate, found.why, rewrite.kind)


def _worst(probe: Probe, constant: mutants.PrintedConstant, sign: int, end: float) -> ChangedStep:
    """The smallest change of a constant that is refuted, or what became of the largest."""
    found = None
    for share in _SHARES:
        by = f"{'-' if sign < 0 else '+'}{float(100 * share):g}%"
        mutant = mutants.strengthened(probe.check, constant, share, sign)
        found = _mutated(probe, mutant, (constant.text, by), end)
        if found.fate in (MutantStatus.REFUTED, MutantStatus.OPEN):
            break
    assert found is not None
    return _sought(probe, None, mutant, found, end) if found.fate is MutantStatus.UNSEEN else found


def _mutated(
    probe: Probe, mutant: Check, name: tuple[str, str], end: float, kind: MutantKind = MutantKind.NUMBER
) -> ChangedStep:
    decision = _decision(probe, mutant, end, vanishing=kind.structural)
    if decision.false:
        return ChangedStep(*name, MutantStatus.REFUTED, "", kind)
    if isinstance(mutant, Enumerated) and decision.certified in ("", "instances"):
        return ChangedStep(*name, MutantStatus.UNSEEN, decision.evidence, kind)
    return (
        ChangedStep(*name, MutantStatus.HARMLESS, "", kind)
        if decision.true
        else ChangedStep(*name, MutantStatus.OPEN, decision.evidence, kind)
    )


def _decision(probe: Probe, mutant: Check, end: float, *, vanishing: bool) -> Decision:
    left = end - time.process_time()
    if left <= 0:
        return unknown("out of time")
    try:
        with limit(left):
            return probe.decide(mutant, vanishing=vanishing)
    except OutOfTime:
        return unknown("out of time")
    except (ValueError, TypeError, ArithmeticError, IndexError) as error:
        # A changed whole number may make no sense where it counts something.
        return unknown(f"{type(error).__name__}: {error}")


@dataclass(frozen=True)
class Share:
    """The number of mutants of each fate."""

    counts: dict[str, int]

    @staticmethod
    def of(found: Sequence[ChangedStep]) -> Share:
        """The share of some mutants."""
        return Share({fate.value: sum(m.fate is fate for m in found) for fate in MutantStatus})

    @property
    def refuted(self) -> int:
        """The number of refuted mutants."""
        return self.counts[MutantStatus.REFUTED.value]

    @property
    def harmful(self) -> int:
        """The number of mutants that may do harm: not those proved as well, no stronger, or nonsense."""
        return sum(self.counts[fate.value] for fate in MutantStatus if fate.harmful)

    @property
    def share(self) -> float:
        """The share of the refuted among those that may do harm."""
        return self.refuted / self.harmful if self.harmful else 1.0

    def fields(self) -> dict[str, Any]:
        """The counts as JSON data."""
        return {**self.counts, "share": self.share}


@dataclass(frozen=True)
class MutationSummary:
    """The mutants of some steps: all, those of claims decided by algebra, and those of claims checked on instances.

    ``kinds`` are the shares by what was changed. ``noticed`` says by how much constants of claims on instances had to
    be changed until one refuted the claim. ``survivors`` are all that are not refuted, but for those without a sense.
    """

    name: str
    steps: int
    all: Share
    algebra: Share
    instances: Share
    kinds: dict[str, Share]
    noticed: dict[str, int]
    survivors: tuple[tuple[str, str, str], ...]

    def fields(self) -> dict[str, Any]:
        """The summary as JSON data."""
        shares = picked(self, "steps", "all", "algebra", "instances", "kinds", "noticed")
        survivors = [{"id": i, "mutant": m, "reason": r} for i, m, r in self.survivors]
        found: dict[str, Any] = plain({"paper": self.name, **shares, "survivors": survivors})
        return found


def summarise(tested: Sequence[Tested], name: str = "") -> MutationSummary:
    """The summary of all mutants together."""
    by_instances = [m for each in tested if each.on_instances for m in each.mutants]
    noticed = Counter(m.by.lstrip("+-") for m in by_instances if m.fate is MutantStatus.REFUTED and m.by.endswith("%"))
    return MutationSummary(
        name,
        len(tested),
        Share.of([m for each in tested for m in each.mutants]),
        Share.of([m for each in tested if not each.on_instances for m in each.mutants]),
        Share.of(by_instances),
        {kind.value: Share.of([m for each in tested for m in each.mutants if m.kind is kind]) for kind in MutantKind},
        {by: noticed[by] for by in (f"{float(100 * share):g}%" for share in _SHARES)},
        tuple(
            (each.id, m.text, m.reason)
            for each in tested
            for m in each.mutants
            if m.fate not in (MutantStatus.REFUTED, MutantStatus.SENSELESS)
        ),
    )
