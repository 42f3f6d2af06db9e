"""Appendix F: Lemmas F.1 to F.4, eqs. (109)-(112)."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from fractions import Fraction

import sympy as sp

from bounds.ledger.draw import Draw, Rational
from bounds.ledger.participation import ParticipationMatrix
from bounds.ledger.proof import Proof, at_most, counting, drawn
from bounds.ledger.step import Enumerated, Step, StepKind, above
from bounds.papers.fedsum.proofs import tails
from bounds.papers.fedsum.proofs.shared import delays, patterns
from bounds.papers.fedsum.symbols import N, T

_any = Proof("fedsum/lemma-f.1", "Appendix F", "fedsum/appendix-f")
_uniform = Proof("fedsum/lemma-f.1", "Lemma F.1")
_independent = Proof("fedsum/lemma-f.2", "Lemma F.2")
_reshuffled = Proof("fedsum/lemma-f.3", "Lemma F.3")
_cyclic = Proof("fedsum/lemma-f.4", "Lemma F.4")

Side = tuple[Fraction, Fraction]
Roots = tuple[sp.Expr, sp.Expr]


def _longest_absence(p: ParticipationMatrix) -> tuple[int, int]:
    """tau_max against the longest run of rounds without a client, 0 if there is none."""
    longest = 0
    for i in range(p.N):
        run = 0
        for t in range(p.T):
            run = 0 if p.matrix[t][i] else run + 1
            longest = max(longest, run)
    return p.tau_max, longest


# --- The tail sum; ``further`` = 1 for rounds 0 ... T, 0 for 0 ... T-1 ---


@dataclass(frozen=True)
class Tail:
    """A pattern as both lemmas know it: N, T, the least probability delta, p and the law of the participation."""

    N: int
    T: int
    delta: Fraction
    law: patterns.Law

    @property
    def p(self) -> Fraction:
        """The largest probability with which a client is absent."""
        return 1 - self.delta

    @property
    def split(self) -> int:
        """M = ceil(log_p((1-p)/(N T p))): the least whole number with p^m <= (1-p)/(N T p)."""
        m = 0
        while self.p**m > (1 - self.p) / (self.N * self.T * self.p):
            m += 1
        return m

    @property
    def real_split(self) -> sp.Expr:
        """log_p((1-p)/(N T p))."""
        p = sp.Rational(self.p)
        return sp.log((1 - p) / (self.N * self.T * p)) / sp.log(p)


def _sampled(draw: Draw, further: int = 0) -> Tail:
    N, T = draw.whole(2, 3), draw.whole(1, 3)
    S = draw.whole(1, N - 1)
    return Tail(N, T, Fraction(S, N), patterns.uniform(N, S, T + further))


def _by_chance(draw: Draw, *, least: Rational = Fraction(1, 12), most: Rational = Fraction(11, 12)) -> Tail:
    N, T = draw.whole(1, 2), draw.whole(1, 3)
    delta = draw.rational(least, most)
    probabilities = [delta] + [draw.rational(delta, 1) for _ in range(N - 1)]
    return Tail(N, T, delta, patterns.independent(probabilities, T))


def _absent_once(draw: Draw) -> list[Side]:
    tail = _sampled(draw)
    size = round(tail.N * tail.delta)
    chosen = Fraction(math.comb(tail.N - 1, size - 1), math.comb(tail.N, size))
    there = sum((weight for weight, who in tail.law if who.matrix[0][0]), Fraction(0))
    return [(1 - there, 1 - chosen), (1 - chosen, 1 - tail.delta)]


def _union(draw: Draw, further: int) -> list[Side]:
    tail = _sampled(draw, further)
    lengths = range(1, tail.T + 1)
    return [(patterns.tail(tail.law, n), tail.N * (tail.T - n + 1) * tail.p**n) for n in lengths]


def _tail_sum(draw: Draw, further: int) -> Side:
    tail = _sampled(draw, further)
    right = sum((patterns.tail(tail.law, n) for n in range(1, tail.T + 1)), Fraction(0))
    return patterns.expected_delay(tail.law), right


def _capped(tail: Tail) -> Fraction:
    return sum((min(Fraction(1), tail.N * tail.T * tail.p**n) for n in range(1, tail.T + 1)), Fraction(0))


def _capped_sum(tail: Tail) -> Side:
    left = sum((patterns.tail(tail.law, n) for n in range(1, tail.T + 1)), Fraction(0))
    return left, _capped(tail)


def _split_sum(tail: Tail) -> Side:
    m = tail.split
    return _capped(tail), m + sum((tail.N * tail.T * tail.p**n for n in range(m + 1, tail.T + 1)), Fraction(0))


def _geometric(tail: Tail) -> Side:
    m = tail.split
    left = sum((tail.N * tail.T * tail.p**n for n in range(m + 1, tail.T + 1)), Fraction(0))
    return left, tail.N * tail.T * tail.p ** (m + 1) / (1 - tail.p)


def _at_split(tail: Tail) -> Side:
    return tail.N * tail.T * tail.p / (1 - tail.p) * tail.p**tail.split, Fraction(1)


def _to_logarithm(tail: Tail) -> Roots:
    m = tail.split
    left = m + tail.N * tail.T * tail.p ** (m + 1) / (1 - tail.p)
    return sp.Rational(left), tail.real_split + 2


def _uniform_chain(draw: Draw) -> list[Roots]:
    """The inequalities of the last display of Lemma F.1 for larger N and T."""
    N, T = draw.whole(2, 30), draw.whole(1, 50)
    S = draw.whole(1, N - 1)
    p = sp.Rational(N - S, N)
    first = sp.log((1 - p) / (N * T * p)) / sp.log(p) + 2
    second = 4 * sp.log(N * T) / sp.log(1 / p)
    third = 4 * sp.log(N * T) / (1 - p)
    return [(first, second), (second, third)]


def _odds(draw: Draw) -> list[Side]:
    N = draw.whole(2, 30)
    S = draw.whole(1, N - 1)
    p = 1 - Fraction(S, N)
    return [(p / (1 - p), Fraction(N - S, S)), (Fraction(N - S, S), p / (1 - p))]


def _odds_bound(draw: Draw) -> Side:
    N = draw.whole(2, 30)
    S = draw.whole(1, N - 1)
    return Fraction(N - S, S), Fraction(N)


def _lemma_f_1(draw: Draw, factor: Rational) -> Roots:
    tail = _sampled(draw, 1)
    return sp.Rational(patterns.expected_delay(tail.law)), factor / sp.Rational(tail.delta) * sp.log(tail.N * tail.T)


def _independent_chain(draw: Draw, stage: int, factor: Rational = 4) -> Roots:
    """The inequalities of the last display of Lemma F.2; p_i is any client's probability."""
    N, T = draw.whole(1, 6), draw.whole(1, 6)
    delta = draw.rational(Fraction(1, 12), Fraction(11, 12))
    p = sp.Rational(1 - draw.rational(delta, Fraction(11, 12)))
    logs = sp.log(N * T) + sp.log(1 / sp.Rational(delta))
    lines = [
        sp.log((1 - p) / (N * T * p)) / sp.log(p) + 2,
        logs / sp.log(1 / p) + 2,
        logs / (1 - p) + 2,
        logs / sp.Rational(delta) + 2,
        factor / sp.Rational(delta) * sp.Max(sp.log(N * T), sp.log(1 / sp.Rational(delta))),
    ]
    return lines[stage], lines[stage + 1]


