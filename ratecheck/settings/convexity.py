"""Statements that are evaluated on functions that need not be convex, and those about quadratics alone."""

from __future__ import annotations

import re

from bounds.statement import Assumption, Statement
from ratecheck.problems import Problem

# Constants that only functions with a minimiser have.
_OF_MINIMUM = {"distance2_0", "strong_convexity", "minimiser_heterogeneity"}
_CONVEX = frozenset(
    {
        Assumption.CONVEXITY, Assumption.STRONG_CONVEXITY, Assumption.CLIENTS_STRONG_CONVEXITY,
        # Of gradients these say the same.
        Assumption.MONOTONE_OPERATOR, Assumption.COCOERCIVE_OPERATOR, Assumption.STRONGLY_MONOTONE_OPERATOR,
        Assumption.CLIENTS_STRONGLY_MONOTONE,
    }
)  # fmt: skip
# What gives f a minimum and says nothing of single clients.
OF_F = frozenset({Assumption.STRONG_CONVEXITY, Assumption.POLYAK_LOJASIEWICZ})


def any_sign(statement: Statement) -> bool:
    """True of a statement about functions that need not be convex and about nothing that needs their minimum.

    Where the title says "convex" that is believed, whatever the assumptions are.
    """
    facts = {statement.vocabulary.facts.get(name, "") for name in statement.parameters}
    of_minimum = any("gap" in name or "distance2" in name for name in statement.recorded) or facts & _OF_MINIMUM
    return not (of_minimum or says_convex(statement))


def says_convex(statement: Statement) -> bool:
    """True of a statement about convex functions, by its assumptions or by its title."""
    said = re.search(r"(?<!non)(?<!non-)(?<!weakly )(?<!weakly-)convex", statement.title, re.IGNORECASE)
    return assumes_convexity(statement) or bool(said)


def says_quadratic(title: str) -> bool:
    """Whether the title of a statement restricts it to quadratics, for which no assumption has a name."""
    return "quadratic" in title.lower()


def not_quadratic(title: str, problem: Problem) -> str | None:
    """Why a statement that is about quadratics by its title does not apply to the problem; None where it does."""
    # Those of two levels are quadratics as well, and proximal steps on others have names of their own.
    if not says_quadratic(title) or problem.objective is not None or problem.bilevel:
        return None
    return f"the problem is {problem.kind}, but the title says that the statement is about quadratics"


def assumes_convexity(statement: Statement) -> bool:
    """True of a statement with convexity or strong convexity among its assumptions."""
    return bool(_CONVEX & {*statement.assumptions})
