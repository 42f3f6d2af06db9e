"""Step sizes inside what the conditions admit, and constants that are claimed larger than they are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property

from bounds.statement import Assumption
from bounds.symbols import Domain, Role
from ratecheck.certification.certified_constants import LOWER, NOISE
from ratecheck.certification.trajectory_constants import MEASURES
from ratecheck.errors import InputError
from ratecheck.families.coordinates import WIDE, between, inside
from ratecheck.families.family import Coordinates
from ratecheck.families.sizes import Sizes
from ratecheck.families.statements import is_bilevel
from ratecheck.participation import Participation
from ratecheck.problems import Certificate, Constant, Problem
from ratecheck.settings.applicability import method_of
from ratecheck.settings.on_trace import certify
from ratecheck.stepsizes.choose import silent
from ratecheck.stepsizes.constraints import NotMonotoneError
from ratecheck.stepsizes.feasible_set import FeasibleSet as Region
from ratecheck.stepsizes.filling import follows
from ratecheck.stepsizes.interval import Interval

# What is no bound but what the participation is: a number for the graph that no graph has is about none.
_NO_BOUNDS = ("delta", "mixing_rate", "mixing_change", "mixing_share")
_SHARES = ("least_share", "largest_share")
# A coordinate of a claimed constant up to this value claims the certified one.
HONEST = 0.8
_Constants = Mapping[str, Constant]
# The most step sizes that have coordinates.
_MOST_STEPS = 4


class Choices(Sizes):
    """Step sizes and claimed constants by the coordinates of a cube."""

    @cached_property
    def restricted(self) -> tuple[str, ...]:
        """Parameters and free numbers that stand in a condition, and are chosen inside it before step sizes."""
        named = frozenset[str]().union(*(c.symbols for c in self.statement.conditions))
        return tuple(name for name in self._parameters if name not in self.fixed and name in named)

    @cached_property
    def free_steps(self) -> tuple[str, ...]:
        """Step sizes that no rule sets and no others decide, products first."""
        statement, vocabulary = self.statement, self.statement.vocabulary
        ruled = {rule.symbol.name for rule in statement.step_rules if not rule.at_least}
        products = dict.fromkeys(p.product.name for p in statement.step_products)
        names = [n for n in statement.parameters if vocabulary[n].role is Role.STEP_SIZE and n not in ruled]
        # A local step size follows from a product and its outer one, and gives the outer ones of its other products.
        locals_: dict[str, str] = {}
        for each in statement.step_products:
            locals_.setdefault(each.local.name, each.product.name)
        follow = {p.outer.name for p in statement.step_products if locals_[p.local.name] != p.product.name}
        decided = {*locals_, *follow, *self.fixed, *statement.settings}
        free = [n for n in dict.fromkeys((*products, *names)) if n in names and n not in decided]
        return (*free[:_MOST_STEPS], *self._unsaid_steps)

    @property
    def _unsaid_steps(self) -> tuple[str, ...]:
        """Step sizes of a bilevel run of which the statement says nothing, so that it is about all of them."""
        method = method_of(self.statement)
        if method is None or not is_bilevel(self.statement):
            return ()
        return tuple(name for name in silent(self.statement, method.step_sizes) if name not in self.fixed)

    @cached_property
    def claimable(self) -> tuple[str, ...]:
        """Constants of which more than the certified value may be claimed."""
        vocabulary = self.statement.vocabulary
        # The extreme weights of clients are what they are, unless an assumption bounds them.
        exact = () if Assumption.LOCAL_WEIGHTS in self.statement.assumptions else _SHARES
        return tuple(
            name
            for name in self.statement.parameters
            if vocabulary[name].role is Role.CONSTANT
            and name not in self.statement.settings
            and vocabulary[name].domain is not Domain.REAL
            and vocabulary.facts.get(name, "") not in (*NOISE, *_NO_BOUNDS, *exact, "")
        )

    def _constants(self, problem: Problem, given: Mapping[str, float], pattern: Participation | None) -> _Constants:
        # A pattern that the statement does not fix alone may decide constants.
        return certify(self.statement, problem, given, pattern if self.shape.trace or self.shape.graph else None)

    def _claims(
        self, at: Coordinates, problem: Problem, given: Mapping[str, float], pattern: Participation | None
    ) -> dict[str, float]:
        """Claimed constants that are not the certified ones."""
        more = {name: at[f"claim {name}"] for name in self.claimable if at[f"claim {name}"] > HONEST}
        if not more:
            return {}
        found, claims = self._constants(problem, given, pattern), dict[str, float]()
        for name, x in more.items():
            if name not in found or found[name].certificate is Certificate.ABSENT:
                continue
            value, times = found[name].value, WIDE ** ((x - HONEST) / (1 - HONEST))
            lower = self.statement.vocabulary.facts[name] in LOWER
            claims[name] = value / times if lower else value * times if value > 0 else times - 1
        return claims

    def chosen(
        self, at: Coordinates, problem: Problem, given: Mapping[str, float], pattern: Participation | None,
        wanted: Sequence[str], kind: str,
    ) -> dict[str, float]:  # fmt: skip
        """Values inside what the conditions admit, one after the other; those not chosen yet are open.

        Coordinates are those of a ``kind``, step or parameter. Raises `InputError` where a constant does not exist.
        """
        if not wanted:
            return {}
        statement = self.statement
        values = self._known(self._constants(problem, given, pattern), given)
        chosen: dict[str, float] = {}
        for k, name in enumerate(wanted):
            free = tuple(each for each in wanted[k:] if statement.vocabulary[each].role is not Role.STEP_SIZE)
            if name in self._unsaid_steps:
                chosen[name] = self.inside(name, Interval(), at[f"{kind} {name}"])
                continue
            known = {each: value for each, value in {**values, **chosen}.items() if each not in free}
            if follows(statement, name, known.keys()):
                continue
            interval = self._interval(name, known, free, wanted[k + 1 :])
            if interval is not None:
                chosen[name] = self.inside(name, interval, at[f"{kind} {name}"])
        return chosen

    def _interval(
        self, name: str, known: Mapping[str, float], free: tuple[str, ...], later: Sequence[str]
    ) -> Interval | None:
        """The interval that the conditions admit of a step size or a parameter; None where that is not known."""
        statement = self.statement
        try:
            return Region.of(statement, known, free).admissible()[name]
        except NotMonotoneError:
            from ratecheck.stepsizes.sampled import sampled

            return sampled(statement, name, known, later)
        except (InputError, KeyError):
            if statement.hypotheses or statement.vocabulary[name].role is not Role.STEP_SIZE:
                return None
            # Nothing is said of it, so that any value will do.
            return Interval()

    def _known(self, found: _Constants, given: Mapping[str, float]) -> dict[str, float]:
        """The setting and the certified constants, by the names of the statement."""
        statement = self.statement
        facts = statement.vocabulary.facts
        for name, constant in found.items():
            if math.isinf(constant.value) and facts[name] not in MEASURES:
                raise InputError(f"{name} does not exist: {constant.reason}")
        names = {*statement.parameters, *statement.vocabulary.run.values()}
        values = {name: c.value for name, c in found.items() if math.isfinite(c.value)}
        values = {**{k: v for k, v in {**self._clients, **given}.items() if k in names}, **values}
        # Apart, since lists decide what may be certified as well.
        return {k: v for k, v in (statement.resolve(given) | statement.resolve(values)).items() if k in names}

    @cached_property
    def _clients(self) -> dict[str, float]:
        """How many clients there are, and of how many every round is, by the names of the statement."""
        run, fixed = self.statement.vocabulary.run, self.statement.settings
        sizes = {run.get("clients"): self.shape.n, run.get("participants"): self.shape.size}
        return {name: float(size) for name, size in sizes.items() if name is not None and name not in fixed}

    def inside(self, name: str, interval: Interval, x: float) -> float:
        """The number of that name in an interval, at a coordinate."""
        if name in self.restricted and math.isfinite(interval.high):
            return float(between(*interval.box, x))
        return inside(interval, x)
