"""Which step sizes a statement admits, which it prescribes, and which minimise its bound.

The admissible interval of a step size is the projection of the admissible region on it: the values for which some
choice of the other step sizes meets every condition (`ratecheck.stepsizes.admissible_intervals`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from bounds.statement import Condition, Relation, Statement, names_in
from bounds.symbols import Role
from ratecheck.errors import InputError
from ratecheck.stepsizes.admissible_intervals import conflict, is_empty
from ratecheck.stepsizes.constraints import Restriction
from ratecheck.stepsizes.feasible_set import FeasibleSet, Memory
from ratecheck.stepsizes.interval import Interval
from ratecheck.stepsizes.optimum import minimise


@dataclass(frozen=True)
class StepSizes:
    """The answer of ``stepsize``.

    ``admissible`` maps each step size to its interval; ``prescribed`` holds what the statement sets (for "at least"
    rules the smallest value), ``defaults`` what is taken where neither the statement nor the caller says more.
    ``optimal`` is the minimiser of the bound over the region and ``optimal_bound`` the bound's infimum. ``approached``
    maps step sizes along which the bound keeps falling to the open end at which they do; their optimum is where it is
    within 1% of its infimum (``optimal`` is empty where that is zero or minus infinity). ``conflict`` names a smallest
    set of conditions that cannot hold together (empty where feasible) and ``core`` the statement's own among them.
    ``missing`` are the constants without which the bound cannot be minimised. ``entangled`` says that no minimiser was
    found because the conditions tie the step sizes together.
    """

    problem: FeasibleSet
    admissible: dict[str, Interval]
    prescribed: dict[str, float]
    defaults: dict[str, float] = field(default_factory=dict)
    optimal: dict[str, float] = field(default_factory=dict)
    optimal_bound: float | None = None
    approached: dict[str, float] = field(default_factory=dict)
    conflict: tuple[str, ...] = ()
    core: tuple[Condition, ...] = ()
    missing: tuple[str, ...] = ()
    entangled: bool = False

    @property
    def statement(self) -> Statement:
        """The statement."""
        return self.problem.statement

    @property
    def values(self) -> dict[str, float]:
        """Constants and settings, defaults included."""
        return self.problem.values

    @property
    def feasible(self) -> bool:
        """Whether any step sizes are admissible."""
        return not self.conflict


def step_sizes(
    statement: Statement, given: Mapping[str, float], free: tuple[str, ...] = (), memory: Memory | None = None
) -> StepSizes:
    """Admissible intervals, prescribed values and optimum at the given constants; step sizes may be fixed as well.

    Constants in ``free`` are open like step sizes, and the bound is then not minimised. Raises `InputError` as `region`
    and where the bound leaves the range of floating point.
    """
    answer = region(statement, given, free, memory)
    return answer if free else with_optimum(answer)


def region(
    statement: Statement, given: Mapping[str, float], free: tuple[str, ...] = (), memory: Memory | None = None
) -> StepSizes:
    """Admissible intervals and prescribed values at the given constants; the bound is not minimised.

    Raises `InputError` for statements without step-size conditions, for bad values and for missing constants that a
    condition needs, and where numbers leave the range of floating point. ``memory`` keeps regions from one call to the
    next, for one statement and one choice of ``free``.
    """
    statement = _written(statement, given)
    problem = FeasibleSet.of(statement.at(given), given, free, memory)
    intervals = problem.admissible()
    prescribed, defaults = problem.ruled()
    answer = StepSizes(problem=problem, admissible=intervals, prescribed=prescribed, defaults=defaults)
    if problem.broken:
        texts = tuple(condition.text for condition in problem.broken)
        return replace(answer, conflict=texts, core=problem.broken)
    if is_empty(intervals):
        rules = conflict(problem.all_rules, problem.names)
        core = tuple(rule.condition for rule in rules if isinstance(rule, Restriction))
        return replace(answer, conflict=tuple(rule.name for rule in rules), core=core)
    return answer


def _written(statement: Statement, given: Mapping[str, float]) -> Statement:
    """The values with formulas of symbols that equal one; raises `InputError` for one of these that alone is given."""
    vocabulary = statement.vocabulary
    # A name that stands for what it is made of, such as R_0, may be given instead.
    for name in sorted(vocabulary.equal & given.keys() - vocabulary.aliases.keys()):
        missing = sorted(names_in(vocabulary.derived[name]) - given.keys())
        if missing and name in statement.parameters:
            raise InputError(
                f"{name} is not free: {statement.key} has {name} = {vocabulary.derived[name]}; give {missing[0]}=..."
            )
    return statement.written


def with_optimum(answer: StepSizes) -> StepSizes:
    """A `region` with the minimiser of the first claim's bound, where it is one, over the step sizes in it.

    Raises `InputError` where the bound leaves the range of floating point.
    """
    if not answer.feasible:
        return answer
    claim, vocabulary = answer.statement.claims[0], answer.statement.vocabulary
    bound = claim.bound
    steps = names_in(bound) & answer.admissible.keys()
    missing = tuple(sorted(names_in(bound) - answer.values.keys() - steps))
    # The right side of a definition is no bound, nor is one on something that is chosen or computed, not measured.
    measured = {s.name for s in claim.metric.weights if vocabulary[s.name].role is Role.MEASURED}
    defines = claim.relation is Relation.EQUAL or measured != {s.name for s in claim.metric.weights}
    if not steps or defines or answer.statement.order_only:
        return answer
    if any(vocabulary[name].role is Role.MEASURED for name in missing):
        return answer
    if missing:
        return replace(answer, missing=missing)
    found = minimise(answer.problem, answer.admissible, bound)
    if found is None:
        return replace(answer, entangled=True)
    best = found.point if found.attainable else {}
    return replace(answer, optimal=best, optimal_bound=found.infimum, approached=found.approached)
