"""Lemmas D.6 and E.6, eqs. (67)-(75) and (99)-(107), and Theorems D.1 and E.1, which print nearly the same lines.

From eq. (70) on the sums of gradients are printed to T, as on the right of Lemmas D.5 and E.5; Gamma is that sum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import sympy as sp

from bounds.ledger.proof import Proof, at_most, drawn, same
from bounds.ledger.step import Scalar, Step, StepKind, above, below
from bounds.papers.fedsum.proofs import tuned
from bounds.papers.fedsum.proofs.shared import common, forms
from bounds.papers.fedsum.proofs.shared.terms import (
    PLAYED,
    SOMEBODY_AWAY,
    TO_T,
    W_T,
    D,
    G,
    Gamma,
    Gamma_T,
    I,
    W,
    average,
    noisy,
    of_a_run,
    tau,
)
from bounds.papers.fedsum.symbols import AVERAGE, F_0, Delta_f, K, L, N, T, eta, eta_l, sigma, tau_avg


@dataclass(frozen=True)
class RateVariant:
    """One of the two appendices, by what differs."""

    letter: str
    algorithm: str
    first: int

    @property
    def e(self) -> bool:
        """Whether the appendix is E."""
        return self.letter == "e"

    def eq(self, number: int) -> str:
        """The number of eq. (67 + number) in this appendix."""
        return f"eq. ({self.first + number})"


D_6 = RateVariant("d", "fedsum", 67)
E_6 = RateVariant("e", "fedsum-cr", 99)

P, V, Y = sp.symbols("P V Y", nonnegative=True)
_share = eta / (2 * N**2 * K)
_cap = below(10 * tau * eta * K * L, 1, "eta_g*eta_l <= 1/(10*tau_max*K*L)")
_local_cap = below(100 * tau * eta_l**2 * K**2 * L**2, 1, "eta_l <= 1/(10*sqrt(tau_max)*K*L)")
_begin = Delta_f - eta * K / 2 * G
_noise = eta**2 * K * T * sigma**2 * L / N
_first_gradients = 3 * eta * tau * K * F_0 / 2
_cubic = eta**3 * tau * AVERAGE * K**2 * T * sigma**2 * L**2 / N
_E70 = _begin + I - _share * Gamma + _share * D + L / 2 * W
_E71 = _begin + I - _share * (1 - eta * K * L) * Gamma + _share * D + _noise
_E71_TWICE = _begin + I - _share * (1 - 2 * eta * K * L) * Gamma + _share * D + _noise
_c2 = 1 - eta * K * L - 4 * eta * tau * K * L
_E72 = _begin - _share * _c2 * Gamma + _share * D + 4 * AVERAGE * _noise


def _coefficient(power: int, movement: int = 1) -> sp.Expr:
    """The factor of Gamma in eqs. (73) and (74), (105) and (106)."""
    start = 1 - movement * eta * K * L - 4 * eta * tau * K * L
    return start - 10 * eta**2 * tau**2 * K**2 * L**2 - 24 * eta_l**2 * K**2 * tau**power * L**2


def _drift_noise(*, e: bool) -> sp.Expr:
    """The noise of the drift in eqs. (73) and (105)."""
    if e:
        return 75 * eta * eta_l**2 * N * K**2 * tau * T * sigma**2 * L**2
    return 75 * eta * eta_l**2 / N * K**2 * T * sigma**2 * L**2


def _after_lemma_4(case: RateVariant, cubic: int) -> sp.Expr:
    right = _begin - _share * _coefficient(1) * Gamma + _first_gradients + 4 * AVERAGE * _noise
    return right + cubic * _cubic + _drift_noise(e=case.e)


def _lemma_4(case: RateVariant) -> sp.Expr:
    right = 3 * K**2 * N**2 * tau * F_0 + 8 * eta**2 * K**3 * N * tau * AVERAGE * T * sigma**2 * L**2
    right += 150 * eta_l**2 * N * K**3 * (tau if case.e else 1) * T * sigma**2 * L**2
    return right + (10 * eta**2 * tau**2 * K**2 * L**2 + 24 * eta_l**2 * K**2 * tau * L**2) * Gamma


def _repaired(step: Callable[..., Step], check: Scalar, last: str, letter: str) -> Step:
    return step(
        "not printed: the repaired lemma",
        "(1/T) sum_t E||grad f(x^t)||^2 <= 2 Delta_f/(eta_g eta_l K T) + 9 eta_g eta_l max{1, tau_avg} sigma^2 L/N"
        " + (3 tau_max + 1/(5 N^2)) F_0/T + 150 eta_l^2 K sigma^2 L^2/N",
        check,
        remark=f"From the lines before with the repaired Lemma {letter}.4; P and V as in {last}.",
    )


def lemma_6(part: Proof, case: RateVariant) -> tuple[Step, ...]:
    """The proof of Lemma D.6 or E.6."""
    step, eq, e = part, case.eq, case.e
    letter = case.letter.upper()
    first, second, third = common.split_gradients("d")
    sums = "sum_{t<=T} E||sum_i sum_k grad f_i||^2"
    cubic = 3 if e else 4
    drift = "75 eta_g eta_l^3 N K^2 tau_max" if e else "75 eta_g eta_l^3/N K^2"
    rate = common.rate_terms(9, 3, 150, eta_l)
    short = _begin - P + _first_gradients + 4 * average * _noise + V
    facts = (below(V, average * _noise / 2, "cubic noise"),)
    without = at_most(
        G / T, rate, below(0, short + _drift_noise(e=False), "with the drift's noise of Lemma D.4"), *facts
    )
    # The repaired Lemmas D.4 and E.4 add K^2*F_0/5, which tau_max = 0 needs.
    lost = eta * K * F_0 / (10 * N**2)
    mended = at_most(
        G / T,
        rate + F_0 / (5 * N**2 * T),
        below(0, short + lost + _drift_noise(e=False), "with the repaired lemma"),
        *facts,
    )
    power = "tau_max^2" if e else "tau_max"
    # Some lines are false in Appendix E alone.
    refuted = of_a_run if e else lambda claim: claim
    return (
        step(
            eq(0),
            "E f(x^{t+1}) <= E f(x^t) + E<grad f(x^t), x^{t+1} - x^t> + L/2 E||x^{t+1} - x^t||^2",
            drawn(lambda draw: common.descent(draw, case.letter), kind=StepKind.STANDARD),
            remark="The last expectation is not printed.",
        ),
        step(
            eq(1),
            "E<grad f(x^t), x^{t+1} - x^t> = E<grad f(x^t), -(eta_g eta_l K/N) y^t> = -(eta_g eta_l/N) E<grad"
            " f(x^t), noise>"
            " - (eta_g eta_l/N^2) E<sum_i grad f_i(x^t), sum_i sum_k grad f_i(x_i^{a,k})>",
            drawn(lambda draw: common.inner_products(draw, case.letter), "==", form=forms.one_step),
        ),
        step(
            f"{eq(2)}, first equality",
            "-(eta_g eta_l/N^2) <sum_i grad f_i, S> = -(eta_g eta_l/(N^2 K)) <K sum_i grad f_i, S>",
            same(first, second),
            remark="S = sum_{i in A_t} sum_k grad f_i(x_i^{a,k}).",
        ),
        step(
            f"{eq(2)}, second equality",
            "= -(1/2) eta_g eta_l K ||grad f||^2 - (eta_g eta_l/(2 N^2 K)) ||S||^2"
            " + (eta_g eta_l/(2 N^2 K)) ||K sum_i grad f_i - S||^2",
            same(second, third),
        ),
        step(
            eq(3),
            f"0 <= Delta_f + I - (1/2) eta_g eta_l K G - (eta_g eta_l/(2 N^2 K)) {sums}"
            " + (eta_g eta_l/(2 N^2 K)) D + L/2 sum_{t<=T} E||x^{t+1} - x^t||^2",
            at_most(0, _E70 - _share * Gamma_T + L / 2 * W_T, below(0, _E70, "the sum of the lines to T - 1")),
            repaired=drawn(lambda draw: common.summed_descent(draw, case.letter), form=forms.summed_descent),
            repair="both sums to T - 1",
            remark="The summands of t = T belong to a round that is not played. Uses f(x^T) >= f*.",
        ),
        step(
            eq(4),
            "0 <= Delta_f + I - (1/2) eta_g eta_l K G - (eta_g eta_l/(2 N^2 K)) (1 - eta_g eta_l K L) Gamma"
            " + (eta_g eta_l/(2 N^2 K)) D + (eta_g eta_l)^2 K T sigma^2 L/N",
            at_most(
                0,
                _E71,
                below(0, _E70, eq(3)),
                below(W, 2 * _noise / L + 2 * eta**2 / N**2 * Gamma, f"Lemma {letter}.1"),
            ),
            repaired=at_most(
                0,
                _E71_TWICE,
                below(0, _E70, eq(3)),
                below(W, 2 * _noise / L + 2 * eta**2 / N**2 * Gamma, f"Lemma {letter}.1"),
            ),
            repair="1 - 2 eta_g eta_l K L, as in eq. (32)",
        ),
        step(
            eq(5),
            "0 <= Delta_f - (1/2) eta_g eta_l K G"
            " - (eta_g eta_l/(2 N^2 K)) (1 - eta_g eta_l K L - 4 eta_g eta_l tau_max K L) Gamma"
            " + (eta_g eta_l/(2 N^2 K)) D + 4 (eta_g eta_l)^2 max{1, tau_avg} K T sigma^2 L/N",
            at_most(
                0,
                _E72,
                below(0, _E71, eq(4)),
                below(I, 3 * tau_avg * _noise + 2 * eta**2 / N**2 * tau * L * Gamma, f"Lemma {letter}.5"),
            ),
        ),
        step(
            eq(6),
            "0 <= Delta_f - (1/2) eta_g eta_l K G - (eta_g eta_l/(2 N^2 K)) (1 - eta_g eta_l K L - 4 eta_g eta_l"
            " tau_max K L"
            " - 10 (eta_g eta_l tau_max K L)^2 - 24 eta_l^2 K^2 tau_max L^2) Gamma + 3 eta_g eta_l tau_max K F_0/2"
            f" + 4 (eta_g eta_l)^2 max{{1, tau_avg}} K T sigma^2 L/N + {cubic} (eta_g eta_l)^3 tau_max max{{1,"
            f" tau_avg}} K^2 T"
            f" sigma^2 L^2/N + {drift} T sigma^2 L^2",
            refuted(
                at_most(
                    0, _after_lemma_4(case, cubic), below(0, _E72, eq(5)), below(D, _lemma_4(case), f"Lemma {letter}.4")
                )
            ),
            repaired=at_most(
                0, _after_lemma_4(case, 4), below(0, _E72, eq(5)), below(D, _lemma_4(case), f"Lemma {letter}.4")
            )
            if e
            else None,
            repair="4 in place of 3, as in eq. (73) and after eq. (106)" if e else "",
            remark="The drift's noise is N^2 times what Lemma E.4 gives." if e else "",
        ),
        step(
            f"{eq(7)}, first inequality",
            "1 - eta_g eta_l K L - 4 eta_g eta_l tau_max K L - 10 (eta_g eta_l tau_max K L)^2 - 24 eta_l^2 K^2 "
            f"{power} L^2 >= 1 - 1/10 - 2/5 - 1/10 - 6/25",
            refuted(
                at_most(_coefficient(2 if e else 1), sp.Rational(4, 25), _cap, _local_cap, SOMEBODY_AWAY, operator=">=")
            ),
            repaired=at_most(_coefficient(1, 2), sp.Rational(3, 50), _cap, _local_cap, SOMEBODY_AWAY, operator=">=")
            if e
            else None,
            repair="tau_max in place of its square; with 2 eta_g eta_l K L the right side is 3/50" if e else "",
            remark=f"{TO_T}."
            + (
                " With the square, which comes from eq. (98), the local cap does not help for tau_max > 1."
                if e
                else " With 2 eta_g eta_l K L, which eq. (71) lacks, the right side is 3/50."
            ),
        ),
        step(
            f"{eq(7)}, second inequality",
            "1 - 1/10 - 2/5 - 1/10 - 6/25 > 0",
            at_most(1 - sp.Rational(6, 10) - sp.Rational(6, 25), sp.Integer(0), operator=">"),
        ),
        step(
            f"before {eq(8)}",
            "4 (eta_g eta_l)^3 tau_max max{1, tau_avg} K^2 T sigma^2 L^2/N"
            " <= (eta_g eta_l)^2 max{1, tau_avg} K T sigma^2 L/(2 N)",
            at_most(4 * _cubic, AVERAGE * _noise / 2, _cap),
        ),
        step(
            eq(8),
            "(1/T) sum_t E||grad f(x^t)||^2 <= 2 Delta_f/(eta_g eta_l K T) + 9 eta_g eta_l max{1, tau_avg} sigma^2 L/N"
            " + 3 tau_max F_0/T + 150 eta_l^2 K sigma^2 L^2/N",
            refuted(
                at_most(
                    G / T,
                    rate,
                    below(0, short + _drift_noise(e=e), eq(6)),
                    *facts,
                    *((_cap, _local_cap, SOMEBODY_AWAY) if e else ()),
                )
            ),
            repaired=without if e else None,
            repair="75 eta_g eta_l^3/N K^2 in eq. (105), as in eq. (73): Lemma E.4 holds without tau_max in the drift's"
            " noise"
            if e
            else "",
            remark="P >= 0 is the multiple of Gamma, V the noise of third order in the step sizes; max(1,tau_avg) is"
            " one symbol." + (" What eq. (105) gives has N^2 tau_max times the last term." if e else ""),
        ),
        step(
            "statement",
            "(1/T) sum_t E||grad f(x^t)||^2 <= 2 Delta_f/(eta_g eta_l K T) + 9 eta_g eta_l max{1, tau_avg} sigma^2 L/N"
            " + 3 tau_max F_0/T + 150 eta_l^2 K sigma^2 L^2/N for the caps on eta_l and eta_g eta_l",
            common.capped_on_runs(case.algorithm, to_T=True, initial=2, noise=9, first=3, drift=150),
            remark=f"{TO_T}. {PLAYED}, and there are no caps.",
        ),
        step(
            "not printed: the repaired lemma, on runs",
            "for tau_max over rounds 0 ... T-1 with max{1, tau_max} in the caps and F_0/(5 N^2 T) added",
            common.capped_on_runs(case.algorithm, to_T=False, initial=2, noise=9, first=3, drift=150),
        ),
        _repaired(step, mended, eq(8), letter),
    )


# --- The theorems ---

_WORK = sp.sqrt(average * K * T * L * noisy**2)
_CAP_L = 1 / (10 * sp.sqrt(tau) * K * L)
_SLOW_L = sp.sqrt(N * tau * Delta_f) / _WORK
_SLOW = sp.sqrt(N * Delta_f) / _WORK
_ETA_L = sp.Min(_CAP_L, _SLOW_L)
_ETA = sp.Min(_SLOW, 1 / (10 * tau * K * L))
_ROOT = sp.sqrt(average * L * noisy**2 * Delta_f) / sp.sqrt(N * K * T)
_PLAIN_ROOT = sp.sqrt(L * noisy**2 * Delta_f) / sp.sqrt(N * K * T)


def _square_of_local(*, e: bool) -> tuple[sp.Expr, sp.Expr]:
    """The first two expressions of the last display of the theorem's proof."""
    factor = K * noisy**2 * L**2
    if e:
        printed = 1 / (10 * sp.sqrt(tau) * N * K * L) * sp.sqrt(tau * Delta_f) / (sp.sqrt(N) * _WORK)
        return 150 * _ETA_L**2 * N * factor, 150 * printed * N * factor
    return 150 * _ETA_L**2 * factor / N, 150 * _CAP_L * _SLOW_L / N * factor


