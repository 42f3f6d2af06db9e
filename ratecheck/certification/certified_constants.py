"""Constants that a problem, a participation and a run certify, by their names in vocabularies.

`Vocabulary.facts` maps a paper's symbol to one of these names; the same fact has another symbol in another paper. A
fact is a `Constant`: a number with the certificate that says how far it can be trusted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ratecheck.aliases import Array
from ratecheck.certification import local_work as work
from ratecheck.certification.declared import check_declared
from ratecheck.certification.gradient_facts import GradientFacts
from ratecheck.certification.local_work import Work
from ratecheck.certification.minimum_facts import OF_MINIMUM, MinimumFacts
from ratecheck.certification.noise_facts import NOISE_FACTS, NoiseFacts
from ratecheck.certification.own_functions import of_both, unequal
from ratecheck.inputs import floats
from ratecheck.noise import NoiseLaw
from ratecheck.participation import Participation, delays
from ratecheck.problems import Certificate, Constant, Moreau, Problem
from ratecheck.problems.constants import CANNOT_TELL

# Noise is set by the caller and certified by the problem, which may add noise of its own.
NOISE = ("sigma_u", "sigma_v", "sigma", "sigma_f", "sigma_g")
# What the participation decides in every run, and the expectations of these over the runs.
DELAYS = ("tau_max", "tau_avg")
MEAN_DELAYS = ("mean_tau_max", "mean_tau_avg")
# Facts that only one number states.
ALONE = work.ALONE | {"mixing_share", "noise_order"}
# A smaller value of these is as true as the certified one; of all others a larger value is.
LOWER = work.LOWER | {
    "mu_g", "inner_convexity", "strong_convexity", "clients_strong_convexity", "polyak_lojasiewicz",
    "quadratic_growth", "delta", "selection_skew", "joint_minimum",
}  # fmt: skip
# Whole numbers that are known of every problem, and why.
STATED: Mapping[str, tuple[Callable[[Problem], int], str]] = {
    "relative_noise": (lambda _: 0, "the noise of this run is additive, which has none"),
    "dimension": (lambda problem: problem.d, "variables of a client"),
    "inner_error": (lambda _: 0, "inner problems are solved exactly"),
}


@dataclass(frozen=True)
class CertifiedCase:
    """The case for which constants are certified: a problem, a participation, and what the caller sets.

    ``noise`` maps names of `NOISE` to numbers, ``parameters`` names of the method's parameters (such as lambda_ and
    alpha) to numbers or arrays, ``start`` the names x0, y0, v0 to arrays. ``participation`` may be None for statements
    about no run. ``T`` is the number of rounds, None where nothing needs it. ``work`` is what each client does in a
    round, None where nothing needs it. ``samples``: bounds have to hold for what the oracles answer, noise included.
    ``cocoercive``: L is that of <A z - A w, z - w> >= ||A z - A w||^2/L, and no Lipschitz constant. ``law`` is the law
    of the noise, None for that of the problem. ``own_functions``: the method's steps are those on f_i. ``apart`` is the
    case that finds what does not depend on the participation.
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
    law: NoiseLaw | None = None
    own_functions: bool = False
    # Not given: a case that is another one in anything else has to find all anew.
    apart: CertifiedCase | None = field(default=None, init=False, repr=False, compare=False)

    def on(self, participation: Participation) -> CertifiedCase:
        """The case with this participation, which knows of the problem what this one does."""
        found = replace(self, participation=participation)
        object.__setattr__(found, "apart", self)
        return found

    @cached_property
    def drawn_delays(self) -> delays.Distribution:
        """The delays of draws of a pattern whose expectations are not computed: of both facts at once."""
        assert self.participation is not None
        assert self.T is not None
        return delays.distribution(self.participation, self.T, _DRAWS)

    def fact(self, name: str) -> Constant | None:
        """The constant of that name; None where problems of this kind know no such thing."""
        found = self.of_problem(name)
        return of_both(name, found, self.problem.shares) if found is not None and self.of_both else found

    @property
    def of_both(self) -> bool:
        """Whether constants have to hold of clients' functions with and without their weights."""
        return self.own_functions and unequal(self.problem.shares)

    def of_problem(self, name: str) -> Constant | None:
        """The `fact` of the functions that the problem has as the clients'."""
        if name in _FACTS:
            return _FACTS[name](self)
        if name in self.known:
            return self._of_law(self.known[name]) if name in NOISE else self.known[name]
        return None if self.work is None else self.work.fact(name)

    def draws(self, name: str) -> bool:
        """Whether every run has a value of its own of the fact, and what is certified is its expectation."""
        pattern = self.participation
        return name in DELAYS and pattern is not None and pattern.rate < 1.0 and not pattern.deterministic

    @property
    def noisy(self) -> bool:
        """Whether something is added to gradients."""
        return any(self.noise.values()) or self._law.relative > 0

    @property
    def _law(self) -> NoiseLaw:
        return self.problem.law if self.law is None else self.law

    @cached_property
    def noises(self) -> NoiseFacts:
        """The facts of the noise."""
        start = {k: np.asarray(v, dtype=float) for k, v in self.start.items()}
        return NoiseFacts(self.problem, self._law, self.noise, start, lambda: _total_noise(self))

    def _of_law(self, level: Constant) -> Constant:
        """A certified level of noise under the law; relative noise grows with the squares of sampled gradients, too."""
        law = self._law
        if self.law is not None:
            level = replace(level, reason=level.reason.replace("Gaussian", law.kind))
        if not law.relative or self.problem.batch is None:
            return level
        return replace(level, value=level.value * math.sqrt(1 + law.relative), certificate=Certificate.UPPER_BOUND)

    @property
    def weights(self) -> Array | None:
        """The clients' weights (n,) in the objective that the method descends; None for those of the problem."""
        return None if self.work is None else self.work.weights

    @cached_property
    def minimum(self) -> MinimumFacts | None:
        """The facts of the minimum where f is quadratic."""
        if self.apart is not None:
            return self.apart.minimum
        problem = self.problem.objective
        return None if problem is None else MinimumFacts(problem, self.problem.start(self.start), self.known["L"].value)

    @cached_property
    def gradients(self) -> GradientFacts | None:
        """The facts of gradients where f is quadratic."""
        if self.apart is not None:
            return self.apart.gradients
        return None if self.problem.objective is None else GradientFacts(self.problem.objective.forms)

    @cached_property
    def known(self) -> Mapping[str, Constant]:
        """The constants that the problem certifies; declared ones are tested at some points."""
        if self.apart is not None:
            return self.apart.known
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
    found = case.of_problem("sigma_u" if problem.d_u else "sigma_v")
    assert found is not None
    return _renamed("sigma", found, found.value)


