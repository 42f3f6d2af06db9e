"""What a problem, a participation and a run certify, under the names that vocabularies call them by.

`Vocabulary.facts` maps a paper's symbol to one of these names; the same fact has another symbol in another paper. A
fact is a `Constant`: a number with the certificate that says how far it can be trusted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ratecheck.aliases import Array
from ratecheck.certification import local_work as work
from ratecheck.certification.declared import check_declared
from ratecheck.certification.gradient_facts import GradientFacts, dominates
from ratecheck.certification.local_work import Work
from ratecheck.inputs import floats
from ratecheck.participation import Graph, Participation, delays
from ratecheck.problems import Certificate, Constant, Moreau, Population, Problem, Quadratic
from ratecheck.problems.constants import CANNOT_TELL
from ratecheck.problems.matrices import is_diagonal, solution_error

# Noise is set by the caller and certified by the problem, which may add noise of its own.
NOISE = ("sigma_u", "sigma_v", "sigma", "sigma_f", "sigma_g")
# What the participation decides in every run, and the expectations of these over the runs.
DELAYS = ("tau_max", "tau_avg")
MEAN_DELAYS = ("mean_tau_max", "mean_tau_avg")
# Facts that only one number states.
ALONE = work.ALONE | {"mixing_share"}
# A smaller value of these is as true as the certified one; of all others a larger value is.
LOWER = work.LOWER | {
    "mu_g", "inner_convexity", "strong_convexity", "clients_strong_convexity", "polyak_lojasiewicz", "delta",
    "selection_skew", "joint_minimum",
}  # fmt: skip
# Whole numbers that are known of every problem, and why.
STATED: Mapping[str, tuple[Callable[[Problem], int], str]] = {
    "relative_noise": (lambda _: 0, "only additive noise is run, which has none"),
    "dimension": (lambda problem: problem.d, "variables of a client"),
    "inner_error": (lambda _: 0, "inner problems are solved exactly"),
}


@dataclass(frozen=True)
class CertifiedCase:
    """What constants are certified of: a problem, a participation, and what the caller sets.

    ``noise`` maps names of `NOISE` to numbers, ``parameters`` names of the method's parameters (such as lambda_ and
    alpha) to numbers or arrays, ``start`` the names x0, y0, v0 to arrays. ``participation`` may be None for statements
    about no run. ``T`` is the number of rounds, None where nothing needs it. ``work`` is what each client does in a
    round, None where nothing needs it. ``samples``: bounds have to hold for what the oracles answer, noise included.
    ``cocoercive``: L is that of <A z - A w, z - w> >= ||A z - A w||^2/L, and no Lipschitz constant.
    """

    problem: Problem
    participation: Participation | None
    T: int | None
    noise: Mapping[str, float] = field(default_factory=dict)
    parameters: Mapping[str, ArrayLike] = field(default_factory=dict)
    start: Mapping[str, ArrayLike] = field(default_factory=dict)
    work: Work | None = None
    samples: bool = False
    cocoercive: bool = False

    def fact(self, name: str) -> Constant | None:
        """The constant of that name; None where problems of this kind know no such thing."""
        if name in _FACTS:
            return _FACTS[name](self)
        if name in self._of_problem:
            return self._of_problem[name]
        return None if self.work is None else self.work.fact(name)

    def draws(self, name: str) -> bool:
        """Whether every run has a value of its own of the fact, and what is certified is its expectation."""
        pattern = self.participation
        return name in DELAYS and pattern is not None and pattern.rate < 1.0 and not pattern.deterministic

    @property
    def graph(self) -> Graph | None:
        """The graph of the clients, where they are on one."""
        return None if self.participation is None else self.participation.graph

    @property
    def weights(self) -> Array | None:
        """The clients' weights (n,) in the objective that the method descends; None for those of the problem."""
        return None if self.work is None else self.work.weights

    @cached_property
    def _pair(self) -> tuple[float, float] | str:
        problem = self.problem.objective
        assert problem is not None
        return GradientFacts(problem.forms).pair

    @cached_property
    def _of_problem(self) -> Mapping[str, Constant]:
        start = {k: np.asarray(v, dtype=float) for k, v in self.start.items()}
        found = self.problem.certified(start, self.noise, self.weights)
        check_declared(self.problem, found, start)
        return found