def _end_of_chain(draw: Draw, *, larger: bool) -> Roots | None:
    """The last inequality of Lemma F.2, everywhere or for N*T >= 2."""
    N, T = draw.whole(1, 3), draw.whole(1, 3)
    if larger and N * T < 2:
        return None
    delta = sp.Rational(draw.rational(Fraction(1, 12), Fraction(11, 12)))
    logs = sp.log(N * T), sp.log(1 / delta)
    return (logs[0] + logs[1]) / delta + 2, 4 / delta * sp.Max(*logs)


def _lemma_f_2(draw: Draw, factor: Rational) -> Roots:
    tail = _by_chance(draw, most=1)
    delta = sp.Rational(tail.delta)
    right = factor / delta * sp.Max(sp.log(tail.N * tail.T), sp.log(1 / delta))
    return sp.Rational(patterns.expected_delay(tail.law)), right


def _positive(draw: Draw, most: Rational) -> Side:
    return _by_chance(draw, most=most).p, Fraction(0)


# --- Cyclic patterns ---


def _sizes(draw: Draw) -> tuple[int, int, int]:
    N = draw.whole(1, 8)
    return N, draw.whole(1, N), draw.whole(1, 12)


def _epoch(clients: int, block: int, *, whole_blocks: bool) -> int:
    return clients // block if whole_blocks else math.ceil(Fraction(clients, block))


