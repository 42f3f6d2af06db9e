"""Lemmas D.4 and E.4 as far as their proofs print the same: eqs. (44)-(56), (59)-(62) and (80)-(92), (95)-(98).

a = a_{i,t} is the last round of client i and a' = a_{i,a-1} the one before, -1 in a first participation. What the
repaired steps use: a - a' <= tau_max + 1, each round lies in at most tau_max + 1 windows a' ... a - 1 of a client,
sum_k k^2 <= K^3/3, and in a first participation h_i = 0, which leaves k*grad f_i(x^0) in the first norm.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

import sympy as sp

from bounds.ledger.draw import Draw, NoisyRational, Rational, expect_square
from bounds.ledger.participation import ParticipationMatrix
from bounds.ledger.proof import Proof, at_most, counting, drawn, gram
from bounds.ledger.step import Step, StepKind, below, equal
from bounds.ledger.vectors import square, vectors
from bounds.papers.fedsum.proofs.shared import delays, forms
from bounds.papers.fedsum.proofs.shared.common import ZERO, Side
from bounds.papers.fedsum.proofs.shared.drift import (
    DRIFT_CAP,
    M_FACTS,
    MENDED_59,
    MENDED_DRIFT,
    MOVE,
    NOISE,
    from_lines,
    m,
)
from bounds.papers.fedsum.proofs.shared.runs import ScalarClients, ScalarRun, longest_delay, small_run, total
from bounds.papers.fedsum.proofs.shared.terms import PLAYED, SOMEBODY_AWAY, TO_T, A_t, D, Gamma, X, tau
from bounds.papers.fedsum.proofs.shared.windows import Counts, Pairs, absent, both, counts, visits
from bounds.papers.fedsum.symbols import AVERAGE, F_0, K, L, N, T, eta, eta_l, sigma, tau_avg


@dataclass(frozen=True)
class LocalVariant:
    """One of the two appendices, by what differs: names, equation numbers and printed powers of tau_max."""

    letter: str
    algorithm: str
    first: int
    noise: int
    gradients: int

    def eq(self, number: int) -> str:
        """The number of eq. (44 + number) in this appendix."""
        return f"eq. ({self.first + number})"


# tau_max^noise with the noise and tau_max^gradients with the gradients of the y^(q), as eqs. (96) and (98) have them.
D_4 = LocalVariant("d", "fedsum", 44, 0, 1)
E_4 = LocalVariant("e", "fedsum-cr", 80, 1, 2)


# --- On runs ---


def _run(draw: Draw, case: LocalVariant) -> ScalarRun:
    return small_run(draw, case.algorithm)


def _gaps(run: ScalarRun) -> list[tuple[int, int, int]]:
    return [(i, t, run.who.last(i, t)) for t in run.rounds() for i in range(run.p.N)]


def _visits(run: ScalarRun) -> list[tuple[int, int, int]]:
    """i, a and a' for every t < T and i in A_t."""
    return [(i, a, b) for i, _, a, b in visits(run.who)]


def _aggregates(run: ScalarRun, low: int, high: int) -> NoisyRational:
    return total(run.aggregate(q) for q in range(low, high) if q >= 0)


def _noises(run: ScalarRun, low: int, high: int) -> NoisyRational:
    return total(run.noise(q) for q in range(low, high) if q >= 0)


def _moved_targets(draw: Draw, case: LocalVariant) -> Iterable[Side]:
    run = _run(draw, case)
    p = run.p
    for t in run.rounds():
        stale = total(p.grad(i, run.at(run.who.last(i, t))) for i in range(p.N))
        moves = (expect_square(run.x[t] - run.at(run.who.last(i, t))) for i in range(p.N))
        yield expect_square(run.full(t) - stale), p.N * p.L**2 * sum(moves, ZERO)


def _moves(draw: Draw, case: LocalVariant) -> Iterable[Side]:
    run = _run(draw, case)
    p = run.p
    for _, t, a in _gaps(run):
        first = expect_square(run.x[t] - run.at(a))
        second = expect_square(total(run.at(q + 1) - run.at(q) for q in range(a, t)))
        third = p.eta**2 / Fraction(p.N**2) * expect_square(_aggregates(run, a, t) + _noises(run, a, t))
        yield first, second
        yield second, third


def _far(draw: Draw, case: LocalVariant, factor: Rational) -> Side:
    """Eqs. (46) and (82), first inequality, over K^2."""
    run = _run(draw, case)
    p = run.p
    left = ZERO
    for t in run.rounds():
        stale = total(p.grad(i, run.at(run.who.last(i, t))) for i in range(p.N))
        left += 3 * expect_square(run.full(t) - stale)
    right = ZERO
    for _, t, a in _gaps(run):
        delay = run.who.delay(t) if case.letter == "d" else run.who.tau_max
        right += delay * sum(len(run.seen(q)) for q in range(a, t)) * p.K * p.sigma**2
        right += expect_square(_aggregates(run, a, t))
    return left, factor * p.eta**2 / Fraction(p.N) * p.L**2 * right


def _near(draw: Draw, case: LocalVariant) -> Iterable[Side]:
    run = _run(draw, case)
    p = run.p
    for t in run.rounds():
        lasts = [(i, run.who.last(i, t)) for i in run.seen(t)]
        left = expect_square(p.K * total(p.grad(i, run.x[a]) for i, a in lasts) - run.aggregate(t))
        yield left, p.N * p.K * p.L**2 * sum((run.drift(i, a) for i, a in lasts), ZERO)