def _mean_gradients(case: CertifiedCase) -> Constant:
    """(1/n) sum_i ||grad f_i||^2 at the start."""
    total = case.known["B_0"]
    return _renamed("mean_B_0", total, total.value / case.problem.n)


def _steepest(case: CertifiedCase) -> Constant | None:
    """L_f; that of the clients' samples has no bound where Gaussian noise is added."""
    if not case.problem.bilevel:
        return None
    found = _of_samples("L_f")(case)
    assert found is not None
    if case.samples and case.noise.get("sigma_f"):
        return Constant.absent("L_f", "a gradient with Gaussian noise is unbounded")
    return found


def _of_samples(name: str) -> Callable[[CertifiedCase], Constant | None]:
    """A constant of the clients' functions, or that of every sample where bounds have to hold for what is sampled."""

    def find(case: CertifiedCase) -> Constant | None:
        known = case.known
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
            return Constant.exact(name, 0.0, "everybody takes part in every round")
        if case.participation.deterministic:
            return Constant.exact(name, delays.counted(case.participation, case.T)[position], COUNTED)
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
        return float(found[position]), ROUNDING * abs(float(found[position]))
    drawn = case.drawn_delays
    return float(drawn.mean[position]), _ERRORS * float(drawn.standard_error[position])


def _expected_delay(name: str, case: CertifiedCase, position: int) -> Constant | None:
    found = expected_delay(case, position)
    if found is None:
        return None
    value, error = found
    if error <= ROUNDING * value:
        return Constant.exact(name, value, "expectation over the participation")
    why = f"mean of {_DRAWS} draws plus {_ERRORS} standard errors"
    return Constant(name, value + error, Certificate.UPPER_BOUND, why)


