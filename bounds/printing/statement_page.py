"""Pages of statements: all there is to say, in a reader's order, before it is set in any notation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import sympy as sp

import bounds
from bounds.printing.abbreviations import Abbreviations, Definition, chosen, definitions
from bounds.printing.formula import Order, PrintedProduct, collect, times
from bounds.statement import Claim, Over, Statement
from bounds.symbols import Domain, Quantity, Role


@dataclass(frozen=True)
class Line:
    """A hypothesis or a step rule: ``left <operator> right``, and its name."""

    name: str
    left: PrintedProduct
    operator: str
    right: PrintedProduct

    @property
    def note(self) -> str:
        """The name, where the left side does not say it already."""
        return "" if self.left.is_symbol and self.name in self.left.symbols else self.name


@dataclass(frozen=True)
class PrintedInequality:
    """A claim; ``terms`` are the named parts of its right side, ``metric`` the left side in quantities of a round.

    ``metric`` is None where the paper's left side is one of the vocabulary's quantities.
    """

    claim: Claim
    metric: PrintedProduct | None
    terms: tuple[tuple[str, PrintedProduct], ...]

    @property
    def right(self) -> PrintedProduct:
        """The whole right side."""
        return collect(*(term for _, term in self.terms))


@dataclass(frozen=True)
class Page:
    """A statement with its formulas abbreviated.

    ``paper`` are the statements among which it stands: those of its paper in the catalogue where it is one of them.
    """

    statement: Statement
    paper: tuple[Statement, ...]

    @cached_property
    def order(self) -> Order:
        """The order of factors and terms."""
        quantities = list(self.statement.vocabulary)
        defined = {name for each in (self.statement, *self.paper) for name in definitions(each)}
        return Order(
            rank={quantity.name: k for k, quantity in enumerate(quantities)},
            settings=frozenset(q.name for q in quantities if q.role in (Role.SETTING, Role.FREE)),
            measured=frozenset(q.name for q in quantities if q.role is Role.MEASURED and q.name not in defined),
        )

    @cached_property
    def _written(self) -> list[sp.Expr]:
        """What is written out: right sides, conditions and step rules."""
        statement = self.statement
        found = [term for claim in statement.claims for term in claim.terms.values()]
        found += [side for condition in statement.conditions for side in (condition.left, condition.right)]
        return found + [rule.value for rule in statement.step_rules]

    @cached_property
    def _expressions(self) -> list[sp.Expr]:
        return self._written + list(self.statement.settings.values())

    @cached_property
    def _abbreviations(self) -> Abbreviations:
        return chosen(self.statement, self.paper, self._expressions)

    @cached_property
    def claims(self) -> tuple[PrintedInequality, ...]:
        """The claims."""
        return tuple(map(self._inequality, self.statement.claims))

    def _inequality(self, claim: Claim) -> PrintedInequality:
        read = self._abbreviations.read
        own = self._abbreviations.definition(next(iter(claim.metric.weights)).name, claim.bound)
        terms = {label: read(expr) for label, expr in claim.terms.items()}
        if own is not None and len(terms) == 1:
            terms = dict.fromkeys(terms, own.formula)
        weights = claim.metric.weights
        # The paper's own notation, after (1/T) sum_t for a mean of rounds.
        plain = len(weights) == 1 and all(
            weight == 1 and claim.metric.latex.endswith(self._latex(symbol.name)) for symbol, weight in weights.items()
        )
        metric = collect(*(times(read(weight), PrintedProduct.of(symbol.name)) for symbol, weight in weights.items()))
        return PrintedInequality(claim, None if plain else metric, tuple(terms.items()))

    def _latex(self, name: str) -> str:
        return self.statement.vocabulary[name].latex if name in self.statement.vocabulary else name

    @cached_property
    def conditions(self) -> tuple[Line, ...]:
        """The hypotheses that no step rule expresses."""
        read = self._abbreviations.read
        return tuple(Line(c.name, read(c.left), c.operator, read(c.right)) for c in self.statement.conditions)

    @cached_property
    def rules(self) -> tuple[tuple[str, Line], ...]:
        """The step rules, each after its kind: prescribed, at least, default."""
        lines = []
        for rule in self.statement.step_rules:
            kind = "default" if rule.free else "at least" if rule.at_least else "prescribed"
            name = rule.symbol.name
            operator = ">=" if rule.at_least else "=="
            lines.append((kind, Line(name, PrintedProduct.of(name), operator, self._abbreviations.read(rule.value))))
        return tuple(lines)

    @cached_property
    def products(self) -> tuple[Line, ...]:
        """The conventions between step sizes."""
        return tuple(
            Line(
                p.product.name,
                PrintedProduct.of(p.product.name),
                "==",
                times(PrintedProduct.of(p.local.name), PrintedProduct.of(p.outer.name)),
            )
            for p in self.statement.step_products
        )

    @cached_property
    def settings(self) -> tuple[Line, ...]:
        """Settings of the statement, but for those that the name of its method implies."""
        implied = self.statement.vocabulary.implied
        fixed = ((name, value) for name, value in self.statement.settings.items() if name not in implied)
        return tuple(
            Line(name, PrintedProduct.of(name), "==", self._abbreviations.read(sp.sympify(v))) for name, v in fixed
        )

    @cached_property
    def abbreviations(self) -> tuple[Definition, ...]:
        """The defined symbols in the formulas above, from the outermost inwards."""
        lines = [*self.conditions, *(line for _, line in self.rules), *self.settings]
        first = self._abbreviations.used((term for claim in self.claims for _, term in claim.terms), self.order)
        others = self._abbreviations.used((side for line in lines for side in (line.left, line.right)), self.order)
        own = definitions(self.statement)
        return tuple(each for each in dict.fromkeys([*first, *others]) if each.name not in own)

    @cached_property
    def symbols(self) -> tuple[Quantity, ...]:
        """Every symbol that occurs on the page, in the order of the vocabulary."""
        statement = self.statement
        written = {each.name for expr in self._written for each in expr.free_symbols}
        names = {*statement.parameters} - (statement.vocabulary.implied - written)
        names |= {symbol.name for claim in statement.claims for symbol in claim.metric.weights}
        names |= {definition.name for definition in self.abbreviations}
        return tuple(quantity for quantity in statement.vocabulary if quantity.name in names)

    @property
    def used_in(self) -> tuple[str, ...]:
        """Keys of the paper's statements that are said to follow from this one."""
        return tuple(each.key for each in self.paper if self.statement.key in each.follows_from)

    @property
    def partner(self) -> Statement | None:
        """The repaired form of a printed statement, the printed form of a repaired one."""
        statement = self.statement
        if statement.repairs:
            return next((each for each in self.paper if each.key == statement.repairs), None)
        return next((each for each in self.paper if each.repairs == statement.key), None)

    @property
    def repaired_by_partner(self) -> bool:
        """Whether the partner is the repaired form."""
        return not self.statement.repairs

    @property
    def partner_words(self) -> tuple[str, ...]:
        """Which statement the partner is, where it differs, and what is remarked on it."""
        if self.partner is None:
            return ()
        differs = f"; differs in {'; '.join(self.differences)}" if self.differences else "; the same formulas"
        return (f"{self.partner.key}{differs}", *([self.partner.remark] if self.partner.remark else []))

    @cached_property
    def differences(self) -> tuple[str, ...]:
        """The parts in which the statement differs from its partner."""
        return _differences(self.statement, self.partner) if self.partner is not None else ()