def _walked(draw: Draw, case: LocalVariant) -> Iterable[Side]:
    """x^a - x_i^{a,k} by the steps of client i."""
    run = _run(draw, case)
    p = run.p
    for i, a, _ in _visits(run):
        for k in range(p.K):
            steps = total(g + run.direction[i, a] for g in run.stochastic[i, a][:k])
            yield expect_square(run.points[i, a][k] - run.x[a]), (p.eta_l / p.N) ** 2 * expect_square(steps)


def _two_parts(draw: Draw, case: LocalVariant, factor: Rational) -> Iterable[Side]:
    """Eqs. (48) and (84), inequality, for one client and one k."""
    run = _run(draw, case)
    p = run.p
    for i, a, b in _visits(run):
        window = range(a - 1, a) if case.letter == "d" else range(b, a)
        common = total(run.y[max(q, -1)] for q in window) / len(window)
        for k in range(p.K):
            own = total(g - run.h[a][i] for g in run.stochastic[i, a][:k])
            steps = total(g + run.direction[i, a] for g in run.stochastic[i, a][:k])
            yield expect_square(steps), factor * (expect_square(own) + k**2 * expect_square(common))


def _term_1(draw: Draw, case: LocalVariant) -> Iterable[Side]:
    run = _run(draw, case)
    p = run.p
    for i, a, _ in _visits(run):
        noise = [g - p.grad(i, x) for g, x in zip(run.stochastic[i, a], run.points[i, a], strict=True)]
        yield from ((expect_square(total(noise[:k])), k * p.sigma**2) for k in range(p.K))


def _term_2(draw: Draw, case: LocalVariant) -> Iterable[Side]:
    run = _run(draw, case)
    p = run.p
    for i, a, _ in _visits(run):
        steps = [(p.grad(i, x) - p.grad(i, run.x[a]), expect_square(x - run.x[a])) for x in run.points[i, a]]
        for k in range(p.K):
            right = k * p.L**2 * sum((drift for _, drift in steps[:k]), ZERO)
            yield expect_square(total(change for change, _ in steps[:k])), right


def _term_3(draw: Draw, case: LocalVariant, stage: int) -> Iterable[Side]:
    """The lines of eqs. (52) and (88) for one client: smoothness, telescoping, Young's and Jensen's inequality."""
    run = _run(draw, case)
    p = run.p
    share = 2 * p.eta**2 / Fraction(p.N**2)
    for i, a, b in _visits(run):
        slopes = expect_square(p.grad(i, run.x[a]) - p.grad(i, run.at(b)))
        moved = expect_square(run.x[a] - run.at(b))
        steps = expect_square(total(run.at(q + 1) - run.at(q) for q in range(b, a)))
        noise = (a - b) * sum(len(run.seen(q)) for q in range(b, a)) * p.K * p.sigma**2
        apart = (a - b) * sum((expect_square(run.aggregate(q)) for q in range(b, a)), ZERO)
        young = share * (expect_square(_aggregates(run, b, a)) + noise)
        jensen = share * (apart + (a - b) ** 2 * p.N * p.K * p.sigma**2)
        yield [(slopes, p.L**2 * moved), (moved, steps), (steps, young), (young, jensen)][stage]


def _term_4(draw: Draw, case: LocalVariant) -> Iterable[Side]:
    run = _run(draw, case)
    p = run.p
    for i, _, b in _visits(run):
        if b >= 0:
            changes = total(p.grad(i, run.x[b]) - p.grad(i, x) for x in run.points[i, b])
            yield expect_square(changes), p.K * p.L**2 * run.drift(i, b)


def _term_5(draw: Draw, case: LocalVariant) -> list[Side]:
    run = _run(draw, case)
    rounds = [(i, b) for i, _, b in _visits(run) if b >= 0]
    return [(expect_square(run.noises(i, b)), run.p.K * run.p.sigma**2) for i, b in rounds]


def _lemma_4(draw: Draw, case: LocalVariant, *, to_T: bool) -> Side:
    """Lemmas D.4 and E.4 as printed, with tau_max of Section 2.2, or mended, with tau_max over t < T."""
    run = small_run(draw, case.algorithm, capped=True, to_T=to_T)
    p, delay = run.p, longest_delay(run.who, to_T=to_T)
    ones = Fraction(p.K**2 * p.N**2)
    first = 3 * run.who.tau_max_T * ones if to_T else 3 * run.who.tau_max * ones + Fraction(p.K**2, 5)
    right = first * p.F_0
    right += 8 * p.eta**2 * p.K**3 * p.N * delay * p.average * p.T * p.sigma**2 * p.L**2
    drift_noise = 150 * p.eta_l**2 * p.N * p.K**3 * p.T * p.sigma**2 * p.L**2
    right += drift_noise * (delay**case.noise if to_T else 1)
    gradients = 10 * p.eta**2 * delay**2 + 24 * p.eta_l**2 * delay
    return run.stale(), right + gradients * p.K**2 * p.L**2 * run.gamma()


# --- Counting ---


def _delayed_noise(p: ParticipationMatrix, case: LocalVariant) -> Side:
    """sum_t sum_i tau_t sum_{p=a_{i,t}}^{t-1} A_p against N^2*tau_max*sum_t tau_t."""
    left = 0
    for t in range(p.T):
        delay = p.delay(t) if case.letter == "d" else p.tau_max
        left += delay * sum(len(p.seen(q)) for i in range(p.N) for q in range(p.last(i, t), t))
    return Fraction(left), p.N**2 * p.tau_max * p.tau_avg * p.T