def theorem(part: Proof, case: RateVariant) -> tuple[Step, ...]:
    """The proof of Theorem D.1 or E.1."""
    step, e = part, case.e
    place = "after eq. (108)" if e else "after eq. (76)"
    square, bounded = _square_of_local(e=e)
    one = above(average, 1)
    return (
        step(
            f"{place}, eta_g eta_l",
            "eta_g eta_l = min{sqrt(N Delta_f)/sqrt(max{1, tau_avg} K T L sigma^2), 1/(10 tau_max K L)}",
            at_most(_ETA_L / sp.sqrt(tau), _ETA, SOMEBODY_AWAY, operator="=="),
            remark="max(1,tau_avg) is one symbol here and below. The lemma that is invoked is D.6." if e else "",
        ),
        step(
            f"{place}, caps", "eta_g eta_l <= 1/(10 tau_max K L)", at_most(_ETA, 1 / (10 * tau * K * L), SOMEBODY_AWAY)
        ),
        step(
            f"{place}, first term",
            "2 Delta_f/(eta_g eta_l K T) <= 2 sqrt(max{1, tau_avg} L sigma^2 Delta_f/(NKT)) + 20 tau_max L Delta_f/T",
            at_most(
                2 * Delta_f / (K * T) * sp.Max(1 / _SLOW, 10 * tau * K * L), 2 * _ROOT + 20 * tau * L * Delta_f / T
            ),
        ),
        step(
            f"{place}, second term",
            "9 (eta_g eta_l/N) max{1, tau_avg} sigma^2 L <= 9 sqrt(max{1, tau_avg} L sigma^2 Delta_f/(NKT))",
            at_most(9 / N * average * noisy**2 * L * _ETA, 9 * _ROOT, SOMEBODY_AWAY),
        ),
        step(
            f"{place}, last term, first inequality",
            "150 eta_l^2 N K sigma^2 L^2 <= 150 1/(10 sqrt(tau_max) N K L)"
            " sqrt(tau_max Delta_f)/sqrt(N max{1, tau_avg} K T L sigma^2) N K sigma^2 L^2"
            if e
            else "150 eta_l^2 K sigma^2 L^2/N <= 150 1/(10 sqrt(tau_max) K L)"
            " sqrt(N tau_max Delta_f)/sqrt(max{1, tau_avg} K T L sigma^2) K sigma^2 L^2/N",
            at_most(square, bounded, SOMEBODY_AWAY),
            repaired=at_most(*_square_of_local(e=False), SOMEBODY_AWAY) if e else None,
            repair="150 eta_l^2 K sigma^2 L^2/N on the left, as in eq. (108)" if e else "",
        ),
        step(
            f"{place}, last term, second inequality",
            "<= 15 sqrt(L sigma^2 Delta_f/(NKT))",
            at_most(bounded, 15 * _PLAIN_ROOT, SOMEBODY_AWAY, one),
        ),
        step(
            "last display",
            "(1/T) sum_t E||grad f(x^t)||^2 <= 26 sqrt(max{1, tau_avg} L sigma^2 Delta_f/(NKT))"
            " + 20 tau_max (L Delta_f + F_0)/T",
            at_most(
                2 * Y + 20 * tau * L * Delta_f / T + 9 * Y + 15 * V + 3 * tau * F_0 / T,
                26 * Y + 20 * tau * (L * Delta_f + F_0) / T,
                below(V, Y, "max{1, tau_avg} >= 1"),
            ),
            remark="Y is the root with max{1, tau_avg}, V without.",
        ),
        step(
            "after the last display",
            "26 sqrt(max{1, tau_avg} L sigma^2 Delta_f/(NKT)) <= 30 sqrt(max{1, tau_avg} L sigma^2 Delta_f/(NKT))",
            at_most(26 * Y, 30 * Y),
        ),
        step(
            "statement",
            "(1/T) sum_t E||grad f(x^t)||^2 <= 30 sqrt(max{1, tau_avg} L sigma^2 Delta_f/(NKT))"
            " + 20 tau_max (L Delta_f + F_0)/T",
            tuned.on_runs(case.algorithm, to_T=True),
            remark=f"{TO_T}. {PLAYED}, and the right side without noise.",
        ),
        step(
            "not printed: the repaired theorem",
            "the same for tau_max over rounds 0 ... T-1 with max{1, tau_max} in place of tau_max",
            tuned.on_runs(case.algorithm, to_T=False),
        ),
    )
