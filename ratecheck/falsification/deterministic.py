"""A statement about a run that the answers of the oracle decide, as a run on vectors of any kind.

`DeterministicCase.run` evaluates the algorithm's own functions on whatever can be added and scaled: points of a
performance-estimation problem, coefficients of unknown vectors, exact rationals. Where clients are sampled, or
gradients are stochastic, every outcome is followed (`branches`); noise then has two values, which are answers as well.

A claim about every round is a list of `ComparedRounds`, one for each; what its right side measures along the run, with
constant coefficients, is taken to the left, so that on the right there is a number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
import sympy as sp

from bounds.sentences import words
from bounds.statement import Assumption, Given, Over, Statement, names_in
from bounds.symbols import PREVIOUS, ROUND, Role
from ratecheck.algorithms import METHODS, Method
from ratecheck.algorithms.model.algorithm import LinearMaps, check_after
from ratecheck.errors import InputError
from ratecheck.falsification.branches import Branches
from ratecheck.falsification.modelled import (
    CHANGES,
    NOISE,
    OPERATORS,
    PROX,
    RESPECTED,
    TOGETHER,
    WEIGHT,
    assumed_smooth,
    check_kind,
    degrees,
    facts_of_sides,
    proximal,
    recorded_variable,
    runs,
    sides_of,
)
from ratecheck.falsification.snapshots import (
    Convert,
    Inner,
    Lowest,
    Oracle,
    Run,
    Scalar,
    Snapshot,
    Vector,
    mean,
    offspring,
    total,
)
from ratecheck.inputs import whole
from ratecheck.settings.convexity import any_sign, assumes_convexity
from ratecheck.stepsizes.admissible import region, with_optimum
from ratecheck.stepsizes.choose import any_value, silent
from ratecheck.stepsizes.feasible_set import step_names
from ratecheck.stepsizes.interval import Interval

# The noise of the shared variable; what is said of the other is true of problems without personal ones.
_SIGMA = "sigma_u"
# Proximal steps say nothing of these: their argument and their value are different points.
_OF_GRADIENTS = {"b", "B_0"}
# What takes the values of f, or its gradients, at recorded points.
_OF_VALUES = {"gap", "change:gap", "descent", "inner_u"}
_OF_MINIMISER = {"distance2", "distance2_0", "change:distance2", "strong_convexity", "minimiser_heterogeneity"}
# So many choices of the clients of a round are followed, each with a server's model of its own.
_MOST_OUTCOMES = 10
# Words of a title that are about other noise than that of two values at every point.
_NOISE_KINDS = ("gaussian", "additive")
# So many stochastic gradients one after the other are followed, each with two outcomes.
_MOST_CALLS = 8
# Digits in which right sides are computed.
_DIGITS = 50
# Terms of a left side whose units agree to this are in the same; runs in other units, to this.
_SAME, _UNITS = 1e-9, 1e-6
# A step size that a rule sets is that up to the rounding of floats.
_EXACT = 1e-14
# The oracle that answers with a gradient.
_GRADIENT = "gradient"
# The step size of proximal steps of a second part.
_STEP = "gamma_u"


@dataclass(frozen=True)
class ComparedRounds:
    """A claim at one round, or at the mean over all rounds, or the best, where ``round`` is None.

    ``weights`` are those of measured quantities, by symbol; their combination is at most ``right``, and ``size`` is how
    large that would be if nothing in it cancelled. ``moved`` are the symbols that stood on the right.
    """

    round: int | None
    weights: Mapping[str, float]
    right: float
    size: float
    moved: tuple[str, ...] = ()


@dataclass(frozen=True)
class DeterministicCase:
    """A statement at numbers at which the oracle's answers decide its run; ``values`` has all of its parameters.

    The variables are shared: personal ones, where the method has them, are absent. ``approached`` maps step sizes that
    are just inside an open end of what is admissible to that end. ``source`` is the statement as it was given, where
    its symbols are not those of the basic setting.
    """

    statement: Statement
    values: Mapping[str, float]
    approached: Mapping[str, float] = field(default_factory=dict)
    source: Statement | None = None

    @staticmethod
    def of(statement: Statement, given: Given, *, ignore_conditions: bool = False) -> DeterministicCase:
        """Complete the numbers; a step size that the statement leaves open takes its largest admissible value.

        Where that end is open the value is just inside. Raises `InputError` where the statement is about anything but a
        run of shared variables that uses gradients, where numbers are missing, and, unless
        ``ignore_conditions``, where they break a condition of the statement.
        """
        source, given, statement = statement, words.basic_names(statement, given), words.basic(statement).written
        check_kind(statement, source)
        statement.check_names(given)
        silent = {name: 0.0 for name in NOISE if name in statement.parameters}
        open_m = "m" in statement.parameters and "m" not in statement.settings
        everyone = {"m": given["n"]} if "n" in given and open_m else {}
        method = METHODS[statement.algorithm or ""]
        steps = {name: method.fixed[name] for name in {"K"} & method.fixed.keys() - statement.settings.keys()}
        if "K" in given:
            method.check_steps(int(np.max(given["K"])))
        values, _ = statement.complete({**silent, **everyone, **steps, **given})
        values, approached = with_open_steps(statement, values)
        _check_values(statement, values, ignore_conditions=ignore_conditions)
        case = DeterministicCase(statement, values, approached, source)
        if statement.claims[0].metric.over.further:
            check_after(case.method.algorithm, case._recorded, case.parameters(float))
        case._check_noise()
        if case.proximal and case.weight <= -case.curvature:
            raise InputError(
                f'{WEIGHT}={case.weight:g} breaks "{WEIGHT} > L": {case.weight:g} > {-case.curvature:g} is false: '
                f"f_i + {WEIGHT}/2 ||. - x||^2 has no minimiser, or several, for some f_i of that smoothness"
            )
        if case.curvature >= (1 - _SAME) * case.smoothness:
            raise InputError(
                f"mu={case.curvature:g} and L={case.smoothness:g} leave no function but a sphere: mu < L is needed"
            )
        if case.n > 1 and case.composite:
            raise InputError(f'n={case.n} breaks "n == 1": {case.n} == 1 is false, and one smooth part is followed')
        if case.n > 1 and case.operator:
            raise InputError(f'n={case.n} breaks "n == 1": {case.n} == 1 is false, and one operator is followed')
        if case.n > 1 and case.dissimilar and not case.searchable:
            raise InputError(
                f'n={case.n} breaks "n == 1": {case.n} == 1 is false, and bounded dissimilarity of several clients is '
                f"modelled for means over the rounds of what the method records, of functions that need not be convex"
            )
        return case

    @property
    def shown(self) -> dict[str, float]:
        """The numbers under the names that they have in the statement as it was given."""
        vocabulary = (self.source or self.statement).vocabulary
        return {vocabulary.called(name): value for name, value in self.values.items()}

    def _check_noise(self) -> None:
        """Raise `InputError` unless the noise, if any, is assumed and its outcomes can be followed."""
        if not self.noise:
            return
        said = f"{_SIGMA}={self.noise:g} breaks"
        if Assumption.NOISE not in self.statement.assumptions and _SIGMA not in self.statement.parameters:
            raise InputError(f'{said} "{_SIGMA} == 0": {self.statement.key} assumes no noise')
        # What is believed of a title elsewhere: such noise does not depend on the point.
        if kind := next((word for word in _NOISE_KINDS if word in self.statement.title.lower()), None):
            raise InputError(f'{said} "{_SIGMA} == 0": its title says {kind}, and the noise followed has two values')
        if self.proximal:
            raise InputError(f'{said} "{_SIGMA} == 0": proximal steps are followed without noise')
        if self.n > 1 and self.dissimilar:
            raise InputError(
                f'{said} "{_SIGMA} == 0": n={self.n} clients of bounded dissimilarity are modelled without noise'
            )
        rounds = max(map(self.rounds, self.comparisons))
        n, m, K = self.n, self.participants, int(self.values["K"])
        start = n * K * self._noisy_start
        if (calls := start + m * K * (rounds - 1)) > _MOST_CALLS:
            raise InputError(
                f'n={n}, K={K}, T={int(self.values["T"])} break "stochastic gradients <= {_MOST_CALLS}": {calls} <= '
                f"{_MOST_CALLS} is false, and each has two outcomes. Smaller n, K or T would do, or {_SIGMA}=0."
            )

    @property
    def _step(self) -> str:
        """The symbol of the step size of proximal steps of a second part."""
        return self.statement.vocabulary.called(_STEP)

    @property
    def method(self) -> Method:
        """The method that the statement is about."""
        return METHODS[self.statement.algorithm or ""]

    @property
    def n(self) -> int:
        """Number of clients."""
        return int(self.values["n"])

    @property
    def _recorded(self) -> int:
        """Number of points that a run has."""
        return int(self.values["T"]) + self.statement.claims[0].metric.over.further

    @property
    def participants(self) -> int:
        """Number of clients in a round."""
        return int(self.values.get("m", self.n))

    @property
    def sampled(self) -> bool:
        """Whether a round has only some of the clients."""
        return self.participants < self.n

    @property
    def noise(self) -> float:
        """The largest norm of the noise of a stochastic gradient; 0 where gradients are exact."""
        return self.values.get(_SIGMA, 0.0)

    @property
    def random(self) -> bool:
        """Whether a run has several outcomes: signs of the noise, or choices of the clients."""
        return self.sampled or bool(self.noise)

    @property
    def dissimilar(self) -> bool:
        """Whether the statement bounds the dissimilarity of the clients' gradients."""
        return Assumption.DISSIMILARITY in self.statement.assumptions

    @property
    def composite(self) -> bool:
        """Whether f has a second, convex part, of which proximal steps are taken."""
        return Assumption.CONVEX_PART in self.statement.assumptions

    @property
    def functions(self) -> int:
        """The number of functions: the clients', and a second part where f has one."""
        return self.n + self.composite

    def combined(self, values: Sequence[Scalar]) -> Scalar:
        """F from the values of its functions: their mean, or the sum of its two parts."""
        return total(values) if self.composite else mean(values)

    @property
    def operator(self) -> bool:
        """Whether the oracle's answers are those of a monotone operator, which need not be a gradient."""
        return bool(OPERATORS & {*self.statement.assumptions})

    @property
    def needs_minimiser(self) -> bool:
        """Whether the statement speaks of a minimiser, or of a zero of an operator, or supposes that there is one.

        The mean of several functions has no infimum that could be read off the functions one by one.
        """
        facts = self.facts
        return (
            self.operator
            or self.composite
            or bool(facts & _OF_MINIMISER)
            or self.strongly_convex
            or (self.n > 1 and "gap" in facts)
        )

    @property
    def proximal(self) -> bool:
        """Whether the oracle gives minimisers of f_i + lambda/2 ||. - x||^2."""
        return proximal(self.statement)

    @property
    def weight(self) -> float:
        """Lambda, the weight of the proximal term; of a second part of f 1/gamma."""
        return 1 / self.values[self._step] if self.composite else self.values[WEIGHT]

    @property
    def exact_weight(self) -> Fraction:
        """`weight` in rational numbers, as an exact run uses it."""
        if self.composite:
            return 1 / self._ruled.get(self._step, Fraction(self.values[self._step]))
        return Fraction(self.weight)

    @property
    def smoothness(self) -> float:
        """L, infinite for functions that need not be smooth."""
        return self.values["L"] if assumed_smooth(self.statement) else math.inf

    @property
    def steepest(self) -> float:
        """M, the bound of every client's gradient norm; infinite where there is none."""
        return self._constant("gradient_bound") or math.inf

    @property
    def curvature_unit(self) -> float:
        """L, or lambda where functions need not be smooth; of steps along subgradients M/R, or M^2/F_0."""
        if assumed_smooth(self.statement):
            return self.values["L"]
        if self.proximal:
            return self.weight
        if self.gap is not None:
            return self.steepest**2 / self.gap
        assert self.radius2 is not None
        return self.steepest / math.sqrt(self.radius2)

    @property
    def convex(self) -> bool:
        """Whether the statement is about convex functions, or restricted to them here, or about monotone operators."""
        return self.operator or not any_sign(self.statement) or not assumed_smooth(self.statement)

    @property
    def narrowed(self) -> str:
        """The reason to restrict functions to convex ones where the statement does not; empty without one."""
        if self.operator or not self.convex or assumes_convexity(self.statement):
            return ""
        return "it speaks of a minimum" if not any_sign(self.statement) else "it assumes no smoothness"

    @property
    def strongly_convex(self) -> bool:
        """Whether the statement is about strongly convex functions."""
        return self._constant("strong_convexity") is not None

    @property
    def heterogeneity(self) -> float | None:
        """The largest (1/n) sum_i ||grad f_i(x*)||^2 that is allowed; None where it is not limited."""
        root = self._constant("minimiser_heterogeneity")
        return None if root is None else root**2

    @property
    def each_strongly_convex(self) -> bool:
        """Whether every f_i is taken strongly convex, although assumed is that their mean is."""
        return self.strongly_convex and self.n > 1

    @property
    def curvature(self) -> float:
        """The least curvature that the functions may have: mu, 0 or -L."""
        if self.strongly_convex:
            return self._constant("strong_convexity") or 0.0
        return 0.0 if self.convex else -self.smoothness

    @property
    def gap(self) -> float | None:
        """The largest f(u^0) - inf f; 1, in whatever unit, where the statement limits nothing at the start."""
        given = self._constant("F_0")
        return given if given is not None or self.radius2 is not None else 1.0

    @property
    def radius2(self) -> float | None:
        """The largest ||u^0 - x*||^2; 1, in whatever unit, where the statement limits nothing at the start."""
        given = self._constant("distance2_0")
        unlimited = given is None and self._constant("F_0") is None and self.needs_minimiser
        return 1.0 if unlimited else given

    @property
    def searchable(self) -> bool:
        """Whether the local search covers it: a mean over the rounds of records, without convexity or a minimiser."""
        recorded, facts = self.method.algorithm.recorded, self.statement.vocabulary.facts
        over = self.statement.claims[0].metric.over
        return (
            over is Over.MEAN_OF_ROUNDS
            and not self.proximal
            and not self.convex
            and not self.needs_minimiser
            and all(facts[name] in recorded for name in self.comparisons[0].weights)
        )

    @property
    def normalised(self) -> str:
        """The quantity that is set to 1; empty where the statement limits the start itself."""
        if self._constant("F_0") is not None or self._constant("distance2_0") is not None:
            return ""
        return "||x^0 - x*||^2" if self.needs_minimiser else "f(x^0) - inf f"

    def _constant(self, fact: str) -> float | None:
        known = (name for name, own in self.statement.vocabulary.facts.items() if own == fact and name in self.values)
        return next((self.values[name] for name in known), None)

    @cached_property
    def facts(self) -> frozenset[str]:
        """Facts of the symbols in both sides, and of those that are given."""
        facts = self.statement.vocabulary.facts
        return frozenset(facts_of_sides(self.statement) | {facts[name] for name in self.values if name in facts})

    @cached_property
    def comparisons(self) -> tuple[ComparedRounds, ...]:
        """What the first claim says, round by round or of all rounds together."""
        over, T, recorded = self.statement.claims[0].metric.over, int(self.values["T"]), self._recorded
        if over in TOGETHER:
            return (self._comparison(None),)
        first = over.first(recorded)
        if first >= recorded:
            raise InputError(f'T={T} breaks "T >= {first + 1}": the claim compares a round with the one before')
        return tuple(self._comparison(t) for t in range(first, recorded))

    def _comparison(self, t: int | None) -> ComparedRounds:
        vocabulary, (left, right) = self.statement.vocabulary, sides_of(self.statement)
        weights: dict[str, float] = {}
        moved = tuple(sorted(symbol.name for symbol in right.free_symbols if runs(symbol.name, vocabulary)))
        none = {}
        for side, sign in ((left, 1.0), (right, -1.0)):
            for symbol in sorted(side.free_symbols, key=str):
                if runs(symbol.name, vocabulary):
                    factor = float(self._precise(sp.diff(side, symbol), t))
                    weights[symbol.name] = weights.get(symbol.name, 0.0) + sign * factor
                    none[symbol] = sp.Integer(0)
        constant = right.xreplace(none) - left.xreplace(none)
        parts = sp.Add.make_args(sp.expand(constant))
        size = float(sum(abs(self._precise(part, t)) for part in parts))
        return ComparedRounds(t, weights, float(self._precise(constant, t)), size, moved)

    def _precise(self, expr: sp.Expr, t: int | None = None) -> sp.Expr:
        """The value in as many digits as a difference in it may take, in round ``t``."""
        facts = self.statement.vocabulary.facts
        exact = {
            symbol: sp.Integer(t or 0)
            if facts.get(symbol.name) == ROUND
            else sp.Rational(*self.values[symbol.name].as_integer_ratio())
            for symbol in expr.free_symbols
        }
        value = expr.xreplace(exact)
        value = value if value.is_Rational else value.evalf(_DIGITS)
        if not (value.is_Float or value.is_Rational):
            raise InputError(f"{self.statement.key} has no finite value at these numbers: its right side is {value}")
        return value

    @cached_property
    def units(self) -> tuple[float, float]:
        """Units of f and of ||x||^2 in which L = 1 and F_0 = 1, or ||x^0 - x*||^2 = 1 where the gap is not limited.

        Of functions that need not be smooth lambda = 1, or M = 1.
        """
        L = self.curvature_unit
        if self.gap is not None:
            return self.gap, self.gap / L
        assert self.radius2 is not None
        return L * self.radius2, self.radius2

    def unit(self, name: str) -> float:
        """What a symbol is measured in: (unit of f)^f_degree * (unit of ||x||^2)^(x_degree/2)."""
        quantity = self.statement.vocabulary[name]
        of_f, of_x2 = self.units
        return math.pow(of_f, quantity.f_degree) * math.pow(of_x2, quantity.x_degree / 2)

    def left_unit(self, comparison: ComparedRounds) -> float:
        """The unit of what is compared; raises `InputError` where its terms have different ones."""
        units = {}
        for name, weight in self.scaled_comparison(comparison).weights.items():
            if weight:
                units[name] = comparison.weights[name] / weight * self.unit(name)
        if max(units.values(), default=1.0) > (1 + _SAME) * min(units.values(), default=1.0):
            listed = ", ".join(f"{unit:.6g} of {name}" for name, unit in units.items())
            raise InputError(f"{self.statement.key} has no worst case here: its sides mix units ({listed})")
        return next(iter(units.values()), 1.0)

    def check_units(self, comparison: ComparedRounds) -> None:
        """Raise `InputError` unless the run is the same in other units of f and x, as far as a quadratic shows it."""
        unit, scaled = self.left_unit(comparison), self.scaled_comparison(comparison)
        sizes = self.scaled.sizes_on_quadratic(scaled, 1.0, 1.0)
        here = self.sizes_on_quadratic(comparison, self.curvature_unit, math.sqrt(self.units[1]))
        for there, found in zip(sizes, here, strict=True):
            if not math.isclose(unit * there, found, rel_tol=_UNITS, abs_tol=_UNITS * unit * max(map(abs, sizes))):
                raise InputError(
                    f"{self.statement.key} has no worst case here: what its method does or records changes with the "
                    f"units of f and x, {found:.6g} of one run being {unit * there:.6g} in others. A symbol has to say "
                    f"in which units it is, degrees=(1, -2) for those of L; what mixes units is covered where L and "
                    f"the limit at the start are 1."
                )

    def sizes_on_quadratic(self, comparison: ComparedRounds, curvature: float, size: float) -> list[float]:
        """The terms of the left side on f_i = c_i ||x - a||^2/2, curvatures and a in these units."""
        centre = size * np.array([0.3, -0.7])
        bent = curvature * np.array([[0.5, 0.8], [0.7, 0.4]])

        def oracle(i: int, x: Vector) -> Vector:
            return bent[i % 2] * (x - centre)

        def value(i: int, x: Vector) -> float:
            return float(bent[i % 2] @ (x - centre) ** 2 / 2)

        def prox(i: int, x: Vector) -> Vector:
            return (self.weight * x + bent[i % 2] * centre) / (self.weight + bent[i % 2])

        def noise(i: int, _: Vector) -> Vector:
            return self.noise * np.array([[0.6, 0.8], [-0.8, 0.6]])[i % 2]

        count = self.rounds(comparison)
        run = self.run(np.zeros(2), oracle, value=value, rounds=count, prox=prox, noise=noise)
        parts = self.parts(run, lambda a, b: float(a @ b), float, comparison, Lowest(0.0, centre))
        return [float(part) for each in parts for part in each]

    def scaled_comparison(self, comparison: ComparedRounds) -> ComparedRounds:
        """The comparison in the units of `units`."""
        return next(each for each in self.scaled.comparisons if each.round == comparison.round)

    @property
    def square_unit(self) -> float:
        """The unit of a gradient's square."""
        of_f, of_x2 = self.units
        return of_f**2 / of_x2

    @cached_property
    def scaled(self) -> DeterministicCase:
        """The case with all numbers in the units of `units`."""
        return DeterministicCase(self.statement, {name: value / self.unit(name) for name, value in self.values.items()})

    def rounds(self, comparison: ComparedRounds) -> int:
        """The number of recorded points that the comparison depends on."""
        facts = self.statement.vocabulary.facts
        further = any(facts.get(name.removesuffix(PREVIOUS)) in CHANGES for name in comparison.weights)
        last = int(self.values["T"]) - 1 if comparison.round is None else comparison.round
        return last + 1 + further

    def evaluations(self, comparison: ComparedRounds) -> int:
        """Points at which clients are evaluated in such a run: n*(K*(rounds - 1) + 1) where nothing is random."""
        rounds, K = self.rounds(comparison), int(self.values["K"])
        if self.random:
            # The first local step of a round is where the server is; those after it are as many as there are outcomes.
            later = sum(2**k for k in range(1, K)) if self.noise else K - 1
            branches = self.branches(rounds)
            recorded = sum(branches[1 : rounds - 1]) + branches[-1] * self._evaluates_end * (rounds > 1)
            return self.n * (1 + recorded + later * sum(branches[: rounds - 1]) + self.needs_minimiser)
        # A proximal step answers at another point than that at which it is evaluated.
        elsewhere = sum(self._evaluates_value(t) for t in range(rounds)) if self.proximal else 0
        return self.functions * (K * (rounds - 1) + 1 + elsewhere + self.needs_minimiser)

    def branches(self, rounds: int) -> list[int]:
        """The number of outcomes before each of so many rounds."""
        K = int(self.values["K"])
        start = 2 ** (self.n * K) if self._noisy_start else 1
        chosen = math.comb(self.n, self.participants)
        each = chosen * (2 ** (self.participants * K) if self.noise else 1)
        return [start * each**t for t in range(rounds)]

    @cached_property
    def _noisy_start(self) -> bool:
        """Whether what clients remember at the start is a stochastic gradient."""
        maps = LinearMaps(self.method.algorithm)
        return bool(self.noise) and bool(maps.start_client(self.parameters(float))[..., 1].any())

    @cached_property
    def _evaluates_end(self) -> bool:
        """Whether the f_i are evaluated at the last recorded point of a run with several outcomes."""
        if self.facts & CHANGES:
            return bool(self.facts & {"change:gap", "descent"})
        return bool(self.facts & {"gap", *self.method.algorithm.recorded})

    def _evaluates_value(self, t: int) -> bool:
        """Whether the f_i and their gradients are evaluated at the recorded point before round ``t``."""
        # Inf f bounds the values of the mean of several functions where all are evaluated.
        limited = self.gap is not None and (t == 0 or (self.n > 1 and not self.needs_minimiser))
        return self.method.algorithm.record_oracle == _GRADIENT or limited or bool(self.facts & _OF_VALUES)

    def run(
        self,
        zero: Vector,
        oracle: Oracle,
        convert: Convert = float,
        value: Oracle | None = None,
        rounds: int = 0,
        *,
        prox: Oracle | None = None,
        noise: Oracle | None = None,
    ) -> Run:
        """What is recorded before each of the T rounds, or of that many, from the start 0.

        ``oracle(i, x)`` is grad f_i(x), evaluated in the order of the run, ``value(i, x)`` is f_i(x), and
        ``prox(i, x)`` the minimiser of f_i + lambda/2 ||. - x||^2, where the method uses it; ``convert`` makes a
        parameter a number of the vectors' kind. Where there is noise a stochastic gradient at x is grad f_i(x) plus or
        minus ``noise(i, x)``. Every outcome of the noise and of the choice of clients is followed.
        """
        algorithm, count = self.method.algorithm, rounds or int(self.values["T"])
        if algorithm.own:
            for t in range(count if algorithm.varying else 1):
                LinearMaps(algorithm).check(self.parameters(float, t))
        branches = Branches(
            algorithm=algorithm,
            clients=self.n,
            participants=self.participants,
            steps=int(self.values["K"]),
            parameters=self.parameters(convert),
            zero=zero,
            oracles={_GRADIENT: oracle, PROX: prox},
            noise=noise if self.noise else None,
            noisy_start=self._noisy_start,
            rational=convert is Fraction,
            second=prox if self.composite else None,
        )
        states = branches.starts()
        run: list[tuple[Snapshot, ...]] = []
        while True:
            t, recorded = len(run), recorded_variable(algorithm) or ""
            # Where a run has many ends, what is compared decides whether anything is evaluated there.
            end = self.random and 0 < t == count - 1
            gradient = oracle if (self._evaluates_end if end else self._evaluates_value(t)) else None
            # The clients' gradients are those of one part of f only.
            records = not self.composite and (not end or bool(gradient and not self.facts & CHANGES))
            run.append(tuple(branches.snapshot(each, recorded, gradient, value, records=records) for each in states))
            if len(run) == count:
                return tuple(run)
            if algorithm.varying:
                branches = replace(branches, parameters=self.parameters(convert, t))
            states = [after for state in states for after in branches.after(state)]

    def left(
        self,
        run: Run,
        inner: Inner,
        convert: Convert = float,
        *,
        comparison: ComparedRounds | None = None,
        lowest: Lowest | None = None,
    ) -> Scalar:
        """The combination of measured quantities that a comparison on a mean or on one round is about."""
        (parts,) = self.parts(run, inner, convert, comparison or self.comparisons[0], lowest)
        return total(parts)

    def parts(
        self, run: Run, inner: Inner, convert: Convert, comparison: ComparedRounds, lowest: Lowest | None
    ) -> list[list[Scalar]]:
        """The terms of the left side, one for each measured quantity; those of every round where the least counts."""
        every = range(int(self.values["T"]))
        if comparison.round is not None:
            choices: list[Sequence[int]] = [[comparison.round]]
        elif self.statement.claims[0].metric.over is Over.BEST_ROUND:
            choices = [[t] for t in every]
        else:
            choices = [every]
        return [self._terms(run, inner, convert, comparison, lowest, rounds) for rounds in choices]

    def _terms(
        self,
        run: Run,
        inner: Inner,
        convert: Convert,
        comparison: ComparedRounds,
        lowest: Lowest | None,
        rounds: Sequence[int],
    ) -> list[Scalar]:
        found = []
        for name, weight in comparison.weights.items():
            fact, before = self.statement.vocabulary.facts[name].removesuffix(PREVIOUS), name.endswith(PREVIOUS)
            values = [self._expected(fact, t - before, run, inner, convert, lowest) for t in rounds]
            found.append(convert(weight) * mean(values))
        return found

    def _expected(self, fact: str, t: int, run: Run, inner: Inner, convert: Convert, lowest: Lowest | None) -> Scalar:
        """A measured quantity before round ``t``, in expectation."""
        return mean([self._quantity(fact, t, each, run, inner, convert, lowest) for each in range(len(run[t]))])

    def _quantity(
        self, fact: str, t: int, branch: int, run: Run, inner: Inner, convert: Convert, lowest: Lowest | None
    ) -> Scalar:
        """A measured quantity after one outcome of all earlier rounds, in expectation over the later ones."""
        here = run[t][branch]
        if fact in self.method.algorithm.recorded:
            return here.record(fact, inner, convert)
        if fact == "gap":
            assert lowest is not None
            return self.combined(here.values) - lowest.value
        if fact == "distance2":
            assert lowest is not None
            away = here.point - lowest.point
            return inner(away, away)
        ends = offspring(run, t, branch)
        return mean([self._change(fact, here, end, inner, lowest) for end in ends])

    def _change(self, fact: str, here: Snapshot, after: Snapshot, inner: Inner, lowest: Lowest | None) -> Scalar:
        """A quantity of what happens between two recorded points."""
        if fact in {"change:gap", "descent"}:
            return self.combined(after.values) - self.combined(here.values)
        step = after.point - here.point
        if fact == "inner_u":
            return inner(mean(here.gradients), step)
        if fact == "du2":
            return inner(step, step)
        # ||x^{t+1} - x*||^2 - ||x^t - x*||^2, not as a difference of squares.
        assert lowest is not None
        return inner(step, step + (here.point - lowest.point) + (here.point - lowest.point))

    @cached_property
    def _ruled(self) -> dict[str, Fraction]:
        return self.ruled(Fraction)

    def ruled(self, exact: Callable[[float], Fraction]) -> dict[str, Fraction]:
        """What settings and rules set, before it is rounded to floats, where that is a rational number.

        ``exact`` is the fraction that a given number stands for.
        """
        found = self.prescribed(exact).items()
        return {name: Fraction(int(value.p), int(value.q)) for name, value in found if value.is_Rational}

    def prescribed(self, exact: Callable[[float], Fraction]) -> dict[str, sp.Expr]:
        """What settings and rules set, irrational numbers as well; see `ruled`."""
        found: dict[str, sp.Expr] = {}
        rules = [(rule.symbol.name, rule.value) for rule in self.statement.step_rules if not rule.at_least | rule.free]
        left = {name: sp.sympify(formula) for name, formula in [*self.statement.settings.items(), *rules]}
        while left:
            # What the others are made of comes first, wherever it stands.
            last = (name for name, formula in left.items() if not names_in(formula) & left.keys() - {name})
            name = next(last, next(iter(left)))
            formula = left.pop(name)
            symbols = formula.free_symbols
            if not {name, *(x.name for x in symbols)} <= self.values.keys():
                continue
            known = {x: found.get(x.name, sp.Rational(exact(self.values[x.name]))) for x in symbols}
            value = formula.xreplace(known)
            if value.is_real and math.isclose(float(value), self.values[name], rel_tol=_EXACT):
                found[name] = value
        return found

    def parameters(self, convert: Convert, t: int = 0) -> dict[str, Scalar]:
        """What the algorithm's functions receive in round ``t``.

        Coefficients that the method computes for a round are floats, and stand for the binary fractions that they are.
        """
        K = self.values["K"]
        given = {name: self.values[name] for name in self.method.step_sizes if name in self.values}
        sizes = self.method.resolve(given, self.n)
        fixed = {"n": self.n, "m": self.participants, "K": K, "delay": 1, "weight": 1, "norm": K, "mean_norm": K}
        known = {**fixed, **sizes, **self.method.algorithm.coefficients(t, self._recorded, {**fixed, **sizes})}  # type: ignore[dict-item]
        p = {name: convert(value) for name, value in known.items()}  # type: ignore[arg-type]
        if convert is Fraction:
            p |= {name: value for name, value in self._ruled.items() if name in p}
        return {**p, "p": 1 / p["n"]}