def _delayed_gradients(p: ParticipationMatrix) -> Pairs:
    """sum_t sum_i (t - a_{i,t}) sum_{p=a_{i,t}}^{t-1} against N*tau_max^2, after Jensen's inequality."""
    gaps = [(t, p.last(i, t)) for t in range(p.T) for i in range(p.N)]
    left = counts(p.T, ((t - a, range(a, t)) for t, a in gaps))
    return both(left, [Fraction(p.N * p.tau_max**2)] * p.T)


def _delay(p: ParticipationMatrix, more: Rational) -> Fraction:
    """tau_max of Section 2.2, or, mended, tau_max over t < T and ``more``."""
    return p.tau_max + Fraction(more) if more else Fraction(p.tau_max_T)


def _gap(p: ParticipationMatrix, more: Rational) -> list[Side]:
    return [(Fraction(a - b), _delay(p, more)) for _, _, a, b in visits(p)]


def _squared_gaps(p: ParticipationMatrix, more: Rational) -> Side:
    left = sum((Fraction((a - b) ** 2) for _, _, a, b in visits(p)), ZERO)
    return left, p.N * p.T * _delay(p, more) ** 2


def _gap_windows(p: ParticipationMatrix) -> Counts:
    """sum_t sum_{i in A_t} (a - a') sum_{p=a'}^{a-1}."""
    return counts(p.T, ((a - b, range(b, a)) for _, _, a, b in visits(p)))


def _widened(p: ParticipationMatrix) -> Counts:
    """sum_t sum_{i in A_t} tau_max sum_{p=max{0,a-tau_max}}^{a}."""
    return counts(p.T, ((p.tau_max_T, range(a - p.tau_max_T, a + 1)) for _, _, a, _ in visits(p)))


def _doubled(p: ParticipationMatrix, *, seen: bool) -> Counts:
    """tau_max sum_t sum_{p=max{0,t-2 tau_max}}^{t}, for every client of A_t, or N times."""
    windows = [(len(p.seen(t)) if seen else p.N, range(t - 2 * p.tau_max_T, t + 1)) for t in range(p.T)]
    return counts(p.T, ((p.tau_max_T * clients, window) for clients, window in windows))


def _swapped(p: ParticipationMatrix) -> Counts:
    """N tau_max sum_p sum_{t=p}^{min{T-1,p+2 tau_max}}."""
    return [Fraction(p.N * p.tau_max_T * len(range(q, min(p.T - 1, q + 2 * p.tau_max_T) + 1))) for q in range(p.T)]


def _all(p: ParticipationMatrix, value: Rational) -> Counts:
    return [Fraction(value)] * p.T


def _older_drifts(p: ParticipationMatrix, more: Rational) -> Pairs:
    """For every client and round r: how often a' = r, against tau_max + more times how often a = r."""
    for client in range(p.N):
        mine = [(a, b) for i, _, a, b in visits(p) if i == client]
        left = counts(p.T, ((1, [b]) for _, b in mine))
        yield from both(left, counts(p.T, ((_delay(p, more), [a]) for a, _ in mine)))


def _next_round(p: ParticipationMatrix, *, within: bool) -> Pairs:
    pairs = [(i, t, a) for i, t, a, _ in visits(p) if (a < t if within else a + 1 < p.T)]
    return [(Fraction(p.last(i, a + 1)), Fraction(a)) for i, _, a in pairs]


# --- Vectors and symbols ---

F, P, Q, Z = vectors("F P Q Z")
G_now, G_old, slow, steep, older, fresh = vectors("grad_a grad_b V S Q_b R_b")
k = sp.Symbol("k", nonnegative=True)
near, far, unseen = sp.symbols("near far unseen", nonnegative=True)

_left_first = square(steep + slow + k * G_now)
_E60 = (  # what eqs. (60) and (96) share
    40 * MOVE / N**2 * tau**2 * K**4 * T * sigma**2 * L**2 + 80 * MOVE * tau**2 * K**3 * L**2 / N**3 * Gamma
)


def _drift_59(case: LocalVariant) -> sp.Expr:
    """The right side of eqs. (59) and (95)."""
    return (
        10 * NOISE / N
        + 10 * eta_l**2 / N**2 * K**2 * L**2 * X
        + 40 * MOVE * tau**2 * K**3 * L**2 / N**3 * Gamma
        + 20 * MOVE / N**2 * tau**2 * K**4 * T * sigma**2 * L**2
        + 10 * eta_l**2 / N**2 * tau * K**2 * L**2 * X
        + 10 * NOISE / N
        + 4 * eta_l**2 / N * K * tau**case.gradients * Gamma
        + 4 * NOISE
    )


def _drift_60(case: LocalVariant) -> sp.Expr:
    """The right side of eqs. (60) and (96)."""
    return 50 * NOISE * tau**case.noise + _E60 + 8 * eta_l**2 / N * K * tau**case.gradients * Gamma


def _opposed(p: ScalarClients) -> ScalarRun:
    """Everybody always, without noise or curvature, with gradients whose sum is 0."""
    g = (*p.g[1:], -sum(p.g[1:], ZERO))
    zeros = (ZERO,) * p.N
    who = ParticipationMatrix(((True,) * p.N,) * p.T)
    eta_l = 1 / (10 * p.K * p.L)
    return ScalarRun(replace(p, who=who, h=zeros, g=g, sigma=ZERO, noise=ZERO, eta_l=eta_l, eta_g=Fraction(1)))


