"""The rate card: whether the worst case moves with every parameter as the terms of the bound say.

For each term of the right side and each parameter: the exponent of the term where it decides the bound (`regimes`), the
exponent of the largest left side that is found there (`hard_instances`), and a verdict. That two exponents agree is
evidence that the term is needed, up to its constant; that the left side grows more slowly says what was searched, not
that nothing is worse. A left side that outgrows a bound must pass it somewhere: it is accused where an instance does.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

import numpy as np

import bounds
from bounds.statement import Statement
from bounds.symbols import Domain, Role
from ratecheck.algorithms import METHODS
from ratecheck.aliases import Array, Progress
from ratecheck.certification.certified_constants import DELAYS
from ratecheck.engines.setup import LARGEST_RUN
from ratecheck.errors import InputError, did_you_mean
from ratecheck.execution import Executor, share
from ratecheck.exponents import regimes
from ratecheck.exponents.continued import check_continued, continued
from ratecheck.exponents.families.hard import Hard
from ratecheck.exponents.finding import CellFinding
from ratecheck.exponents.hard_instances import check_covered, unknown, worst
from ratecheck.exponents.order_exponent import OrderExponent
from ratecheck.exponents.regimes import DISTURBANCES, UNITS, Bound, Regime, TermRow
from ratecheck.outcome import Outcome
from ratecheck.statistics.exponent_fit import Fit, fit
from ratecheck.verification.instance import Instance, read
from ratecheck.verification.verdict import Verdict

# Exponents that differ by no more than this are the same.
TOLERANCE = 0.03
# Regimes that are looked at before exponents are said to differ: one may lie where the left side changes its law.
_REGIMES = 3
# A process is started for so many cells at least: before that the start takes longer.
_CELLS_EACH = 6
# How far, in decades and in how many steps, a left side that gains on the bound is followed beyond the regime.
_BEYOND, _STEPS = 9.0, 18
# How many decades beyond its regime a bound may be passed, and how many are looked at there.
_FARTHEST, _ROOM = 12.0, 2.5
# The most clients, rounds in a period, and gradients of a piecewise quadratic function of an instance that is checked.
_CHECKED_CLIENTS, _CHECKED_ROUNDS, _CHECKED_GRADIENTS = 64, 1000, 2000
# What a left side that passes a bound passes it by, and by what factor where `verify` cannot evaluate it.
MARGIN, _CLEAR = 1e-6, 1.1
# The share by which L is shifted to see whether a left side is more than rounding, and how many times that share it may
# change by: left sides change by about as much, what is left of moments that cancel by thousands of times as much.
_SHIFT, _STEADY = 1e-10, 10
# The share of a left side that may be lost where a round changes it by less than numbers of NumPy's longest type tell.
_LOST = 1e-3
# Runs that `verify` evaluates first, if they pass the bound too.
_FEW_ROUNDS, _FEW_CLIENTS, _APART = (10.0**2, 10.0**3, 10.0**4, 10.0**5), (2.0, 8.0, 64.0), 4.0


@dataclass(frozen=True)
class Worst:
    """The term, the whole bound and the largest left side found, each (points,), while a parameter takes ``values``.

    ``predicted`` and ``measured`` are the exponents of the term and of the left side, ``gain`` that of their quotient.
    ``instances`` are the hardest found, one at every point.
    """

    values: Array
    term: Array
    bound: Array
    left: Array
    predicted: Fit
    measured: Fit
    gain: Fit
    instances: tuple[Hard, ...]

    @property
    def hardest(self) -> Hard:
        """The instance at the last point."""
        return self.instances[-1]

    @property
    def families(self) -> tuple[str, str]:
        """The families of the worst instances at the first and at the last point."""
        return self.instances[0].family, self.instances[-1].family

    @property
    def constant(self) -> float:
        """Left over right at the point where that is largest."""
        return float(np.max(self.left / self.bound))


@dataclass(frozen=True)
class Violation:
    """An instance at which the left side passes the bound, and both; ``answer`` is what `verify` says of it.

    ``answer`` is None where `verify` was not evaluated or has no such run; ``refused`` is then what it said.
    """

    at: float
    left: float
    bound: float
    hard: Hard
    answer: Verdict | None = None
    refused: str = ""

    @property
    def verdict(self) -> Outcome | None:
        """The outcome of the answer."""
        return None if self.answer is None else self.answer.outcome

    @property
    def instance(self) -> Instance | None:
        """For `verify --instance`."""
        return self.hard.instance()

    @property
    def confirmed(self) -> bool:
        """Whether `verify` says so too, supposing nothing."""
        return self.answer is not None and self.answer.outcome is Outcome.VIOLATED and not self.answer.supposes

    @property
    def doubt(self) -> str:
        """Why `verify` has not said so, in words."""
        if self.answer is not None and self.answer.supposes:
            return f"'verify' says {self.answer.outcome.value} only if {' and '.join(self.answer.supposes)}"
        if self.answer is not None:
            return ": ".join([f"'verify' says {self.answer.outcome.value}", *self.answer.reasons[:1]])
        if self.refused:
            return f"'verify' refuses it: {self.refused}"
        return "these sizes are beyond what 'verify' takes" if self.hard.runs else "'verify' has no such run"


@dataclass(frozen=True)
class Check:
    """The answer of `verify` on the hardest instance, where the parameter is ``at``; its left side and rounding."""

    at: float
    outcome: Outcome
    left: float
    error: float


@dataclass(frozen=True)
class RateCell:
    """A row and a parameter. ``loose`` is p where the term is loose by the parameter to the p.

    A statement that is known only up to a constant has an ``order`` where others have a ``worst``. ``check`` is about
    one of the instances; None where `verify` takes none of them: its sizes are too large, or a constant is measured
    along too many rounds.
    """

    row: TermRow
    parameter: str
    finding: CellFinding
    reason: str
    regime: Regime | None = None
    worst: Worst | None = None
    loose: float | None = None
    violation: Violation | None = None
    order: OrderExponent | None = None
    check: Check | None = None

    @property
    def exponents(self) -> tuple[float, float] | None:
        """The exponents of the term and of the worst case found; None without them."""
        if self.worst is not None:
            return self.worst.predicted.exponent, self.worst.measured.exponent
        if self.order is not None and len(self.order.values):
            return self.order.predicted, self.order.measured
        return None


@dataclass(frozen=True)
class Card:
    """All cells of a statement, row by row."""

    statement: Statement
    cells: tuple[RateCell, ...]
    seed: int

    @property
    def exceeded(self) -> bool:
        """Whether the worst case passes the bound anywhere, and `verify` says so too."""
        return any(cell.finding is CellFinding.EXCEEDED for cell in self.cells)

    @property
    def open(self) -> bool:
        """Whether the worst case passes the bound somewhere, and `verify` says so nowhere."""
        return not self.exceeded and any(cell.finding is CellFinding.OPEN for cell in self.cells)

    @property
    def rows(self) -> tuple[TermRow, ...]:
        """The rows in order."""
        return tuple(dict.fromkeys(cell.row for cell in self.cells))

    @property
    def parameters(self) -> tuple[str, ...]:
        """The columns in order."""
        return tuple(dict.fromkeys(cell.parameter for cell in self.cells))

    def cell(self, row: TermRow, parameter: str) -> RateCell | None:
        """One cell; None for a parameter that is not this row's."""
        return next((c for c in self.cells if c.row == row and c.parameter == parameter), None)


