"""The FedSUM paper's assumptions, conditions and step rules, and how its statements are written."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from bounds.papers.fedsum.symbols import AVERAGE, TITLE, VOCABULARY, eta, eta_g, eta_l
from bounds.papers.paper import Paper
from bounds.statement import Assumption, Claim, Over, Statement, StepProduct

# M is what the rules need so that they have a value when everybody takes part all the time.
PAPER = Paper(name="fedsum", title=TITLE, vocabulary=VOCABULARY, formulas={"M": "max(1, tau_max)", "AVERAGE": AVERAGE})
PRODUCT = StepProduct(product=eta, local=eta_l, outer=eta_g)

STANDARD = (Assumption.SMOOTHNESS, Assumption.TOTAL_NOISE, Assumption.OBLIVIOUS_PARTICIPATION)
# Of a random participation: its step sizes are known only when it is.
DRAWN = (*STANDARD, Assumption.DRAWN_STEP_SIZES)

# inf f <= f(x - grad f(x)/L) <= f(x) - ||grad f(x)||^2/(2L), attained by f = L*x^2/2.
mean_gradient = partial(PAPER.claim, "G_u", over=Over.MEAN_OF_ROUNDS, trivial="2*L*Delta_f")
whole_run = partial(PAPER.claim, over=Over.WHOLE_RUN)


def statement(
    number: str,
    title: str,
    location: str,
    claim: Claim,
    *,
    assumptions: tuple[Assumption, ...] = STANDARD,
    part: str = "",
    repaired: bool = False,
    **fields: Any,
) -> Statement:
    """A statement with one claim; ``part`` is what follows its number where one number has several statements."""
    number += f", {part}" if part else ""
    key = number.lower().replace(", ", "-").replace(" ", "-")
    made = PAPER.statement(
        f"{key}-repaired" if repaired else key,
        title,
        f"{number}, repaired" if repaired else number,
        location,
        claim,
        assumptions=assumptions,
        repairs=key if repaired else "",
        **fields,
    )
    return replace(made, step_products=(PRODUCT,)) if PRODUCT.names & {*made.parameters} else made


# Not printed: at tau_max = 0 a rule or a cap divides by zero.
DELAYED = {"somebody is away": "tau_max >= 1"}
SOME_AWAY = {"participants": "S < N"}


def unified_rules(delay: str) -> dict[str, str]:
    """eta_g and eta_l of Theorem 4.1; the minimum is written as one over a maximum, to have a value at sigma = 0."""
    slow = f"sqrt(AVERAGE*K*T*L*sigma**2/(N*{delay}*Delta_f))"
    return {"eta_g": f"1/sqrt({delay})", "eta_l": f"1/max(10*sqrt({delay})*K*L, {slow})"}


def product_rule(delay: str) -> dict[str, str]:
    """eta_g*eta_l of Theorem C.1, likewise."""
    return {"eta": f"1/max(sqrt(AVERAGE*K*T*L*sigma**2/(N*Delta_f)), 10*K*{delay}*L)"}


def rate(delays: str, delay: str) -> Claim:
    """The theorems' claim: ``delays`` under the root, ``delay`` with the 1/T terms."""
    return mean_gradient(
        {
            "noise": f"30*sqrt(({delays})*L*sigma**2*Delta_f/(N*K*T))",
            "initial gap": f"20*({delay})*L*Delta_f/T",
            "first gradients": f"20*({delay})*F_0/T",
        }
    )


ALL_THREE = "Stands for FedSUM-B and FedSUM-CR as well."
NO_ZERO = (
    "tau_max >= 1 is not printed. Section 2.2 takes tau_max over rounds 0 ... T without saying who takes part in round "
    "T: if nobody does, it is at least 1. If everybody always does, round T included, or over rounds 0 ... T-1 as in "
    "Appendix F, it is 0: then eta_g = 1/sqrt(tau_max) divides by zero, and at sigma = 0 the right side is 0. The "
    "repaired form has max{1, tau_max} in its place."
)
WITH_MAX = (
    "With max{1, tau_max} in place of tau_max in the step sizes and in the 1/T terms, so that tau_max = 0 is allowed."
)


def first_lemmas(letter: str, algorithm: str, prefix: str, factor: str) -> tuple[Statement, ...]:
    """Lemmas 1 and 2 and Corollary 3 of an appendix; ``prefix`` and ``factor`` are those of its sums over the run."""
    low, location = letter.lower(), f"Appendix {letter}"
    counted = "Counts how often a round falls into a window of delay; uses neither smoothness nor the noise bound."
    windows = "Gradients summed over the delays"
    return (
        statement(
            f"Lemma {letter}.1",
            "Movement of the server's model",
            location,
            whole_run(
                "moved_sum",
                {"noise": "2*eta**2*K*T*sigma**2/N", "gradients": f"2*eta**2/N**2*({factor}{prefix}aggregate_sum)"},
            ),
            algorithm=algorithm,
            follows_from=("lemma-b.1",),
        ),
        statement(
            f"Lemma {letter}.2",
            windows,
            location,
            whole_run(f"{prefix}window_sum", {"gradients": f"tau_max*{prefix}aggregate_sum"}),
            algorithm=algorithm,
            remark=counted,
        ),
        statement(
            f"Corollary {letter}.3",
            f"{windows}, weighted by the delays",
            location,
            whole_run(f"{prefix}delayed_window_sum", {"gradients": f"tau_max**2*{prefix}aggregate_sum"}),
            algorithm=algorithm,
            follows_from=(f"lemma-{low}.2",),
            remark=counted,
        ),
    )


def noise_inner(
    letter: str, algorithm: str, prefix: str, factor: str, repaired_location: str
) -> tuple[Statement, Statement]:
    """The sum of <grad f(x^t), noise> at delayed rounds, Lemma 5 of an appendix, as printed and repaired."""

    def lemma(last: str, location: str, remark: str, *, repaired: bool) -> Statement:
        return statement(
            f"Lemma {letter}.5",
            "First-order effect of the noise",
            location,
            whole_run(
                f"{prefix}noise_inner_sum",
                {
                    "noise": "3*eta**2*K/N*tau_avg*sigma**2*L*T",
                    "gradients": f"2*eta**2/N**2*tau_max*L*({factor}{prefix}aggregate_sum{last})",
                },
            ),
            algorithm=algorithm,
            follows_from=("lemma-b.1", f"lemma-{letter.lower()}.2"),
            remark=remark,
            repaired=repaired,
        )

    printed = (
        "The sum on the right runs to T, that on the left to T - 1: true, as what is added is not negative, "
        "but it asks for a round T that is not played. The repaired form, with T - 1 twice, is stronger."
    )
    mended = "The sum on the right runs to T - 1, as on the left; the proof gives that."
    return (
        lemma("_T", f"Appendix {letter}", printed, repaired=False),
        lemma("", repaired_location, mended, repaired=True),
    )