def _drift_on_runs(draw: Draw, case: LocalVariant, *, mended: bool) -> Side:
    """Eqs. (59) and (95) on a run, with tau_max in the printed powers or with the mended right side."""
    run = small_run(draw, case.algorithm, capped=True, to_T=not mended)
    if draw.index % 4 == 0:
        run = _opposed(run.p)
    p, delay = run.p, run.who.tau_max if mended else run.who.tau_max_T
    noise = p.eta_l**2 * p.K**2 * p.T * p.sigma**2
    move = p.eta**2 * p.eta_l**2 * p.K**3 * p.L**2 / Fraction(p.N**3)
    slopes = p.eta_l**2 * p.K**2 * p.L**2 / Fraction(p.N**2) * run.drifts()
    server = p.eta_l**2 * p.K / Fraction(p.N) * run.gamma()
    moved = move * run.gamma()
    moved_noise = move * p.N * p.K * p.T * p.sigma**2
    if not mended:
        right = (20 * noise / p.N) + 10 * (1 + delay) * slopes + delay**2 * (40 * moved + 20 * moved_noise)
        return run.drifts(), right + 4 * delay**case.gradients * server + 4 * noise
    wider = delay + 1
    right = Fraction(25, 3) * noise / p.N + (5 + Fraction(10, 3) * wider) * slopes
    right += Fraction(20, 3) * wider**2 * (moved + moved_noise) + Fraction(4, 3) * (wider * server + noise)
    return run.drifts(), right + Fraction(8, 3) * p.eta_l**2 * p.K**3 * wider * p.F_0 / p.N


def split_and_far(part: Proof, case: LocalVariant) -> tuple[Step, ...]:
    """Eqs. (44) to (46), or (80) to (82)."""
    step, eq = part, case.eq
    delay = "tau_t" if case.letter == "d" else "tau_max"
    return (
        step(
            eq(0),
            "||K sum_i grad f_i(x^t) - sum_{i in A_t} sum_k grad f_i(x_i^{a,k})||^2"
            " <= 3 K^2 ||sum_i [grad f_i(x^t) - grad f_i(x^a)]||^2"
            " + 3 ||sum_{i in A_t} [K grad f_i(x^a) - sum_k grad f_i(x_i^{a,k})]||^2 + 3 K^2 ||sum_{i not in A_t}"
            " grad f_i(x^0)||^2",
            gram(square(K * F - Q), 3 * K**2 * square(F - P - Z) + 3 * square(K * P - Q) + 3 * K**2 * square(Z)),
            remark="F, P, Q, Z are the sums over all i, over A_t at x^a, over A_t and k, and over the others;"
            " x^(-1) = x^(0).",
        ),
        step(
            f"{eq(1)}, inequality",
            "E||sum_i [grad f_i(x^t) - grad f_i(x^{a_{i,t}})]||^2 <= N L^2 sum_i E||x^t - x^{a_{i,t}}||^2",
            drawn(lambda draw: _moved_targets(draw, case), form=forms.moved_targets),
        ),
        step(
            f"{eq(1)}, equalities",
            "E||x^t - x^{a_{i,t}}||^2 = E||sum_{p=a}^{t-1} [x^{p+1} - x^p]||^2"
            " = (eta_g eta_l/N)^2 E||sum_p sum_{j in A_p} sum_k g_j||^2",
            drawn(lambda draw: _moves(draw, case), "==", form=forms.window_moved),
        ),
        step(
            f"{eq(2)}, first inequality",
            f"3 K^2 sum_t E||...||^2 <= 6 K^2 (eta_g eta_l)^2/N L^2 [sum_t sum_i {delay} sum_p sum_{{j in A_p}}"
            f" sum_k sigma^2"
            " + sum_t sum_i E||sum_p sum_j sum_k grad f_j||^2]",
            drawn(lambda draw, factor: _far(draw, case, factor), factor=6, form=forms.far),
        ),
        step(
            f"{eq(2)}, second inequality, noise",
            f"sum_t sum_i {delay} sum_{{p=a_{{i,t}}}}^{{t-1}} A_p <= N^2 tau_max tau_avg T",
            counting(lambda p: _delayed_noise(p, case), form=lambda: delays.delayed_noise(largest=case.letter == "e")),
            remark="Over 6 (eta_g eta_l)^2 K^3 L^2 sigma^2/N.",
        ),
        step(
            f"{eq(2)}, second inequality, gradients",
            "sum_t sum_i (t - a_{i,t}) sum_{p=a_{i,t}}^{t-1} q_p <= N tau_max^2 sum_t q_t",
            counting(_delayed_gradients, form=delays.delayed_gradients),
            remark="After Jensen's inequality, as in Lemma C.4; q_p = E||sum_j sum_k grad f_j||^2, coefficient by"
            " coefficient.",
        ),
    )


