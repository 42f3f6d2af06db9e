"""Appendix G: Theorem G.1, eq. (113), and the four cases of Corollary G.1."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import sympy as sp

from bounds.ledger.draw import Draw, Rational
from bounds.ledger.participation import ParticipationMatrix
from bounds.ledger.proof import Proof, at_most
from bounds.ledger.step import Draws, Enumerated, Scalar, Step, StepKind, above, below
from bounds.papers.fedsum.proofs import tuned
from bounds.papers.fedsum.proofs.shared import patterns
from bounds.papers.fedsum.proofs.shared.terms import PLAYED, TO_T
from bounds.papers.fedsum.symbols import F_0, Delta_f, K, L, N, S, T, delta, sigma, tau_avg

_theorem = Proof("fedsum/theorem-g.1", "Theorem G.1")
_CASES = [Proof(f"fedsum/corollary-g.1-case-{case}", f"Corollary G.1, Case {case}") for case in range(1, 5)]
_uniform, _independent, _reshuffled, _cyclic = _CASES

Sides = tuple[Fraction, sp.Expr]
RightSide = Callable[[tuned.TunedSizes], tuple[sp.Expr, sp.Expr]]


def _log(value: Rational) -> sp.Expr:
    return sp.log(sp.Rational(value))


def _uniform_terms(sizes: tuned.TunedSizes) -> tuple[sp.Expr, sp.Expr]:
    """Factors of sqrt(L sigma^2 Delta_f/(K T)) and (L Delta_f + F_0)/T in Case 1."""
    log = _log(sizes.N * sizes.T)
    return 60 * sp.sqrt(log / sizes.S), 80 * sizes.N * log / sizes.S


def _later(sizes: tuned.TunedSizes) -> sp.Expr:
    return sp.Max(_log(sizes.N * sizes.T), _log(1 / sizes.delta))


def _independent_terms(sizes: tuned.TunedSizes) -> tuple[sp.Expr, sp.Expr]:
    later, least = _later(sizes), sp.Rational(sizes.delta)
    return 60 * later / sp.sqrt(least * sizes.N), 80 * later / least


def _independent_mended(sizes: tuned.TunedSizes) -> tuple[sp.Expr, sp.Expr]:
    delays = 1 + 4 / sp.Rational(sizes.delta) * _later(sizes)
    return 30 * sp.sqrt(delays / sizes.N), 20 * delays


def _cyclic_terms(sizes: tuned.TunedSizes) -> tuple[sp.Expr, sp.Expr]:
    return 60 / sp.sqrt(sp.Integer(sizes.S)), sp.Rational(80 * sizes.N, sizes.S)


def _uniform_case(draw: Draw, *, fewer: bool) -> Sides:
    clients = draw.whole(2 if fewer else 1, 2)
    sampled = draw.whole(1, clients - 1 if fewer else clients)
    rounds = draw.whole(1, 3)
    return tuned.case(
        draw, patterns.uniform(clients, sampled, rounds), _uniform_terms, sampled=sampled, delta=Fraction(1)
    )


def _independent_case(draw: Draw, right: RightSide) -> Sides:
    clients, rounds = draw.whole(1, 2), draw.whole(1, 2)
    least = draw.rational(Fraction(1, 4), 1)
    chances = [least] + [draw.rational(least, 1) for _ in range(clients - 1)]
    return tuned.case(draw, patterns.independent(chances, rounds), right, sampled=1, delta=least)


def _blocks(draw: Draw) -> tuple[int, int, int]:
    clients = draw.whole(1, 3)
    return clients, draw.whole(1, clients), draw.whole(1, 4)


def _reshuffled_case(draw: Draw) -> Sides:
    clients, block, rounds = _blocks(draw)
    rounds = min(rounds, 2 * math.ceil(Fraction(clients, block)))
    law = patterns.every_reshuffling(clients, block, rounds)
    merged: dict[ParticipationMatrix, Fraction] = {}
    for weight, who in law:
        merged[who] = merged.get(who, Fraction(0)) + weight
    alike = [(weight, who) for who, weight in merged.items()]
    return tuned.case(draw, alike, _cyclic_terms, sampled=block, delta=Fraction(1))


def _cyclic_case(draw: Draw) -> Sides:
    clients, block, rounds = _blocks(draw)
    law = [(Fraction(1), patterns.cyclic(clients, block, rounds))]
    return tuned.case(draw, law, _cyclic_terms, sampled=block, delta=Fraction(1))


_log_NT = sp.Symbol("log(NT)", positive=True)
_larger = sp.Symbol("max(log(NT),log(1/delta))", nonnegative=True)
_E_delay = sp.Symbol("E_tau_max", nonnegative=True)
_WORK = L * sigma**2 * Delta_f / (K * T)
_REST = (L * Delta_f + F_0) / T
# S < N gives N >= 2, and log 2 > 1/2.
_FEWER = (below(S + 1, N, "S < N"), above(_log_NT, sp.Rational(1, 2), "log(NT) >= log 2"))
_BY_F1, _BY_F2, _BY_F3, _BY_F4 = 4 * N / S * _log_NT, 4 / delta * _larger, 4 * N / S, 2 * N / S


def _noise(delays: sp.Expr, printed: sp.Expr, *hypotheses: sp.Expr) -> Scalar:
    """30 sqrt(delays L sigma^2 Delta_f/(N K T)) <= printed."""
    return at_most(30 * sp.sqrt(delays * _WORK / N), printed, *hypotheses)


def _with_logarithms(claim: Scalar) -> Scalar:
    """The claim with the logarithms themselves, so that numbers that they cannot have refute nothing."""
    log = sp.log(N * T)
    put = {_log_NT: log, _larger: sp.Max(log, sp.log(1 / delta))}
    hypotheses = [h for h in claim.hypotheses if not {_log_NT, _larger} & (h.left.free_symbols | h.right.free_symbols)]
    return at_most(claim.left.xreplace(put), claim.right.xreplace(put), *hypotheses, operator=claim.operator)


def _end_to_end(sides: Callable[[Draw], Sides], count: int = 30) -> Enumerated:
    return Enumerated(kind=StepKind.END_TO_END, sides=sides, operator="<=", instances=Draws(count=count))


_UNIFORM_NOISE = 60 * sp.sqrt(_WORK * _log_NT / S)
_CYCLIC_NOISE = 60 * sp.sqrt(_WORK / S)
_FROM_4_1 = "With 1 + E tau_avg of eq. (13) and the bound of Lemma F.{}, as the text says."
_USE_113 = "max{1, tau_avg} of eq. (113) in place of 1 + tau_avg of eq. (12)"
_whole_block = below(S, N, "S <= N")

STEPS: tuple[Step, ...] = (
    _theorem(
        "statement, eq. (113)",
        "(1/T) sum_t E||grad f(x^t)||^2 <= 30 sqrt(max{1, tau_avg} L sigma^2 Delta_f/(NKT)) + 20 tau_max (L Delta_f"
        " + F_0)/T",
        tuned.on_runs("", to_T=True),
        remark=f"For all three algorithms. {TO_T}. {PLAYED}, and the right side without noise.",
    ),
    _theorem(
        "not printed: the repaired theorem",
        "the same for tau_max over rounds 0 ... T-1 with max{1, tau_max} in place of tau_max",
        tuned.on_runs("", to_T=False),
    ),
    _theorem(
        "before Corollary G.1",
        "max{1, tau_avg} <= max{1, tau_max}",
        at_most(sp.Max(1, tau_avg), sp.Max(1, _E_delay), below(tau_avg, _E_delay)),
        remark="With tau_max for E_tau_max: what the bounds of Appendix F, which are on tau_max, are put in for.",
    ),
    _uniform(
        "noise",
        "30 sqrt((1 + E tau_avg) L sigma^2 Delta_f/(NKT)) <= 60 sqrt(L sigma^2 Delta_f log(NT)/(SKT))",
        _with_logarithms(_noise(1 + _BY_F1, _UNIFORM_NOISE, *_FEWER)),
        repaired=_noise(sp.Max(1, _BY_F1), _UNIFORM_NOISE, *_FEWER),
        repair=_USE_113,
        remark=_FROM_4_1.format(1),
    ),
    _uniform(
        "1/T term",
        "20 E[tau_max] (L Delta_f + F_0)/T <= 80 (L Delta_f + F_0) N log(NT)/(S T)",
        at_most(20 * _E_delay * _REST, 80 * N * _log_NT / S * _REST, below(_E_delay, _BY_F1, "Lemma F.1")),
        remark="S < N makes tau_max >= 1.",
    ),
    _uniform(
        "statement",
        "E||grad f(x^t)||^2 averaged <= 60 sqrt(L sigma^2 Delta_f log(NT)/(SKT)) + 80 (L Delta_f + F_0) N"
        " log(NT)/(S T)",
        _end_to_end(lambda draw: _uniform_case(draw, fewer=False)),
        repaired=_end_to_end(lambda draw: _uniform_case(draw, fewer=True)),
        repair="S < N, as in Lemma F.1",
        remark="FedSUM-B, all samples enumerated, step sizes for max{1, tau_max} of the participation drawn. At N = T "
        "= 1 the right side is 0.",
    ),
    _independent(
        "noise",
        "30 sqrt((1 + E tau_avg) L sigma^2 Delta_f/(NKT)) <= 60 sqrt(L sigma^2 Delta_f) max{log(NT),"
        " log(1/delta)}/sqrt(delta N K T)",
        _with_logarithms(_noise(1 + _BY_F2, 60 * sp.sqrt(_WORK / (delta * N)) * _larger, below(delta, 1))),
        repaired=_noise(1 + _E_delay, 30 * sp.sqrt((1 + _BY_F2) * _WORK / N), below(_E_delay, _BY_F2, "Lemma F.2")),
        repair="30 sqrt((1 + (4/delta) max{...}) L sigma^2 Delta_f/(NKT)): the maximum belongs under the root",
        remark=_FROM_4_1.format(2) + " The maximum may be as small as 0, at N = T = delta = 1.",
    ),
    _independent(
        "noise, from eq. (113)",
        "30 sqrt((4/delta) max{...} L sigma^2 Delta_f/(NKT)) <= 60 sqrt(L sigma^2 Delta_f) max{...}/sqrt(delta N K T)",
        _with_logarithms(_noise(_BY_F2, 60 * sp.sqrt(_WORK / (delta * N)) * _larger, below(delta, 1))),
        repaired=_noise(_BY_F2, 60 * sp.sqrt(_WORK * _larger / (delta * N)), below(delta, 1)),
        repair="the maximum under the root",
        remark="Even without the 1 of 1 + E tau_avg it fails where the maximum is below 1, such as N T = 2, delta ="
        " 1/2. For N T >= 3 it is above 1 and the line true.",
    ),
    _independent(
        "1/T term",
        "20 E[tau_max] (L Delta_f + F_0)/T <= 80 (L Delta_f + F_0) max{log(NT), log(1/delta)}/(delta T)",
        at_most(20 * _E_delay * _REST, 80 * _larger / delta * _REST, below(_E_delay, _BY_F2, "Lemma F.2")),
        remark="With E[max{1, tau_max}] <= 1 + E[tau_max] in its place 20 (L Delta_f + F_0)/T are added.",
    ),
    _independent(
        "statement",
        "E||grad f(x^t)||^2 averaged <= 60 sqrt(L sigma^2 Delta_f) max{log(NT), log(1/delta)}/sqrt(delta N K T)"
        " + 80 (L Delta_f + F_0) max{log(NT), log(1/delta)}/(delta T)",
        _end_to_end(lambda draw: _independent_case(draw, _independent_terms), 60),
        repaired=_end_to_end(lambda draw: _independent_case(draw, _independent_mended), 60),
        repair="30 sqrt((1 + (4/delta) max{...}) L sigma^2 Delta_f/(NKT)) + 20 (1 + (4/delta) max{...}) (L Delta_f"
        " + F_0)/T",
        remark="FedSUM-B, all participations enumerated. At N = T = delta = 1 the right side is 0. With one client and"
        " one round it fails for delta near 1. For N T >= 2 the printed form follows from the repaired Theorem G.1:"
        " the tail sum of Lemma F.2 bounds E max{1, tau_max} as well; for N T >= 3 the maximum of the logarithms is"
        " above its root, and for N T = 2 tau_avg is at most 3/2.",
    ),
    _reshuffled(
        "noise",
        "30 sqrt((1 + E tau_avg) L sigma^2 Delta_f/(NKT)) <= 60 sqrt(L sigma^2 Delta_f/(SKT))",
        _noise(1 + _BY_F3, _CYCLIC_NOISE, _whole_block),
        repaired=_noise(sp.Max(1, _BY_F3), _CYCLIC_NOISE, _whole_block),
        repair=_USE_113,
        remark=_FROM_4_1.format(3),
    ),
    _reshuffled(
        "1/T term",
        "20 E[tau_max] (L Delta_f + F_0)/T <= 80 N (L Delta_f + F_0)/(S T)",
        at_most(20 * _E_delay * _REST, 80 * N / S * _REST, below(_E_delay, _BY_F3, "Lemma F.3")),
    ),
    _reshuffled(
        "statement",
        "E||grad f(x^t)||^2 averaged <= 60 sqrt(L sigma^2 Delta_f/(SKT)) + 80 N (L Delta_f + F_0)/(S T)",
        _end_to_end(_reshuffled_case),
        remark="FedSUM-B, all orders enumerated, epochs of ceil(N/S) rounds.",
    ),
    _cyclic(
        "noise",
        "30 sqrt((1 + E tau_avg) L sigma^2 Delta_f/(NKT)) <= 60 sqrt(L sigma^2 Delta_f/(SKT))",
        _noise(1 + _BY_F4, _CYCLIC_NOISE, _whole_block),
        remark=_FROM_4_1.format(4),
    ),
    _cyclic(
        "1/T term",
        "20 tau_max (L Delta_f + F_0)/T <= 80 N (L Delta_f + F_0)/(S T)",
        at_most(20 * _E_delay * _REST, 80 * N / S * _REST, below(_E_delay, _BY_F4, "Lemma F.4")),
        remark="40 would do. E_tau_max stands for tau_max.",
    ),
    _cyclic(
        "statement",
        "E||grad f(x^t)||^2 averaged <= 60 sqrt(L sigma^2 Delta_f/(SKT)) + 80 N (L Delta_f + F_0)/(S T)",
        _end_to_end(_cyclic_case),
        remark="FedSUM-B.",
    ),
)
