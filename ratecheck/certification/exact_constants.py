"""Constants of a problem and of a participation, proved in rationals.

The counterpart of `ratecheck.certification.certified_constants`: a constant is the exact number, an enclosure of it
where it is irrational, or, for the largest eigenvalues, a rational that exact elimination shows to be as weak as the
true one or weaker.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ratecheck.algebra.enclosure import Enclosure, Number, UndecidedError
from ratecheck.algebra.linear_algebra import (
    Entries,
    definite,
    identity,
    inverse,
    minimum,
    rationals,
    semidefinite,
    zero_of,
)
from ratecheck.certification.certified_constants import DELAYS, LOWER, MEAN_DELAYS, STATED
from ratecheck.certification.gradient_facts import GradientFacts, dominates
from ratecheck.certification.minimum_facts import spectrum
from ratecheck.engines.rigorous.moment_runs import possible_sets
from ratecheck.participation import Participation, delays
from ratecheck.participation.model.law import Subsets, Weighted
from ratecheck.problems import Certificate, MinMax, Piecewise, PiecewiseSamples, Problem, Quadratic
from ratecheck.problems.matrices import largest_norm
from ratecheck.problems.minmax import cocoercive as is_cocoercive
from ratecheck.problems.piecewise_quadratic.piecewise import ROOTS
from ratecheck.problems.quadratic_functions import Forms

# Participations that are enumerated.
_MOST_DRAWS = 4096
# An eigenvalue computed in floating point is moved by 2^-50 of it, then by twice as much, and so on.
_FIRST, _MOVES = Fraction(1, 2**50), 48

# Constants by what they are about: the run, affine operators, functions.
_OF_RUN = frozenset({
    "sigma", "sigma_u", "sigma_v", "selection_skew", "delta", *DELAYS, *MEAN_DELAYS, "relative_noise", "dimension",
})  # fmt: skip
_OF_OPERATORS = frozenset({"distance2_0", "B_0", "mean_B_0", "minimiser_heterogeneity"})
_OF_FUNCTIONS = frozenset({
    "F_0", "b", "joint_minimum", "lagrangian_gap", "gradient_bound", "dissimilarity_G", "dissimilarity_B",
    "inner_error",
})  # fmt: skip


@dataclass(frozen=True)
class Proved:
    """The case of `ratecheck.certification.certified_constants.CertifiedCase` in exact numbers.

    ``noise`` has the noise level by fact, ``weights`` the alpha_i.
    """

    problem: Quadratic
    trace: Participation | None
    T: int | None
    noise: Mapping[str, Fraction]
    lambda_: Fraction | None
    weights: Sequence[Fraction]
    start: Mapping[str, Any]

    # What is known beside the constants that a test decides.
    _known: ClassVar[frozenset[str]] = _OF_RUN | _OF_OPERATORS | _OF_FUNCTIONS

    def fact(self, name: str) -> Number | None:
        """The constant of that name; None where nothing is known about it here.

        Raises `UndecidedError` where it does not exist or is not computed.
        """
        if name in self._predicates:
            return self._moved(name, *self._predicates[name])
        if name not in self._known:
            return None
        found = STATED[name][0](self.problem) if name in STATED else getattr(self, f"_{name}")()
        return Enclosure.of(found).plain

    def admits(self, name: str, value: Fraction) -> bool:
        """Whether a claimed value is proved to be as weak as the constant itself."""
        if name in self._predicates:
            return self._predicates[name][1](value)
        found = self.fact(name)
        assert found is not None
        enclosed = Enclosure.of(found)
        return value <= enclosed.low if name in LOWER else value >= enclosed.high

    # --- Eigenvalues ---

    @cached_property
    def _predicates(self) -> dict[str, tuple[float, Callable[[Fraction], bool]]]:
        """Constants that a test decides: what floating point says, and the test."""
        H_uu, H_uv, H_vv = self.problem.blocks()
        found = {
            name: (max(map(largest_norm, blocks)), self._bounds_norms(blocks))
            for name, blocks in {
                "L": (H_uu, H_uv, H_vv), "L_u": (H_uu,), "L_v": (H_vv,), "L_uv": (H_uv,), "L_vu": (H_uv,),
            }.items()
        }  # fmt: skip
        # As floating point has them, with L_1 = 0.
        found |= {"generalized_L0": found["L"], "generalized_L1": (0.0, lambda value: value >= 0)}
        lowest = min(float(np.linalg.eigvalsh(H)[0]) for H in self.problem.H)
        found["weak_convexity"] = max(-lowest, 0.0), lambda value: value >= 0 and self._curved_at_least(-value)
        if not self.problem.d_v:
            values, off = spectrum(self.problem)
            found["strong_convexity"] = float(values[0]), self._bounds_curvature
            found["clients_strong_convexity"] = lowest, lambda value: value > 0 and self._curved_at_least(value)
            if (positive := values[values > off]).size:
                dominance = float(positive[0]), self._bounds_dominance
                found |= {"polyak_lojasiewicz": dominance, "quadratic_growth": dominance}
        if self.lambda_ is not None:
            near = float(min(self.weights)) * (float(self.lambda_) + min(lowest, 0.0))
            found["inner_convexity"] = near, self._bounds_convexity
        return found

    def _bounds_norms(self, blocks: Sequence[NDArray[np.float64]]) -> Callable[[Fraction], bool]:
        # Clients may share a matrix.
        different = {(matrix.shape, matrix.tobytes()): matrix for block in blocks for matrix in block if matrix.size}

        @cache
        def products() -> list[Entries]:
            return [matrix.dot(matrix.T) for matrix in map(rationals, different.values())]

        def bounds(value: Fraction) -> bool:
            return value >= 0 and all(
                semidefinite(value * value * identity(len(product)) - product) for product in products()
            )

        return bounds

    def _bounds_curvature(self, value: Fraction) -> bool:
        """Whether the symmetric part of the mean of the matrices is at least the value."""
        mean = self._forms.mean(self._forms.H)
        return value > 0 and semidefinite((mean + mean.T) / 2 - value * identity(len(mean)))

    def _curved_at_least(self, value: Fraction) -> bool:
        """Whether no client's matrix has a symmetric part with an eigenvalue below the value."""
        return all(semidefinite((H + H.T) / 2 - value * identity(len(H))) for H in self._forms.H)

    def _bounds_dominance(self, value: Fraction) -> bool:
        """Whether a minimum exists and no eigenvalue of the Hessian of f lies between 0 and the value."""
        return value > 0 and minimum(*self._joint) is not None and dominates(self._forms, value)

    def _bounds_convexity(self, value: Fraction) -> bool:
        assert self.lambda_ is not None
        return all(
            semidefinite(H + (self.lambda_ - value / weight) * identity(len(H)))
            for H, weight in zip(self._forms.H, self.weights, strict=True)
        )

    def _moved(self, name: str, near: float, holds: Callable[[Fraction], bool]) -> Fraction:
        """The number nearby that the test proves."""
        value, move = Fraction(near), -_FIRST if name in LOWER else _FIRST
        for k in range(_MOVES):
            moved = value if k == 0 else value + abs(value) * move * 2 ** (k - 1)
            if holds(moved):
                return moved
        raise UndecidedError(f"no value of {name} near {near:g} could be proved")

    # --- Gradients and minima ---

    @cached_property
    def _forms(self) -> Forms:
        return self.problem.forms.exactly

    @cached_property
    def _start(self) -> tuple[Entries, Entries]:
        """The start u (d_u,), v (n, d_v); zeros where none is given."""
        u, v = self.problem.start(self.start)
        return rationals(u), rationals(v)

    @cached_property
    def _points(self) -> Entries:
        """The start of every client, (n, d)."""
        return self._forms.points(*self._start)

    @cached_property
    def _joint(self) -> tuple[Entries, Entries]:
        """The form x'Ax/2 - b'x of x = (u, v_1, ..., v_n) that is n f."""
        return self._forms.joint()

    @cached_property
    def _solution(self) -> tuple[Entries, Entries] | None:
        """The only minimiser, or zero of an operator, u (d_u,) and v (n, d_v); None where there is none, or several."""
        (joint, slope), (u, v) = self._joint, self._start
        point = zero_of(joint, slope) if definite(joint) or not self.problem.potential else None
        return None if point is None else (point[: u.size], point[u.size :].reshape(v.shape))

    def _distance2_0(self) -> Fraction:
        if self._solution is None:
            several = "minimisers" if self.problem.potential else "zeros"
            raise UndecidedError(f"the distance to one of several {several}")
        return Fraction(self._forms.distance2(*(x - y for x, y in zip(self._start, self._solution, strict=True))))

    def _minimiser_heterogeneity(self) -> Number:
        if self.problem.d_v or self._solution is None:
            raise UndecidedError("gradients at one of several minimisers")
        gradients = self._forms.gradients(self._forms.points(*self._solution))
        return Enclosure.of(np.sum(gradients**2) / Fraction(self.problem.n)).sqrt()

    def _F_0(self) -> Fraction:
        lowest = minimum(*self._joint)
        if lowest is None:
            raise UndecidedError("f is unbounded below, in exact arithmetic")
        gap = (sum(self._forms.values(self._points)) - lowest) / self.problem.n
        return Fraction(gap)

    def _B_0(self) -> Fraction:
        return Fraction(np.sum(self._forms.gradients(self._points)[:, : self.problem.d_u] ** 2))

    def _mean_B_0(self) -> Fraction:
        return self._B_0() / self.problem.n

    @cached_property
    def _b2(self) -> Fraction | str:
        """b^2, or in words why there is none."""
        found: Fraction | str = self._forms.dissimilarity2(lambda matrices: not matrices.any())
        return found

    def _b(self) -> Number:
        if isinstance(self._b2, str):
            raise UndecidedError(f"{self._b2}: b holds along the trajectory at best")
        return Enclosure.of(self._b2).sqrt()

    def _gradient_bound(self) -> Number:
        if self.problem.H.any():
            raise UndecidedError("gradients of a curved quadratic have no bound")
        return Enclosure.of(max(row.dot(row) for row in self._forms.g)).sqrt()

    def _dissimilarity_G(self) -> Number:
        return self._pair[0] if isinstance(self._b2, str) else self._b()

    def _dissimilarity_B(self) -> Number:
        return self._pair[1] if isinstance(self._b2, str) else Fraction(1)

    @cached_property
    def _pair(self) -> tuple[Fraction, Fraction]:
        """A pair (G, B) that is proved, as a float of each says it."""
        facts = GradientFacts(self.problem.forms)
        if self.problem.d_v or isinstance(facts.pair, str) or not facts.in_rationals:
            raise UndecidedError("a pair (G, B) that is not proved in rationals")
        return Fraction(facts.pair[0]), Fraction(facts.pair[1])

    # --- Noise, inner problems ---

    def _sigma_u(self) -> Fraction:
        return self.noise.get("sigma_u", Fraction(0)) if self.problem.d_u else Fraction(0)

    def _sigma_v(self) -> Fraction:
        return self.noise.get("sigma_v", Fraction(0)) if self.problem.d_v else Fraction(0)

    def _sigma(self) -> Fraction:
        if self.problem.d_u and self.problem.d_v:
            raise UndecidedError("one sigma for two blocks of variables")
        return self.noise.get("sigma", self._sigma_u() + self._sigma_v())

    def _joint_minimum(self) -> Fraction:
        """Least value of sum_i alpha_i (f_i(theta_i) + lambda/2 ||theta_i - w||^2), as in `Moreau.joint_minimum`."""
        (H, g), lambda_, weights = (self._forms.H, self._forms.g), self.lambda_, np.array(self.weights, dtype=object)
        shifted = [] if lambda_ is None else [each + lambda_ * identity(len(each)) for each in H]
        if lambda_ is None or not all(map(definite, shifted)):
            raise UndecidedError("an inner problem that is not strongly convex")
        resolvents = np.stack([inverse(each) for each in shifted])
        shrunk = lambda_ * np.einsum("iab,ib->ia", resolvents, g)
        envelopes = lambda_ * (identity(self.problem.d) - lambda_ * resolvents)
        lowest = minimum(np.tensordot(weights, envelopes, axes=1), weights @ shrunk)
        if lowest is None:
            raise UndecidedError("the joint objective is unbounded below, in exact arithmetic")
        return Fraction(lowest - weights @ np.sum(g * shrunk, axis=1) / (2 * lambda_))

    def _lagrangian_gap(self) -> Fraction:
        values = self._forms.values(self._points)
        return Fraction(np.array(self.weights, dtype=object) @ values - self._joint_minimum())

    # --- Participation ---

    def _selection_skew(self) -> Fraction:
        if self.trace is None or self.trace.follows_state or self.trace.selection_skew is None:
            raise UndecidedError("the skew of a selection that is not known to be even")
        return Fraction(self.trace.selection_skew[0])

    def _delta(self) -> Fraction:
        if self.trace is None or self.trace.delta is None:
            raise UndecidedError("clients that do not participate independently")
        return Fraction(self.trace.delta)

    def _tau_max(self) -> Fraction:
        """The longest delay in rounds 0 ... T, or its expectation over the participation."""
        return self._delays(0)

    def _tau_avg(self) -> Fraction:
        """The mean delay of rounds 0 ... T-1, or its expectation over the participation."""
        return self._delays(1)

    # Of a random pattern these are the expectations, as in floating point.
    _mean_tau_max, _mean_tau_avg = _tau_max, _tau_avg

    def expected_delay(self) -> Fraction:
        """E[tau_max] over rounds 0 ... T."""
        return self._delays(0)

    def _delays(self, position: int) -> Fraction:
        """The longest delay (position 0) or the mean one (1), the expectation of it where participation is random."""
        if self.trace is None or self.T is None:
            raise UndecidedError("delays without a run")
        if self.trace.rate == 1.0:
            return Fraction(0)
        if self.trace.deterministic:
            return Fraction(delays.counted_exactly(self.trace, self.T)[position])
        drawn = [(q, delays.per_round(rows)) for q, rows in participations(self.trace, self.T + 1 - position)]
        found = (q * (Fraction(int(tau.sum()), self.T) if position else int(tau.max())) for q, tau in drawn)
        return sum(found, Fraction(0))


