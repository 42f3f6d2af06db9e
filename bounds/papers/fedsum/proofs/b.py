"""Appendix B: Lemmas B.1 and B.2."""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from bounds.ledger.draw import Draw, expect_square
from bounds.ledger.families import one_more
from bounds.ledger.participation import ParticipationMatrix
from bounds.ledger.proof import Proof, at_most, counting, drawn
from bounds.ledger.step import Step, StepKind, below
from bounds.papers.fedsum.proofs.shared import delays, forms
from bounds.papers.fedsum.proofs.shared.runs import small_run
from bounds.papers.fedsum.proofs.shared.terms import A_t
from bounds.papers.fedsum.proofs.shared.windows import Pairs
from bounds.papers.fedsum.symbols import K, N, sigma

_noise = Proof("fedsum/lemma-b.1", "Lemma B.1")
_delay = Proof("fedsum/lemma-c.2", "Lemma B.2", "fedsum/lemma-b.2")

Side = tuple[Fraction, Fraction]


def _clients_apart(draw: Draw) -> Side:
    run = small_run(draw)
    t = run.p.T - 1
    apart = (expect_square(run.noises(i, run.who.last(i, t))) for i in run.seen(t))
    return expect_square(run.noise(t)), sum(apart, Fraction(0))


def _steps_apart(draw: Draw) -> Side:
    run = small_run(draw)
    t = run.p.T - 1
    left = sum((expect_square(run.noises(i, run.who.last(i, t))) for i in run.seen(t)), Fraction(0))
    right = Fraction(0)
    for i in run.seen(t):
        a = run.who.last(i, t)
        pairs = zip(run.stochastic[i, a], run.points[i, a], strict=True)
        right += sum((expect_square(g - run.p.grad(i, x)) for g, x in pairs), Fraction(0))
    return left, right


def _bounded(draw: Draw) -> Side:
    run = small_run(draw)
    t = run.p.T - 1
    return expect_square(run.noise(t)), len(run.seen(t)) * run.p.K * run.p.sigma**2


def _lemma_b_1(draw: Draw) -> list[Side]:
    run = small_run(draw)
    p = run.p
    return [(expect_square(run.noise(t)), p.N * p.K * p.sigma**2) for t in run.rounds()]


def _any_active_set(draw: Draw, *, fixed: bool) -> Side:
    """N = K = 1, round 1: the client takes part again if its noise in round 0 was 0, or with the same probability.

    The noise is s or -s with probability q each, and 0 otherwise; its variance is 2*q*s^2 = sigma^2.
    """
    s, q = draw.positive(2), draw.rational(Fraction(1, 12), Fraction(5, 12))
    square, again = 2 * q * s**2, 1 - 2 * q
    left_out = 2 * q * s**2 if not fixed else (1 - again) * square
    return left_out + again * square, square


def _from_k_on(p: ParticipationMatrix) -> list[tuple[int, int]]:
    return [(min(p.last(i, k + p.tau_max) for i in range(p.N)), k) for k in range(p.T - p.tau_max)]


def _absent(p: ParticipationMatrix) -> list[tuple[int, int, int]]:
    """Client, first and last round of every window of rounds in which the client takes no part."""
    return [
        (i, first, last)
        for i in range(p.N)
        for first in range(p.T)
        for last in range(first, p.T)
        if not any(p.matrix[t][i] for t in range(first, last + 1))
    ]


def _largest(p: ParticipationMatrix) -> list[tuple[int, int]]:
    return [(p.tau_max, t - min(p.last(j, t) for j in range(p.N))) for t in range(p.T)]


def _by_client(p: ParticipationMatrix) -> list[tuple[int, int]]:
    return [(t - min(p.last(j, t) for j in range(p.N)), t - p.last(i, t)) for t in range(p.T) for i in range(p.N)]


def _unchanged(p: ParticipationMatrix) -> list[tuple[int, int]]:
    return [(last - p.last(i, last), last - p.before(i, first)) for i, first, last in _absent(p)]


def _too_long(p: ParticipationMatrix) -> list[tuple[int, int]]:
    return [(last - p.last(i, last), last - first + 1) for i, first, last in _absent(p)]


def _selected(p: ParticipationMatrix) -> list[tuple[int, int]]:
    windows = [(i, k) for i in range(p.N) for k in range(p.T - p.tau_max)]
    return [(sum(p.matrix[t][i] for t in range(k, k + p.tau_max + 1)), 1) for i, k in windows]