def drift_of_clients(part: Proof, case: LocalVariant) -> tuple[Step, ...]:
    """Eqs. (47) to (49), or (83) to (85)."""
    step, eq = part, case.eq
    five = 5 * square(steep) + 5 * square(slow) + 5 * k**2 * square(G_now - G_old)
    older_terms = 5 * k**2 / K**2 * square(K * G_old - older) + 5 * k**2 / K**2 * square(fresh)
    return (
        step(
            f"{eq(3)}, equality",
            "||K sum_{i in A_t} grad f_i(x^a) - sum_{i in A_t} sum_k grad f_i(x_i^{a,k})||^2"
            " = ||sum_{i in A_t} sum_k [grad f_i(x^a) - grad f_i(x_i^{a,k})]||^2",
            forms.local_split(),
            remark="As a difference that is 0.",
        ),
        step(
            f"{eq(3)}, inequality",
            "E||sum_{i in A_t} sum_k [...]||^2 <= N K L^2 sum_{i in A_t} sum_k E||x^a - x_i^{a,k}||^2",
            drawn(lambda draw: _near(draw, case), form=forms.near),
        ),
        step(
            f"{eq(4)}, equalities",
            "||x^a - x_i^{a,k}||^2 = (eta_l/N)^2 ||sum_{p<k} [g_i(x_i^{a,p}) + y_i^a]||^2",
            drawn(lambda draw: _walked(draw, case), "==", form=forms.walked),
            remark="For every client and k; in expectation.",
        ),
        step(
            f"{eq(4)}, inequality",
            "||sum_{p<k} [g_i + y_i^a]||^2 <= 2 ||sum_{p<k} [g_i - h_i^a]||^2 + 2 ||sum_{p<k} "
            + ("y^{a-1}" if case.letter == "d" else "1/(a-a') sum_{q=a'}^{a-1} y^q")
            + "||^2",
            drawn(lambda draw, factor: _two_parts(draw, case, factor), factor=2, form=forms.two_parts),
            remark="For every client and k.",
        ),
        step(
            f"{eq(5)}, a client that took part before",
            "||sum_{p<k} [g_i - h_i^a]||^2 <= 5 ||sum_{p<k} [g_i - grad f_i(x_i^{a,p})]||^2"
            " + 5 ||sum_{p<k} [grad f_i(x_i^{a,p}) - grad f_i(x^a)]||^2 + 5 k^2 ||grad f_i(x^a) - grad f_i(x^a')||^2"
            " + 5 k^2/K^2 ||sum_q [grad f_i(x^a') - grad f_i(x_i^{a',q})]||^2"
            " + 5 k^2/K^2 ||sum_q [g_i(x_i^{a',q}) - grad f_i(x_i^{a',q})]||^2",
            gram(square(steep + slow + k * G_now - k / K * (older + fresh)), five + older_terms),
            remark="S and V are the first two sums, Q_b and R_b the gradients and the noise of round a'; in the last "
            "line x^{a',q} is x_i^{a',q}.",
        ),
        step(
            f"{eq(5)}, a first participation",
            "the same with h_i^a = 0, a' = -1 and x^(-1) = x^(0)",
            gram(_left_first, five),
            repaired=gram(
                _left_first,
                4 * square(steep) + 4 * square(slow) + 4 * k**2 * square(G_now - G_old) + 4 * k**2 * square(G_old),
            ),
            repair="with k grad f_i(x^0) among the parts: 8 eta_l^2 K^3 (tau_max + 1) F_0/(3 N) joins the drift",
            remark="i in A_t includes clients whose round a is their first one. Eqs. (40) and (78) define h_i by a"
            " gradient "
            "of round a_{i,t-1}, eq. (8) has 0 there: there are no local iterates of round -1, and their terms are 0.",
        ),
    )