def card(
    statement: Statement,
    *,
    over: Sequence[str] | None = None,
    rows: Sequence[str] | None = None,
    seed: int = 0,
    found: Sequence[Instance] = (),
    workers: int | Executor = 1,
    progress: Progress | None = None,
) -> Card:
    """The rate card of a statement; ``over`` names the parameters and ``rows`` the rows, by default all.

    Instances that were ``found`` are continued along each parameter (`continued`) and take part in the worst case; then
    settings of short runs are preferred, in which they can be followed. The cells of a paper's statement are shared by
    at most ``workers`` processes, or by those of an executor, which changes no number. Raises `InputError` for a
    statement about runs that no hard instances are known for, for a name that is none of its parameters, and for an
    instance that cannot be continued.
    """
    for each in found:
        check_continued(each)
    if statement.order_only:
        if found:
            raise InputError(f"{statement.key} is known only up to a constant: no instance takes part in its card")
        every = _orders(statement, over, workers, progress)
        return Card(statement, tuple(cell for cell in every if rows is None or cell.row.name in rows), seed)
    check_covered(statement)
    bound = Bound(statement)
    chosen = [row for row in regimes.rows(statement, bound) if rows is None or row.name in rows]
    pairs = [(row, name) for row in chosen for name in _chosen(statement, bound, row, over)]
    # As data, which can be sent where statements cannot.
    given = tuple(each.fields() for each in found)
    tasks = [(row, name, seed, given) for row, name in pairs]
    return Card(statement, _shared(_judged_cell, statement, tasks, workers, progress), seed)


