"""What a statement itself fixes, as formulas in the order in which `Statement.complete` fills them in."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import sympy as sp

from bounds.statement import Statement, StepRule, names_in

Filled = tuple[str, sp.Expr]


class _Filling:
    """The numbers that follow from known ones, each by a formula of those before it."""

    def __init__(self, statement: Statement, known: Collection[str]) -> None:
        self.statement, self.known = statement, {*known}
        self.steps: list[Filled] = []

    def take(self, name: str, expr: sp.Expr) -> None:
        """Let a number be that, where it is not known and can be computed."""
        if name not in self.known and names_in(expr) <= self.known:
            self.known.add(name)
            self.steps.append((name, expr))

    def follow(self) -> None:
        """Step sizes by their products, and what equals a formula."""
        for each in self.statement.step_products:
            self.take(each.product.name, each.local * each.outer)
            self.take(each.local.name, each.product / each.outer)
            self.take(each.outer.name, each.product / each.local)
        for name in self.statement.parameters:
            if name in self.statement.vocabulary.equal:
                self.take(name, self.statement.formula(name))


def filled(statement: Statement, known: Collection[str], rules: Sequence[StepRule] | None = None) -> list[Filled]:
    """The names and formulas of what follows where numbers of the names ``known`` are given.

    ``rules`` are those that set step sizes, by default the statement's own.

    >>> import bounds
    >>> filled(bounds.get("pfl/theorem-3.7"), ["n", "m", "gamma"])[0]
    ('eta_u', sqrt(m))
    """
    filling = _Filling(statement, known)
    for name in defaulted(statement):
        filling.take(name, sp.Float(statement.vocabulary[name].default, 17))
    for name, expr in statement.settings.items():
        filling.take(name, sp.sympify(expr))
    filling.follow()
    # As `complete` has it: what is prescribed, then smallest admissible values, then what is as good as any other.
    for kind in ((False, False), (True, False), (False, True)):
        for rule in statement.step_rules if rules is None else rules:
            if (rule.at_least, rule.free) == kind:
                filling.take(rule.symbol.name, rule.value)
        filling.follow()
    return filling.steps


def defaulted(statement: Statement) -> list[str]:
    """The parameters that have a default number."""
    named = [name for name in statement.parameters if statement.vocabulary[name].default is not None]
    return [name for name in named if name not in statement.settings]


def follows(statement: Statement, name: str, known: Collection[str]) -> bool:
    """Whether a step size is decided by what is known: by products, formulas, and rules that leave no choice."""
    rules = tuple(rule for rule in statement.step_rules if not (rule.at_least or rule.free))
    return name in known or any(each == name for each, _ in filled(statement, known, rules))