def _renamed(name: str, constant: Constant, value: float, reason: str | None = None) -> Constant:
    return Constant(name, value, constant.certificate, constant.reason if reason is None else reason)


def _total_noise(case: CertifiedCase) -> Constant | None:
    """The noise of the only block."""
    problem = case.problem.single
    if problem.d_u and problem.d_v:
        return None
    found = case._of_problem["sigma_u" if problem.d_u else "sigma_v"]  # noqa: SLF001  # part of this file
    return _renamed("sigma", found, found.value)


def _mean_gradients(case: CertifiedCase) -> Constant:
    """(1/n) sum_i ||grad f_i||^2 at the start."""
    total = case._of_problem["B_0"]  # noqa: SLF001  # part of this file
    return _renamed("mean_B_0", total, total.value / case.problem.n)


def _steepest(case: CertifiedCase) -> Constant | None:
    """L_f; that of the clients' samples has no bound where Gaussian noise is added."""
    if case.problem.bilevel is None:
        return None
    found = _of_samples("L_f")(case)
    assert found is not None
    if case.samples and case.noise.get("sigma_f"):
        return Constant("L_f", math.inf, Certificate.ABSENT, "a gradient with Gaussian noise is unbounded")
    return found


def _of_samples(name: str) -> Callable[[CertifiedCase], Constant | None]:
    """A constant of the clients' functions, or that of every sample where bounds have to hold for what is sampled."""

    def find(case: CertifiedCase) -> Constant | None:
        known = case._of_problem  # noqa: SLF001  # part of this file
        sampled = known.get(f"{name}_samples") if case.samples else None
        return known.get(name) if sampled is None else sampled

    return find


# How delays are counted at the end.
COUNTED = "counted; where the pattern ends with round T-1, everybody may take part in round T"


def _delay(name: str, position: int) -> Callable[[CertifiedCase], Constant | None]:
    def find(case: CertifiedCase) -> Constant | None:
        if case.participation is None or case.T is None:
            return None
        if case.participation.rate == 1.0:
            return Constant(name, 0.0, Certificate.EXACT, "everybody takes part in every round")
        if case.participation.deterministic:
            return Constant(name, delays.counted(case.participation, case.T)[position], Certificate.EXACT, COUNTED)
        return _expected_delay(name, case, position)

    return find


def expected_delay(case: CertifiedCase, position: int) -> tuple[float, float] | None:
    """E[tau_max] (position 0) or E[tau_avg] (1) of a random pattern, and its error; None where it needs a run."""
    assert case.participation is not None
    assert case.T is not None
    if case.participation.follows_state:
        return None
    found = delays.expectation(case.participation, case.T)
    if found is not None:
        return float(found[position]), _ROUNDING * abs(float(found[position]))
    drawn = delays.distribution(case.participation, case.T, _DRAWS)
    return float(drawn.mean[position]), _ERRORS * float(drawn.standard_error[position])


def _expected_delay(name: str, case: CertifiedCase, position: int) -> Constant | None:
    found = expected_delay(case, position)
    if found is None:
        return None
    value, error = found
    if error <= _ROUNDING * value:
        return Constant(name, value, Certificate.EXACT, "expectation over the participation")
    why = f"mean of {_DRAWS} draws plus {_ERRORS} standard errors"
    return Constant(name, value + error, Certificate.UPPER_BOUND, why)


# Draws by which an expected delay is estimated where it is not computed, and the margin in standard errors; rounding
# of one that is computed.
_DRAWS, _ERRORS, _ROUNDING = 4000, 5, 1e-10


def _least_probability(case: CertifiedCase) -> Constant | None:
    pattern = case.participation
    if pattern is not None and pattern.delta is not None:
        return Constant("delta", pattern.delta, Certificate.EXACT, "smallest probability of a client in a round")
    return None


def _inner_convexity(case: CertifiedCase) -> Constant | None:
    envelope = _envelope(case)
    if envelope is None:
        return None
    kind = envelope.constants()["ell"].certificate
    # An upper bound of the modulus of weak convexity is a lower bound here.
    weights = _weights(case)
    least = float(weights.min()) * (envelope.lambda_ - envelope.ell)
    return Constant("inner_convexity", least, kind, "smallest alpha_i times lambda minus the modulus of weak convexity")


