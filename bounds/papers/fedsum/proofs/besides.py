"""Lines that the proofs of Lemmas D.4 and E.4 need besides the printed ones."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from bounds.ledger.draw import Draw, NoisyRational, expect_square
from bounds.ledger.participation import ParticipationMatrix
from bounds.ledger.proof import Proof, counting, drawn
from bounds.ledger.step import Step
from bounds.papers.fedsum.proofs.shared import delays, drift, forms
from bounds.papers.fedsum.proofs.shared.common import ZERO, Side
from bounds.papers.fedsum.proofs.shared.local import LocalVariant
from bounds.papers.fedsum.proofs.shared.runs import ScalarRun, small_run, total
from bounds.papers.fedsum.proofs.shared.windows import Pairs, visits


def _window(run: ScalarRun, low: int, high: int) -> NoisyRational:
    return total(run.aggregate(q) for q in range(low, high) if q >= 0)


def _apart(draw: Draw, case: LocalVariant) -> Iterable[Side]:
    """For every t: the gradients of all clients' windows against those of the round's window."""
    run = small_run(draw, case.algorithm)
    for t in run.rounds():
        left = sum((expect_square(_window(run, run.who.last(i, t), t)) for i in range(run.p.N)), ZERO)
        delay = run.who.delay(t)
        window = sum((expect_square(run.aggregate(q)) for q in range(t - delay, t) if q >= 0), ZERO)
        yield left, run.p.N * delay * window


def _first_drifts(p: ParticipationMatrix) -> Pairs:
    """For every client: how often a' = -1, against tau_max + 1."""
    return [
        (Fraction(sum(i == client and b < 0 for i, _, _, b in visits(p))), Fraction(p.tau_max + 1))
        for client in range(p.N)
    ]


def not_printed(part: Proof, case: LocalVariant) -> tuple[Step, ...]:
    """Steps of the proof that are not printed."""
    return (
        part(
            f"not printed: Jensen's inequality in {case.eq(2)}",
            "sum_i E||sum_{p=a_{i,t}}^{t-1} sum_j sum_k grad f_j||^2"
            " <= N tau_t sum_{p=t-tau_t}^{t-1} E||sum_j sum_k grad f_j||^2",
            drawn(lambda draw: _apart(draw, case), form=forms.apart_in_windows),
            remark="For every t, as in eq. (20).",
        ),
        part(
            "not printed: first participations",
            "sum_t [a_{i,t} is the first round of client i] <= tau_max + 1",
            counting(_first_drifts, clients=(1, 2, 3), form=delays.first_visits),
            remark=f"For every client: what the repaired {case.eq(5)} adds.",
        ),
        part(
            f"not printed: the repaired {'eq. (95)' if case.letter == 'e' else 'eq. (59)'}, solved",
            "sum_t sum_i sum_k E||x^a - x_i^{a,k}||^2 <= rest/(1 - kept) for eta_l <= 1/(10 sqrt(max{1, tau_max}) K L)",
            drift.solved(),
            remark="kept is the factor of the sum on the right side of the repaired line, rest all else there.",
        ),
    )
