"""Lines that count rounds, for every participation; `windows` has the same lines on all matrices of small sizes.

a = a_{i,t} is the last round of a client up to t, b = a_{i,a-1} the one before, and ``delay`` is tau_t. What is known:
a <= t, t - a <= tau_t <= tau_max, and a_{i,t} = a_{i,t-1} unless client i takes part in round t.

A sum over rounds counts how often a round p occurs: ``count`` is how many rounds t have p in their window, ``last`` the
largest of them, and p itself, or the round before the first that may count, if there is none. Sums over clients are at
most N times the largest summand. A sum that is compared term by term is compared for every term.
"""

from __future__ import annotations

import sympy as sp

from bounds.ledger.proof import at_most, same
from bounds.ledger.step import Identity, Scalar, above, below, equal, together
from bounds.ledger.written import written
from bounds.papers.fedsum.symbols import N, T, tau_avg, tau_max
from bounds.statement import Condition

tau = tau_max
t, a, b, p, last, first = sp.symbols("t a b p last first", real=True)
delay, count, weighted = sp.symbols("tau_t count weighted", nonnegative=True)
LARGEST = below(delay, tau, "tau_max is the largest delay")
OWN = below(t - a, delay, "tau_t is the largest t - a_{i,t}")
LATEST = below(a, t, "a_{i,t} is a round up to t")


def counted(after: sp.Expr) -> Condition:
    """So many whole numbers lie after one and up to another."""
    return below(count, last - after, f"rounds after {after} and up to the last")


def _least(left: sp.Expr, right: sp.Expr, *hypotheses: Condition) -> Scalar:
    return at_most(left, right, *hypotheses, operator=">=")


# --- Delays: Section 2.2 and Lemma B.2 ---


def nonnegative() -> Scalar:
    """Eq. (4), of a number of which no sign is known."""
    largest = sp.Symbol("tau_t", real=True)
    return _least(largest, sp.Integer(0), below(t - a, largest, OWN.name), LATEST)


def somebody_is_away() -> Scalar:
    """tau_max of rounds 0 ... T is at least 1 with nobody in round T."""
    return _least(
        tau, sp.Integer(1), below(T - a, tau, "the delay of round T"), below(a, T - 1, "nobody takes part in round T")
    )


def mean_delay() -> Scalar:
    """tau_avg <= tau_max, with the sum of T delays."""
    total = sp.Symbol("sum of tau_t", nonnegative=True)
    return at_most(tau_avg, tau, equal(total, T * tau_avg), below(total, T * tau, "tau_max is the largest delay"))


def recent() -> Scalar:
    """Lemma B.2: in round k + tau_max every a_i is at least k, and so is a round in which client i takes part."""
    k = sp.Symbol("k", nonnegative=True)
    at_end = (below(k + tau - a, delay, "tau_t is the largest t - a_{i,t}"), LARGEST)
    return _least(a, k, *at_end)


def largest() -> Scalar:
    """The delay of any round is at most tau_max, the largest."""
    return _least(sp.Max(delay, sp.Symbol("delays of other rounds", nonnegative=True)), delay)


def by_client() -> Scalar:
    """The largest t - a_j is at least t - a_i; ``first`` is the least a_j."""
    return _least(t - first, t - a, below(first, a, "the minimum over clients"))


_there, _before, _start = sp.symbols("there a_before start", real=True)
# The last round of a window without client i, and the rounds of the window before it.
ABSENT = (
    equal(a, _before, "eq. (3), client i does not take part"),
    equal(_before, b, "the same for the rounds before"),
)


def unchanged() -> Scalar:
    """In a window of rounds ``start`` ... t without client i, a_{i,t} is still b = a_{i,start-1}."""
    return _least(t - a, t - b, *ABSENT)


def too_long() -> Scalar:
    """The delay is then at least the window's length."""
    return _least(t - a, t - _start + 1, *ABSENT, below(b, _start - 1, "a_{i,start-1} is a round up to start - 1"))


def monotone() -> Scalar:
    """a_{i,t} never gets smaller, from one round to the next."""
    return _least(
        a,
        _before,
        equal(a, _there * t + (1 - _there) * _before, "eq. (3)"),
        above(_there, 0),
        below(_there, 1),
        below(_before, t - 1, "a_{i,t-1} is a round up to t - 1"),
    )