def with_open_steps(statement: Statement, values: dict[str, float]) -> tuple[dict[str, float], dict[str, float]]:
    """The values with a step size where no rule sets it, as `verify` takes it, and open ends that these approach."""
    approached: dict[str, float] = {}
    ruled = {rule.symbol.name for rule in statement.step_rules}
    missing = [name for name in step_names(statement) if name not in values]
    while missing:
        # What a rule sets follows from the others.
        free = [name for name in missing if name not in ruled] or missing
        known = region(statement, values) if statement.hypotheses or "L" not in values else None
        admissible = {} if known is None else known.admissible
        limited = [name for name in free if name in admissible and math.isfinite(admissible[name].high)]
        # Where nothing limits it from above the bound may be smallest at one value, which `verify` takes as well.
        optimal = {} if known is None or limited else with_optimum(known).optimal
        # What no condition limits, such as an outer step size whose product is limited, is 1 where it has no unit.
        outer = [name for name in free if degrees(statement.vocabulary, name) == (0, 0)]
        if not limited and (not outer or optimal.keys() & {*free}):
            found = {name: x for name, x in optimal.items() if name in free}
            if not found:
                name = free[0]
                found = {name: admissible.get(name, Interval()).nearest(_of_scale(statement, name, values))}
            values, _ = statement.complete({**values, **found})
            missing = [name for name in missing if name not in values]
            continue
        name = (limited or outer)[0]
        interval = admissible.get(name, Interval())
        if limited and interval.open[1]:
            approached[name] = interval.high
        values, _ = statement.complete({**values, name: interval.box[1] if limited else interval.nearest(1.0)})
        missing = [name for name in missing if name not in values]
    unsaid = [name for name in silent(statement, METHODS[statement.algorithm or ""].step_sizes) if name not in values]
    return {**values, **{name: _of_scale(statement, name, values) for name in unsaid}}, approached


