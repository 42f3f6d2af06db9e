"""The SimFBO paper's assumptions, and how its claims and statements are built."""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp

from bounds.papers.simfbo.formulas import ONE
from bounds.papers.simfbo.symbols import DEFINED, TITLE, VOCABULARY
from bounds.statement import (
    Assumption,
    Claim,
    Condition,
    Metric,
    Over,
    Relation,
    Source,
    Statement,
    StepProduct,
    StepRule,
)

REGULAR = (Assumption.LOWER_LEVEL, Assumption.BILEVEL_LIPSCHITZ)
NOISY = (*REGULAR, Assumption.BILEVEL_NOISE)
BOUNDED_V = (*NOISY, Assumption.BALL, Assumption.EVERY_SAMPLE)
ROUND = (
    *BOUNDED_V,
    Assumption.LOWER_HETEROGENEITY,
    Assumption.UNIFORM_SAMPLING,
    Assumption.LOCAL_WEIGHTS,
)
WHOLE_RUN = (*ROUND, Assumption.BOUNDED_BELOW)


def make_claim(
    name: str,
    measured: sp.Symbol,
    terms: Mapping[str, sp.Expr],
    *,
    over: Over = Over.EVERY_ROUND,
    relation: Relation = Relation.AT_MOST,
) -> Claim:
    """A claim about a single quantity, printed as in the vocabulary."""
    quantity = VOCABULARY[measured.name]
    metric = Metric(latex=quantity.latex, weights={measured: ONE}, over=over, trivial=None)
    return Claim(name=name, metric=metric, relation=relation, terms=terms)


def make_algebra_claim(name: str, measured: sp.Symbol, terms: Mapping[str, sp.Expr]) -> Claim:
    """A claim about numbers or vectors as such, outside any run."""
    return make_claim(name, measured, terms, over=Over.NO_RUN)


def make_definition(name: str, value: sp.Expr) -> Claim:
    """A symbol of the paper as defined by a formula."""
    return make_claim(name, DEFINED[name], {"formula": value}, over=Over.NO_RUN, relation=Relation.EQUAL)


def make_statement(
    key: str,
    title: str,
    number: str,
    location: str,
    claims: tuple[Claim, ...],
    *,
    algorithm: str | None,
    assumptions: tuple[Assumption, ...],
    conditions: tuple[Condition, ...] = (),
    step_rules: tuple[StepRule, ...] = (),
    step_products: tuple[StepProduct, ...] = (),
    follows_from: tuple[str, ...] = (),
    remark: str = "",
    repairs: str = "",
) -> Statement:
    """A statement of the paper; ``key``, ``follows_from`` and ``repairs`` are keys without the paper's name."""
    return Statement(
        key=f"simfbo/{key}",
        title=title,
        vocabulary=VOCABULARY,
        source=Source(paper=TITLE, number=number, location=location),
        algorithm=algorithm,
        assumptions=assumptions,
        claims=claims,
        conditions=conditions,
        step_rules=step_rules,
        step_products=step_products,
        settings={},
        follows_from=tuple(f"simfbo/{name}" for name in follows_from),
        remark=remark,
        repairs=repairs and f"simfbo/{repairs}",
    )