def _covered(draw: Draw, *, whole_blocks: bool) -> Side:
    N, S, _ = _sizes(draw)
    rounds = _epoch(N, S, whole_blocks=whole_blocks)
    who = patterns.reshuffled(draw, N, S, rounds, whole_blocks=whole_blocks)
    return Fraction(len(who.seen(rounds - 1))), Fraction(N)


def _reshuffled_gap(draw: Draw, *, whole_blocks: bool) -> list[Side]:
    N, S, T = _sizes(draw)
    who = patterns.reshuffled(draw, N, S, T, whole_blocks=whole_blocks)
    limit = Fraction(2 * _epoch(N, S, whole_blocks=whole_blocks))
    return [(Fraction(gap), limit) for gap in (*patterns.gaps(who), who.tau_max)] + [(limit, Fraction(4 * N, S))]


def _epochs_bound(draw: Draw) -> Side:
    N, S, _ = _sizes(draw)
    return Fraction(2 * (N // S)), Fraction(4 * N, S)


def _lemma_f_3(draw: Draw, factor: Rational) -> Side:
    N, S, T = _sizes(draw)
    return Fraction(patterns.reshuffled(draw, N, S, T, whole_blocks=False).tau_max), Fraction(factor * N, S)


def _lemma_f_4(draw: Draw, factor: Rational) -> Side:
    N, S, T = _sizes(draw)
    return Fraction(patterns.cyclic(N, S, T).tau_max), Fraction(factor * N, S)


def _cyclic_gap(draw: Draw) -> list[Side]:
    N, S, T = _sizes(draw)
    return [(Fraction(gap), Fraction(math.ceil(Fraction(N, S)))) for gap in patterns.gaps(patterns.cyclic(N, S, T))]


def _other_case(draw: Draw, factor: Rational) -> Side:
    N, S, T = _sizes(draw)
    who = patterns.reshuffled(draw, N, S, T, whole_blocks=False)
    return Fraction(who.tau_max), Fraction(factor * N, S)


def _pattern(name: str, clients: int, block: int, rounds: int) -> patterns.Law:
    """Cyclic participation in one order, or in a new one in every epoch."""
    if name == "reshuffled":
        return patterns.every_reshuffling(clients, block, rounds)
    return [(Fraction(1), patterns.cyclic(clients, block, rounds))]


def _same_pattern(draw: Draw, *, one: str, other: str) -> Side:
    """E tau_max of two patterns that are said to be the same."""
    N, S, T = 3, draw.whole(1, 3), draw.whole(1, 6)
    draw.show(N=N, S=S, T=T)
    left, right = (patterns.expected_delay(_pattern(name, N, S, T)) for name in (one, other))
    return left, right


def _is_case(one: str, other: str) -> Enumerated:
    return drawn(functools.partial(_same_pattern, one=one, other=other), "==")


_AS_THERE = "the number that Section 2.1 gives it"
_length = sp.Symbol("l", positive=True)
_power = sp.Symbol("p^l", nonnegative=True)
_TO_T = "The lemma samples S_t for t = 0 ... T, which are T + 1 rounds."

STEPS: tuple[Step, ...] = (
    _any(
        "first paragraph",
        "tau_avg <= tau_max",
        counting(lambda p: (p.tau_avg, Fraction(p.tau_max)), clients=(1, 2, 3), form=delays.mean_delay),
    ),
    _uniform(
        "display after the longest runs, again in Lemma F.2",
        "tau_max = max_i L_i, L_i the longest run of rounds without client i",
        counting(_longest_absence, "==", clients=(1, 2, 3)),
        remark="L_i is 0 for a client that is never absent; the paper's maximum over l >= 1 is then one over nothing."
        " tau_max over the rounds in which S_t is given, as in the proof of Lemma F.3: Section 2.2 has one more.",
    ),
    _uniform(
        "display of p",
        "p = P(i not in S_t) = 1 - binom(N-1, S-1)/binom(N, S) = 1 - S/N",
        drawn(_absent_once, "==", form=tails.absent_once),
    ),
    _uniform(
        "union bound, first inequality",
        "P(tau_max >= l) <= sum_i sum_{t=1}^{T-l+1} p^l",
        drawn(_union, further=1),
        repaired=drawn(functools.partial(_union, further=0), form=tails.union),
        repair="t = 0 ... T - 1 in the lemma, or T - l + 2 starting points",
        remark=_TO_T,
    ),
    _uniform(
        "union bound, second inequality",
        "sum_i sum_{t=1}^{T-l+1} p^l <= N T p^l",
        at_most(N * (T - _length + 1) * _power, N * T * _power, above(_length, 1)),
    ),
    _uniform(
        "eq. (109), equality",
        "E tau_max = sum_{l=1}^{T} P(tau_max >= l)",
        drawn(_tail_sum, "==", further=1),
        repaired=drawn(functools.partial(_tail_sum, further=0), "==", form=tails.tail_sum),
        repair="t = 0 ... T - 1 in the lemma, or a sum to T + 1",
        remark=_TO_T,
    ),
    _uniform(
        "eq. (109), inequality",
        "sum_{l=1}^{T} P(tau_max >= l) <= sum_{l=1}^{T} min{1, N T p^l}",
        drawn(lambda draw: _capped_sum(_sampled(draw)), form=tails.capped),
        remark="For rounds 0 ... T - 1.",
    ),
    _uniform(
        "eq. (110), first inequality",
        "sum_{l=1}^{T} min{1, N T p^l} <= sum_{l=1}^{m} 1 + sum_{l=m+1}^{T} N T p^l, m = ceil(log_p((1-p)/(N T p)))",
        drawn(lambda draw: _split_sum(_sampled(draw)), form=tails.split),
    ),
    _uniform(
        "eq. (110), second inequality",
        "sum_{l=m+1}^{T} N T p^l <= N T p^{m+1}/(1-p)",
        drawn(lambda draw: _geometric(_sampled(draw)), form=tails.geometric),
    ),
    _uniform(
        "after eq. (110), first fact",
        "N T p/(1-p) p^m <= 1",
        drawn(lambda draw: _at_split(_sampled(draw)), form=tails.at_split),
    ),
    _uniform("after eq. (110), second fact, equality", "p/(1-p) = (N-S)/S", drawn(_odds, "==", form=tails.odds)),
    _uniform("after eq. (110), second fact, inequality", "(N-S)/S <= N", drawn(_odds_bound, form=tails.odds_bound)),
    _uniform(
        "last display, first inequality",
        "m + N T p^{m+1}/(1-p) <= log_p((1-p)/(N T p)) + 1 + 1",
        drawn(lambda draw: _to_logarithm(_sampled(draw)), form=tails.to_logarithm),
    ),
    _uniform(
        "last display, the inequalities after",
        "ln((1-p)/(N T p))/ln p + 2 <= 4 ln(N T)/ln(1/p) <= 4 ln(N T)/(1-p)",
        drawn(_uniform_chain, form=tails.uniform_chain),
    ),
    _uniform(
        "statement",
        "E tau_max <= (4 N/S) ln(N T)",
        drawn(_lemma_f_1, kind=StepKind.END_TO_END, factor=4),
        remark="For rounds 0 ... T.",
    ),
    _independent(
        "display of p and eq. (111), equality",
        "E tau_max = sum_{l=1}^{T} P(tau_max >= l)",
        drawn(
            lambda draw: (
                patterns.expected_delay((tail := _by_chance(draw, most=1)).law),
                sum((patterns.tail(tail.law, n) for n in range(1, tail.T + 1)), Fraction(0)),
            ),
            "==",
            form=tails.tail_sum,
        ),
        remark="For rounds 0 ... T - 1.",
    ),
    _independent(
        "eq. (111), inequality",
        "sum_{l=1}^{T} P(tau_max >= l) <= sum_{l=1}^{T} min{1, N T p^l}",
        drawn(lambda draw: _capped_sum(_by_chance(draw, most=1)), form=tails.capped),
        remark="p stands for the probability of absence of any client; here it is the largest, 1 - delta.",
    ),
    _independent(
        "before eq. (112)",
        "m = ceil(log_p((1-p)/(N T p))) has a value: p > 0",
        drawn(_positive, ">", most=1),
        repaired=drawn(_positive, ">", most=Fraction(11, 12), form=tails.below_one),
        repair="delta < 1; for delta = 1 everybody takes part always and tau_max = 0",
    ),
    _independent(
        "eq. (112), first inequality",
        "sum_{l=1}^{T} min{1, N T p^l} <= sum_{l=1}^{m} 1 + sum_{l=m+1}^{T} N T p^l",
        drawn(lambda draw: _split_sum(_by_chance(draw)), form=tails.split),
    ),
    _independent(
        "eq. (112), second inequality",
        "sum_{l=m+1}^{T} N T p^l <= N T p^{m+1}/(1-p)",
        drawn(lambda draw: _geometric(_by_chance(draw)), form=tails.geometric),
    ),
    _independent(
        "after eq. (112)", "N T p/(1-p) p^m <= 1", drawn(lambda draw: _at_split(_by_chance(draw)), form=tails.at_split)
    ),
    _independent(
        "last display, first inequality",
        "m + N T p^{m+1}/(1-p) <= log_p((1-p)/(N T p)) + 1 + 1",
        drawn(lambda draw: _to_logarithm(_by_chance(draw)), form=tails.to_logarithm),
    ),
    _independent(
        "last display, second inequality",
        "ln((1-p)/(N T p))/ln p + 2 <= (ln(N T) + ln(1/delta))/ln(1/p) + 2",
        drawn(lambda draw: _independent_chain(draw, 0), form=tails.by_delta),
    ),
    _independent(
        "last display, third inequality",
        "(ln(N T) + ln(1/delta))/ln(1/p) + 2 <= (ln(N T) + ln(1/delta))/(1-p) + 2",
        drawn(lambda draw: _independent_chain(draw, 1), form=tails.by_absence),
    ),
    _independent(
        "last display, fourth inequality",
        "(ln(N T) + ln(1/delta))/(1-p) + 2 <= ln(N T)/delta + ln(1/delta)/delta + 2",
        drawn(lambda draw: _independent_chain(draw, 2), form=tails.by_least),
    ),
    _independent(
        "last display, last inequality",
        "ln(N T)/delta + ln(1/delta)/delta + 2 <= (4/delta) max{ln(N T), ln(1/delta)}",
        drawn(lambda draw: _end_of_chain(draw, larger=False)),
        repaired=drawn(lambda draw: _end_of_chain(draw, larger=True), form=tails.end_of_chain),
        repair="N T >= 2; for N T = 1 the lemma holds by E tau_max itself",
        remark="At N = T = 1 and delta = 11/12 the left side exceeds 2, the right side is below 1/2.",
    ),
    _independent(
        "statement",
        "E tau_max <= (4/delta) max{ln(N T), ln(1/delta)}",
        drawn(_lemma_f_2, kind=StepKind.END_TO_END, count=60, factor=4),
    ),
    _reshuffled(
        "length of an epoch",
        "one epoch, in which blocks of S clients cycle through all clients, consists of floor(N/S) rounds",
        drawn(lambda draw: _covered(draw, whole_blocks=True), "=="),
        repaired=drawn(lambda draw: _covered(draw, whole_blocks=False), "=="),
        repair="ceil(N/S) rounds",
        remark="Checked by how many clients have taken part after that many rounds. Section 2.1, where this"
        " pattern is Case 4, has the cycle through all clients.",
    ),
    _reshuffled(
        "the gap between two selections",
        "the gap between two consecutive selections of a client, and tau_max, are at most 2 floor(N/S)",
        drawn(lambda draw: _reshuffled_gap(draw, whole_blocks=True)),
        repaired=drawn(lambda draw: _reshuffled_gap(draw, whole_blocks=False)),
        repair="epochs of ceil(N/S) rounds and 2 ceil(N/S), which is at most 4 N/S as well",
        remark="With floor(N/S) rounds and S not a divisor of N a client may be left out of any number of epochs.",
    ),
    _reshuffled("display, last inequality", "2 floor(N/S) <= 4 N/S", drawn(_epochs_bound, form=tails.epochs)),
    _reshuffled(
        "statement",
        "E tau_max <= 4 N/S",
        drawn(_lemma_f_3, kind=StepKind.END_TO_END, factor=4),
        remark="The pattern of Section 2.1, which cycles through all clients in epochs of ceil(N/S) rounds. With the"
        " proof's epochs of floor(N/S) rounds E tau_max grows with T unless S divides N, as for N = 7, S = 4.",
    ),
    _reshuffled(
        "'in reshuffled cyclic order, as described in Case 3 of Section 2', again in Corollary G.1",
        "reshuffled cyclic participation is Case 3 of Section 2.1, deterministic cyclic participation",
        _is_case("reshuffled", "deterministic"),
        repaired=_is_case("reshuffled", "reshuffled"),
        repair=f"Case 4, {_AS_THERE}",
        remark="E tau_max of the two patterns.",
    ),
    _cyclic("proof", "the gap between two consecutive selections of a client is at most ceil(N/S)", drawn(_cyclic_gap)),
    _cyclic("statement", "tau_max <= 2 N/S", drawn(_lemma_f_4, kind=StepKind.END_TO_END, factor=2)),
    _cyclic(
        "'as described in Case 4 of Section 2'",
        "tau_max <= 2 N/S for reshuffled participation",
        drawn(_other_case, factor=2),
        remark="Section 2.1 calls deterministic participation Case 3 and reshuffled participation Case 4, Appendices F "
        "and G the reverse. The bound holds for both, with epochs of ceil(N/S) rounds.",
    ),
    _cyclic(
        "'in deterministic cyclic order, as described in Case 4 of Section 2', again in Corollary G.1",
        "deterministic cyclic participation is Case 4 of Section 2.1, reshuffled cyclic participation",
        _is_case("deterministic", "reshuffled"),
        repaired=_is_case("deterministic", "deterministic"),
        repair=f"Case 3, {_AS_THERE}",
        remark="E tau_max of the two patterns.",
    ),
)