def _skew(case: CertifiedCase) -> Constant | None:
    """The least relative skew: 1 where the selected clients are those with the largest gradients, or all."""
    pattern = case.participation
    if pattern is None:
        return None
    if pattern.selection_skew is None:
        return None
    least, why = pattern.selection_skew
    return Constant("selection_skew", least, Certificate.EXACT, why)


def _mixing_rate(case: CertifiedCase) -> Constant | None:
    """||W - 11'/n||_2 of the graph, with a margin for the rounding of its singular values."""
    if (graph := case.graph) is None:
        return None
    rounded = graph.mixing_rate * (1 + _ROUNDING) + _ROUNDING if graph.n > 1 else 0.0
    why = "largest singular value of W - 11'/n, and its rounding"
    return Constant("mixing_rate", rounded, Certificate.UPPER_BOUND, why)


def _mixing_change(case: CertifiedCase) -> Constant | None:
    """||I - W||_2 of the graph, with a margin for its rounding, where W is symmetric."""
    if (graph := case.graph) is None:
        return None
    found = graph.mixing_change
    if math.isinf(found):
        return Constant("mixing_change", math.inf, Certificate.ABSENT, "the mixing matrix is not symmetric")
    why = "largest eigenvalue of I - W, and its rounding"
    return Constant("mixing_change", found * (1 + _ROUNDING), Certificate.UPPER_BOUND, why)


def _mixing_share(case: CertifiedCase) -> Constant | None:
    """The probability with which a round mixes clients on a graph."""
    if (graph := case.graph) is None:
        return None
    return Constant("mixing_share", graph.mixes, Certificate.EXACT, "the probability that a round mixes")


def _weights(case: CertifiedCase) -> Array:
    """The clients' weights alpha_i."""
    n = case.problem.n
    given = case.parameters.get("alpha")
    weights = np.full(n, 1 / n) if given is None else np.broadcast_to(floats("alpha", given), (n,))
    return np.asarray(weights, dtype=float)


def _total_weights(case: CertifiedCase) -> Array:
    """The weights alpha_i, of clients that are counted by type their sum over the type."""
    counts, weights = case.problem.multiplicities, _weights(case)
    return weights if counts is None else np.asarray(counts * case.problem.by_row("alpha", weights))


def _envelope(case: CertifiedCase) -> Moreau | None:
    """FLAME's envelopes, where its parameter is given."""
    if "lambda_" not in case.parameters:
        return None
    return Moreau(case.problem.representatives.single, float(np.asarray(case.parameters["lambda_"])))


def _joint_minimum(case: CertifiedCase) -> Constant | None:
    """FLAME's joint minimum; see `Moreau.joint_minimum`."""
    envelope = _envelope(case)
    return None if envelope is None else envelope.joint_minimum(_total_weights(case))


def _lagrangian_gap(case: CertifiedCase) -> Constant | None:
    """FLAME's L^0 - F^*; see `Moreau.lagrangian_gap`."""
    envelope = _envelope(case)
    if envelope is None:
        return None
    x = np.asarray(case.start.get("x0", np.zeros(case.problem.d)), dtype=float)
    return envelope.lagrangian_gap(x, _total_weights(case))


# How a fact is found.
Fact = Callable[[CertifiedCase], Constant | None]


def _of_minimum(name: str, find: Fact) -> Fact:
    """A constant of the minimum: by linear algebra on quadratics, else what the problem itself certifies."""

    def found(case: CertifiedCase) -> Constant | None:
        if case.problem.objective is None:
            return case._of_problem.get(name)  # noqa: SLF001  # part of this file
        return find(case)

    return found


