"""Statements of "SimFBO: Towards Simple, Flexible and Communication-efficient Federated Bilevel Learning".

Yang, Xiao and Ji; the algorithms SimFBO and ShroFBO. Problem (1): minimise Phi(x) = sum_i p_i f_i(x, y*(x)) over x,
where y*(x) minimises sum_i p_i g_i(x, y) over y; v*(x) solves the linear system of its hypergradient. Numbers are the
paper's. The values sigma_f, sigma_g, sigma_gg, sigma_gh, sigma_M1 and sigma_M2 are square roots of what it prints
squared; beta_gh is the constant whose square stands in Assumption 4.

Weights. ``w_i = p_i |a_i|_1 / sum_j p_j |a_j|_1`` for SimFBO and ``w_i = p_i`` for ShroFBO; the proofs need them to be
the same in every round. The suffix ``_w`` (in print: a tilde) says that p is replaced by w. The averages of the
appendix are over w_i and, for a client, over its local steps with the shares ``a_i^k / |a_i|_1``.
"""

from __future__ import annotations

from bounds.papers.simfbo import constants, lemmas, one_round, theorems
from bounds.papers.simfbo.symbols import TITLE, VOCABULARY
from bounds.statement import Statement

STATEMENTS: tuple[Statement, ...] = (
    *lemmas.PROPOSITIONS,
    *theorems.STATEMENTS,
    *lemmas.LEMMAS_1_TO_3,
    *constants.CONSTANTS,
    *lemmas.LEMMAS_4_TO_6,
    *one_round.LEMMAS,
    *constants.STEPSIZES,
    *one_round.LYAPUNOV,
)

LEFT_OUT: tuple[tuple[str, str], ...] = (
    ("Definitions 1 and 2", "Definitions of Lipschitz continuity and of an accurate point, no claims."),
    ("Lemma 3, first half", "R_i is mu_g-strongly convex in v: no right side; it is the assumption on G_yy."),
    ("Theorems 1 and 2, complexities", "Orders in eps that are solved from (55) and (57); `rounds` solves the bound."),
    ("eq. (14)-(19), (23)-(36)", "Steps inside proofs, for the proof ledger."),
    ("eq. (24)", "An identity about sampling in a proof, for the proof ledger."),
    (
        "eq. (58), (59)",
        "The distance of grad Phi from grad Phi_w: 0 at w = p, where it is used, and wrong at step (b) else.",
    ),
)

__all__ = ["LEFT_OUT", "STATEMENTS", "TITLE", "VOCABULARY"]
