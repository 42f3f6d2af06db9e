"""How the statements of a paper are written: in the short form, in the paper's symbols and formulas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import sympy as sp

from bounds.parsing import read
from bounds.statement import Assumption, Claim, Over, Relation, Source, Statement, StepProduct, StepRule
from bounds.symbols import Vocabulary
from bounds.theorem import Fields, Formula


class _Printed(Fields):
    """Fields of a printed statement: its right side and conditions may have the paper's formulas by their names."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__(vocabulary)
        self.named: dict[str, sp.Expr] = {}

    def formula(self, given: object, field: str, place: str) -> sp.Expr:
        """A formula as it is printed; an expression is taken as it is."""
        if not isinstance(given, str):
            return sp.sympify(given)
        return read(given, self.vocabulary, {} if field == "left" else self.named)


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A paper whose statements are written down; of its ``formulas`` by name each may use those before."""

    name: str
    title: str
    vocabulary: Vocabulary
    formulas: Mapping[str, Formula] = field(default_factory=dict)

    @cached_property
    def _fields(self) -> _Printed:
        found = _Printed(self.vocabulary)
        for name, formula in self.formulas.items():
            found.named[name] = found.formula(formula, "formulas", name)
        return found

    def claim(
        self,
        left: str,
        right: Mapping[str, Formula],
        *,
        name: str = "main",
        over: Over = Over.EVERY_ROUND,
        relation: Relation = Relation.AT_MOST,
        trivial: Formula | None = None,
        latex: str = "",
    ) -> Claim:
        """The claim ``left <relation> right``; ``latex`` is the left side where it is printed in another way."""
        metric = self._fields.metric(left, over, trivial)
        metric = replace(metric, latex=latex) if latex else metric
        return Claim(name=name, metric=metric, relation=relation, terms=self._fields.terms(right))

    def statement(
        self,
        key: str,
        title: str,
        number: str,
        location: str,
        *claims: Claim,
        algorithm: str | None,
        assumptions: tuple[Assumption, ...],
        conditions: Mapping[str, Any] | None = None,
        step_rules: Mapping[str, Formula] | Iterable[StepRule] = (),
        step_products: tuple[StepProduct, ...] = (),
        settings: Mapping[str, Formula] | None = None,
        follows_from: Iterable[str] = (),
        remark: str = "",
        repairs: str = "",
    ) -> Statement:
        """The statement of that number; ``key``, ``follows_from`` and ``repairs`` are keys without the paper's name."""
        return Statement(
            key=f"{self.name}/{key}",
            title=title,
            source=Source(paper=self.title, number=number, location=location),
            vocabulary=self.vocabulary,
            algorithm=algorithm,
            assumptions=assumptions,
            claims=claims,
            conditions=self._fields.conditions(conditions or {}),
            step_rules=self._fields.step_rules(step_rules),
            step_products=step_products,
            settings=self._fields.settings(settings or {}),
            follows_from=tuple(f"{self.name}/{each}" for each in follows_from),
            remark=remark,
            repairs=repairs and f"{self.name}/{repairs}",
        )