def page(statement: Statement) -> Page:
    """The page of a statement; one that is not in the catalogue stands alone."""
    prefix = statement.key.partition("/")[0]
    return Page(statement, bounds.statements(prefix) if prefix in bounds.PAPERS else ())


def _differences(one: Statement, other: Statement) -> tuple[str, ...]:
    parts = []
    mine, theirs = ({claim.name: claim for claim in each.claims} for each in (one, other))
    several = max(len(mine), len(theirs)) > 1
    for name in (name for name in mine if name in theirs):
        parts += _claim_differences(f"claim {name}" if several else "the claim", mine[name], theirs[name])
    for there, names in (("here", mine.keys() - theirs.keys()), ("there", theirs.keys() - mine.keys())):
        listed = [name for name in (*mine, *theirs) if name in names]
        parts += [f"only {there}: claim {', '.join(listed)}"] if listed else []
    for what, pairs in (
        ("condition", ({c.name: (c.left, c.operator, c.right) for c in each.conditions} for each in (one, other))),
        ("step size", ({r.symbol.name: r for r in each.step_rules} for each in (one, other))),
        ("setting", (each.settings for each in (one, other))),
    ):
        a, b = pairs
        changed = [name for name in dict.fromkeys((*a, *b)) if a.get(name) != b.get(name)]
        parts += [f"{what} {', '.join(changed)}"] if changed else []
    if set(one.assumptions) != set(other.assumptions):
        parts.append("the assumptions")
    return tuple(parts)


def _claim_differences(label: str, one: Claim, other: Claim) -> list[str]:
    parts = []
    if one.metric.weights != other.metric.weights or one.metric.over is not other.metric.over:
        parts.append(f"the left side of {label}")
    if one.relation is not other.relation:
        parts.append(f"the relation of {label}")
    labels = dict.fromkeys((*one.terms, *other.terms))
    changed = [name for name in labels if one.terms.get(name) != other.terms.get(name)]
    if changed == list(labels):
        return [*parts, f"the right side of {label}"]
    return parts + ([f"{', '.join(changed)} of {label}"] if changed else [])


OVER = {
    Over.MEAN_OF_ROUNDS: "the mean over rounds 0 ... T-1",
    Over.EVERY_ROUND: "for every round t",
    Over.EVERY_ROUND_BUT_FIRST: "for every round t >= 1",
    Over.LAST_ROUND: "for the last round, t = T-1",
    Over.AFTER_ROUNDS: "after T rounds, t = T",
    Over.BEST_ROUND: "for one round t at least",
    Over.WHOLE_RUN: "for the run as a whole",
    Over.NO_RUN: "",
}
# The same before a formula.
OVER_OF = {
    Over.MEAN_OF_ROUNDS: "the mean over rounds 0 ... T-1 of ",
    Over.EVERY_ROUND: "for every round t: ",
    Over.EVERY_ROUND_BUT_FIRST: "for every round t >= 1: ",
    Over.LAST_ROUND: "for the last round, t = T-1: ",
    Over.AFTER_ROUNDS: "after T rounds, t = T: ",
    Over.BEST_ROUND: "for one round t at least: ",
    Over.WHOLE_RUN: "for the run as a whole: ",
    Over.NO_RUN: "that is, ",
}


def place(statement: Statement) -> str:
    """Where a statement is printed."""
    source = statement.source
    return f"{source.number} ({source.location})" if source.location else source.number


def quantity_domain(quantity: Quantity) -> str:
    """The domain as a condition, such as ``>= 1, whole``."""
    whole, positive, nonnegative = Domain.POSITIVE_INTEGER, Domain.POSITIVE, Domain.NONNEGATIVE
    return {whole: "whole, >= 1", positive: "> 0", nonnegative: ">= 0"}.get(quantity.domain, "real")