@dataclass(frozen=True)
class ProvedOperator(Proved):
    """Certified constants of a min-max problem, see `Proved`; with ``cocoercive`` L is that of cocoercivity."""

    problem: MinMax  # type: ignore[assignment]  # in place of a quadratic
    cocoercive: bool = False

    _known: ClassVar[frozenset[str]] = _OF_RUN | _OF_OPERATORS

    @cached_property
    def _predicates(self) -> dict[str, tuple[float, Callable[[Fraction], bool]]]:
        constants = self.problem.constants()
        found: dict[str, tuple[float, Callable[[Fraction], bool]]] = {}
        if not self.cocoercive:
            found["L"] = constants["L"].value, self._bounds_norms([self.problem.operator()[0]])
        elif (near := self.problem.nearly_cocoercive) is not None:
            found["L"] = near, self._bounds_cocoercivity
        if constants["strong_convexity"].certificate is not Certificate.ABSENT:
            found["strong_convexity"] = self.problem.least_eigenvalue[0], self._bounds_curvature
        if (curved := constants["clients_strong_convexity"]).certificate is not Certificate.ABSENT:
            found["clients_strong_convexity"] = curved.value, lambda value: value > 0 and self._curved_at_least(value)
        return found

    def _bounds_cocoercivity(self, value: Fraction) -> bool:
        return value > 0 and all(is_cocoercive(M, value) for M in self._forms.H)


