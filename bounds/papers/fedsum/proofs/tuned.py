"""Runs with the tuned step sizes of Theorems 4.1, C.1, D.1, E.1 and G.1, chosen so that their roots are rational."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import sympy as sp

from bounds.ledger.draw import Draw, Rational, mean
from bounds.ledger.participation import ParticipationMatrix
from bounds.ledger.proof import drawn
from bounds.ledger.step import Enumerated, StepKind
from bounds.papers.fedsum.proofs.shared.patterns import Law
from bounds.papers.fedsum.proofs.shared.runs import ALGORITHMS, ScalarClients, ScalarRun, longest_delay, participation

Side = tuple[Fraction, Fraction]


def _whole_root(value: int) -> bool:
    return math.isqrt(value) ** 2 == value


def _participation(draw: Draw, *, to_T: bool) -> ParticipationMatrix:
    """With a longest delay of 1 or 4, since eta_g = 1/sqrt(tau_max)."""
    N, T = draw.whole(1, 3), draw.whole(1, 4)
    for _ in range(20):
        who = participation(draw, N, T)
        if _whole_root(longest_delay(who, to_T=to_T)):
            return who
    return ParticipationMatrix(((True,) * N,) * T)


def _curvatures(draw: Draw, middle: Fraction, N: int, L: Fraction) -> tuple[Fraction, ...]:
    """Numbers of that mean between -L and L."""
    spread = (L - middle) * draw.rational(0, 1)
    return tuple(middle + spread * sign for sign in ((0,), (1, -1), (1, 0, -1))[N - 1])


def _rounded_down_root(value: Fraction) -> Fraction:
    return Fraction(math.isqrt(math.floor(value * 10**6)), 1000)


def _started(
    draw: Draw, who: ParticipationMatrix, algorithm: str, K: int, L: Fraction, middle: Fraction
) -> ScalarClients:
    """A problem without noise whose start is ``x0 - argmin f`` from the minimum; step sizes of 1."""
    g = draw.vector(who.N)
    away = draw.positive(2) * (1 if draw.whole(0, 1) else -1)
    return ScalarClients(
        algorithm=algorithm,
        who=who,
        h=_curvatures(draw, middle, who.N, L),
        g=g,
        x0=mean(g) / middle + away,
        K=K,
        L=L,
        sigma=Fraction(0),
        noise=Fraction(0),
        eta_g=Fraction(1),
        eta_l=Fraction(1),
    )


def _with(problem: ScalarClients, sigma: Fraction, eta: Fraction, delay: int) -> ScalarRun:
    """The run with that noise and eta_g*eta_l = eta, eta_g = 1/sqrt(delay)."""
    root = Fraction(math.isqrt(delay))
    fields = {**problem.__dict__, "sigma": sigma, "noise": sigma, "eta_g": 1 / root, "eta_l": eta * root}
    return ScalarRun(ScalarClients(**fields))


def tuned_run(draw: Draw, algorithm: str = "", *, to_T: bool) -> tuple[ScalarRun, Fraction]:
    """A run with the step sizes for `longest_delay`, and sqrt(max{1, tau_avg} L sigma^2 Delta_f/(N K T)).

    With mean curvature 2*L*max{1, tau_avg}*K*T/(N*m^2), m whole, the first entry of the minimum is |away|/(m*sigma).
    """
    who = _participation(draw, to_T=to_T)
    K, L, delay = draw.whole(1, 3), draw.positive(2), longest_delay(who, to_T=to_T)
    work = max(Fraction(1), who.tau_avg) * K * who.T / who.N
    m = math.isqrt(math.ceil(2 * work)) + draw.whole(1, 2)
    problem = _started(draw, who, algorithm or ALGORITHMS[draw.whole(0, 2)], K, L, 2 * L * work / m**2)
    away = abs(problem.x0 - mean(problem.g) / mean(problem.h))
    cap = 1 / (10 * K * delay * L)
    share = (Fraction(0), Fraction(1, 2), Fraction(1), Fraction(3), Fraction(30))[draw.whole(0, 4)]
    # The two entries of the minimum are equal at share 1.
    sigma = share * away / (m * cap)
    eta = cap if share == 0 else min(away / (m * sigma), cap)
    root = max(Fraction(1), who.tau_avg) * L * away * sigma / (who.N * m)
    return _with(problem, sigma, eta, delay), root


def _rest(run: ScalarRun, *, to_T: bool) -> Fraction:
    """The longest delay times (L Delta_f + F_0)/T."""
    p = run.p
    return longest_delay(p.who, to_T=to_T) * (p.L * p.Delta_f + p.F_0) / p.T


def theorem(draw: Draw, algorithm: str, root: Rational, rest: Rational, *, to_T: bool) -> Side:
    """Theorems C.1, D.1, E.1 and G.1, with `longest_delay` for tau_max."""
    run, noise = tuned_run(draw, algorithm, to_T=to_T)
    return run.metric(), root * noise + rest * _rest(run, to_T=to_T)


def on_runs(algorithm: str, *, to_T: bool) -> Enumerated:
    """The check of `theorem`."""
    sides = functools.partial(theorem, algorithm=algorithm, to_T=to_T)
    return drawn(sides, kind=StepKind.END_TO_END, count=60, root=30, rest=20)


def theorem_4_1(draw: Draw, root: Rational, rest: Rational, *, to_T: bool) -> tuple[Fraction, sp.Expr]:
    """Theorem 4.1, with `longest_delay` for tau_max."""
    run, noise = tuned_run(draw, to_T=to_T)
    p = run.p
    draw.show(N=p.N, T=p.T, K=p.K, L=p.L, h=p.h, g=p.g, x0=p.x0, sigma=p.sigma, eta_g=p.eta_g, eta_l=p.eta_l)
    larger = sp.sqrt(sp.Rational((1 + run.who.tau_avg) / run.p.average))
    return run.metric(), sp.Rational(root * noise) * larger + sp.Rational(rest * _rest(run, to_T=to_T))


def corollary_4_1(draw: Draw, root: Rational, rest: Rational, *, to_T: bool) -> tuple[Fraction, sp.Expr] | None:
    """Corollary 4.1 for two equally likely participations; the noise is small enough for eta_l = 1/(10*...).

    With tau_max of Section 2.2, or over t < T, with 1 + E[tau_max] in the bound.
    """
    one = _participation(draw, to_T=to_T)
    if draw.index % 5 == 0:
        one = ParticipationMatrix(((True,) * one.N,) * one.T)
    other = participation(draw, one.N, one.T) if draw.index % 5 else one
    if not _whole_root(longest_delay(other, to_T=to_T)):
        return None
    L, K = draw.positive(2), draw.whole(1, 3)
    problem = _started(draw, one, ALGORITHMS[draw.whole(0, 2)], K, L, L * draw.rational(Fraction(1, 6), 1))
    pairs = [(who, longest_delay(who, to_T=to_T)) for who in (one, other)]
    sigma = _small_noise(draw, problem, pairs)
    runs = [
        _with(ScalarClients(**{**problem.__dict__, "who": who}), sigma, 1 / (10 * K * delay * L), delay)
        for who, delay in pairs
    ]
    noise = (1 + mean(who.tau_avg for who, _ in pairs)) * L * sigma**2 * problem.Delta_f / (one.N * K * one.T)
    delays = mean(who.tau_max_T if to_T else who.tau_max + 1 for who, _ in pairs)
    last = delays * (L * problem.Delta_f + problem.F_0) / one.T
    return mean(run.metric() for run in runs), root * sp.sqrt(sp.Rational(noise)) + sp.Rational(rest * last)


@dataclass(frozen=True)
class TunedSizes:
    """Arguments of the right sides of Corollary G.1 besides the problem: clients, participants, rounds, delta."""

    N: int
    S: int
    T: int
    delta: Fraction


def case(
    draw: Draw, law: Law, right: Callable[[TunedSizes], tuple[sp.Expr, sp.Expr]], *, sampled: int, delta: Fraction
) -> tuple[Fraction, sp.Expr]:
    """A case of Corollary G.1 for FedSUM-B, whose run depends on eta_g*eta_l = 1/(10*K*max{1,tau_max}*L) alone.

    ``right`` gives what multiplies sqrt(L sigma^2 Delta_f/(K T)) and (L Delta_f + F_0)/T. The noise is small enough for
    this entry of the minimum under every participation.
    """
    first = law[0][1]
    L, K = draw.positive(2), draw.whole(1, 2)
    problem = _started(draw, first, "fedsum-b", K, L, L * draw.rational(Fraction(1, 6), 1))
    pairs = [(weight, who, max(1, who.tau_max)) for weight, who in law]
    sigma = _small_noise(draw, problem, [(who, delay) for _, who, delay in pairs])
    draw.show(N=first.N, S=sampled, T=first.T, delta=delta, K=K, L=L, sigma=sigma)
    draw.show(h=problem.h, g=problem.g, x0=problem.x0)
    left = Fraction(0)
    for weight, who, delay in pairs:
        step = {"who": who, "sigma": sigma, "noise": sigma, "eta_l": 1 / (10 * K * delay * L)}
        left += weight * ScalarRun(ScalarClients(**{**problem.__dict__, **step})).metric()
    noise, rest = right(TunedSizes(first.N, sampled, first.T, delta))
    root = sp.sqrt(sp.Rational(L * sigma**2 * problem.Delta_f / (K * first.T)))
    return left, noise * root + rest * sp.Rational((L * problem.Delta_f + problem.F_0) / first.T)


def _small_noise(draw: Draw, problem: ScalarClients, pairs: Sequence[tuple[ParticipationMatrix, int]]) -> Fraction:
    """Noise with sqrt(N Delta_f)/sqrt(max{1,tau_avg} K T L sigma^2) >= 1/(10*K*delay*L) for those participations."""
    p = problem
    cap = min(
        p.N * p.Delta_f * 100 * p.K * delay**2 * p.L / (max(Fraction(1), who.tau_avg) * who.T) for who, delay in pairs
    )
    return Fraction(0) if draw.index % 2 == 0 else _rounded_down_root(cap) * draw.rational(0, 1)


def sure_step_size(draw: Draw) -> list[Side]:
    """The step size made of the largest of some equally likely delays against the cap of each; K = L = 1."""
    delays = [draw.whole(1, 5) for _ in range(draw.whole(1, 4))]
    return [(Fraction(1, 10 * max(delays)), Fraction(1, 10 * delay)) for delay in delays]