def _monotone(p: ParticipationMatrix) -> Pairs:
    for i in range(p.N):
        for k in range(p.T - p.tau_max):
            for star in range(k, k + p.tau_max + 1):
                if p.matrix[star][i]:
                    yield Fraction(p.last(i, k + p.tau_max)), Fraction(p.last(i, star))
                    yield Fraction(p.last(i, star)), Fraction(k)


STEPS: tuple[Step, ...] = (
    _noise(
        "display, first equality",
        "E||sum_{i in A_t} sum_k [g_i - grad f_i]||^2 = sum_{i in A_t} E||sum_k [g_i - grad f_i]||^2",
        drawn(_clients_apart, "==", form=one_more),
        remark="With participation that is given beforehand; g_i and grad f_i at (x_i^{a_{i,t},k}, xi_i^{a_{i,t},k}).",
    ),
    _noise(
        "display, second equality",
        "sum_{i in A_t} E||sum_k [g_i - grad f_i]||^2 = sum_{i in A_t} sum_k E||g_i - grad f_i||^2",
        drawn(_steps_apart, "==", form=one_more),
        remark="The local iterates depend on the noise of the steps before.",
    ),
    _noise(
        "display, third line, first inequality",
        "sum_{i in A_t} sum_k E||g_i - grad f_i||^2 <= A_t*K*sigma^2",
        drawn(_bounded, form=lambda: forms.noise_of_gradients(sp.Integer(1))),
    ),
    _noise(
        "display, third line, second inequality",
        "A_t*K*sigma^2 <= N*K*sigma^2",
        at_most(A_t * K * sigma**2, N * K * sigma**2, below(A_t, N)),
        remark="A_t is also the number of clients in the set of that name.",
    ),
    _noise(
        "statement, 'for any active set A_t'",
        "E||sum_{i in A_t} sum_k [g_i - grad f_i]||^2 <= N*K*sigma^2",
        drawn(lambda draw: _any_active_set(draw, fixed=False)),
        repaired=drawn(lambda draw: _any_active_set(draw, fixed=True), form=forms.noise),
        repair="the participation is independent of the gradients' noise",
        remark="Appendix B lets S_t be random and part of the history. A client that takes part again only after small "
        "noise leaves its large noise in y^(t). True if the participation is read as given beforehand.",
    ),
    _noise(
        "statement",
        "E||sum_{i in A_t} sum_k [g_i - grad f_i]||^2 <= N*K*sigma^2",
        drawn(_lemma_b_1, kind=StepKind.END_TO_END, form=forms.noise),
        remark="On runs whose participation is given beforehand.",
    ),
    _delay(
        "statement",
        "min_i a_{i,k+tau_max} >= k for any k >= 0",
        counting(_from_k_on, ">=", clients=(1, 2, 3), form=delays.recent),
        remark="For k + tau_max < T: there are no later rounds, and the proofs use the lemma within the run only.",
    ),
    _delay(
        "display of the contradiction, first inequality",
        "tau_max >= k' + tau_max - min_j a_{j,k'+tau_max}",
        counting(_largest, ">=", clients=(1, 2, 3), form=delays.largest),
        remark="t in place of k' + tau_max, which is a round of the run.",
    ),
    _delay(
        "display of the contradiction, second inequality",
        "k' + tau_max - min_j a_{j,k'+tau_max} >= k' + tau_max - a_{i,k'+tau_max}",
        counting(_by_client, ">=", form=delays.by_client),
    ),
    _delay(
        "display of the contradiction, fourth inequality",
        "k' + tau_max - a_{i,k'+tau_max} >= k' + tau_max - a_{i,k'-1}",
        counting(_unchanged, ">=", form=delays.unchanged),
        remark="For every window of rounds without client i, since there is none of length tau_max + 1: its last round "
        "in place of k' + tau_max.",
    ),
    _delay(
        "display of the contradiction, last inequality",
        "tau_max + 1 + (k' - 1 - a_{i,k'-1}) >= tau_max + 1",
        counting(_too_long, ">=", form=delays.too_long),
        remark="For every window of rounds without client i: its length in place of tau_max + 1.",
    ),
    _delay(
        "after the contradiction",
        "client i is selected at least once in the rounds k ... k + tau_max",
        counting(_selected, ">=", clients=(1, 2, 3), form=delays.recent),
        remark="For k + tau_max <= T - 1.",
    ),
    _delay(
        "display before the last", "a_{i,k+tau_max} >= a_{i,k*} = k* >= k", counting(_monotone, ">=", form=delays.later)
    ),
)