@dataclass(frozen=True)
class ProvedPiecewise(Proved):
    """Certified constants of piecewise quadratic functions; see `Proved`."""

    problem: Piecewise | PiecewiseSamples  # type: ignore[assignment]  # in place of a quadratic

    # What concerns neither the functions nor inner problems.
    _known: ClassVar[frozenset[str]] = _OF_RUN

    def fact(self, name: str) -> Number | None:
        find = self.problem.exact(self._start[0].tolist()).get(name)
        if find is None:
            return super().fact(name)
        found = find()
        if found is None:
            raise UndecidedError(f"{name} does not exist, in exact arithmetic")
        return Enclosure.of(found).sqrt().plain if name in ROOTS else found

    @cached_property
    def _predicates(self) -> dict[str, tuple[float, Callable[[Fraction], bool]]]:
        """None: every constant is computed."""
        return {}


def proved(problem: Problem, *, cocoercive: bool, **case: Any) -> Proved:
    """The proved constants of a problem in a ``case``, the other fields of `Proved`.

    ``cocoercive``: L of an operator that is no gradient is the constant of cocoercivity.
    """
    if (saddle := problem.seen_as(MinMax)) is not None:
        return ProvedOperator(problem=saddle, cocoercive=cocoercive, **case)
    if (piecewise := problem.seen_as(PiecewiseSamples) or problem.seen_as(Piecewise)) is not None:
        return ProvedPiecewise(problem=piecewise, **case)
    quadratic = problem.seen_as(Quadratic)
    assert quadratic is not None
    return Proved(problem=quadratic, **case)


