"""The SimFBO paper's assumptions, and how its claims and statements are written."""

from __future__ import annotations

from functools import partial

import sympy as sp

from bounds.papers.paper import Paper
from bounds.papers.simfbo import formulas, step_sizes
from bounds.papers.simfbo.symbols import TITLE, VOCABULARY
from bounds.statement import Assumption, Claim, Over, Relation

PAPER = Paper(
    name="simfbo",
    title=TITLE,
    vocabulary=VOCABULARY,
    formulas={
        name: formula
        for module in (formulas, step_sizes)
        for name, formula in vars(module).items()
        if isinstance(formula, sp.Expr)
    },
)
claim, algebra = PAPER.claim, partial(PAPER.claim, over=Over.NO_RUN)

REGULAR = (Assumption.LOWER_LEVEL, Assumption.BILEVEL_LIPSCHITZ)
NOISY = (*REGULAR, Assumption.BILEVEL_NOISE)
BOUNDED_V = (*NOISY, Assumption.BALL, Assumption.EVERY_SAMPLE)
DRIFTING = (*BOUNDED_V, Assumption.LOWER_HETEROGENEITY, Assumption.LOCAL_WEIGHTS)
ROUND = (*BOUNDED_V, Assumption.LOWER_HETEROGENEITY, Assumption.UNIFORM_SAMPLING, Assumption.LOCAL_WEIGHTS)
WHOLE_RUN = (*ROUND, Assumption.BOUNDED_BELOW)


def definition(name: str, formula: str) -> Claim:
    """A symbol of the paper as defined by a formula."""
    return algebra(name, {"formula": formula}, name=name, relation=Relation.EQUAL)


def drift_claim(name: str, measured: str, eta: str, sigma_2: str) -> Claim:
    """A claim about the drift of one variable: ``eta**2 * tau_bar * sigma_2``."""
    return claim(measured, {"drift": f"{eta}**2*tau_bar*{sigma_2}"}, name=name)