def _of_scale(statement: Statement, name: str, values: Mapping[str, float]) -> float:
    """A step size that nothing limits, as `verify` takes it; raises `InputError` without L and K."""
    if not {"L", "K"} <= values.keys():
        raise InputError(f"{statement.key} leaves {name} open: give {name}=..., or L and K")
    return any_value(statement.vocabulary[name], values["L"], values["K"])


def _check_sampled(statement: Statement, values: Mapping[str, float]) -> None:
    """Raise `InputError` unless the clients of one round are sampled uniformly, in few ways."""
    n, m, T = (int(values[name]) for name in ("n", "m", "T"))
    whole("m", values["m"], 1)
    if not facts_of_sides(statement) & CHANGES or Assumption.UNIFORM_SAMPLING not in statement.assumptions:
        raise InputError(
            f'm={m} breaks "m == n": {m} == {n} is false, and a run that samples clients is random. '
            f"Modelled is what one round changes, of clients sampled uniformly. Admissible m: {n}."
        )
    if T != 1:
        raise InputError(
            f'T={T} breaks "T == 1": {T} == 1 is false, and what comes after a round that samples clients '
            f"is random. A statement about every round is evaluated at the first."
        )
    if (ways := math.comb(n, m)) > _MOST_OUTCOMES:
        raise InputError(
            f'n={n}, m={m} break "binomial(n, m) <= {_MOST_OUTCOMES}": {ways} <= {_MOST_OUTCOMES} is false, and each '
            f"choice of clients has a model of its own. Smaller n would do, such as n=3, m=2."
        )