def five_terms(part: Proof, case: LocalVariant) -> tuple[Step, ...]:
    """Eqs. (50) to (56), or (86) to (92)."""
    step, eq = part, case.eq
    q = "q_p = E||sum_j sum_k grad f_j||^2; coefficient by coefficient."
    wide = "a" if case.letter == "e" else "a-1"
    return (
        step(
            f"{eq(6)}, first inequality",
            "E||sum_{p<k} [g_i - grad f_i(x_i^{a,p})]||^2 <= sum_{p<k} sigma^2",
            drawn(lambda draw: _term_1(draw, case), form=lambda: forms.steps_apart(forms.k)),
        ),
        step(
            f"{eq(6)}, second inequality",
            "eta_l^2 sum_t sum_{i in A_t} sum_k sum_{p<k} sigma^2 <= eta_l^2 N K^2 T sigma^2",
            at_most(eta_l**2 * T * A_t * K * (K - 1) / 2 * sigma**2, eta_l**2 * N * K**2 * T * sigma**2, below(A_t, N)),
        ),
        step(
            f"{eq(7)}, first inequality",
            "E||sum_{p<k} [grad f_i(x_i^{a,p}) - grad f_i(x^a)]||^2 <= k L^2 sum_{p<k} E||x_i^{a,p} - x^a||^2",
            drawn(lambda draw: _term_2(draw, case), form=lambda: forms.drifted(forms.k)),
        ),
        step(
            f"{eq(7)}, second and third inequality",
            "eta_l^2 L^2 sum_k k sum_{p<K} E||x_i^{a,p} - x^a||^2 <= eta_l^2 K^2 L^2 sum_k E||x_i^{a,k} - x^a||^2",
            at_most(eta_l**2 * L**2 * K * (K - 1) / 2 * X, eta_l**2 * K**2 * L**2 * X),
            remark="X is the sum over the steps of the client.",
        ),
        step(
            f"{eq(8)}, first inequality",
            "sum_k k^2 E||grad f_i(x^a) - grad f_i(x^a')||^2 <= K^3 L^2 E||x^a - x^a'||^2",
            at_most((K - 1) * K * (2 * K - 1) / 6 * near, K**3 * L**2 * far, below(near, L**2 * far, "smoothness")),
            remark="near and far are the two squared norms; on the left of the display the expectation is missing.",
        ),
        step(
            f"{eq(8)}, equality",
            "E||x^a - x^a'||^2 = E||sum_{p=a'}^{a-1} [x^{p+1} - x^p]||^2",
            drawn(lambda draw: _term_3(draw, case, 1), "==", form=forms.telescoping),
        ),
        step(
            f"{eq(8)}, the next inequality",
            "E||sum_p [x^{p+1} - x^p]||^2 <= 2 (eta_g eta_l/N)^2 [E||sum_p sum_j sum_k grad f_j||^2"
            " + (a - a') sum_p sum_{j in A_p} sum_k sigma^2]",
            drawn(lambda draw: _term_3(draw, case, 2), form=forms.between_visits),
        ),
        step(
            f"{eq(8)}, last inequality",
            f"<= 2 (eta_g eta_l/N)^2 [(a - a') sum_{{p=a'}}^{{{wide}}} E||sum_j sum_k grad f_j||^2 + (a - a')^2 N K"
            f" sigma^2]",
            drawn(lambda draw: _term_3(draw, case, 3), form=forms.between_visits_apart),
            remark="Checked with p up to a - 1.",
        ),
        step(
            f"before {eq(9)}",
            "a_{i,t} - a_{i,a_{i,t}-1} <= tau_max",
            counting(_gap, clients=(1, 2, 3), more=0),
            repaired=counting(_gap, clients=(1, 2, 3), more=1, form=delays.gap),
            repair="at most tau_max + 1",
            remark="A client that comes every second round is absent for one round, tau_max = 1, but two rounds lie"
            " between.",
        ),
        step(
            f"{eq(9)}, gradients",
            "sum_t sum_{i in A_t} (a - a') sum_{p=a'}^{a-1} q_p"
            " <= sum_t sum_{i in A_t} tau_max sum_{p=max{0,a-tau_max}}^{a} q_p",
            counting(lambda p: both(_gap_windows(p), _widened(p))),
            repaired=counting(
                lambda p: both(_gap_windows(p), _all(p, p.N * (p.tau_max + 1) ** 2)), form=delays.gap_windows
            ),
            repair="at most N (tau_max + 1)^2 sum_p q_p",
            remark=q,
        ),
        step(
            f"{eq(9)}, noise",
            "sum_t sum_{i in A_t} (a - a')^2 <= N T tau_max^2",
            counting(_squared_gaps, more=0),
            repaired=counting(_squared_gaps, more=1, form=delays.squared_gaps),
            repair="N T (tau_max + 1)^2",
            remark="Over 2 eta_g^2 eta_l^4 K^4 sigma^2 L^2/N.",
        ),
        step(
            f"before {eq(10)}",
            "t - tau_max <= a_{i,t} <= t",
            counting(
                lambda p: [pair for _, t, a, _ in visits(p) for pair in ((t - p.tau_max, a), (a, t))],
                clients=(1, 2, 3),
                form=delays.recent_enough,
            ),
            remark="For i in A_t; otherwise a_{i,t} = -1, for which it holds too.",
        ),
        step(
            f"{eq(10)}, first inequality",
            "sum_t sum_{i in A_t} tau_max sum_{p=max{0,a-tau_max}}^{a} q_p"
            " <= tau_max sum_t sum_{i in A_t} sum_{p=max{0,t-2 tau_max}}^{t} q_p",
            counting(lambda p: both(_widened(p), _doubled(p, seen=True)), form=delays.within_twice),
            remark=q,
        ),
        step(
            f"{eq(10)}, second inequality",
            "tau_max sum_t sum_{i in A_t} sum_{p=max{0,t-2 tau_max}}^{t} q_p <= N tau_max sum_t sum_p q_p",
            counting(lambda p: both(_doubled(p, seen=True), _doubled(p, seen=False)), form=delays.clients_at_most),
            remark=q,
        ),
        step(
            f"{eq(10)}, third inequality",
            "N tau_max sum_t sum_{p=max{0,t-2 tau_max}}^{t} q_p <= N tau_max sum_p sum_{t=p}^{min{T-1,p+2 tau_max}}"
            " q_p",
            counting(lambda p: both(_doubled(p, seen=False), _swapped(p)), form=delays.swapped_twice),
            remark=q,
        ),
        step(
            f"{eq(10)}, last inequality",
            "N tau_max sum_p sum_{t=p}^{min{T-1,p+2 tau_max}} q_p <= 2 N tau_max^2 sum_p q_p",
            counting(lambda p, factor: both(_swapped(p), _all(p, factor * p.N * p.tau_max_T**2)), factor=2),
            repaired=counting(
                lambda p: both(_swapped(p), _all(p, p.N * p.tau_max_T * (2 * p.tau_max_T + 1))),
                form=delays.length_twice,
            ),
            repair="the window has 2 tau_max + 1 rounds: N tau_max (2 tau_max + 1)",
            remark=q,
        ),
        step(
            f"{eq(11)}, first inequality",
            "k^2/K^2 E||sum_q [grad f_i(x^a') - grad f_i(x_i^{a',q})]||^2 <= L^2 k^2/K sum_q E||x^a' - x_i^{a',q}||^2",
            drawn(lambda draw: _term_4(draw, case), form=lambda: forms.drifted(K)),
            remark="Over k^2/K^2.",
        ),
        step(
            f"{eq(11)}, second inequality",
            "sum_t sum_{i in A_t} d_i^a' <= tau_max sum_t sum_{i in A_t} d_i^a",
            counting(_older_drifts, more=0),
            repaired=counting(_older_drifts, more=1, form=delays.older_drifts),
            repair="tau_max + 1 in place of tau_max",
            remark="d_i^r = sum_q E||x^r - x_i^{r,q}||^2 of client i in round r, 0 for r = -1; coefficient by"
            " coefficient.",
        ),
        step(
            f"after {eq(11)}",
            "a_{i,a_{i,t}+1} = a_{i,t}",
            counting(lambda p: _next_round(p, within=False), "=="),
            repaired=counting(lambda p: _next_round(p, within=True), "==", form=delays.still_last),
            repair="for a_{i,t} < t: otherwise the client may take part in round t + 1 as well",
            remark="The line may mean the next participation after a_{i,a_{i,t}-1}, which is a_{i,t}; what is drawn"
            " from it is the line before.",
        ),
        step(
            f"{eq(12)}, first inequality",
            "E||sum_q [g_i(x_i^{a',q}) - grad f_i(x_i^{a',q})]||^2 <= sum_q sigma^2",
            drawn(lambda draw: _term_5(draw, case), form=lambda: forms.steps_apart(K)),
        ),
        step(
            f"{eq(12)}, second inequality",
            "eta_l^2 sum_t sum_{i in A_t} sum_k k^2/K^2 sum_q sigma^2 <= eta_l^2 N K^2 T sigma^2",
            at_most(
                eta_l**2 * T * A_t * (K - 1) * K * (2 * K - 1) / (6 * K**2) * K * sigma**2,
                eta_l**2 * N * K**2 * T * sigma**2,
                below(A_t, N),
            ),
        ),
    )