def _shared(
    work: Callable[..., RateCell],
    statement: Statement,
    tasks: Sequence[tuple[Any, ...]],
    workers: int | Executor,
    progress: Progress | None,
) -> tuple[RateCell, ...]:
    """``work(statement, *task)`` for every task, by several processes where that is worth it."""
    cells: dict[int, RateCell] = {}

    def done(number: int, cell: RateCell) -> None:
        cells[number] = cell
        if progress is not None:
            progress(len(cells) / len(tasks))

    where = workers if isinstance(workers, Executor) else min(workers, len(tasks) // _CELLS_EACH)
    if _of_a_paper(statement) and (isinstance(where, Executor) or where > 1):
        share(_by_key, [(work, statement.key, *task) for task in tasks], where, done)
    else:
        share(work, [(statement, *task) for task in tasks], 1, done)
    return tuple(cells[number] for number in range(len(tasks)))


def _of_a_paper(statement: Statement) -> bool:
    """Whether other processes know it; a file of one's own may have given its method to this one alone."""
    return statement.key.partition("/")[0] in bounds.PAPERS and bounds.get(statement.key) is statement


def _by_key(work: Callable[..., RateCell], key: str, *task: Any) -> RateCell:
    """A statement itself may have functions in it, which cannot be sent."""
    return work(bounds.get(key), *task)


def _judged_cell(
    statement: Statement, row: TermRow, parameter: str, seed: int, given: Sequence[Mapping[str, Any]]
) -> RateCell:
    """One cell and what `verify` says of it."""
    found = [read(each, statement=statement) for each in given]
    cell = _short_cell(statement, Bound(statement), row, parameter, seed, found) if found else None
    cell = cell or _cell(statement, Bound(statement), row, parameter, seed)
    return replace(cell, check=_checked(cell))


def _orders(
    statement: Statement, over: Sequence[str] | None, workers: int | Executor, progress: Progress | None
) -> tuple[RateCell, ...]:
    """The cells of a statement that is known only up to a constant: its exponents are compared, nothing else."""
    from ratecheck.exponents import bilevel_orders

    if not bilevel_orders.covers(statement):
        return _of_table(statement, over)
    every = bilevel_orders.parameters(statement)
    _check_names(statement, over, every)
    pairs = [(term, name) for term in statement.claims[0].terms for name in every if over is None or name in over]
    return _shared(_order_cell, statement, pairs, workers, progress)


def _order_cell(statement: Statement, term: str, parameter: str) -> RateCell:
    from ratecheck.exponents import bilevel_orders

    return _of_order(TermRow(term, None), bilevel_orders.exponent(statement, term, parameter))


def _of_table(statement: Statement, over: Sequence[str] | None) -> tuple[RateCell, ...]:
    """The cells of a rate that a table prints: a row for each thing that may make a term needed."""
    from ratecheck.exponents import table_orders

    rows = table_orders.of_statement(statement, table_orders.steps_of(statement))
    if reasons := [row.reason for row in rows if row.reason]:
        raise InputError(f"{statement.key}: {reasons[0]}")
    _check_names(statement, over, tuple(dict.fromkeys(name for row in rows for name in row.exponents)))
    return tuple(
        _not_its_own(_of_order(TermRow(row.term, None if row.regime is None else row.regime.name.lower()), each))
        for row in rows
        for name, each in row.exponents.items()
        if over is None or name in over
    )


def _not_its_own(cell: RateCell) -> RateCell:
    """A row runs with the step sizes of the paper that quotes it, so that it is accused of nothing."""
    if cell.finding is not CellFinding.EXCEEDED:
        return cell
    reason = f"{cell.reason}; with step sizes that are not those of its authors, which says nothing about the rate"
    return replace(cell, finding=CellFinding.NOT_REACHED, reason=reason)


def _of_order(row: TermRow, found: OrderExponent) -> RateCell:
    reason = found.where
    if found.verdict is CellFinding.EXCEEDED:
        reason = f"the worst case grows faster than the printed order by {found.text.split()[-1]}; {reason}"
    return RateCell(row, found.parameter, found.verdict, reason, loose=found.loose, order=found)


def columns(statement: Statement, bound: Bound | None = None) -> tuple[str, ...]:
    """The columns: sizes of the run, delays, constants, the method's numbers, step sizes that are not prescribed."""
    bound = bound or Bound(statement)
    vocabulary = statement.vocabulary
    sizes = {*vocabulary.run.values()}
    method = METHODS.get(statement.algorithm or "")
    own = {target for name in (method.algorithm.step_sizes if method else ()) for target in vocabulary.reach(name)}
    found = []
    for name in bound.names:
        if name in statement.settings:
            continue
        fact = vocabulary.facts.get(name)
        varied = name in sizes or name in own or vocabulary[name].role is Role.STEP_SIZE
        if varied or fact in (*DELAYS, *UNITS, *DISTURBANCES, "selection_skew", "delta"):
            found.append(name)
    return tuple(found)


def _chosen(statement: Statement, bound: Bound, row: TermRow, over: Sequence[str] | None) -> list[str]:
    every = columns(statement, bound)
    _check_names(statement, over, every)
    facts = statement.vocabulary.facts
    others = {name for name in every if facts.get(name) in DISTURBANCES and name != row.scale}
    return [name for name in every if name not in others and (over is None or name in over)]


def _check_names(statement: Statement, over: Sequence[str] | None, every: Sequence[str]) -> None:
    for name in over or ():
        if name not in every:
            raise InputError(f"{statement.key} has nothing to vary by the name {name!r}; {did_you_mean(name, every)}")


def _cell(statement: Statement, bound: Bound, row: TermRow, parameter: str, seed: int) -> RateCell:
    """The first of a few regimes where the exponents agree and the left side is straight; otherwise the straightest.

    Where the exponents agree and the left side bends, as at the smallest whole numbers, the exponent depends on where
    the regime happens to lie: those that follow are looked at too, and count where they agree as well.
    """
    if reason := unknown(statement, row.scale):
        return RateCell(row, parameter, CellFinding.NOT_REACHED, reason)
    cells: list[RateCell] = []
    for which in range(_REGIMES):
        regime = regimes.find(statement, row, parameter, seed=seed, which=which, bound=bound)
        if isinstance(regime, str):
            cells.append(RateCell(row, parameter, CellFinding.NOT_REACHED, regime))
            break
        cells.append(_judged(statement, bound, regime, seed))
        finding, attained = cells[-1].finding, [cell for cell in cells if cell.finding is CellFinding.ATTAINED]
        if finding.passes and not attained:
            return cells[-1]
        if finding is CellFinding.ATTAINED and _bent(cells[-1]) <= TOLERANCE:
            return cells[-1]
    return min([cell for cell in cells if cell.finding is CellFinding.ATTAINED] or cells, key=_bent)


def _short_cell(
    statement: Statement, bound: Bound, row: TermRow, parameter: str, seed: int, found: Sequence[Instance]
) -> RateCell | None:
    """The cell in short runs, with instances that were found beside the families; None where there are none."""
    regime = regimes.find(statement, row, parameter, seed=seed, short=True, bound=bound)
    if isinstance(regime, str) or unknown(statement, row.scale):
        return None
    return _judged(statement, bound, regime, seed, found)


def _checked(cell: RateCell) -> Check | None:
    """`verify` on the cell's instance of the fewest clients."""
    if cell.worst is None or cell.regime is None:
        return None
    hard = [(cell.worst.instances[end], cell.regime.values[end]) for end in (0, -1)]
    hard = [
        (each, x)
        for each, x in hard
        if sum(each.sizes) <= _CHECKED_CLIENTS
        and each.length <= _CHECKED_ROUNDS
        and each.gradients <= _CHECKED_GRADIENTS
    ]
    for each, x in sorted(hard, key=lambda pair: sum(pair[0].sizes)):
        instance = each.instance()
        if instance is None:
            continue
        with contextlib.suppress(InputError):
            verdict = instance.verdict()
            if verdict.comparisons:
                seen = verdict.comparisons[0]
                return Check(x, verdict.outcome, seen.left, seen.error)
    return None


def _bent(cell: RateCell) -> float:
    return math.inf if cell.worst is None else _bend(cell.worst)


def _bend(found: Worst) -> float:
    low, high = found.gain.ends
    return abs(high - low)


def _judged(
    statement: Statement, bound: Bound, regime: Regime, seed: int, found: Sequence[Instance] = ()
) -> RateCell:  # fmt: skip
    row, parameter = regime.row, regime.parameter
    followed = _followed(statement, bound, regime, found)
    if followed is None:
        return RateCell(
            row, parameter, CellFinding.NOT_REACHED, "no instance was found on which this term is needed", regime
        )
    violation = first_violation(statement, bound, regime, regime.values, followed.instances)
    gain = followed.gain.exponent
    gains = violation is None and _gains(statement, parameter, gain)
    if gains:
        violation = _passed(statement, bound, regime, followed, seed)
    if violation is not None:
        return _exceeded(regime, followed, violation)
    if abs(gain) <= TOLERANCE:
        reason = "the exponents agree: this power cannot be improved, on the instances found and up to the constant"
        return RateCell(row, parameter, CellFinding.ATTAINED, reason, regime, followed)
    towards = "large" if gain < 0 else "small"
    reason = f"the worst case found falls behind the term towards {towards} {parameter}; worse ones may exist"
    if _bend(followed) > TOLERANCE:
        low, high = followed.measured.ends
        reason += f"; its exponent changes from {low:.2f} to {high:.2f} over the range"
    if gains:
        # Over a part of the sizes a true bound may be gained on, so that nothing is accused where it is not passed.
        reason += "; the other way it gains on the term, without passing the bound at any setting found there: "
        reason += f"two straight lines would meet near {parameter}=1e{_meeting(followed):.0f}"
    return RateCell(row, parameter, CellFinding.LOOSE, reason, regime, followed, loose=-gain)


def _gains(statement: Statement, parameter: str, gain: float) -> bool:
    """Whether the left side gains on the term where rates are claimed: for many rounds, say, and small step sizes.

    A least probability with which clients take part is small as well. Constants are claimed of whatever size.
    """
    quantity = statement.vocabulary[parameter]
    if quantity.role is Role.STEP_SIZE or statement.vocabulary.facts.get(parameter) == "delta":
        return gain < -TOLERANCE
    return gain > TOLERANCE or (quantity.role is Role.CONSTANT and gain < -TOLERANCE)


def _followed(
    statement: Statement, bound: Bound, regime: Regime, found: Sequence[Instance] = ()
) -> Worst | None:  # fmt: skip
    """Both sides over the regime; None where nothing makes the left side large."""
    hard = [_hardest(statement, regime.at(x), regime.row.scale, found) for x in regime.values]
    term, total = right(bound, regime.row, hard)
    values = np.array([each.values[regime.parameter] for each in hard])
    left = np.array([each.left for each in hard])
    if not (np.isfinite(left) & (left > 0)).all():
        return None
    return Worst(values, term, total, left, fit(values, term), fit(values, left), fit(values, left / term), tuple(hard))


def _hardest(
    statement: Statement, values: Mapping[str, float], scale: str | None, found: Sequence[Instance]
) -> Hard:  # fmt: skip
    """The worst case at a setting, of the families and of instances that were found."""
    known = worst(statement, values, scale)
    others = [each for one in found if (each := continued(statement, known.values, one)) is not None]
    return max([known, *others], key=lambda each: each.left)


def right(bound: Bound, row: TermRow, hard: Sequence[Hard]) -> tuple[Array, Array]:
    """The row's term and the whole bound at the settings of these instances."""
    terms = bound.terms({name: np.array([each.values[name] for each in hard]) for name in bound.names})
    return terms[row.term], sum(terms.values(), np.zeros(len(hard)))


def _passed(statement: Statement, bound: Bound, regime: Regime, followed: Worst, seed: int) -> Violation | None:
    """An instance at which the left side passes the bound, where it gains on it; None where there is none.

    Looked for along the parameter beyond the regime; and in a regime of its own around where two straight lines meet.
    """
    found = _along(statement, bound, regime, followed)
    if found is not None:
        return found
    gain, meeting = followed.gain.exponent, _meeting(followed)
    if not abs(meeting - math.log10(followed.values[-1 if gain > 0 else 0])) <= _FARTHEST:
        return None
    meet = 10.0**meeting
    between = (meet / 2, meet * 10**_ROOM) if gain > 0 else (meet / 10**_ROOM, meet * 2)
    if statement.vocabulary[regime.parameter].domain is Domain.POSITIVE_INTEGER and between[0] < 1:
        return None
    far = regimes.find(statement, regime.row, regime.parameter, seed=seed, between=between, bound=bound)
    if isinstance(far, str):
        return None
    return first_violation(statement, bound, far, far.values if gain > 0 else far.values[::-1])


def _meeting(followed: Worst) -> float:
    """The decimal logarithm of where the left side, if it gained on the bound as it does on the term, would meet it."""
    end = -1 if followed.gain.exponent > 0 else 0
    distance = math.log10(followed.bound[end] / followed.left[end]) / followed.gain.exponent
    return math.log10(followed.values[end]) + distance


def _along(statement: Statement, bound: Bound, regime: Regime, followed: Worst) -> Violation | None:
    quantity, up = statement.vocabulary[regime.parameter], followed.gain.exponent > 0
    first, shift = (followed.values[-1], _BEYOND) if up else (followed.values[0], -_BEYOND)
    values = first * 10.0 ** np.linspace(0, shift, _STEPS + 1)[1:]
    if quantity.domain is Domain.POSITIVE_INTEGER:
        values = np.unique(np.round(values[(values >= 1) & (values <= LARGEST_RUN)]))
        values = values if up else values[::-1]
    return first_violation(statement, bound, regime, [float(x) for x in values])


def first_violation(
    statement: Statement,
    bound: Bound,
    regime: Regime,
    values: Sequence[float],
    known: Sequence[Hard] = (),
    *,
    clear: float = _CLEAR,
) -> Violation | None:
    """The first of these values at which `verify` confirms that the bound is passed; else one where it cannot tell.

    Short runs of few clients are evaluated first. ``known`` are the hardest instances at the values, if they are.
    Where it cannot tell, the bound is to be passed by the factor ``clear``, and by a tenth by what is no instance.
    """
    open_one = None
    for x, hard in zip_longest(values, known):
        setting = regime.at(x)
        if not _admitted(statement, bound, setting):
            break
        violation = _violation(statement, bound, regime, setting, hard)
        if violation is None:
            continue
        for fewer in _small(statement, setting, regime.parameter):
            small = _violation(statement, bound, regime, fewer) if _admitted(statement, bound, fewer) else None
            if small is not None and (small := _verified(small)).confirmed:
                return small
        violation = _verified(violation)
        if violation.confirmed:
            return violation
        # Where no other engine confirms it, the excess must be more than a difference in the last digits.
        least = clear if violation.hard.runs else _CLEAR
        passes = violation.verdict is not Outcome.HOLDS and violation.left > least * violation.bound
        open_one = violation if open_one is None and passes else open_one
    return open_one


def _violation(
    statement: Statement, bound: Bound, regime: Regime, setting: Mapping[str, float], known: Hard | None = None
) -> Violation | None:
    """The worst case at a setting if it passes the bound; `verify` has not evaluated it."""
    hard = known or worst(statement, setting, regime.row.scale)
    _, total = right(bound, regime.row, [hard])
    if not hard.left > (1 + MARGIN) * total[0] or not _steady(statement, regime, setting, hard):
        return None
    return Violation(hard.values[regime.parameter], hard.left, float(total[0]), hard)


def _steady(statement: Statement, regime: Regime, setting: Mapping[str, float], hard: Hard) -> bool:
    """Whether nearly the same L gives nearly the same left side, so that it is no rounding.

    Of 10^9 clients or rounds of delay, moments that cancel may leave nothing else. Nor may there be so many rounds that
    what one of them does is lost beside 1.
    """
    if hard.found is not None:
        # Its left side is what `verify` says.
        return True
    rounds = hard.values.get(statement.vocabulary.run.get("rounds", ""), 0.0)
    if rounds * float(np.finfo(np.longdouble).eps) > _LOST:
        return False
    L = next((s for s, fact in statement.vocabulary.facts.items() if fact == "L" and s in setting), None)
    if L is None:
        return True
    near = worst(statement, {**setting, L: setting[L] * (1 + _SHIFT)}, regime.row.scale)
    return abs(near.left - hard.left) <= _STEADY * _SHIFT * hard.left


def _verified(violation: Violation) -> Violation:
    """With what `verify` says, or why it says nothing."""
    try:
        instance = violation.instance
        return violation if instance is None else replace(violation, answer=instance.verdict(violation.hard.options))
    except InputError as error:
        return replace(violation, refused=str(error))


def _small(statement: Statement, values: Mapping[str, float], parameter: str) -> Iterator[dict[str, float]]:
    """The setting with fewer rounds and clients."""
    run = statement.vocabulary.run
    several, T = [run.get(role, "") for role in ("clients", "participants")], run.get("rounds", "")
    free = {name: value for name, value in values.items() if name not in statement.settings}
    sizes = {name: value for name, value in free.items() if name in several}
    seen = [dict(values)]
    for rounds in _FEW_ROUNDS:
        for clients in _FEW_CLIENTS:
            # Where participants are what is varied, there are more clients than these.
            most = clients if parameter != run.get("participants") else _APART * clients
            fewer = {name: clients if name == parameter else min(value, most) for name, value in sizes.items()}
            fewer |= {T: min(values[T], rounds)} if T in free else {}
            if (setting := {**values, **fewer}) not in seen:
                seen.append(setting)
                yield setting


def _admitted(statement: Statement, bound: Bound, values: Mapping[str, float]) -> bool:
    """Whether every condition holds, and sizes that the paper orders, such as m <= n, are in order."""
    point = {name: np.array([value]) for name, value in values.items()}
    pairs = statement.vocabulary.ordered
    ordered = all(values[a] <= values[b] for a, b in pairs if a in values and b in values)
    return ordered and bool(bound.slack(point)[0] >= 0)


def _exceeded(regime: Regime, followed: Worst, violation: Violation) -> RateCell:
    parameter, row = regime.parameter, regime.row
    sides = f"{violation.left:.4g} > {violation.bound:.4g}"
    reason = f"the left side passes the bound at {parameter}={violation.at:.4g}: {sides}"
    reason += f"; it gains on the term by {parameter}^{followed.gain.exponent:.2f}"
    if violation.confirmed:
        return RateCell(row, parameter, CellFinding.EXCEEDED, reason, regime, followed, violation=violation)
    reason += f"; not confirmed, since {violation.doubt}"
    return RateCell(row, parameter, CellFinding.OPEN, reason, regime, followed, violation=violation)
