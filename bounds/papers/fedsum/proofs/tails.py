"""Lines of Appendix F for every N, S and T: sums of probabilities term by term, and logarithms as symbols.

p is the largest probability with which a client is absent, ``there`` is 1 - p, and ``power`` is p^l or p^m.
"""

from __future__ import annotations

import sympy as sp

from bounds.ledger.proof import at_most, same
from bounds.ledger.step import Identity, Scalar, above, below, equal, together
from bounds.papers.fedsum.symbols import N, S, T, delta, tau_max

p, there = sp.symbols("p there", positive=True)
power, chance = sp.symbols("power chance", nonnegative=True)
l_, m = sp.Symbol("l", positive=True), sp.Symbol("m", nonnegative=True)
# log(NT), log(N), log(1/delta), log(1/p) and log(1/(1-p)).
log_NT, log_N, log_delta = (sp.Symbol(f"log({x})", nonnegative=True) for x in ("NT", "N", "1/delta"))
log_p, log_there = sp.Symbol("log(1/p)", positive=True), sp.Symbol("log(1/(1-p))", nonnegative=True)
SUM = equal(p, 1 - there, "there = 1 - p")
CONCAVE = above(log_p, there, "log(1/p) >= 1 - p")


def absent_once() -> Scalar:
    """The share of samples without a client is 1 - S/N, by the factorials of which both binomials are made."""
    few, every, others, inverse = sp.symbols("with_client samples (N-1)! 1/((S-1)!(N-S)!)", positive=True)
    binomials = (equal(few, others * inverse, "binom(N-1, S-1)"), equal(every * S, N * others * inverse, "binom(N, S)"))
    return at_most(1 - few / every, 1 - S / N, *binomials, operator="==")


def union() -> Scalar:
    """Where a delay of l occurs, one of N (T - l + 1) windows of l rounds is without its client."""
    windows = sp.Symbol("windows", nonnegative=True)
    mean = equal(windows, N * (T - l_ + 1) * power, "each of the windows has probability p^l")
    return at_most(chance, N * (T - l_ + 1) * power, below(chance, windows, "there is one, or more"), mean)


def below_one(most: sp.Expr) -> Scalar:
    """A client may be absent if the least probability is below 1."""
    return at_most(1 - delta, sp.Integer(0), below(delta, most), operator=">")


def end_of_chain() -> Scalar:
    """The last inequality of Lemma F.2 for N T >= 2, with delta = exp(-log(1/delta)) <= 1/(1 + log(1/delta))."""
    right = 4 / delta * sp.Max(log_NT, log_delta)
    two = above(log_NT, sp.Rational(69, 100), "log(2) >= 69/100")
    small = below(delta * (1 + log_delta), 1, "exp(x) >= 1 + x")
    return at_most((log_NT + log_delta) / delta + 2, right, two, small)


def tail_sum() -> Scalar:
    """Summation by parts, from l to l + 1; ``mean`` and ``tails`` sum k P(tau_max = k) and P(tau_max >= k) for k <= l.

    ``tail`` is P(tau_max >= l + 1) and ``past`` P(tau_max >= l + 2), which is 0 for l + 1 = T; ``there`` is the
    probability of l + 1.
    """
    before, mean, tails, tail, past, there = sp.symbols("l mean tails tail past there", nonnegative=True)
    line = equal(mean, tails - before * tail, "the line for l, for l = 0 of nothing")
    return at_most(
        mean + (before + 1) * there,
        tails + tail - (before + 1) * past,
        line,
        equal(there, tail - past, "P(tau_max = l + 1)"),
        operator="==",
    )


def capped() -> Scalar:
    """P(tau_max >= l) <= min{1, N T p^l}, for every l: ``windows`` adds up the probabilities of windows of l."""
    windows = sp.Symbol("windows", nonnegative=True)
    there_is = below(chance, windows, "a window of l rounds without its client, or more")
    each = below(windows, N * (T - l_ + 1) * power, "N (T - l + 1) windows, independent rounds: each at most p^l")
    one = at_most(chance, 1, below(chance, 1, "a probability"))
    return together(one, at_most(chance, N * T * power, there_is, each, above(l_, 1)))