def assembly(part: Proof, case: LocalVariant) -> tuple[Step, ...]:
    """Eqs. (59) to (62), or (95) to (98), and the statement."""
    step, e = part, case.letter == "e"
    rearranged, unseen_eq, last = ("eq. (96)", "eq. (97)", "eq. (98)") if e else ("eq. (60)", "eq. (61)", "eq. (62)")
    summed = "eq. (95)" if e else "eq. (59)"
    first_norm = 10 * eta_l**2 / N**2
    terms = (
        first_norm * (N * K**2 * T * sigma**2 + K**2 * L**2 * X)
        + first_norm
        * (4 * eta**2 * tau**2 * K**3 * L**2 / N * Gamma + 2 * eta**2 * tau**2 * K**4 * T * sigma**2 * L**2)
        + first_norm * (tau * K**2 * L**2 * X + N * K**2 * T * sigma**2)
        + (4 * eta_l**2 * K * N * tau * Gamma + 4 * eta_l**2 * K**2 * N**2 * sigma**2 * T) / N**2
    )
    power, noise = f"tau_max^{case.gradients}" if e else "tau_max", " tau_max" if e else ""
    far_terms = 6 * eta**2 * K**3 * N * tau * tau_avg * T * sigma**2 * L**2 + 6 * eta**2 * K**2 * tau**2 * L**2 * Gamma
    three = equal(D, far + 3 * N * K * L**2 * X + unseen)
    parts = (below(far, far_terms), below(unseen, 3 * K**2 * N**2 * tau * F_0))
    begin = 3 * K**2 * N**2 * tau * F_0 + 8 * eta**2 * K**3 * N * tau * AVERAGE * T * sigma**2 * L**2
    begin += 150 * eta_l**2 * N * K**3 * tau**case.noise * T * sigma**2 * L**2
    drift_gradients = 24 * eta_l**2 * K**2 * tau**case.gradients * L**2
    middle = begin + (6 * eta**2 * K**2 * tau**2 * L**2 + 240 * MOVE / N**2 * tau**2 * K**4 * L**4) * Gamma
    middle += drift_gradients * Gamma
    mended = (3 * tau * K**2 * N**2 + K**2 / 5) * F_0 + 8 * eta**2 * K**3 * N * m * AVERAGE * T * sigma**2 * L**2
    mended += 150 * eta_l**2 * N * K**3 * T * sigma**2 * L**2
    mended += (10 * eta**2 * m**2 + 24 * eta_l**2 * m) * K**2 * L**2 * Gamma
    noise_60 = 40 * MOVE * tau**2 * K**4 * T * sigma**2
    return (
        step(
            f"{summed}, from the terms",
            f"sum_t sum_i sum_k E||x^a - x_i^{{a,k}}||^2 <= 10 eta_l^2/N K^2 T sigma^2 + 10 (eta_l/N)^2 K^2 L^2 X"
            " + 40 eta_g^2 eta_l^4 tau_max^2 K^3 L^2/N^3 Gamma + 20 eta_g^2 eta_l^4/N^2 tau_max^2 K^4 T sigma^2 L^2"
            f" + 10 (eta_l/N)^2 tau_max K^2 L^2 X + 10 eta_l^2/N K^2 T sigma^2 + 4 eta_l^2/N K {power} Gamma + 4"
            f" eta_l^2 K^2"
            " sigma^2 T",
            at_most(terms, _drift_59(case), SOMEBODY_AWAY),
            remark="Given the terms as printed. "
            + ("Eq. (94) has tau_max where eq. (95) has its square." if e else "An equality."),
        ),
        step(
            summed,
            "the same on runs",
            drawn(lambda draw: _drift_on_runs(draw, case, mended=False)),
            repaired=drawn(lambda draw: _drift_on_runs(draw, case, mended=True), form=from_lines),
            repair="tau_max + 1 in place of tau_max, and 8 eta_l^2 K^3 (tau_max + 1) F_0/(3 N) added",
            remark="Clients whose gradients cancel drift in round 0, where Gamma is 0. The repaired form has slack from"
            " sum_k k <= K^2/2 and sum_k k^2 <= K^3/3.",
        ),
        step(
            rearranged,
            f"sum_t sum_i sum_k E||x^a - x_i^{{a,k}}||^2 <= 50 eta_l^2 K^2{noise} T sigma^2"
            " + 40 eta_g^2 eta_l^4/N^2 tau_max^2 K^4 T sigma^2 L^2"
            f" + (80 eta_g^2 eta_l^4 tau_max^2 K^3 L^2/N^3 + 8 eta_l^2/N K {power}) Gamma for eta_l <= 1/(10"
            f" sqrt(tau_max) K L)",
            at_most(X, _drift_60(case), below(X, _drift_59(case), summed), DRIFT_CAP, SOMEBODY_AWAY),
            remark=f"Given the line before. {TO_T}. {PLAYED}, the cap says nothing, and the drift of the right side is"
            " not absorbed.",
        ),
        step(
            f"{unseen_eq}, first inequality",
            "||sum_{i not in A_t} grad f_i(x^0)||^2 <= (N - A_t) sum_i ||grad f_i(x^0)||^2",
            forms.unseen_squares(),
        ),
        step(
            f"{unseen_eq}, second inequality",
            "sum_t sum_j [j not in A_t] <= N tau_max",
            counting(absent, clients=(1, 2, 3), form=delays.absent),
        ),
        step(
            f"before {last}",
            "3 N K L^2 40 eta_g^2 eta_l^4 tau_max^2 K^4 T sigma^2 L^4 <= 2 (eta_g eta_l)^2 K^3 N tau_max T sigma^2 L^2",
            at_most(
                3 * N * K * L**2 * noise_60 * L**4,
                2 * eta**2 * K**3 * N * tau * T * sigma**2 * L**2,
                DRIFT_CAP,
                SOMEBODY_AWAY,
            ),
            repaired=at_most(
                3 * N * K * L**2 * noise_60 * L**2 / N**2,
                2 * eta**2 * K**3 * N * tau * T * sigma**2 * L**2,
                DRIFT_CAP,
                SOMEBODY_AWAY,
            ),
            repair=f"L^2/N^2 in place of the second L^4, as in {rearranged}",
            remark="The left side has two powers of L too many.",
        ),
        step(
            f"{last}, first inequality",
            "D <= 3 K^2 N^2 tau_max F_0 + 8 (eta_g eta_l)^2 K^3 N tau_max max{1, tau_avg} T sigma^2 L^2"
            f" + 150 eta_l^2 N K^3{noise} T sigma^2 L^2 + 6 (eta_g eta_l K tau_max L)^2 Gamma"
            f" + (240 eta_g^2 eta_l^4/N^2 tau_max^2 K^4 L^4 + 24 eta_l^2 K^2 {power} L^2) Gamma",
            at_most(D, middle, three, *parts, below(X, _drift_60(case), rearranged), DRIFT_CAP),
            remark="far and unseen are the first and the third part of eq. (44).",
        ),
        step(
            f"{last}, second inequality",
            "6 (eta_g eta_l)^2 K^2 tau_max^2 L^2 + 240 eta_g^2 eta_l^4/N^2 tau_max^2 K^4 L^4"
            " <= 10 (eta_g eta_l)^2 tau_max^2 K^2 L^2",
            at_most(
                6 * eta**2 * K**2 * tau**2 * L**2 + 240 * MOVE / N**2 * tau**2 * K**4 * L**4,
                10 * eta**2 * tau**2 * K**2 * L**2,
                DRIFT_CAP,
                SOMEBODY_AWAY,
            ),
        ),
        step(
            "statement",
            "D <= 3 K^2 N^2 tau_max F_0 + 8 (eta_g eta_l)^2 K^3 N tau_max max{1, tau_avg} T sigma^2 L^2"
            f" + 150 eta_l^2 N K^3{noise} T sigma^2 L^2 + (10 (eta_g eta_l tau_max K L)^2 + 24 eta_l^2 K^2 tau_max"
            f" L^2) Gamma"
            " for eta_l <= 1/(10 sqrt(tau_max) K L)",
            drawn(lambda draw: _lemma_4(draw, case, to_T=True), kind=StepKind.END_TO_END, count=80),
            remark=f"{TO_T}. {PLAYED}, and a client that has taken part once, with h_i = 0, refutes the lemma.",
        ),
        step(
            f"not printed: the repaired {rearranged}",
            "12, 32, 32, 4 in place of 50, 40, 80, 8, and 128/21 eta_l^2 K^3 M F_0/N added, M = max{1, tau_max}, for"
            " eta_l <= 1/(10 sqrt(M) K L)",
            at_most(X, MENDED_DRIFT, below(X, MENDED_59, summed), *M_FACTS),
            remark=f"From the repaired {summed}.",
        ),
        step(
            "not printed: the repaired lemma",
            "D <= (3 N^2 tau_max + 1/5) K^2 F_0 + 8 (eta_g eta_l)^2 K^3 N M max{1, tau_avg} T sigma^2 L^2"
            " + 150 eta_l^2 N K^3 T sigma^2 L^2 + (10 (eta_g eta_l M K L)^2 + 24 eta_l^2 K^2 M L^2) Gamma,"
            " M = max{1, tau_max}, for eta_l <= 1/(10 sqrt(M) K L)",
            at_most(D, mended, three, *parts, below(X, MENDED_DRIFT, rearranged), *M_FACTS),
            remark=f"From the repaired {rearranged} and eq. (44) or (80).",
        ),
        step(
            "not printed: the repaired lemma, on runs",
            "the same for tau_max over rounds 0 ... T-1",
            drawn(lambda draw: _lemma_4(draw, case, to_T=False), kind=StepKind.END_TO_END, count=80),
        ),
    )