def later() -> Scalar:
    """For k* >= k in which client i takes part: a_{i,t} >= a_{i,k*} from then on, round by round, and k* >= k."""
    star, at_star, k = sp.symbols("k* a_k* k", nonnegative=True)
    present = equal(at_star, star, "eq. (3), client i takes part in round k*")
    return together(monotone(), _least(at_star, k, present, below(k, star, "k* is one of k ... k + tau_max")))


def still_last() -> Scalar:
    """a_{i,a+1} = a if client i does not take part in round a + 1."""
    return at_most(a, b, *ABSENT, operator="==")


def recent_enough() -> Scalar:
    """Before eqs. (54), (90): t - tau_max <= a_{i,t} <= t."""
    return together(at_most(t - tau, a, OWN, LARGEST), at_most(a, t, LATEST))


# --- Windows of delay: Lemmas C.2, D.2, E.2 and their corollaries ---

# Rounds t > p with t - tau_t <= p; for ``last`` = p too, if there is none.
WINDOWS = (counted(p), below(last - delay, p, "p is in the window of the last"), LARGEST)
_WEIGHTS = below(weighted, tau * count, "each weight is a delay, at most tau_max")


def window_begins() -> Scalar:
    """Where a window begins: t - tau_t >= min{0, t - tau_max}."""
    return _least(t - delay, sp.Min(0, t - tau), LARGEST)


def wider_window() -> Scalar:
    """A round p of t - tau_t ... t-1 is one of min{0, t-tau_max} ... t-1."""
    return _least(p, sp.Min(0, t - tau), above(p, t - delay, "p is in the window"), LARGEST)


def swapped_window() -> Scalar:
    """For p from max{0, t-tau_max} to t - 1, t is one of p + 1 ... p + tau_max."""
    return together(
        at_most(t, p + tau, above(p, sp.Max(0, t - tau), "p is in the window")),
        _least(t, p + 1, below(p, t - 1, "p is in the window")),
    )


def length(operator: str) -> Scalar:
    """The rounds p + 1 ... p + tau_max are tau_max."""
    return at_most(written(p + tau) - (p + 1) + 1, tau, operator=operator)


def window_bound() -> Scalar:
    """sum_t sum_{p=t-tau_t}^{t-1} q_p <= tau_max sum_t q_t, the coefficient of q_p."""
    return at_most(count, tau, *WINDOWS)


def weighted_windows() -> Scalar:
    """sum_t tau_t sum_{p=t-tau_t}^{t-1} q_p <= tau_max^2 sum_t q_t, the coefficient of q_p."""
    return at_most(weighted, tau**2, *WINDOWS, _WEIGHTS)


# --- Clients' windows: Lemmas C.4, D.4, E.4 ---


def clients_of_rounds() -> Scalar:
    """sum_i sum_{p=a_{i,t}}^{t-1} A_p <= N sum_i (t - a_{i,t}): of every client, with the largest A_p of its window."""
    present = sp.Symbol("A_p", nonnegative=True)
    return at_most(present * (t - a), N * (t - a), below(present, N, "A_p are clients"), LATEST)


def all_delays() -> Scalar:
    """sum_i (t - a_{i,t}) <= N tau_t: N times the largest summand."""
    return at_most(N * (t - a), N * delay, OWN)


def clients_windows() -> Scalar:
    """sum_i (t - a_{i,t}) [a_{i,t} <= p] <= N tau_t [t - tau_t <= p], term by term: where p counts for a client."""
    return together(at_most(t - a, delay, OWN), _least(p, t - delay, above(p, a, "p is in the client's window"), OWN))


def not_seen() -> Identity:
    """N - A_t is the number of clients that are not in A_t."""
    seen, others = sp.symbols("A_t others", nonnegative=True)
    return same(written(seen + others) - seen, others)


# Rounds t >= 0 in which client i has not taken part yet; ``last`` = -1 if there is none.
def absent() -> Scalar:
    """sum_t [j not in A_t] <= tau_max for every client j: in the last of these rounds a_j is -1."""
    return at_most(count, tau, counted(sp.Integer(-1)), below(last + 1, tau, "the delay of the last"))