def participations(pattern: Participation, T: int) -> list[tuple[Fraction, NDArray[np.bool_]]]:
    """Every matrix (T, n) that a pattern may draw, with its probability; `UndecidedError` where there are too many."""
    fixed = pattern.fixed(T)
    if fixed is not None:
        return [(Fraction(1), fixed)]
    laws = [pattern.law(t) for t in range(min(T, _MOST_DRAWS))]
    if None in laws:
        raise UndecidedError(f"{pattern.kind} participation is not enumerated")
    if T > _MOST_DRAWS:
        raise UndecidedError(f"more than {_MOST_DRAWS} rounds of participations")
    many = UndecidedError(f"more than {_MOST_DRAWS} participations in {T} rounds")

    def subsets(law: Subsets) -> list[Weighted]:
        if law.count() > _MOST_DRAWS:
            raise many
        return law.support()

    # Counted on the way: the sets of all rounds may be more than fit into memory.
    sets: list[list[Weighted]] = []
    for law in laws:
        assert law is not None
        sets.append(law.match(subsets=subsets, clients=possible_sets, draws=possible_sets, sets=possible_sets))
        if math.prod(map(len, sets)) > _MOST_DRAWS:
            raise many
    found = []
    for rounds in itertools.product(*sets):
        matrix = np.zeros((T, pattern.n), dtype=np.bool_)
        for t, (_, members) in enumerate(rounds):
            matrix[t, list(members)] = True
        found.append((math.prod((q for q, _ in rounds), start=Fraction(1)), matrix))
    return found
