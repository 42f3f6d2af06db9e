"""What the ledgers add to a proof holds with its own constants, by a certificate, and not with sharper ones."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import sympy as sp

from bounds.ledger.step import Algebraic, Step
from bounds.papers.flame import statements as flame
from bounds.papers.flame.proofs import STEPS as FLAME
from bounds.papers.flame.proofs import forms as of_flame
from bounds.papers.simfbo.proofs import STEPS as SIMFBO
from bounds.papers.simfbo.proofs import descent, forms
from ratecheck.algebra.time_limit import OutOfTime, limit
from ratecheck.auditing.decision import QUICK
from ratecheck.auditing.dispatch import decide
from ratecheck.auditing.export.certificates import certificate

ADDED = {step.id: step for step in (*FLAME, *SIMFBO) if "not printed" in step.location}
ONE, TWO, EIGHTH, FIFTHS = sp.Integer(1), sp.Integer(2), sp.Rational(1, 8), sp.Rational(2, 5)
LESS, MORE = sp.Rational(98, 100), sp.Rational(102, 100)


def _less(form: Callable[[sp.Expr], Algebraic], constant: sp.Expr | int) -> Algebraic:
    return form(constant * LESS)


WRONG: dict[str, Algebraic] = {
    "penalty": of_flame.above_minimum(LESS),
    "inner error of a round": of_flame.change(LESS),
    "share": of_flame.convex_share(LESS / 4),
    "c_2": of_flame.all_gradients(flame.C2 * LESS),
    "by gains": of_flame.gradients_by_gains(TWO * LESS),
    "by theta alone": of_flame.theta_gradients(flame.THETA_GRADIENT * LESS),
    "ball": forms.stays_in_ball(LESS),
    "linear system": forms.linear_system(ONE),
    "size of g": forms.size_of_g(ONE),
    "change of f": forms.change_of_f(ONE),
    "inner product": forms.inner_product(LESS),
    "curvature": forms.descent(LESS),
    "noise and gradient": _less(forms.noise_and_gradient, 2),
    "bounded drift": _less(forms.bounded_drift, 4),
    "drift of x": _less(forms.drift_of_x, 4),
    "drift of y": _less(forms.drift_of_y, 8),
    "own drift": _less(forms.own_drift_by_path, 4),
    "split": _less(forms.split, 2),
    "sampled variance": forms.sampled_variance(LESS),
    "local noises": forms.local_noises(ONE),
    "clients": _less(forms.of_clients, 2),
    "second moment": _less(forms.second_moment, 2),
    "x or v": _less(forms.of_x_or_v, 4),
    "y": _less(forms.of_y, 2),
    "remainder": _less(forms.remainder, sp.Rational(1, 2)),
    "product": forms.product(LESS),
    "optimum": forms.moved_optimum(LESS),
    "progress": _less(forms.progress, 2),
    "step of v": _less(forms.step_of_v, 4),
    "Young weight": _less(descent.young_weight, sp.Rational(1, 4)),
    "small weight": descent.small_weight(LESS / 144, 36),
    "ratio": _less(descent.by_ratio, EIGHTH),
    "mean direction": _less(descent.of_mean_direction, sp.Rational(1, 2)),
    "error of v": descent.of_error_v(sp.Integer(6)),
    "error of y": descent.of_error_y(FIFTHS / 8),
    "drifts": descent.of_drifts(MORE / 4),
    "Phi": _less(descent.by_Phi, sp.Rational(1, 4)),
    "squared weights": _less(descent.squared_weights, 3),
    "noises": _less(descent.noises, 2),
    "every round": descent.every_round(LESS),
    "slack": descent.slack(LESS),
}


@pytest.mark.every(2)
@pytest.mark.parametrize("step", ADDED.values(), ids=ADDED)
def test_what_is_added_has_a_certificate_that_the_other_program_accepts(step: Step) -> None:
    """Unless the ledger has it on instances only."""
    if getattr(step.check, "instances", None) is None:
        assert certificate(step, step.check)["proofs"] is not None


@pytest.mark.parametrize("claim", WRONG.values(), ids=WRONG)
def test_a_sharper_constant_is_not_proved(claim: Algebraic) -> None:
    """Most are refuted; of the others nothing is found."""
    try:
        with limit(2):
            assert not decide(claim, QUICK).true
    except OutOfTime:
        pass