def _distance_at_start(case: CertifiedCase) -> Constant | None:
    """||u^0 - u*||^2 + (1/n) sum_i ||v_i^0 - v_i*||^2, to the minimiser of least norm, as ``distance2`` records it."""
    problem = case.problem.objective
    assert problem is not None
    found = problem.minimizer()
    if found is None:
        return Constant("distance2_0", math.inf, Certificate.ABSENT, problem.no_minimum)
    away = (start - point for start, point in zip(problem.start(case.start), found, strict=True))
    square = float(problem.forms.distance2(*away))
    # The point solves a system of equations to within the rounding of it.
    matrix, right = problem.joint()
    off = solution_error(matrix, right, problem.joint_point(*found))[0] * float(np.finfo(float).eps)
    # What is an accusation by less than that is none.
    bound = (math.sqrt(square) + off) ** 2
    if off <= _ROUNDING * math.sqrt(square):
        return Constant("distance2_0", bound, Certificate.EXACT, "distance to the minimiser by linear algebra")
    if not math.isfinite(off):
        return Constant("distance2_0", math.inf, Certificate.ABSENT, f"{CANNOT_TELL} where the minimiser is")
    why = "distance to the minimiser, with what the solution of the linear system may be off"
    return Constant("distance2_0", bound, Certificate.UPPER_BOUND, why)


def _strong_convexity(case: CertifiedCase) -> Constant | None:
    """The least eigenvalue of the Hessian of f, a function of shared variables alone."""
    problem = case.problem.objective
    if problem is None or problem.d_v:
        return None
    values, off = _spectrum(problem)
    if float(values[0]) <= off[0]:
        reason = f"the Hessian of f has the eigenvalue {values[0]:.6g}"
        if abs(values[0]) > 0 and abs(values[0]) <= off[0]:
            reason = _cannot_tell(values, 0)
        return Constant("strong_convexity", math.inf, Certificate.ABSENT, reason)
    return _below(case, "strong_convexity", float(values[0]), float(off[0]), "least eigenvalue of the Hessian of f")


def _clients_strong_convexity(case: CertifiedCase) -> Constant | None:
    """The least eigenvalue of the clients' Hessians, functions of shared variables alone."""
    name, problem = "clients_strong_convexity", case.problem.objective
    if problem is None or problem.d_v:
        return None
    H = problem.forms.H
    if is_diagonal(H):
        # An entry is the eigenvalue that it is.
        least, off = float(np.diagonal(H, axis1=1, axis2=2).min()), 0.0
    else:
        values = np.linalg.eigvalsh(H)
        off = 8 * H.shape[1] * float(np.finfo(float).eps) * float(np.abs(values).max())
        least = float(values.min())
    if least <= off:
        why = f"a client's Hessian has the eigenvalue {least:.6g}"
        if abs(least) <= off > 0:
            why = f"{CANNOT_TELL} the eigenvalue {least:.3g} of a client's Hessian from 0"
        return Constant(name, math.inf, Certificate.ABSENT, why)
    return _below(case, name, least, off, "least eigenvalue of the clients' Hessians")


def _spectrum(problem: Quadratic | Population) -> tuple[Array, Array]:
    """The eigenvalues of the Hessian of f from the least one on, and what each of them may be off.

    Those of a diagonal matrix are its entries, each known to a share of itself.
    """
    forms, eps, matrix = problem.forms, float(np.finfo(float).eps), problem.mean()[0]
    if is_diagonal(forms.H):
        entries = np.diagonal(matrix)
        off = 0.0 if problem.n == 1 else (len(forms.g) + 4) * eps
        order = np.argsort(entries)
        sizes = np.tensordot(forms.each, np.abs(forms.H), axes=1).diagonal() / problem.n
        return np.asarray(entries[order], dtype=float), np.asarray(off * sizes[order], dtype=float)
    values = np.asarray(np.linalg.eigvalsh(matrix), dtype=np.float64)
    return values, np.full(len(values), 8 * len(values) * eps * float(np.abs(values).max()))


def _cannot_tell(values: Array, place: int) -> str:
    largest = float(np.abs(values).max())
    return f"{CANNOT_TELL} the eigenvalue {values[place]:.3g} of the Hessian of f from 0 beside {largest:.3g}"


def _below(case: CertifiedCase, name: str, value: float, off: float, what: str) -> Constant:
    """An eigenvalue, rounded down by what it may be off."""
    # Where f is a multiple of ||x||^2 it may exceed L all the same.
    least = min(value - off, case._of_problem["L"].value)  # noqa: SLF001  # part of this file
    if off <= _ROUNDING * value:
        return Constant(name, least, Certificate.EXACT, what)
    return Constant(name, least, Certificate.LOWER_BOUND, f"{what}, rounded down by what it may be off")