# Draws by which an expected delay is estimated where it is not computed, and the margin in standard errors; rounding
# of one that is computed.
_DRAWS, _ERRORS, ROUNDING = 4000, 5, 1e-10


def _least_probability(case: CertifiedCase) -> Constant | None:
    pattern = case.participation
    if pattern is not None and pattern.delta is not None:
        return Constant.exact("delta", pattern.delta, "smallest probability of a client in a round")
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
    return Constant.exact("selection_skew", least, why)


def _mixing_rate(case: CertifiedCase) -> Constant | None:
    """||W - 11'/n||_2 of the graph, with a margin for the rounding of its singular values."""
    pattern = case.participation
    if pattern is None or (found := pattern.mixing_rate) is None:
        return None
    # Of W = 11'/n there is nothing left to round.
    rounded = found * (1 + ROUNDING) + ROUNDING if found else 0.0
    why = "largest singular value of W - 11'/n, and its rounding"
    return Constant("mixing_rate", rounded, Certificate.UPPER_BOUND, why)


def _mixing_change(case: CertifiedCase) -> Constant | None:
    """||I - W||_2 of the graph, with a margin for its rounding, where W is symmetric."""
    if case.participation is None or (found := case.participation.mixing_change) is None:
        return None
    if math.isinf(found):
        return Constant.absent("mixing_change", "the mixing matrix is not symmetric")
    why = "largest eigenvalue of I - W, and its rounding"
    return Constant("mixing_change", found * (1 + ROUNDING), Certificate.UPPER_BOUND, why)


def _mixing_share(case: CertifiedCase) -> Constant | None:
    """The probability with which a round mixes clients on a graph."""
    pattern = case.participation
    if pattern is None or pattern.mixing is None:
        return None
    return Constant.exact("mixing_share", pattern.mixes, "the probability that a round mixes")


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


def _of_minimum(name: str) -> Fact:
    """A constant of the minimum: by linear algebra on quadratics, else what the problem itself certifies."""

    def found(case: CertifiedCase) -> Constant | None:
        if case.minimum is None:
            return case.known.get(name)
        constant: Constant | None = getattr(case.minimum, name)
        return constant

    return found


def _lipschitz(case: CertifiedCase) -> Constant | None:
    """L; of an operator that is no gradient the constant of cocoercivity is another one."""
    known = case.known
    found = known.get("cocoercivity") if case.cocoercive else None
    return known.get("L") if found is None else _renamed("L", found, found.value)


def _convexity(case: CertifiedCase) -> Constant | None:
    """The least eigenvalue of a client's Hessian anywhere, or a lower bound, where that is not negative."""
    if (own := case.known.get("convexity")) is not None:
        return own
    least = case.problem.least_curvature
    if least is None:
        return None
    if least < 0:
        return Constant.absent("convexity", f"a client has the curvature {least:.6g}")
    return Constant("convexity", least, Certificate.LOWER_BOUND, "least eigenvalue of the Hessians")


def _generalized_smoothness(name: str) -> Fact:
    """L_0 or L_1 of ||Hessian of f_i|| <= L_0 + L_1 ||grad f_i||, a pair; (L, 0) unless a problem knows another one."""

    def found(case: CertifiedCase) -> Constant | None:
        pair, L = case.problem.generalized_smoothness, case.known.get("L")
        if pair is not None:
            why = "squares of second derivatives less those of slopes"
            return Constant(name, pair[name == "generalized_L1"], Certificate.UPPER_BOUND, why)
        if L is None or L.certificate is Certificate.ABSENT:
            return None if L is None else Constant.absent(name, L.reason)
        if name == "generalized_L1":
            return Constant.exact(name, 0.0, "L bounds the Hessians")
        return _renamed(name, L, L.value, "L, with L_1 = 0")

    return found


