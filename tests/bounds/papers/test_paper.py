"""Statements of a paper in the short form: its own formulas by name, its keys, and how it prints a left side."""

import pytest
import sympy as sp

from bounds.errors import InputError
from bounds.papers.paper import Paper
from bounds.statement import Over, Relation, StepRule
from bounds.symbols import COMMON

F_0, T, gamma, eta_u, L, G_u = (COMMON[name].symbol for name in ("F_0", "T", "gamma", "eta_u", "L", "G_u"))
BOTH = sp.Max(L, 2 * L, evaluate=False)
PAPER = Paper(
    name="mine",
    title="My paper",
    vocabulary=COMMON,
    formulas={"GAP": "F_0/T", "TWICE": "2*GAP", "BOTH": BOTH, "G_u": L},
)


def statement(**fields):
    """Theorem 1 of the paper."""
    claim = PAPER.claim("G_u", {"gap": "TWICE/gamma"}, over=Over.MEAN_OF_ROUNDS, trivial="2*L*F_0")
    return PAPER.statement("theorem-1", "T", "Theorem 1", "S", claim, algorithm=None, assumptions=(), **fields)


def test_formulas_with_a_name_stand_for_what_they_are():
    """Of formulas before them too, unsimplified, and on the right side alone: a left side has symbols."""
    (claim,) = statement().claims
    assert claim.terms == {"gap": 2 * F_0 / (T * gamma)}
    assert claim.metric.weights == {G_u: 1}
    assert claim.metric.trivial == 2 * L * F_0
    assert PAPER.claim("G_u", {"cap": "BOTH"}).bound is BOTH
    assert PAPER.claim("G_u", {"cap": "G_u"}).bound == L
    with pytest.raises(InputError, match="no symbol 'ONCE'"):
        PAPER.claim("G_u", {"gap": "ONCE"})


def test_keys_have_the_paper_s_name():
    """That of the statement, of what it follows from and of what it repairs."""
    made = statement(follows_from=("lemma-1", "lemma-2"), repairs="theorem-0")
    assert (made.key, made.follows_from, made.repairs) == (
        "mine/theorem-1",
        ("mine/lemma-1", "mine/lemma-2"),
        "mine/theorem-0",
    )
    assert (statement().repairs, made.source.paper, made.source.number) == ("", "My paper", "Theorem 1")


def test_conditions_and_step_rules_are_read_like_the_right_side():
    """By their names, in the paper's formulas."""
    made = statement(conditions={"cap": "gamma <= 1/BOTH"}, step_rules={"gamma": "GAP", "eta_u": ">= 1"})
    (cap,) = made.conditions
    assert (cap.name, cap.left, cap.operator, cap.right) == ("cap", gamma, "<=", 1 / BOTH)
    assert made.step_rules == (
        StepRule(symbol=gamma, value=F_0 / T, at_least=False),
        StepRule(symbol=eta_u, value=sp.Integer(1), at_least=True),
    )


def test_how_a_left_side_is_printed():
    """As the vocabulary has it, unless the paper prints it in another way."""
    assert PAPER.claim("G_u", {"gap": "GAP"}, relation=Relation.EQUAL).metric.latex == COMMON["G_u"].latex
    assert PAPER.claim("-G_u", {"gap": "GAP"}, latex="G").metric.latex == "G"