def split() -> Scalar:
    """Each minimum up to m is at most 1, and each after it at most N T p^l."""
    least = sp.Min(1, N * T * power)
    return together(at_most(least, 1), at_most(least, N * T * power))


def geometric() -> Scalar:
    """N T times a sum of powers from ``power`` = p^{m+1} on, whose next would be ``past``."""
    total, past = sp.symbols("total past", nonnegative=True)
    series = equal(total * there, power - past, "a geometric sum")
    return at_most(N * T * total, N * T * power / there, series)


def at_split() -> Scalar:
    """N T p/(1-p) p^m <= 1 by the choice of m: p^m is p to the logarithm, times p^(m - logarithm)."""
    at_log, rest = sp.symbols("p^log p^(m-log)", nonnegative=True)
    return at_most(
        N * T * p / there * power,
        1,
        equal(power, at_log * rest, "p^m = p^log p^(m-log)"),
        equal(at_log * (N * T * p), there, "the logarithm to the base p of (1-p)/(N T p)"),
        below(rest, 1, "p < 1, and m is rounded up"),
    )


def odds() -> Identity:
    """p/(1-p) = (N-S)/S at p = 1 - S/N."""
    return same((1 - S / N) / (S / N), (N - S) / S)


def odds_bound() -> Scalar:
    """The odds (N-S)/S are at most N."""
    return at_most((N - S) / S, N)


def to_logarithm() -> Scalar:
    """With the logarithm ``real`` to the base p of (1-p)/(N T p): m + N T p^{m+1}/(1-p) <= real + 2."""
    real = sp.Symbol("real", real=True)
    rounded = below(m, real + 1, "m is the logarithm rounded up")
    return at_most(m + N * T * power * p / there, real + 2, rounded, below(N * T * p / there * power, 1, "first fact"))


def uniform_chain() -> Scalar:
    """The last inequalities of Lemma F.1; log(p/(1-p)) is a symbol."""
    log_odds = sp.Symbol("log(p/(1-p))", real=True)
    facts = (
        below(log_odds, log_N, "p/(1-p) <= N"),
        below(log_p, log_N, "1/p = N/(N-S) <= N"),
        below(log_N, log_NT, "T >= 1"),
    )
    return together(
        at_most((log_NT + log_odds) / log_p + 2, 4 * log_NT / log_p, *facts),
        at_most(4 * log_NT / log_p, 4 * log_NT / there, CONCAVE),
    )


_LARGEST = above(there, delta, "delta is the least probability")


def by_delta() -> Scalar:
    """log(N T p/(1-p))/log(1/p) + 2 <= (log(NT) + log(1/delta))/log(1/p) + 2."""
    left = (log_NT - log_p + log_there) / log_p + 2
    return at_most(left, (log_NT + log_delta) / log_p + 2, below(log_there, log_delta, "1 - p >= delta"))


def by_absence() -> Scalar:
    """1/log(1/p) <= 1/(1-p), times the logarithms."""
    return at_most((log_NT + log_delta) / log_p + 2, (log_NT + log_delta) / there + 2, CONCAVE)


def by_least() -> Scalar:
    """1/(1-p) <= 1/delta, times the logarithms."""
    right = log_NT / delta + log_delta / delta + 2
    return at_most((log_NT + log_delta) / there + 2, right, _LARGEST)


def epochs() -> Scalar:
    """2 floor(N/S) <= 4 N/S."""
    whole = sp.Symbol("floor(N/S)", nonnegative=True)
    return at_most(2 * whole, 4 * N / S, below(whole, N / S, "rounded down"))


# --- Theorem 4.1 and Corollary 4.1 ---


def positive() -> Scalar:
    """max{1, tau_max} is at least 1."""
    return at_most(sp.Max(1, tau_max), 1, operator=">=")


def expected_delay() -> Scalar:
    """max{1, tau_max} <= 1 + tau_max, for every outcome."""
    return together(at_most(1, 1 + tau_max), at_most(tau_max, 1 + tau_max))


def sure_step_size() -> Scalar:
    """A step size for a delay that none exceeds keeps the cap of each."""
    largest, delay = sp.symbols("largest delay", positive=True)
    return at_most(1 / (10 * largest), 1 / (10 * delay), below(delay, largest, "none exceeds the largest"))