def _check_values(statement: Statement, values: Mapping[str, float], *, ignore_conditions: bool) -> None:
    """Raise `InputError` where something is missing, noisy, sampled, or beyond a condition of the statement."""
    assumed = [name for assumption in statement.assumptions for name in assumption.constants if name not in NOISE]
    sizes = ("n", "K", "T", "L") if assumed_smooth(statement) else ("n", "K", "T")
    for name in dict.fromkeys((*sizes, *statement.parameters, *assumed)):
        if name not in values and statement.vocabulary[name].role is not Role.MEASURED:
            meaning = statement.vocabulary[name].meaning
            raise InputError(f"{statement.key} needs a value for {name} ({meaning}): give {name}=...")
    for name in ("n", "K", "T"):
        whole(name, values[name], 1)
    respected = RESPECTED - _OF_GRADIENTS if proximal(statement) else RESPECTED
    constants = {name for name in (*statement.parameters, *assumed) if statement.vocabulary[name].role is Role.CONSTANT}
    if unknown := sorted(
        name for name in constants - {*NOISE} if statement.vocabulary.facts.get(name) not in respected
    ):
        raise InputError(f"{statement.key} has no worst case here: no search respects {', '.join(unknown)}")
    if values.get("m", values["n"]) != values["n"]:
        _check_sampled(statement, values)
    broken = [check.broken for check in statement.check_conditions(values) if check.holds is False]
    if broken and not ignore_conditions:
        raise InputError(" ".join(broken))
