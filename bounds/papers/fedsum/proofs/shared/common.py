"""Lines that several appendices share word for word, as functions of their equation numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import sympy as sp

from bounds.ledger.draw import Draw, NoisyRational, Rational, expect, expect_square
from bounds.ledger.families import mean, per_client
from bounds.ledger.families import total as total_of
from bounds.ledger.proof import Proof, at_most, drawn, gram
from bounds.ledger.step import Enumerated, Scalar, Step, StepKind, below
from bounds.ledger.vectors import dot, square, vectors
from bounds.papers.fedsum.proofs.shared import forms
from bounds.papers.fedsum.proofs.shared.runs import ALGORITHMS, ScalarRun, small_run, total
from bounds.papers.fedsum.proofs.shared.terms import Gamma, Gamma_T, I, average, tau, tau_t
from bounds.papers.fedsum.symbols import F_0, Delta_f, K, L, N, T, eta, sigma, tau_avg

alpha = sp.Symbol("alpha", positive=True)

Side = tuple[Fraction, Fraction]
ZERO = Fraction(0)
# The algorithm of each appendix.
ALGORITHM = dict(zip("cde", ALGORITHMS, strict=True))

u, v, d, n = vectors("u v d n")


def run_of(draw: Draw, letter: str) -> ScalarRun:
    """A run of the algorithm of an appendix, without conditions on the step sizes."""
    return small_run(draw, ALGORITHM[letter])


# --- Movement: Lemmas C.1, D.1, E.1 ---


def one_step(draw: Draw, letter: str) -> Iterable[Side]:
    """E||x^{t+1} - x^t||^2, the same with y^(t), and with the stochastic gradients."""
    run = run_of(draw, letter)
    p = run.p
    for t in run.rounds():
        by_y = p.eta**2 * p.K**2 / Fraction(p.N**2) * expect_square(run.y[t])
        by_g = p.eta**2 / Fraction(p.N**2) * expect_square(run.aggregate(t) + run.noise(t))
        yield expect_square(run.x[t + 1] - run.x[t]), by_y
        yield by_y, by_g


def movement(draw: Draw, letter: str, noise: Rational, gradients: Rational) -> Side:
    """Lemmas C.1, D.1 and E.1."""
    run = run_of(draw, letter)
    p = run.p
    share = p.eta**2 / Fraction(p.N**2)
    return run.moved(), noise * share * p.N * p.K * p.T * p.sigma**2 + gradients * share * run.gamma()


# --- First order: Lemmas C.5, D.5, E.5 ---


def unrelated(draw: Draw, letter: str) -> Iterable[Side]:
    """E<grad f(x^{min_i a_{i,t}}), noise of client i in step k of round a_{i,t}>."""
    run = run_of(draw, letter)
    for t in run.rounds():
        slope = run.full(t - run.who.delay(t)) / run.p.N
        for i in run.seen(t):
            a = run.who.last(i, t)
            pairs = zip(run.stochastic[i, a], run.points[i, a], strict=True)
            yield from ((expect(slope, g - run.p.grad(i, x)), ZERO) for g, x in pairs)


def reacting(draw: Draw) -> Side:
    """`unrelated` at N = K = t = 1, if the client takes part in round 1 only after a positive noise s of round 0.

    With noise s or -s, equally likely: a_{1,1} = 0 after -s, and a_{1,1} = 1, with fresh noise, after s.
    """
    slope, s = draw.positive(2), draw.positive(2)
    return slope * -s / 2 + slope * 0, ZERO


def from_the_oldest(draw: Draw, letter: str) -> list[Side]:
    """E<grad f(x^t), noise> against E<grad f(x^t) - grad f(x^{t-tau_t}), noise>."""
    run = run_of(draw, letter)
    rounds = [(run.full(t), run.full(t - run.who.delay(t)), run.noise(t)) for t in run.rounds()]
    return [(expect(now, noise), expect(now - then, noise)) for now, then, noise in rounds]


def _windows(run: ScalarRun) -> list[tuple[int, range]]:
    return [(t, range(t - run.who.delay(t), t)) for t in run.rounds()]


def smooth_window(draw: Draw, letter: str) -> Iterable[Side]:
    """E||grad f(x^t) - grad f(x^{t-tau_t})||^2 <= L^2 E||x^t - x^{t-tau_t}||^2."""
    run = run_of(draw, letter)
    p = run.p
    for t in run.rounds():
        then = t - run.who.delay(t)
        left = expect_square(run.full(t) - run.full(then)) / Fraction(p.N**2)
        yield left, p.L**2 * expect_square(run.at(t) - run.at(then))


def _both_sums(run: ScalarRun, window: range) -> tuple[NoisyRational, NoisyRational]:
    return total(run.noise(q) for q in window if q >= 0), total(run.aggregate(q) for q in window if q >= 0)


def window_of_gradients(draw: Draw, letter: str) -> list[Side]:
    """E||x^t - x^{t-tau_t}||^2 by the stochastic gradients of the window."""
    run = run_of(draw, letter)
    p = run.p
    return [
        (
            expect_square(run.at(t) - run.at(window.start)),
            p.eta**2 / Fraction(p.N**2) * expect_square(total(_both_sums(run, window))),
        )
        for t, window in _windows(run)
    ]


def noise_window(draw: Draw, letter: str, stage: int) -> Iterable[Side]:
    """The noise of a window: 0 by Jensen, 1 to single gradients, 2 to sigma; 3 is 0 and 1 in one."""
    run = run_of(draw, letter)
    p = run.p
    for _, window in _windows(run):
        delay = len(window)
        rounds = [q for q in window if q >= 0]
        start = expect_square(_both_sums(run, window)[0])
        jensen = delay * sum((expect_square(run.noise(q)) for q in rounds), ZERO)
        single = delay * sum((len(run.seen(q)) * p.K * p.noise**2 for q in rounds), ZERO)
        last = p.N * p.K * delay**2 * p.sigma**2
        yield [(start, jensen), (jensen, single), (single, last), (start, single)][stage]


def gradient_window(draw: Draw, letter: str) -> list[Side]:
    """E||sum of the gradients of a window||^2 <= tau_t sum E||...||^2."""
    run = run_of(draw, letter)
    return [
        (
            expect_square(_both_sums(run, window)[1]),
            len(window) * sum((expect_square(run.aggregate(q)) for q in window if q >= 0), ZERO),
        )
        for _, window in _windows(run)
    ]


def first_order(draw: Draw, letter: str, noise: Rational, gradients: Rational, *, further: int) -> Side | None:
    """Lemmas C.5, D.5, E.5 with the sum on the right to T - 1 + further, in a run of T + further rounds.

    Some runs start where all gradients are 0, so that nothing but the noise counts.
    """
    run = run_of(draw, letter)
    if draw.index % 4 == 0:
        run = ScalarRun(replace(run.p, g=(ZERO,) * run.p.N, x0=ZERO))
    p = run.p
    rounds = p.T - further
    if rounds < 1:
        return None
    left = -p.eta / Fraction(p.N**2) * sum((expect(run.full(t), run.noise(t)) for t in range(rounds)), ZERO)
    delays = sum((run.who.delay(t) for t in range(rounds)), 0)
    right = noise * p.eta**2 * p.K / Fraction(p.N) * delays * p.sigma**2 * p.L
    return left, right + gradients * p.eta**2 / Fraction(p.N**2) * run.who.tau_max * p.L * run.gamma()


def first_order_form(further: int) -> Callable[..., Scalar]:
    """The lemma from its lines, as a function of its constants; what round T adds on the right is not negative."""

    def claim(noise: sp.Expr, gradients: sp.Expr) -> Scalar:
        windows = sp.Symbol("Q", nonnegative=True)
        right = noise * eta**2 * K / N * tau_avg * sigma**2 * L * T
        return at_most(
            I,
            right + gradients * eta**2 / N**2 * tau * L * (Gamma + further * Gamma_T),
            below(
                I,
                3 * eta**2 / N * K * sigma**2 * L * (T * tau_avg) + 2 * eta**2 / N**2 * L * windows,
                "first inequality, added up over the rounds",
            ),
            below(windows, tau * Gamma, "gradients summed over the delays"),
        )

    return claim


def _noise_of_window(part: Proof, letter: str, after: str, *, equality: bool) -> tuple[Step, ...]:
    if equality:
        return (
            part(
                f"{after}, noise of a window, first relation",
                "E||sum_p sum_j sum_k noise||^2 = tau_t sum_p sum_j sum_k E||noise||^2",
                drawn(lambda draw: noise_window(draw, letter, 3), "=="),
                repaired=drawn(lambda draw: noise_window(draw, letter, 3), form=forms.noise_of_window),
                repair="<= in place of =, as in Lemma C.5",
            ),
        )
    return (
        part(
            f"{after}, noise of a window, first inequality",
            "E||sum_p sum_j sum_k noise||^2 <= tau_t sum_p E||sum_j sum_k noise||^2",
            drawn(lambda draw: noise_window(draw, letter, 0), form=forms.jensen),
        ),
        part(
            f"{after}, noise of a window, equality",
            "tau_t sum_p E||sum_j sum_k noise||^2 = tau_t sum_p sum_j sum_k E||noise||^2",
            drawn(lambda draw: noise_window(draw, letter, 1), "==", form=lambda: forms.noise_of_round("==", forms.w)),
        ),
    )


# The numbers of the equations in Appendix C.
C_5 = ("24", "25", "26", "27")


def lemma_5(
    part: Proof, letter: str, eq: tuple[str, str, str, str], *, equality: bool = False, whole: bool = True
) -> tuple[Step, ...]:
    """The proof of Lemmas C.5 and D.5; ``equality`` says that D.5 prints the noise of a window with an equals sign.

    Without ``whole`` only the lines between the first and the statement.
    """
    outer = 2 * eta**2 / N**2 * L**2
    per_round = eta**2 / N**2 * tau_t * L * (K * N * sigma**2)
    windows = sp.Symbol("Q_t", nonnegative=True)
    summed = sp.Symbol("Q", nonnegative=True)
    after = f"after eq. ({eq[2]})"
    first = (
        (
            part(
                f"eq. ({eq[0]})",
                "E<grad f(x^{min_i a_{i,t}}), g_i - grad f_i> = 0 for i in A_t",
                drawn(reacting, "=="),
                repaired=drawn(lambda draw: unrelated(draw, letter), "==", form=forms.unrelated),
                repair="the participation is independent of the gradients' noise",
                remark="Checked with a client that takes part again only after positive noise; Appendix B lets S_t be "
                "random and part of the history. True if the participation is read as given beforehand.",
            ),
        )
        if whole
        else ()
    )
    lines = (
        part(
            f"eq. ({eq[1]})",
            "E<grad f(x^t), noise> = E<grad f(x^t) - grad f(x^{t-tau_t}), noise>",
            drawn(lambda draw: from_the_oldest(draw, letter), "==", form=forms.from_the_oldest),
            remark="t - tau_t = min_i a_{i,t}; on runs whose participation is given beforehand.",
        ),
        part(
            f"before eq. ({eq[2]})",
            "<a, b> <= alpha ||a||^2 + ||b||^2/alpha",
            gram(dot(u, v), alpha * square(u) + square(v) / alpha),
        ),
        part(
            f"eq. ({eq[2]})",
            "-(eta_g eta_l/N) <d, n> <= 1/(tau_t L) ||d||^2 + (eta_g eta_l/N)^2 tau_t L ||n||^2",
            gram(-eta / N * dot(d, n), square(d) / (tau_t * L) + eta**2 / N**2 * tau_t * L * square(n)),
            remark="d = grad f(x^t) - grad f(x^{t-tau_t}), n the noise; tau_t >= 1.",
        ),
        part(
            f"{after}, smoothness",
            "E||grad f(x^t) - grad f(x^{t-tau_t})||^2 <= L^2 E||x^t - x^{t-tau_t}||^2",
            drawn(lambda draw: smooth_window(draw, letter), form=forms.smooth_mean),
        ),
        part(
            f"{after}, smoothness, equality",
            "L^2 E||x^t - x^{t-tau_t}||^2 = (eta_g eta_l/N)^2 L^2 E||sum_{p=t-tau_t}^{t-1} sum_j sum_k g_j||^2",
            drawn(lambda draw: window_of_gradients(draw, letter), "==", form=forms.window_moved),
        ),
        part(
            f"{after}, smoothness, last inequality",
            "(eta_g eta_l/N)^2 L^2 ||n + v||^2 <= 2 (eta_g eta_l/N)^2 L^2 ||n||^2 + 2 (eta_g eta_l/N)^2 L^2 ||v||^2",
            gram(eta**2 / N**2 * L**2 * square(n + v), outer * square(n) + outer * square(v)),
            remark="n the noise of the window, v its gradients.",
        ),
        *_noise_of_window(part, letter, after, equality=equality),
        part(
            f"{after}, noise of a window, last inequality",
            "tau_t sum_p sum_j sum_k E||noise||^2 <= N K tau_t^2 sigma^2",
            drawn(lambda draw: noise_window(draw, letter, 2), form=forms.noise_of_window_bounded),
        ),
        part(
            f"{after}, gradients of a window",
            "E||sum_p sum_j sum_k grad f_j||^2 <= tau_t sum_p E||sum_j sum_k grad f_j||^2",
            drawn(lambda draw: gradient_window(draw, letter), form=forms.jensen),
        ),
        part(
            f"eq. ({eq[3]}), first inequality, a round with tau_t > 0",
            "1/(tau_t L) (noise and gradients of the window) + (eta_g eta_l/N)^2 tau_t L K N sigma^2"
            " <= 3 (eta_g eta_l)^2/N^2 N K tau_t sigma^2 L + 2 (eta_g eta_l/N)^2 L sum_p E||sum_j sum_k grad f_j||^2",
            at_most(
                (outer * N * K * tau_t**2 * sigma**2 + outer * tau_t * windows) / (tau_t * L) + per_round,
                eta**2 / N**2 * tau_t * K * N * sigma**2 * L
                + 2 * eta**2 / N**2 * N * K * tau_t * sigma**2 * L
                + 2 * eta**2 / N**2 * L * windows,
            ),
            remark="Q_t is the sum over the window. With tau_t = 0 the inner product is 0. The text names the case "
            "tau_t < t and Corollary D.3 in C.5, and sums to T; meant are tau_t > 0, Lemma C.2 and T - 1. In the left "
            "side of eq. (27) the sum over k is missing.",
        ),
        part(
            f"eq. ({eq[3]}), second inequality",
            "3 (eta_g eta_l)^2/N K sigma^2 L sum_t tau_t + 2 (eta_g eta_l/N)^2 L Q"
            " <= 3 (eta_g eta_l)^2 K/N tau_avg sigma^2 L T + 2 (eta_g eta_l/N)^2 tau_max L Gamma",
            at_most(
                3 * eta**2 / N * K * sigma**2 * L * (T * tau_avg) + 2 * eta**2 / N**2 * L * summed,
                3 * eta**2 * K / N * tau_avg * sigma**2 * L * T + 2 * eta**2 / N**2 * tau * L * Gamma,
                below(summed, tau * Gamma),
            ),
            remark="Q sums the windows; Lemma C.2 or D.2.",
        ),
    )
    if not whole:
        return lines
    return (
        *first,
        *lines,
        part(
            "statement",
            "-(eta_g eta_l/N) sum_{t<T} E<grad f(x^t), noise> <= 3 (eta_g eta_l)^2 K/N tau_avg sigma^2 L T"
            " + 2 (eta_g eta_l/N)^2 tau_max L sum_{t<=T} E||sum_i sum_k grad f_i||^2",
            drawn(
                lambda draw, noise, gradients: first_order(draw, letter, noise, gradients, further=1),
                kind=StepKind.END_TO_END,
                form=first_order_form(1),
                noise=3,
                gradients=2,
            ),
            remark="The sum on the right runs to T, so that round T is given too.",
        ),
        part(
            f"eq. ({eq[3]})",
            "the same with T - 1 on the right",
            drawn(
                lambda draw, noise, gradients: first_order(draw, letter, noise, gradients, further=0),
                kind=StepKind.END_TO_END,
                form=first_order_form(0),
                noise=3,
                gradients=2,
            ),
            remark="Eq. (66) has T - 1, eq. (27) T again.",
        ),
    )


# --- Descent: Lemmas C.6, D.6, E.6 ---


def descent(draw: Draw, letter: str) -> Iterable[Side]:
    """The descent lemma along a run."""
    run = run_of(draw, letter)
    p = run.p
    for t in run.rounds():
        move = run.x[t + 1] - run.x[t]
        right = p.value(run.x[t]) + expect(run.full(t), move) / p.N + p.L / 2 * expect_square(move)
        yield p.value(run.x[t + 1]), right


def inner_products(draw: Draw, letter: str) -> Iterable[Side]:
    """E<grad f(x^t), x^{t+1} - x^t>, the same with y^(t), and split into noise and gradients."""
    run = run_of(draw, letter)
    p = run.p
    for t in run.rounds():
        slope = run.full(t) / p.N
        by_y = -p.eta * p.K / p.N * expect(slope, run.y[t])
        parts = -p.eta / p.N * (expect(slope, run.noise(t)) + expect(slope, run.aggregate(t)))
        yield expect(slope, run.x[t + 1] - run.x[t]), by_y
        yield by_y, parts


def summed_descent(draw: Draw, letter: str) -> Side:
    """Eqs. (31), (70), (102) with all sums to T - 1, for f bounded below."""
    run = small_run(draw, ALGORITHM[letter], convex=True)
    p = run.p
    share = p.eta / (2 * p.N**2 * p.K)
    right = p.Delta_f + run.inner() - p.eta * p.K / 2 * p.T * run.metric() - share * run.gamma()
    return ZERO, right + share * run.stale() + p.L / 2 * run.moved()


def capped_rate(
    draw: Draw, algorithm: str, initial: Rational, noise: Rational, first: Rational, drift: Rational = 0, *, to_T: bool
) -> Side:
    """Lemmas C.6, D.6, E.6, with tau_max of Section 2.2.

    Without ``to_T``: tau_max over t < T, max{1, tau_max} in the caps and, with local steps, F_0/(5*N^2*T) added.
    """
    run = small_run(draw, algorithm, capped=True, to_T=to_T, convex=True)
    p = run.p
    delay = p.who.tau_max_T if to_T else p.who.tau_max
    lost = ZERO if to_T or algorithm == "fedsum-b" else Fraction(1, 5 * p.N**2)
    right = initial * p.Delta_f / (p.eta * p.K * p.T) + noise * p.eta / p.N * p.average * p.sigma**2 * p.L
    right += (first * delay + lost) * p.F_0 / p.T
    return run.metric(), right + drift * p.eta_l**2 * p.K * p.sigma**2 * p.L**2 / Fraction(p.N)


def capped_on_runs(algorithm: str, *, to_T: bool, **constants: Any) -> Enumerated:
    """The check of `capped_rate`."""
    sides = partial(capped_rate, algorithm=algorithm, to_T=to_T)
    return drawn(sides, kind=StepKind.END_TO_END, count=60, **constants)


# --- The theorems ---


def split_gradients(letter: str) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """-(eta_g eta_l/N)<grad f, S>, by sum_i grad f_i, and by the parallelogram identity; S is the aggregate."""
    (F,), (S,) = per_client("F", N), vectors("S")
    f, whole = mean(F), total_of(F)
    if letter == "c":
        share = eta * K / (2 * N**2)
        return (
            -eta * K / N * dot(f, S),
            -share * (square(whole) + square(S) - square(whole - S)),
            -eta * K / 2 * square(f) - share * square(S) + share * square(whole - S),
        )
    share = eta / (2 * N**2 * K)
    return (
        -eta / N * dot(f, S),
        -eta / (N**2 * K) * dot(K * whole, S),
        -eta * K / 2 * square(f) - share * square(S) + share * square(K * whole - S),
    )


def rate_terms(noise: Rational, first: Rational, drift: Rational, eta_l: sp.Expr) -> sp.Expr:
    """The right side of Lemmas C.6, D.6, E.6, with a symbol for max{1, tau_avg}."""
    right = 2 * Delta_f / (eta * K * T) + noise * eta / N * average * sigma**2 * L + first * tau * F_0 / T
    return right + drift * eta_l**2 * K * sigma**2 * L**2 / N