def delayed_noise(*, largest: bool) -> Scalar:
    """Eqs. (46), (82): the delay of a round times sum_i sum_{p=a_{i,t}}^{t-1} A_p, with tau_max for ``largest``.

    For every round; the tau_t add up to T tau_avg.
    """
    visits = sp.Symbol("visits", nonnegative=True)
    many = below(visits, N * (N * delay), "N clients of windows of at most tau_t rounds with at most N clients each")
    return at_most((tau if largest else delay) * visits, N**2 * tau * delay, many, LARGEST)


def delayed_gradients() -> Scalar:
    """sum_t (t - a_{i,t}) [a_{i,t} <= p < t] <= tau_max^2 for every client i."""
    return at_most(weighted, tau**2, counted(p), below(last - tau, p, "a_{i,t} <= p in the last of them"), _WEIGHTS)


# --- Two rounds of a client: a = a_{i,t} and b = a_{i,a-1} ---

# In round a - 1 the last round of client i was b.
GAP = below((a - 1) - b, tau, "the delay of round a - 1")
# The rounds t with a_{i,t} = a; ``last`` is the largest.
SAME = (counted(a - 1), below(last - a, tau, "the delay of the last"))


def gap(more: sp.Expr) -> Scalar:
    """Before eqs. (53), (89), repaired: a - a' <= tau_max + 1."""
    return at_most(a - b, tau + more, GAP)


def squared_gaps(more: sp.Expr) -> Scalar:
    """sum_t sum_{i in A_t} (a - a')^2 <= N T (tau_max + 1)^2, term by term."""
    return at_most((a - b) ** 2, (tau + more) ** 2, GAP, above(a, b, "a' is before a"))


def gap_windows() -> Scalar:
    """sum_t (a - a') [a' <= p < a] <= (tau_max + 1)^2 for every client: all t that count have the same a."""
    return at_most(weighted, (tau + 1) ** 2, equal(weighted, count * (a - b), "weights are alike"), *SAME, GAP)


def within_twice() -> Scalar:
    """A round p of a - tau_max ... a is one of t - 2 tau_max ... t."""
    near = (below(t - tau, a, "the line before"), LATEST)
    return together(
        _least(p, t - 2 * tau, above(p, a - tau, "p is in the window"), *near),
        at_most(p, t, below(p, a, "p is in the window"), *near),
    )


def clients_at_most() -> Scalar:
    """A sum over A_t of what does not depend on the client is at most N times it."""
    seen = sp.Symbol("A_t", nonnegative=True)
    return at_most(tau * seen, N * tau, below(seen, N, "A_t are clients"))


def swapped_twice() -> Scalar:
    """For p from t - 2 tau_max to t <= T - 1, t is one of p ... min{T-1, p + 2 tau_max}."""
    return together(
        at_most(t, T - 1, below(t, T - 1, "t is a round of the run")),
        at_most(t, p + 2 * tau, above(p, t - 2 * tau, "p is in the window")),
        _least(t, p, below(p, t, "p is in the window")),
    )


def length_twice() -> Scalar:
    """The rounds p ... min{T-1, p + 2 tau_max} are at most 2 tau_max + 1."""
    return at_most(N * tau * (sp.Min(T - 1, p + 2 * tau) - p + 1), N * tau * (2 * tau + 1))


def older_drifts(more: sp.Expr) -> Scalar:
    """How often a' = r, against tau_max + 1 times how often a = r; ``own``. All t with a' = r have the same a."""
    own = sp.Symbol("own", nonnegative=True)
    return at_most(count, (tau + more) * own, *SAME, above(own, 1, "client i takes part in round r itself"))


def first_visits() -> Scalar:
    """sum_t [a_{i,t} is the first round of client i] <= tau_max + 1; ``a`` is that round."""
    return at_most(count, tau + 1, *SAME)


def old_rounds(more: sp.Expr) -> Scalar:
    """sum_t [a_{i,t} - 1 = p] <= tau_max + 1 for every client."""
    return at_most(N * count, N * (tau + more), *SAME)


def averages(more: sp.Expr) -> Scalar:
    """sum_t [a' <= p < a]/(a - a') <= tau_max + 1 for every client."""
    return at_most(N * weighted, N * (tau + more), below(weighted, count, "a - a' >= 1"), *SAME)