def _weak_convexity(case: CertifiedCase) -> Constant | None:
    """The least rho >= 0 with f_i + rho/2 ||x||^2 convex, from the clients' least curvature, or L."""
    name, least, L = "weak_convexity", case.problem.least_curvature, case.known.get("L")
    if least is not None:
        # Without an L the least curvature is no eigenvalue among larger ones, and is off by its own digits at most.
        largest = L.value if L is not None and math.isfinite(L.value) else -least
        off = 0.0 if least >= 0 else 64 * float(np.finfo(float).eps) * largest
        # No curvature is below -L, whatever rounding adds to it.
        found = min(max(0.0, off - least), math.inf if L is None else L.value)
        return Constant(name, found, Certificate.UPPER_BOUND, "least eigenvalue of the Hessians")
    if L is None or L.certificate is Certificate.ABSENT:
        return None if L is None else Constant.absent(name, L.reason)
    return Constant(name, L.value, Certificate.UPPER_BOUND, "no curvature is below -L")


def _quadratic_growth(case: CertifiedCase) -> Constant | None:
    """The problem's own, or the constant of the Polyak-Lojasiewicz inequality, which implies growth.

    Source: H. Karimi, J. Nutini, M. Schmidt, ECML PKDD 2016.
    """
    if (own := case.known.get("quadratic_growth")) is not None:
        return own
    found = case.fact("polyak_lojasiewicz")
    return None if found is None else replace(found, name="quadratic_growth")


def _of_gradients(name: str) -> Fact:
    """Bounds of gradients at every point, for functions of shared variables alone."""

    def found(case: CertifiedCase) -> Constant | None:
        if case.gradients is None:
            return case.problem.of_gradients(name)
        if name == "gradient_bound":
            return case.gradients.bound
        return None if case.problem.single.d_v else case.gradients.interpolation

    return found


def _dissimilarity_pair(name: str) -> Fact:
    """G or B of (1/n) sum_i ||grad f_i||^2 <= G^2 + B^2 ||grad f||^2, which hold together; (b, 1) where b exists."""

    def found(case: CertifiedCase) -> Constant | None:
        known = case.known.get("b")
        if known is not None and known.certificate is not Certificate.ABSENT:
            if name == "dissimilarity_G":
                return _renamed(name, known, known.value, f"b, with B = 1: {known.reason}")
            return Constant.exact(name, 1.0, "b bounds the dissimilarity")
        if case.gradients is None:
            return case.problem.of_gradients(name)
        if case.problem.single.d_v:
            return None
        pair = case.gradients.pair
        if isinstance(pair, str):
            return Constant.absent(name, pair)
        value = pair[name == "dissimilarity_B"]
        return Constant(name, value, Certificate.UPPER_BOUND, "a form that is shown to be nonnegative everywhere")

    return found


def _stated(name: str) -> Fact:
    value, why = STATED[name]
    return lambda case: Constant.exact(name, float(value(case.problem)), why)


def _of_noise(name: str) -> Fact:
    return lambda case: case.noises.fact(name)


def _visited(name: str) -> Fact:
    """Constants that only a run shows."""

    def found(case: CertifiedCase) -> Constant | None:
        del case
        why = f"{CANNOT_TELL} before a run, and it is measured on quadratics in runs without randomness alone"
        return Constant.absent(name, why)

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
    **{name: _of_minimum(name) for name in OF_MINIMUM},
    **{name: _generalized_smoothness(name) for name in ("generalized_L0", "generalized_L1")},
    "weak_convexity": _weak_convexity,
    "quadratic_growth": _quadratic_growth,
    "gradient_bound": _of_gradients("gradient_bound"),
    "interpolation": _of_gradients("interpolation"),
    "dissimilarity_G": _dissimilarity_pair("dissimilarity_G"),
    "dissimilarity_B": _dissimilarity_pair("dissimilarity_B"),
    **{name: _stated(name) for name in STATED},
    **{name: _of_noise(name) for name in NOISE_FACTS},
    "visited_gradient": _visited("visited_gradient"),
    "visited_distance": _visited("visited_distance"),
}
