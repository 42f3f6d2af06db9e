"""What is to be proved, in fractions: a statement at numbers, its method's coefficients, and its class of functions."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import sympy as sp

from bounds.assumption import BOUNDED
from bounds.sentences import words
from bounds.statement import Assumption, Over, Statement
from bounds.symbols import PREVIOUS, ROUND, Role, written_out
from ratecheck.algorithms import METHODS
from ratecheck.algorithms.model.algorithm import Counts, LinearMaps, TermMap, TermOver, U, V, check_after
from ratecheck.algorithms.model.unfolded import Unfolded, unfolded
from ratecheck.algorithms.model.varying import Formula
from ratecheck.errors import InputError, OutOfReachError
from ratecheck.falsification.deterministic import DeterministicCase
from ratecheck.proving.classes import AnswerClass, Curved, Operator
from ratecheck.proving.compared import CHANGE, OF_POINTS, Compared, is_change, is_signed
from ratecheck.proving.forms import ClientDraw, Form, Value, VectorFamily, VectorState
from ratecheck.proving.reach import SMALL_DENOMINATOR, beyond, followed, of_anyone, run_sizes, scales, simplest, written
from ratecheck.settings.applicability import foreign
from ratecheck.settings.convexity import assumes_convexity

Table = Sequence[Sequence[Fraction]]
_OPERATORS = {
    Assumption.MONOTONE_OPERATOR,
    Assumption.COCOERCIVE_OPERATOR,
    Assumption.STRONGLY_MONOTONE_OPERATOR,
    Assumption.LIPSCHITZ_OPERATOR,
}
# Digits in which right sides are computed that are not rational.
_DIGITS = 50
# Binary digits of a float beyond which it is taken for a rounded number.
_FEW_BITS = 40
# What the objective is at its infimum, or the clients' part of it.
LOWEST = Value("f*")


class Question:
    """A statement at numbers; see the module. Raises `InputError` for what no proof is looked for.

    ``every_pair`` is whether a proof may use what holds at every pair of points, or at those of a client's own points
    and one of the server's only; ``apart`` whether the participants of a round are followed apart from the others, so
    that gradients after it are known; ``potential`` is one's own, "" for any. ``scaled`` is what of the right side a
    factor multiplies, None for all of it.
    """

    def __init__(
        self,
        statement: Statement,
        values: Mapping[str, float],
        *,
        every_pair: bool = True,
        apart: bool = False,
        scaled: sp.Expr | None = None,
        potential: str = "",
    ) -> None:
        self.every_pair, self.apart, self.potential = every_pair, apart, potential
        statement = followed(statement)
        bound = statement.claims[0].bound
        self.scaled = bound if scaled is None else scaled
        self.kept = sp.Integer(0) if scaled is None else bound - scaled
        # Numbers of what the statement does not speak of say nothing about its instances.
        spoken = {*statement.parameters, "n", "m", "K", "T"} | {*scales(statement)}
        # Of any participation that of everybody is followed.
        any_of_them = Assumption.OBLIVIOUS_PARTICIPATION in statement.assumptions
        spoken |= set() if any_of_them else {*statement.vocabulary.run.values()}
        spoken |= {*METHODS[statement.algorithm or ""].step_sizes} if statement.algorithm in METHODS else set()
        values = {name: value for name, value in values.items() if name in spoken}
        # Papers need not count local steps. Names of sizes are the basic ones in ``case``, the paper's in ``rules``.
        fixed = METHODS[statement.algorithm or ""].fixed if statement.algorithm in METHODS else {}
        self.sizes = {name: fixed[name] for name in {"K"} & {*fixed}} | run_sizes(statement, values)
        self.statement, self.values = statement, self.sizes | values
        self.case, self.rules = (DeterministicCase(statement, each) for each in (values | self.sizes, self.values))
        self.method = METHODS[statement.algorithm or ""]
        self.algorithm = self.method.algorithm
        # The points of a set that the server projects on.
        self.nearest: tuple[str, ...] = ()
        self._projecting: Unfolded | None = None
        if not self.algorithm.linear and (found := unfolded(self.algorithm)) is not None:
            self.algorithm, self.nearest, self._projecting = found, found.nearest, found
        # A method of one's own need not have a name beside that under which it is given.
        self.name = getattr(self.algorithm, "name", self.method.name)
        self.blocks = tuple(
            b for b in self.algorithm.blocks if (b == U and self.method.shared) or (b == V and self.method.personal)
        )
        self.shared = U
        for reason in self._unmodelled():
            raise self.out_of_reach(reason)
        self.maps = LinearMaps(self.algorithm, exact=True, beyond=True)
        if self.over.further:
            check_after(self.algorithm, self.T + self.over.further, self.parameters(0))
        # What was found out about the method.
        self.known: dict[str, object] = {}
        for side in range(len(self.tosses)):
            self.tables(0, side)
        self._check_weights()
        self._check_set()
        here = {"n": self.n, "m": self.m, "K": self.K, "T": self.T}
        for name, number in self.method.fixed.items():
            if here.get(name, number) != number:
                raise self.out_of_reach(f"{name}={here[name]}, and {self.name} has {name}={number:g}")
        if self.method.full and self.sampled:
            raise self.out_of_reach(f"m={self.m} of n={self.n} clients, and {self.name} has all of them in every round")
        self._check_points()

    def _check_weights(self) -> None:
        """Raise `InputError` for a method that is about clients of any weights, of which equal ones are followed."""
        p, maps = self.parameters(0), self.maps
        if self.n > 1 and "p" in p:
            other = {**p, "p": p["p"] / 2}
            functions = (maps.begin, maps.step, maps.finish, maps.aggregate)
            pairs = [({**p, **coin}, {**other, **coin}) for _, coin in self.tosses]
            if any(self._by_block(f(one)) != self._by_block(f(two)) for f in functions for one, two in pairs):
                raise self.out_of_reach(f"{self.name} weighs clients, and a proof is about clients of equal weights")

    def _check_set(self) -> None:
        """Raise `InputError` unless all projections are on one convex set, however the coin falls."""
        if self._projecting is not None:
            rounds = [
                {name: float(value) for name, value in {**self.parameters(0), **coin}.items()}
                for _, coin in self.tosses
            ]
            if reason := self._projecting.doubtful(rounds):
                raise self.out_of_reach(f"{self.name} projects, and {reason}")

    def _check_points(self) -> None:
        """Raise `InputError` for what is said of one point at which all clients are, where there is none."""
        a, facts = self.algorithm, {fact.removesuffix(PREVIOUS) for fact in self.case.facts}
        common = {"du2", "inner_u"} if a.mixed else {"F_0", "distance2_0", "B_0", "mean_B_0", "polyak_lojasiewicz"}
        more = self.minimiser or self.blocks != (self.shared,) or a.coin or a.varying or a.compressed or self.nearest
        own = self.n > 1 and self.recorded_slots[U][0] == "client"
        if (own and common & facts) or (self.own_points and (common & facts or more)):
            raise self.out_of_reach(f"{self.name} records at points of which every client has its own")
        if self.proximal and self.n > 1 and self.sampled and not self.own_points:
            raise self.out_of_reach("proximal steps of sampled clients")

    def out_of_reach(self, reason: str) -> OutOfReachError:
        """An error that says why no proof is looked for."""
        return OutOfReachError(f"{self.statement.key} is not in reach of a proof: {reason}")

    def _unmodelled(self) -> Iterator[str]:
        yield from (f"it has no {name}" for name in ("n", "K", "T") if name not in self.sizes)
        yield from beyond(self.statement)
        a = self.algorithm
        if a.compressed and self.proximal:
            yield f"{self.name} compresses several messages"
        if a.mixed and (self.sampled or len(self.blocks) > 1):
            yield f"{self.name} mixes clients on a graph, and every client takes part there"
        # Where everybody takes part, no client has been away for more than a round.
        if a.uses_delay and self.sampled:
            yield f"a round of {self.name} is not modelled"
        yield from self._unmodelled_round()

    def _unmodelled_round(self) -> Iterator[str]:
        a, assumptions = self.algorithm, {*self.statement.assumptions}
        if self.m < self.n and not assumptions & {Assumption.UNIFORM_SAMPLING, Assumption.UNBIASED_SELECTION}:
            yield f"m={self.m} of n={self.n} clients, of which it does not say that they are sampled uniformly"
        if self.proximal and any(self._sigma(b) for b in (U, V)):
            yield "proximal steps with noise"
        if (a.second_oracle or _OPERATORS & assumptions) and self.n > 1:
            yield f"n={self.n}, and one function or operator is followed"
        if U not in self.blocks:
            yield f"{self.name} has no shared variable"
        if self.nearest and (self.sampled or self.proximal or a.second_oracle or _OPERATORS & assumptions):
            yield f"{self.name} projects, and clients that are sampled, proximal steps or operators are no part of that"
        if self.nearest and assumptions & {Assumption.MINIMISER_HETEROGENEITY, Assumption.INTERPOLATION}:
            yield f"{self.name} stays in a set, and it assumes something of gradients where f is least"
        yield from foreign(self.statement)
        # Without a number that says so nobody has to take part in every round.
        delays = {self.constant("tau_max"), self.constant("tau_avg")} - {None}
        if Assumption.OBLIVIOUS_PARTICIPATION in assumptions and (self.sampled or delays != {0}):
            yield "any participation, of which a proof follows that of everybody in every round: tau_max=0"
        if self.n > 1 and not self.method.full and of_anyone(self.statement):
            yield "it is about any participation, and no number of it says how many clients take part in a round"

    @cached_property
    def n(self) -> int:
        """Number of clients."""
        return int(self.sizes["n"])

    @cached_property
    def m(self) -> int:
        """Number of clients in a round."""
        return int(self.sizes.get("m", self.n))

    @cached_property
    def K(self) -> int:
        """Number of local steps."""
        return int(self.sizes["K"])

    @cached_property
    def T(self) -> int:
        """Number of rounds."""
        return int(self.sizes["T"])

    @property
    def sampled(self) -> bool:
        """Whether a round has only some of the clients."""
        return self.m < self.n

    @cached_property
    def own_points(self) -> bool:
        """Whether quantities are recorded at points of which every client has its own.

        Then f is the mean of the f_i(x_i), and f* that of f_i(x_i) + lambda/2 ||x_i - w||^2 at its least.
        """
        several = self.n > 1 or Assumption.DUAL_START in self.statement.assumptions
        return several and self.recorded_slots[U][0] == "client" and not self.algorithm.mixed

    @cached_property
    def draw(self) -> ClientDraw:
        """The draw of the participants of a round."""
        return ClientDraw(self.n, self.m)

    def constant(self, fact: str) -> Fraction | None:
        """The number of a fact, such as F_0."""
        known = [name for name, own in self.statement.vocabulary.facts.items() if own == fact and name in self.values]
        numbers = {self._written(name) for name in known}
        if len(numbers) > 1:
            raise self.out_of_reach(f"{' and '.join(known)} are the same constant and differ")
        return next(iter(numbers), None)

    def _written(self, name: str) -> Fraction:
        """The number of a parameter as the statement or whoever gives it writes it."""
        return self.rules.ruled(written).get(name, written(self.values[name]))

    @cached_property
    def L(self) -> Fraction | None:
        """Smoothness, None where functions need not be smooth."""
        smooth = {Assumption.SMOOTHNESS, Assumption.COCOERCIVE_OPERATOR, Assumption.LIPSCHITZ_OPERATOR}
        assumed = smooth & {*self.statement.assumptions} or "L" in self.statement.parameters
        L = self.constant("L") if assumed else None
        # L is that of every partial gradient in every variable, so that of all of it is at most twice as large for two.
        return None if L is None else L * len(self.blocks)

    @cached_property
    def classes(self) -> tuple[AnswerClass, ...]:
        """What the clients' answers belong to."""
        assumptions = {*self.statement.assumptions}
        strong = self.constant("strong_convexity") or Fraction(0)
        if kinds := _OPERATORS & assumptions:
            if assumptions & {Assumption.SMOOTHNESS, Assumption.CONVEXITY, Assumption.STRONG_CONVEXITY}:
                raise self.out_of_reach("it is about an operator and assumes more of it")
            monotone = strong if Assumption.STRONGLY_MONOTONE_OPERATOR in kinds else Fraction(0)
            known = kinds - {Assumption.LIPSCHITZ_OPERATOR}
            return (
                Operator(
                    mu=monotone if known else None,
                    lipschitz=self.L if Assumption.LIPSCHITZ_OPERATOR in kinds else None,
                    cocoercive=self.L if Assumption.COCOERCIVE_OPERATOR in kinds else None,
                ),
            )
        if Assumption.CLIENTS_STRONG_CONVEXITY in assumptions:
            mu = self.constant("clients_strong_convexity") or Fraction(0)
        elif Assumption.STRONG_CONVEXITY in assumptions and self.n == 1:
            mu = strong
        elif assumes_convexity(self.statement) and (self.n == 1 or Assumption.CONVEXITY in assumptions):
            mu = Fraction(0)
        elif self.L is None:
            raise self.out_of_reach("its functions are neither smooth nor convex")
        else:
            mu = -self.L
        return (self._curved(mu),)

    def _curved(self, mu: Fraction) -> Curved:
        """Functions with curvatures from ``mu`` to L."""
        if self.L is not None and mu >= self.L:
            raise InputError(
                f"mu={float(mu):g} and L={float(self.L):g} leave no function but a sphere: mu < L is needed"
            )
        return Curved(mu, self.L)

    @cached_property
    def mean_classes(self) -> tuple[AnswerClass, ...]:
        """What the mean of several clients' functions is beside."""
        if Assumption.STRONG_CONVEXITY not in self.statement.assumptions or self.n == 1:
            return ()
        return (self._curved(self.constant("strong_convexity") or Fraction(0)),)

    @cached_property
    def second_classes(self) -> tuple[AnswerClass, ...]:
        """What a second part of the objective is."""
        return (Curved(Fraction(0), None),) if self.algorithm.second_oracle else ()

    @property
    def has_values(self) -> bool:
        """Whether the oracles are those of functions."""
        return all(kind.has_values for kind in self.classes)

    @property
    def proximal(self) -> bool:
        """Whether local steps use proximal steps."""
        return self.algorithm.oracle == "prox"

    @property
    def records_prox(self) -> bool:
        """Whether quantities are recorded of proximal steps."""
        return self.algorithm.record_oracle == "prox"

    @cached_property
    def weight(self) -> Fraction:
        """Lambda, the weight of a proximal term."""
        if "lambda_" not in self.values:
            raise self.out_of_reach(f"{self.name} takes proximal steps without a parameter lambda_")
        return self._written("lambda_")

    @cached_property
    def second_weight(self) -> Fraction:
        """The weight of the proximal term of a second part, 1/gamma_u."""
        name = self.statement.vocabulary.called("gamma_u")
        if name not in self.parameters(0) or {f"{name}_t", "gamma_u_t"} & {*self.algorithm.varying}:
            raise self.out_of_reach(f"{name} is another one in every round, and so are the proximal steps")
        return Fraction(1 / self.parameters(0)[name])

    @cached_property
    def lowest(self) -> Form:
        """The infimum of the objective."""
        return {LOWEST: Fraction(1), **({Value("h*"): Fraction(1)} if self.second_classes else {})}

    @cached_property
    def compression(self) -> Fraction:
        """Omega = 1/q - 1, with E||C(v) - v||^2 = omega ||v||^2 for what is sent of a message v."""
        if "q" not in self.values:
            raise self.out_of_reach(f"{self.name} compresses without a parameter q")
        q = self._written("q")
        if not 0 < q <= 1:
            raise InputError(f'q={float(q):g} breaks "0 < q <= 1": it is a probability')
        return 1 / q - 1

    @cached_property
    def tosses(self) -> tuple[tuple[Fraction, dict[str, Fraction]], ...]:
        """The sides of a round's coin, 1 and 0: how likely each is, and what functions read; without a coin one side.

        A side that never comes up is left out. Raises `InputError` where a number of the coin is no probability.
        """
        name = self.algorithm.coin
        if name is None:
            return ((Fraction(1), {}),)
        if {name, f"{name}_t"} & {*self.algorithm.varying}:
            raise self.out_of_reach(f"the coin of {self.name} has another probability in every round")
        chance = Fraction(self.parameters(0)[name])
        if not 0 < chance <= 1:
            raise InputError(f'{name}={float(chance):g} breaks "0 < {name} <= 1": it is the probability of the coin')
        sides = ((chance, Fraction(1)), (1 - chance, Fraction(0)))
        return tuple((share, {"coin": side}) for share, side in sides if share)

    @cached_property
    def contraction(self) -> Fraction:
        """What mixing leaves of the squared deviations from the mean over the clients, at most and in expectation.

        lambda_W^2, or 1 - p (1 - lambda_W^2) where a round mixes with probability p only.
        """
        rate = self.constant("mixing_rate")
        if rate is None:
            raise self.out_of_reach(f"{self.name} mixes clients on a graph without a number lambda_W")
        return 1 - self._mixes * (1 - rate**2)

    @property
    def _mixes(self) -> Fraction:
        """The probability with which a round mixes clients."""
        if Assumption.RANDOM_MIXING not in self.statement.assumptions:
            return Fraction(1)
        share = self.constant("mixing_share")
        if share is None:
            raise self.out_of_reach("rounds mix at random, and no number says how often")
        if share > 1:
            raise InputError(f'p_W={float(share):g} breaks "p_W <= 1": it is a probability')
        return share

    @cached_property
    def pl(self) -> Fraction | None:
        """The constant of gradient dominance."""
        assumed = Assumption.POLYAK_LOJASIEWICZ in self.statement.assumptions
        return self.constant("polyak_lojasiewicz") if assumed else None

    @cached_property
    def dissimilarity(self) -> Fraction | None:
        """The root of the bound on the dissimilarity of gradients."""
        return self.constant("b") if Assumption.DISSIMILARITY in self.statement.assumptions else None

    @cached_property
    def heterogeneity(self) -> Fraction | None:
        """The root of the bound on the clients' gradients at the minimiser."""
        if Assumption.INTERPOLATION in self.statement.assumptions:
            return Fraction(0)
        assumed = Assumption.MINIMISER_HETEROGENEITY in self.statement.assumptions
        return self.constant("minimiser_heterogeneity") if assumed else None

    @cached_property
    def steepest(self) -> Fraction | None:
        """The bound on the norms of all gradients."""
        return self.constant("gradient_bound") if BOUNDED & {*self.statement.assumptions} else None

    def _sigma(self, block: str) -> Fraction:
        total = Assumption.TOTAL_NOISE in self.statement.assumptions
        if not total and Assumption.NOISE not in self.statement.assumptions:
            return Fraction(0)
        level = self.constant("sigma" if total else f"sigma_{block}")
        if level is None:
            raise self.out_of_reach("it assumes noise, and no number says how much")
        return level

    @cached_property
    def noise(self) -> dict[str, Fraction]:
        """The root of the variance of a stochastic gradient, by block."""
        return {b: self._sigma(b) for b in self.blocks}

    @cached_property
    def minimiser(self) -> bool:
        """Whether a minimiser exists: functions are strongly convex, or the statement is about x*."""
        of_minimiser = {"distance2", "distance2_0", "change:distance2", "minimiser_heterogeneity"}
        facts = {fact.removesuffix(PREVIOUS) for fact in self.case.facts}
        strong = Assumption.STRONG_CONVEXITY in self.statement.assumptions
        operator = not self.has_values
        common = Assumption.INTERPOLATION in self.statement.assumptions
        return bool(facts & of_minimiser) or strong or common or operator or bool(self.second_classes)

    @cached_property
    def over(self) -> Over:
        """Which rounds the claim is about."""
        return self.statement.claims[0].metric.over

    @cached_property
    def compared(self) -> tuple[Compared, ...]:
        """The first claim, round by round or of all rounds together."""
        facts, claim = self.statement.vocabulary.facts, self.statement.claims[0]
        left, right = (written_out(expr, self.statement.vocabulary) for expr in (claim.metric.expr, claim.bound))
        running = sorted((x for x in left.free_symbols | right.free_symbols if self._runs(x.name)), key=str)
        slopes = {x: sp.diff(left - right, x) for x in running}
        if any(slope.free_symbols & {*running} for slope in slopes.values()):
            raise self.out_of_reach("a side is not linear in what is measured along the run")
        counts = {x.name for x in left.free_symbols | right.free_symbols} & {*self.statement.vocabulary.counters}
        if counts and self.over in (Over.MEAN_OF_ROUNDS, Over.BEST_ROUND):
            raise self.out_of_reach("t is another number in every round, and the claim is about all of them together")
        none = {x: sp.Integer(0) for x in running}
        scaled = written_out(self.scaled, self.statement.vocabulary).xreplace(none)
        kept = (right - left).xreplace(none) - scaled
        found = []
        for t in self._rounds():
            weights: dict[str, Fraction] = {}
            for symbol, slope in slopes.items():
                fact = facts.get(symbol.name, symbol.name).removesuffix(PREVIOUS)
                key = f"{fact}{PREVIOUS}" if symbol.name.endswith(PREVIOUS) else fact
                weights[key] = weights.get(key, Fraction(0)) + self._weight(fact, slope, t)
            before = any(key.endswith(PREVIOUS) for key in weights)
            changes = before or any(map(is_change, weights))
            if before and (t is None or any(map(is_change, weights))):
                raise self.out_of_reach("it compares a round with the one before and with something else")
            if self._exact(scaled, t) < 0:
                # A smaller multiple of it is a weaker bound.
                raise self.out_of_reach("its right side is negative at these numbers")
            found.append(Compared(t, weights, self._exact(scaled, t), self._exact(kept, t), changes))
        return tuple(found)

    def _rounds(self) -> list[int | None]:
        """The rounds that the claim compares, None for all together."""
        if self.over in (Over.MEAN_OF_ROUNDS, Over.BEST_ROUND):
            return [None]
        if self.over is Over.AFTER_ROUNDS:
            return [self.T]
        if self.over not in (Over.EVERY_ROUND, Over.EVERY_ROUND_BUT_FIRST, Over.LAST_ROUND):
            raise self.out_of_reach("its claim bounds neither single rounds nor a mean over them nor the best of them")
        if (first := self.over.first(self.T)) >= self.T:
            raise InputError(f'T={self.T} breaks "T >= {first + 1}": the claim is about a round after the first')
        return [*range(first, self.T)]

    @cached_property
    def in_rounds(self) -> tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]] | None:
        """Numbers a and b where the right side of a mean is a/T + b for every T, of what is scaled and of what is kept.

        None where it is of another form, or where a step size that the statement prescribes depends on T.
        """
        T = self.statement.vocabulary["T"].symbol
        prescribed = [rule.value for rule in self.statement.step_rules if not rule.at_least]
        prescribed += self.statement.settings.values()
        bound = self.statement.claims[0].bound
        prescribed.append(written_out(self.statement.claims[0].metric.expr, self.statement.vocabulary))
        if self.over is not Over.MEAN_OF_ROUNDS or any(T in sp.sympify(each).free_symbols for each in prescribed):
            return None
        if any(self._runs(x.name) for x in bound.free_symbols):
            return None
        scaled, kept = self._over_rounds(self.scaled), self._over_rounds(self.kept)
        return None if scaled is None or kept is None else (scaled, kept)

    @property
    def alike(self) -> bool:
        """Whether what one round gives does not depend on which one it is, nor on how many there are."""
        statement = self.statement
        names = {"T", *statement.vocabulary.counters}
        formulas = [statement.claims[0].bound, statement.claims[0].metric.expr, *statement.settings.values()]
        formulas += [rule.value for rule in statement.step_rules if not rule.at_least]
        spoken = {x.name for each in formulas for x in written_out(sp.sympify(each), statement.vocabulary).free_symbols}
        return not self.algorithm.varying and not spoken & names

    def _over_rounds(self, expr: sp.Expr) -> tuple[Fraction, Fraction] | None:
        """Numbers a and b with a/T + b for every T."""
        T = self.statement.vocabulary["T"].symbol
        # With numbers in it: simplifying a formula in ten symbols takes seconds.
        scaled = sp.expand(expr.xreplace(self._numbers(expr.free_symbols - {T}, None)) * T)
        if (in_T := scaled.as_poly(T)) is not None:
            if in_T.degree() > 1:
                return None
            return self._exact(in_T.coeff_monomial(1), None), self._exact(in_T.coeff_monomial(T), None)
        slope = sp.diff(scaled, T)
        if T in sp.simplify(slope).free_symbols:
            return None
        return self._exact(sp.simplify(scaled - T * slope), None), self._exact(sp.simplify(slope), None)

    @property
    def measures_right(self) -> bool:
        """Whether the right side has quantities that are measured along the run."""
        right = written_out(self.statement.claims[0].bound, self.statement.vocabulary)
        return any(self._runs(x.name) for x in right.free_symbols)

    def _runs(self, name: str) -> bool:
        vocabulary = self.statement.vocabulary
        return vocabulary[name].role is Role.MEASURED and vocabulary.facts.get(name) != ROUND

    def number(self, expr: sp.Expr) -> Fraction:
        """A formula in the statement's parameters as a fraction."""
        return self._exact(expr, None)

    def _weight(self, fact: str, slope: sp.Expr, t: int | None) -> Fraction:
        """What multiplies a quantity in left - right: a fraction where it is rational, else a little more."""
        weight = -self._exact(-slope, t)
        terms = self.records.get(fact.removeprefix(CHANGE), ())
        signed = is_signed(fact) or any(
            each.over is TermOver.VALUES or each.factor < 0 or list(each.left) != list(each.right) for each in terms
        )
        if signed and weight != self._exact(slope, t):
            # Neither more nor less of what may be negative is the stronger claim.
            raise self.out_of_reach(f"a factor of {fact}, which may be negative, is no rational number")
        return weight

    def _exact(self, expr: sp.Expr, t: int | None) -> Fraction:
        """A number as a fraction: itself where it is rational, else a little less."""
        value = sp.sympify(expr).xreplace(self._numbers(expr.free_symbols, t))
        if value.is_Rational:
            return Fraction(int(value.p), int(value.q))
        value = value.evalf(_DIGITS)
        if not value.is_Float:
            raise InputError(f"{self.statement.key} has no finite value at these numbers: its right side is {value}")
        rounded = Fraction(str(value))
        return rounded - abs(rounded) * Fraction(1, 10 ** (_DIGITS - 5))

    def _numbers(self, symbols: Iterable[sp.Symbol], t: int | None) -> dict[sp.Symbol, sp.Rational]:
        """What symbols stand for in round t."""
        facts = self.statement.vocabulary.facts
        return {
            x: sp.Integer(t or 0)
            if facts.get(x.name) == ROUND
            else self._prescribed.get(x.name, sp.Rational(written(self.values[x.name])))
            for x in symbols
        }

    @cached_property
    def _prescribed(self) -> dict[str, sp.Expr]:
        """What the settings and rules of the statement compute, not as it is rounded."""
        return self.rules.prescribed(written)

    @cached_property
    def rounded(self) -> tuple[str, ...]:
        """What the statement sets to an irrational number, and the method or the class has as a fraction near it."""
        vocabulary = self.statement.vocabulary
        used = {*self.parameters(0), *(name for name in vocabulary.facts if vocabulary[name].role is Role.CONSTANT)}
        found = [name for name, value in self._prescribed.items() if name in used and not value.is_Rational]
        steps: dict[str, None] = {}
        for t in range(self.T if words.formulas_of(self.statement.algorithm or "")[1] else 0):
            # After the last step that is taken there need not be another one.
            with contextlib.suppress(InputError):
                steps |= dict.fromkeys(name for name, value in self._steps(t).items() if not value.is_Rational)
        return (*found, *steps, *self._rounded_coefficients())

    def _rounded_coefficients(self) -> Iterator[str]:
        """Names of coefficients of the method that are irrational, and of its functions that compute with such numbers.

        Of the latter a float of many digits remains, whose denominator is a large power of 2.
        """
        p, tables = list[dict[str, Any]](), list[tuple[Any, ...]]()
        for t in range(self.T + self.over.further if self.algorithm.varying else 1):
            # After the last step that is taken there need not be another one.
            with contextlib.suppress(InputError):
                p.append(self.parameters(t))
                tables += [self.tables(t, side) for side in range(len(self.tosses))]
        for name in self.algorithm.varying:
            if any(Fraction(each[name]).denominator > SMALL_DENOMINATOR for each in p if name in each):
                yield name
        for name, *found in zip(("begin", "step", "finish", "sent", "aggregate", "after"), *tables, strict=True):
            entries = (x for table in found if table for rows in table.values() for row in rows for x in row)
            if any((x.denominator & -x.denominator).bit_length() > _FEW_BITS for x in entries):
                yield name

    def _steps(self, t: int) -> dict[str, sp.Expr]:
        """Step sizes that the statement has change by the round, not as they are rounded."""
        if t not in self._stepped:
            _, formulas = words.formulas_of(self.statement.algorithm or "")
            p = self.case.parameters(written, t) | self.rules.ruled(written) if formulas else {}
            known = {name.removesuffix(words.OF_STEPS): sp.Rational(value) for name, value in p.items()}
            known |= {"t": sp.Integer(t), "T": sp.Integer(self.T + self.over.further)}
            self._stepped[t] = {f"{name}_t": Formula.of(text).exact(known) for name, text in formulas.items()}
        return self._stepped[t]

    @cached_property
    def _stepped(self) -> dict[int, dict[str, sp.Expr]]:
        return {}

    @property
    def F_0(self) -> Fraction | None:
        """The largest f(x^0) - f* where the statement has that constant."""
        return self.constant("F_0")

    @property
    def lagrangian_gap(self) -> Fraction | None:
        """The largest difference of the Lagrangian at the start and the joint minimum where there is that constant."""
        return self.constant("lagrangian_gap")

    @cached_property
    def inner_error(self) -> Fraction:
        """The largest ||grad f_i(y) + lambda (y - w_i)||^2 at which a client's proximal step may stop."""
        if Assumption.INNER_ACCURACY not in self.statement.assumptions:
            return Fraction(0)
        error = self.constant("inner_error")
        if error is None:
            raise self.out_of_reach("inner problems are solved up to an error, and no number says how large")
        return error / Fraction(self.parameters(0).get("alpha", 1)) ** 2

    @property
    def R_0(self) -> Fraction | None:
        """The largest ||x^0 - x*||^2 where the statement has that constant."""
        return self.constant("distance2_0")

    @property
    def B_0(self) -> Fraction | None:
        """The largest sum_i ||grad f_i(x^0)||^2 where the statement has that constant."""
        mean = self.constant("mean_B_0")
        return self.constant("B_0") if mean is None else self.n * mean

    def counts(self, group: str, block: str) -> int:
        """How many variables a group has in a block."""
        counts: Counts = getattr(self.maps, group)
        return counts.by_block[self.algorithm.blocks.index(block)]

    def variables(self, group: str, block: str) -> list[str]:
        """The names of a group's variables in a block."""
        return [name for name, where in getattr(self.algorithm, group).items() if where == block]

    def slots(self, group: str) -> int:
        """How many variables a group has in its largest block."""
        counts: Counts = getattr(self.maps, group)
        return counts.slots

    def _by_block(self, table: object) -> dict[str, Table]:
        return {b: [list(map(Fraction, row)) for row in table[self.algorithm.blocks.index(b)]] for b in self.blocks}  # type: ignore[index]

    def tables(self, t: int, side: int = 0) -> tuple[Any, ...]:
        """Coefficients of begin, step, finish, sent, aggregate and after in round t, on a side of its coin.

        Of sent None without compression, of after without a second part; ``side`` counts the `tosses`.
        """
        if not self.algorithm.varying:
            t = 0
        if (t, side) not in self._tables:
            p, maps = self.parameters(t) | self.tosses[side][1], self.maps
            # What this package has is known to be linear; of another's functions it shows at some numbers only.
            numbers: tuple[dict[str, Any], ...] = (p, {name: float(value) for name, value in p.items()})
            if self.algorithm.own and not any(maps.arithmetic(each, of_variables=True) for each in numbers):
                raise self.out_of_reach(f"{self.name} does more than arithmetic with its variables")
            found = (
                *(self._by_block(f(p)) for f in (maps.begin, maps.step, maps.finish)),
                self._by_block(maps.sent(p)) if self.algorithm.compressed else None,
                self._by_block(maps.aggregate(p)),
                self._by_block(maps.after(p)) if self.second_classes else None,
            )
            self._check_shift(t, found)
            self._tables[t, side] = found
        return self._tables[t, side]

    def parameters(self, t: int) -> dict[str, Any]:
        """What the method's functions receive in round t."""
        p = self.case.parameters(written, t)
        # A coefficient such as 1/(t + 2) is computed in floats, and means the fraction.
        p |= {name: simplest(p[name]) for name in self.algorithm.varying if name in p}
        p |= {name: value for name, value in self.rules.ruled(written).items() if name in p}
        p |= {name: Fraction(int(x.p), int(x.q)) for name, x in self._steps(t).items() if x.is_Rational and name in p}
        p |= {
            name: self._equal(name) for name in self.algorithm.per_client if name in self.statement.vocabulary.aliases
        }
        return {**p, "mixes": self._mixes}

    def _equal(self, name: str) -> Fraction:
        """The number that all clients have of what each may have its own of, such as weights."""
        if missing := {*self.statement.vocabulary.reach(name)} - {*self.values}:
            raise self.out_of_reach(f"it is about clients of any {name}, and has no {min(missing)}")
        numbers = {self._written(each) for each in self.statement.vocabulary.reach(name)}
        if len(numbers) > 1:
            raise self.out_of_reach(f"clients of different {name}, and a proof is about clients that are alike")
        return numbers.pop()

    @cached_property
    def _tables(self) -> dict[tuple[int, int], tuple[Any, ...]]:
        return {}

    @cached_property
    def start_tables(self) -> tuple[dict[str, Table], dict[str, Table]]:
        """Coefficients of the states before the first round."""
        p = self.parameters(0)
        return self._by_block(self.maps.start_client(p)), self._by_block(self.maps.start_server(p))

    @cached_property
    def records(self) -> dict[str, list[TermMap]]:
        """The terms of the recorded quantities that the claim is about."""
        facts = {fact.removesuffix(PREVIOUS) for fact in self.case.facts}
        changes = {fact.removeprefix(CHANGE) for fact in facts - OF_POINTS if fact.startswith(CHANGE)}
        whole = {"lagrangian"} if self.lagrangian_gap is not None else set()
        names = tuple(sorted(facts & {*self.algorithm.recorded} | changes | whole))
        if not names:
            return {}
        if self.second_classes:
            raise self.out_of_reach(f"what {self.name} records is about a part of f, and its claim is about f")
        rounds = range(self.T + self.over.further if self.algorithm.varying else 1)
        first, *others = [self.maps.records(names, self.parameters(t)) for t in rounds]
        if any(repr(each) != repr(first) for each in others):
            raise self.out_of_reach(f"what {self.name} records is another thing in every round")
        terms = [term for each in first.values() for term in each]
        if any(map(self._moved, terms)):
            raise self.out_of_reach(f"what {self.name} records depends on where the origin is")
        asked = any(side[-1] for term in terms if term.over is not TermOver.VALUES for side in (term.left, term.right))
        if asked and self.proximal and not self.records_prox and self.L is None:
            # A proximal step knows one of the subgradients where it leads, and an oracle may answer with another one.
            raise self.out_of_reach(f"what {self.name} records is a subgradient, of which a point has many")
        return first

    def _moved(self, term: TermMap) -> bool:
        """Whether a recorded term is another one from another start."""
        b, (on_server, on_client) = self.algorithm.blocks[term.block], self.shift
        if b not in self.blocks or term.over is TermOver.VALUES:
            return False
        moves = [*on_server[b], *on_client[b], Fraction(int(self.records_prox))]
        return any(_values([[*map(Fraction, side)]], moves) != [0] for side in (term.left, term.right))

    @cached_property
    def shift(self) -> tuple[dict[str, list[Fraction]], dict[str, list[Fraction]]]:
        """By how much server and client variables move where the start is moved by 1."""
        client, server = self.start_tables
        on_client = {b: [row[0] for row in client[b]] for b in self.blocks}
        on_server = {
            b: [
                row[0] + sum((c * w for c, w in zip(row[1:], on_client[b], strict=True)), Fraction(0))
                for row in server[b]
            ]
            for b in self.blocks
        }
        return on_server, on_client

    @property
    def starts_at_point(self) -> bool:
        """Whether the point at which quantities are recorded moves as the start does."""
        return all(self.shift[group == "client"][b][slot] == 1 for b, (group, slot) in self.recorded_slots.items())

    def _check_shift(self, t: int, tables: tuple[Any, ...]) -> None:
        """Raise `InputError` unless a run from another start is the run, moved."""
        on_server, on_client = self.shift
        begin, step, finish, sent, aggregate, after = tables
        for b in self.blocks:
            state = [*on_server[b], *on_client[b]]
            local, before, asked = _values(begin[b], state), None, []
            for _ in range(self.K):
                if local == before:
                    break
                # What is asked at a point that moves otherwise is another thing from another start.
                before = local
                asked += [local[0], *(local[slot] for _, block, slot, _ in self.further_points if block == b)]
                told = [Fraction(int(self.proximal)), *[Fraction(0)] * (len(step[b][0]) - len(local) - 1)]
                local = _values(step[b], [*local, *told])
                if after is not None:
                    asked.append(local[0])
                    local = _values(after[b], [*local, Fraction(1)])
            out = _values(finish[b], [*state, *local])
            kept, message = out[: self.slots("client")], out[self.slots("client") :]
            if sent is not None:
                kept = _values(sent[b], [*kept, *message])
                names = zip(self.variables("message", b), message, strict=False)
                if any(moved for name, moved in names if name in self.algorithm.compressed):
                    raise self.out_of_reach(f"{self.name} compresses what depends on where the origin is")
            sums = zip(self.variables("message", b), message, strict=False)
            # A set that is moved has nearest points that are.
            told = [Fraction(1) if name in self.nearest else self.m * each for name, each in sums]
            told += [self.m * each for each in message[len(told) :]]
            new = _values(aggregate[b], [*on_server[b], *told])
            if new != on_server[b] or kept != on_client[b] or {*asked} != {1}:
                raise self.out_of_reach(f"{self.name} is another method from another start (round {t})")

    @cached_property
    def further_points(self) -> list[tuple[str, str, int, bool]]:
        """Local variables where a step has gradients beside that at the first one: block, slot, and whether noisy."""
        found = []
        for each in self.algorithm.also.values():
            b = self.algorithm.local[each.at]
            if b in self.blocks:
                found.append((each.at, b, self.variables("local", b).index(each.at), each.kind.sampled))
        return found

    @cached_property
    def remembered(self) -> dict[str, tuple[str, int]]:
        """Server variables beside the recorded one at which every round asks for gradients, with block and slot."""
        found = {}
        for _, b, slot, _ in self.further_points:
            (row, *others) = (list(self.tables(0, side)[0][b][slot]) for side in range(len(self.tosses)))
            names = self.variables("server", b)
            if all(each == row for each in others) and max(row) == sum(map(abs, row)) == 1:
                where = row.index(1)
                if where < len(names) and ("server", where) != self.recorded_slots[b]:
                    found[names[where]] = (b, where)
        return found

    def asked(self, state: VectorState) -> dict[str, dict[str, VectorFamily]]:
        """The recorded point of a state that is seen from no other, and its `remembered` ones, by name."""
        x = self.recorded(state)
        return {"": x, **{name: {**x, b: state.server[b][slot]} for name, (b, slot) in self.remembered.items()}}

    @cached_property
    def projected_slot(self) -> int | None:
        """The server's variable of which the recorded one is the nearest point of the set after every round, if any."""
        (group, slot), b = self.recorded_slots[self.shared], self.shared
        servers = self.counts("server", b)
        for k, name in enumerate(self.nearest):
            column = self.slots("server") + self.variables("message", b).index(name)
            rows = [self.tables(0, side)[4][b][slot] for side in range(len(self.tosses))]
            if group == "server" and all([j for j, c in enumerate(row) if c] == [column] for row in rows):
                return servers - len(self.nearest) + k
        return None

    @cached_property
    def recorded_slots(self) -> dict[str, tuple[str, int]]:
        """Group and slot of the variable at which quantities are recorded, by block."""
        found = dict(zip(self.algorithm.blocks, self.maps.point(), strict=True))
        return {b: found[b] for b in self.blocks}

    @cached_property
    def origin(self) -> dict[str, tuple[str, int]]:
        """Group and slot, by block, of the variable from which a state is seen: the recorded one or the server's."""
        if not self.own_points:
            return self.recorded_slots
        b, (on_server, _) = self.shared, self.shift
        points = [slot for slot in range(self.counts("server", b)) if on_server[b][slot] == 1]
        if not points:
            raise self.out_of_reach(f"{self.name} has no point of the server's")
        return {b: ("server", points[0])}

    @property
    def origin_names(self) -> list[str]:
        """Names of the variables from which a state is seen."""
        return [self.variables(group, b)[slot] for b, (group, slot) in self.origin.items()]

    @cached_property
    def moves(self) -> dict[str, Fraction]:
        """By how much the variables move where the start is moved by 1, by name."""
        on_server, on_client = self.shift
        found: dict[str, Fraction] = {}
        for b in self.blocks:
            for group, weights in (("server", on_server[b]), ("client", on_client[b])):
                found |= dict(zip(self.variables(group, b), weights, strict=False))
        return found

    def recorded(self, state: VectorState) -> dict[str, VectorFamily]:
        """The point at which quantities are recorded."""
        return {b: getattr(state, group)[b][slot] for b, (group, slot) in self.recorded_slots.items()}

    @property
    def origin_slots(self) -> frozenset[tuple[str, str, int]]:
        """Group, block and slot of the variables from which a state is seen."""
        return frozenset((group, b, slot) for b, (group, slot) in self.origin.items())

    def at_origin(self, state: VectorState) -> VectorState:
        """A state of new vectors, seen from the `origin` unless a minimiser is it."""
        return state if self.minimiser else state.without(self.origin_slots)

    def gauged(self, state: VectorState) -> VectorState:
        """The state seen from its `origin`, unless a minimiser is that."""
        if self.minimiser:
            return state
        return state.seen_from({b: getattr(state, g)[b][slot] for b, (g, slot) in self.origin.items()}, *self.shift)

    def named(self, state: VectorState, group: str, block: str) -> list[tuple[str, VectorFamily]]:
        """Variables of a state that a potential may use, by name."""
        used = zip(self.variables(group, block), getattr(state, group)[block], strict=False)
        skip = None if self.minimiser else self.origin[block]
        return [(name, each) for k, (name, each) in enumerate(used) if (group, k) != skip]


def _values(table: Table, inputs: Sequence[Fraction]) -> list[Fraction]:
    """Outputs of a table of coefficients on numbers."""
    return [sum((c * x for c, x in zip(row, inputs, strict=True)), Fraction(0)) for row in table]