def _polyak_lojasiewicz(case: CertifiedCase) -> Constant | None:
    """The least positive eigenvalue of the Hessian of f, a function of shared variables alone.

    Of a quadratic that is bounded below, ||grad f||^2 >= 2 mu (f - inf f) holds up to that eigenvalue.
    """
    name, problem = "polyak_lojasiewicz", case.problem.objective
    if problem is None or problem.d_v:
        return None
    values, off = _spectrum(problem)
    if (values < -off).any() or problem.minimizer() is None:
        return Constant(name, math.inf, Certificate.ABSENT, problem.no_minimum)
    kept = np.flatnonzero(values > off)
    if not kept.size:
        return Constant(name, math.inf, Certificate.ABSENT, "f has no curvature")
    found = _below(
        case, name, float(values[kept[0]]), float(off[kept[0]]), "least positive eigenvalue of the Hessian of f"
    )
    # What is stored as 0 in a diagonal matrix is 0.
    sure = not values[: kept[0]].any() and not off[: kept[0]].any()
    if found.value <= 0 or not (sure or _no_smaller(problem, found.value)):
        why = f"{CANNOT_TELL} the least positive curvature of f from 0"
        return Constant(name, math.inf, Certificate.ABSENT, why)
    return found


# Variables for which a matrix is decided in rational arithmetic while a search waits.
_RATIONAL = 24


def _no_smaller(problem: Quadratic | Population, least: float) -> bool:
    """Whether no eigenvalue of the Hessian of f lies between 0 and ``least``, in rational arithmetic."""
    if problem.d > _RATIONAL:
        return False
    return dominates(problem.forms.exactly, Fraction(least))


def _minimiser_heterogeneity(case: CertifiedCase) -> Constant | None:
    """((1/n) sum_i ||grad f_i(x*)||^2)^(1/2), of functions of shared variables alone."""
    name, problem = "minimiser_heterogeneity", case.problem.objective
    if problem is None or problem.d_v:
        return None
    curved = _strong_convexity(case)
    if curved is None or curved.certificate is Certificate.ABSENT:
        unsure = curved is not None and curved.reason.startswith(CANNOT_TELL)
        why = f"{CANNOT_TELL} whether f has one minimiser" if unsure else "f has no minimiser, or several"
        return Constant(name, math.inf, Certificate.ABSENT, why)
    found = problem.minimizer()
    assert found is not None
    point = found[0]
    matrix, right = problem.joint()
    eps = float(np.finfo(float).eps)
    off = solution_error(matrix, right, problem.joint_point(*found))[0] * eps
    forms = problem.forms
    H, g = forms.H, forms.g
    gradients = H @ point - g
    # What each gradient may be off: where the minimiser is, and the rounding of products and sums.
    sizes = np.linalg.norm(H, 2, axis=(1, 2))
    terms = sizes * float(np.linalg.norm(point)) + np.linalg.norm(g, axis=1)
    errors = sizes * off + 4 * (problem.d + 2) ** 1.5 * eps * terms
    norms = np.linalg.norm(gradients, axis=1) + errors
    value = math.sqrt(float(forms.each @ norms**2) / problem.n) * (1 + 8 * eps)
    if not math.isfinite(value):
        return Constant(name, math.inf, Certificate.ABSENT, f"{CANNOT_TELL} where the minimiser is")
    exact = float(errors.max()) <= _ROUNDING * value
    kind = Certificate.EXACT if exact else Certificate.UPPER_BOUND
    return Constant(name, value, kind, "gradients at the minimiser, by linear algebra")


def _lipschitz(case: CertifiedCase) -> Constant | None:
    """L; of an operator that is no gradient the constant of cocoercivity is another one."""
    known = case._of_problem  # noqa: SLF001  # part of this file
    found = known.get("cocoercivity") if case.cocoercive else None
    return known.get("L") if found is None else _renamed("L", found, found.value)


def _convexity(case: CertifiedCase) -> Constant | None:
    """The least eigenvalue of a client's Hessian anywhere, or a lower bound, where that is not negative."""
    if (own := case._of_problem.get("convexity")) is not None:  # noqa: SLF001  # part of this file
        return own
    least = case.problem.least_curvature
    if least is None:
        return None
    if least < 0:
        return Constant("convexity", math.inf, Certificate.ABSENT, f"a client has the curvature {least:.6g}")
    return Constant("convexity", least, Certificate.LOWER_BOUND, "least eigenvalue of the Hessians")


def _of_gradients(name: str) -> Fact:
    """What bounds gradients at every point, of functions of shared variables alone."""

    def found(case: CertifiedCase) -> Constant | None:
        problem = case.problem.objective
        if problem is None:
            return case.problem.of_gradients(name)
        if name == "gradient_bound":
            return GradientFacts(problem.forms).bound
        return None if problem.d_v else GradientFacts(problem.forms).interpolation

    return found


def _dissimilarity_pair(name: str) -> Fact:
    """G or B of (1/n) sum_i ||grad f_i||^2 <= G^2 + B^2 ||grad f||^2, which hold together; (b, 1) where b exists."""

    def found(case: CertifiedCase) -> Constant | None:
        known = case._of_problem.get("b")  # noqa: SLF001  # part of this file
        problem = case.problem.objective
        if known is not None and known.certificate is not Certificate.ABSENT:
            if name == "dissimilarity_G":
                return _renamed(name, known, known.value, f"b, with B = 1: {known.reason}")
            return Constant(name, 1.0, Certificate.EXACT, "b bounds the dissimilarity")
        if problem is None:
            return case.problem.of_gradients(name)
        if problem.d_v:
            return None
        pair = case._pair  # noqa: SLF001  # part of this file
        if isinstance(pair, str):
            return Constant(name, math.inf, Certificate.ABSENT, pair)
        value = pair[name == "dissimilarity_B"]
        return Constant(name, value, Certificate.UPPER_BOUND, "a form that is shown to be nonnegative everywhere")

    return found


def _stated(name: str) -> Fact:
    value, why = STATED[name]
    return lambda case: Constant(name, float(value(case.problem)), Certificate.EXACT, why)


def _visited(name: str) -> Fact:
    """What only a run shows."""

    def found(case: CertifiedCase) -> Constant | None:
        del case
        why = f"{CANNOT_TELL} before a run, and it is measured on quadratics in runs without randomness alone"
        return Constant(name, math.inf, Certificate.ABSENT, why)

    return found


_FACTS: dict[str, Fact] = {
    "sigma": _total_noise,
    "mean_B_0": _mean_gradients,
    "mu_g": _of_samples("mu_g"),
    "L_1": _of_samples("L_1"),
    "L_f": _steepest,
    **{name: _delay(name, position) for names in (DELAYS, MEAN_DELAYS) for position, name in enumerate(names)},
    "delta": _least_probability,
    "inner_convexity": _inner_convexity,
    "selection_skew": _skew,
    "mixing_rate": _mixing_rate,
    "mixing_change": _mixing_change,
    "mixing_share": _mixing_share,
    "joint_minimum": _joint_minimum,
    "lagrangian_gap": _lagrangian_gap,
    "L": _lipschitz,
    "convexity": _convexity,
    "distance2_0": _of_minimum("distance2_0", _distance_at_start),
    "strong_convexity": _of_minimum("strong_convexity", _strong_convexity),
    "clients_strong_convexity": _of_minimum("clients_strong_convexity", _clients_strong_convexity),
    "polyak_lojasiewicz": _of_minimum("polyak_lojasiewicz", _polyak_lojasiewicz),
    "minimiser_heterogeneity": _of_minimum("minimiser_heterogeneity", _minimiser_heterogeneity),
    "gradient_bound": _of_gradients("gradient_bound"),
    "interpolation": _of_gradients("interpolation"),
    "dissimilarity_G": _dissimilarity_pair("dissimilarity_G"),
    "dissimilarity_B": _dissimilarity_pair("dissimilarity_B"),
    **{name: _stated(name) for name in STATED},
    "visited_gradient": _visited("visited_gradient"),
    "visited_distance": _visited("visited_distance"),
}
