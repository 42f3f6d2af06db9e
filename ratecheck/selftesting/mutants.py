"""Statements with one thing changed, most of them for the worse.

A mutant is a statement like any other: every check takes it. ``direction`` says what is known of it by algebra alone:
what is weaker than a true statement is true, so that VIOLATED would be a false alarm.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import sympy as sp

import bounds
from bounds.roots import shown
from bounds.statement import Assumption, Claim, Metric, Over, Relation, Statement, StepRule
from bounds.symbols import Domain, Role, Vocabulary

FACTORS = (sp.Integer(2), sp.Integer(10))
BOTH_WAYS = tuple(factor for size in FACTORS for factor in (1 / size, size))
POWERS = tuple(sp.Rational(power, 2) for power in (-2, -1, 1, 2))
# Other quantities that are substituted for one on a left side, at most.
_SWAPS = 4
# Sums of so few operations are factorised to find their signs.
_SHORT = 20
ONE = sp.Integer(1)

Path = tuple[int, ...]


class MutationKind(Enum):
    """The kind of change that makes a mutant of a statement."""

    CONSTANT = "constant"
    SCALED_TERM = "scaled-term"
    EXPONENT = "exponent"
    DROPPED_TERM = "dropped-term"
    RELAXED_CONDITION = "relaxed-condition"
    DROPPED_CONDITION = "dropped-condition"
    STEP_RULE = "step-rule"
    DROPPED_ASSUMPTION = "dropped-assumption"
    WRONG_METRIC = "wrong-metric"

    @property
    def of_right_side(self) -> bool:
        """Whether right sides alone are changed, so that every instance of the original is one of the mutant."""
        return self in (
            MutationKind.CONSTANT,
            MutationKind.SCALED_TERM,
            MutationKind.EXPONENT,
            MutationKind.DROPPED_TERM,
        )

    @property
    def of_hypotheses(self) -> bool:
        """Whether the hypotheses are changed, not the claims alone."""
        return self in (
            MutationKind.RELAXED_CONDITION,
            MutationKind.DROPPED_CONDITION,
            MutationKind.STEP_RULE,
            MutationKind.DROPPED_ASSUMPTION,
        )


class Strength(Enum):
    """The relation of a mutant to its original by algebra alone."""

    WEAKER = "follows from the original"
    STRONGER = "implies the original"
    OPEN = "neither is known to imply the other"


@dataclass(frozen=True)
class Mutant:
    """A statement with the key ``<key>~<kind>-<number>``; ``text`` says what was changed in ``original``."""

    statement: Statement
    original: Statement
    kind: MutationKind
    text: str
    direction: Strength

    @property
    def weaker(self) -> bool:
        """Whether a mutant follows from the original, so that VIOLATED would be a false alarm."""
        return self.direction is Strength.WEAKER


# What a change comes to: the parts of the statement that are replaced, in words, and the direction.
_Change = tuple[dict[str, Any], str, Strength]


def mutants(statement: Statement) -> list[Mutant]:
    """Every mutant of a statement whose right sides are more than orders; in the order of `MutationKind`."""
    if statement.order_only:
        return []
    found = []
    for kind, changes in _CHANGES.items():
        for number, (parts, text, direction) in enumerate(changes(statement), start=1):
            key = f"{statement.key}~{kind.value}-{number}"
            changed = dataclasses.replace(statement, key=key, **parts)
            found.append(Mutant(changed, statement, kind, text, direction))
    return found


def sound(statements: Iterable[Statement]) -> list[Statement]:
    """Statements with claims about runs beyond orders, in the repaired form where the printed one was repaired.

    Other forms of a statement that was repaired, such as a simplified one, are left out as well.
    """
    statements = tuple(statements)
    printed = [statement.repairs for statement in statements if statement.repairs]
    return [
        statement
        for statement in statements
        if (statement.repairs or not any(f"{statement.key}-".startswith(f"{key}-") for key in printed))
        and not statement.order_only
        and any(claim.metric.over is not Over.NO_RUN for claim in statement.claims)
    ]


# --- Signs and directions ---


class _Signs:
    """Signs of expressions for all parameters that the vocabulary and the statement admit, as far as SymPy sees."""

    def __init__(self, statement: Statement) -> None:
        vocabulary = statement.vocabulary
        self._shifts: list[dict[sp.Symbol, sp.Expr]] = []
        for smaller, larger in vocabulary.ordered:
            self._above(vocabulary[larger].symbol, vocabulary[smaller].symbol, strict=False)
        for condition in statement.conditions:
            if condition.left.is_Symbol and condition.operator in (">", ">="):
                self._above(condition.left, condition.right, strict=condition.operator == ">")

    def _above(self, symbol: sp.Symbol, least: sp.Expr, *, strict: bool) -> None:
        if least.has(symbol):
            return
        whole = bool(symbol.is_integer and least.is_integer)
        slack = sp.Dummy("slack", integer=whole or None, **{"positive" if strict else "nonnegative": True})
        self._shifts.append({symbol: least + slack})

    def of(self, expr: sp.Expr) -> int | None:
        """1 where it is nowhere negative, -1 where it is nowhere positive, None where neither is seen."""
        expr = sp.sympify(expr)
        signs = [self.of(argument) for argument in expr.args]
        if expr.is_Mul and None not in signs:
            return math.prod(sign for sign in signs if sign is not None)
        if (expr.is_Pow and signs[0] == 1) or (isinstance(expr, sp.Max) and 1 in signs):
            return 1
        if len(set(signs)) == 1 and (expr.is_Add or isinstance(expr, (sp.Max, sp.Min))):
            return signs[0]
        # SymPy thinks for seconds about the sign of a maximum.
        return self._of_sum(expr) if expr.is_Add else None if expr.has(sp.Max, sp.Min) else _sign_of(expr)

    def _of_sum(self, expr: sp.Expr) -> int | None:
        """The sign of a sum with differences in it, such as n - m, 1 - m/n or K - 1."""
        if expr.count_ops() > _SHORT or expr.has(sp.Max, sp.Min):
            return None
        sign = _sign_of(expr)
        return _sign_of(sp.factor(self._shifted(expr))) if sign is None else sign

    def _shifted(self, expr: sp.Expr) -> sp.Expr:
        for shift in self._shifts:
            expr = expr.xreplace(shift)
        return expr

    def along(self, expr: sp.Expr, path: Path) -> int | None:
        """Whether an expression grows (1) or falls (-1) with the number at a place in it."""
        if not path:
            return 1
        inner = self.along(expr.args[path[0]], path[1:])
        if inner is None or expr.is_Add or isinstance(expr, (sp.Max, sp.Min)):
            return inner
        if expr.is_Mul:
            others = expr.func(*(each for place, each in enumerate(expr.args) if place != path[0]))
            sign = self.of(others)
            return None if sign is None else inner * sign
        if expr.is_Pow and path[0] == 0 and expr.exp.is_Rational and self.of(expr.base) == 1:
            return inner * (1 if expr.exp > 0 else -1)
        return None


def _sign_of(expr: sp.Expr) -> int | None:
    return 1 if expr.is_nonnegative else -1 if expr.is_nonpositive else None


def _larger_is_weaker(claim: Claim, growth: int | None) -> Strength:
    """The direction of a right side that grows (1), falls (-1), or does what is not known."""
    if growth is None or claim.relation is not Relation.AT_MOST:
        return Strength.OPEN
    return Strength.WEAKER if growth > 0 else Strength.STRONGER


# --- Right sides ---


def _coefficients(expr: sp.Expr) -> Iterator[tuple[Path, sp.Rational]]:
    """The printed numbers that multiply something: factors but for 1 and -1, and numbers under roots."""
    for place, argument in enumerate(expr.args):
        if argument.is_Rational:
            if (expr.is_Mul and abs(argument) != 1) or (expr.is_Pow and place == 0):
                yield (place,), argument
            continue
        for path, number in _coefficients(argument):
            yield (place, *path), number


def _put(expr: sp.Expr, path: Path, value: sp.Expr) -> sp.Expr:
    if not path:
        return value
    arguments = list(expr.args)
    arguments[path[0]] = _put(arguments[path[0]], path[1:], value)
    # SymPy compares the arguments of a maximum for seconds.
    return expr.func(*arguments, **({"evaluate": False} if isinstance(expr, (sp.Max, sp.Min)) else {}))


def _with_term(statement: Statement, claim: Claim, name: str, term: sp.Expr | None) -> dict[str, Any]:
    """The statement's claims with another term in one of them, or without it."""
    terms = {label: term if label == name else each for label, each in claim.terms.items()}
    return _with_claim(statement, claim, terms={label: each for label, each in terms.items() if each is not None})


def _with_claim(statement: Statement, claim: Claim, **parts: Any) -> dict[str, Any]:
    changed = dataclasses.replace(claim, **parts)
    return {"claims": tuple(changed if each is claim else each for each in statement.claims)}


def _terms(statement: Statement) -> Iterator[tuple[Claim, str, sp.Expr, str]]:
    """Claim, label and expression of each term of the claims about runs, and how to speak of it."""
    for claim in _about_runs(statement):
        for label, term in claim.terms.items():
            yield claim, label, term, label if len(statement.claims) == 1 else f"{claim.name}, {label}"


def _about_runs(statement: Statement) -> Iterator[Claim]:
    return (claim for claim in statement.claims if claim.metric.over is not Over.NO_RUN)


def _constants(statement: Statement) -> Iterator[_Change]:
    signs = _Signs(statement)
    for claim, label, term, words in _terms(statement):
        for path, value in _coefficients(term):
            grows = signs.along(term, path)
            for factor in BOTH_WAYS:
                growth = None if grows is None else grows * _sign(value * (factor - 1))
                parts = _with_term(statement, claim, label, _put(term, path, value * factor))
                yield parts, f"{words}: {value} -> {value * factor}", _larger_is_weaker(claim, growth)


def _sign(value: sp.Expr) -> int:
    return 1 if value > 0 else -1


def _scaled_terms(statement: Statement) -> Iterator[_Change]:
    signs = _Signs(statement)
    for claim, label, term, words in _terms(statement):
        # A factor in front of the term was changed as a constant already.
        if term == 0 or any(len(path) == 1 and term.is_Mul for path, _ in _coefficients(term)):
            continue
        sign = signs.of(term)
        for factor in BOTH_WAYS:
            growth = None if sign is None else sign * _sign(factor - 1)
            yield (
                _with_term(statement, claim, label, factor * term),
                f"{words}: times {factor}",
                _larger_is_weaker(claim, growth),
            )


def _exponents(statement: Statement) -> Iterator[_Change]:
    signs = _Signs(statement)
    for claim, label, term, words in _terms(statement):
        sign = signs.of(term)
        for symbol in _sizes(statement, term):
            # A delay may be 0, of which a negative power has no value.
            base = sp.Max(ONE, symbol) if symbol.is_nonnegative and not symbol.is_positive else symbol
            least = signs.of(base - 1)
            for power in POWERS:
                growth = None if sign is None or least != 1 else sign * _sign(power)
                yield (
                    _with_term(statement, claim, label, term * base**power),
                    f"{words}: times {shown(base)}^({power})",
                    _larger_is_weaker(claim, growth),
                )


def _sizes(statement: Statement, term: sp.Expr) -> Iterator[sp.Symbol]:
    """Of the numbers that say how long and how wide a run is, and its delays, those in a term that are not fixed."""
    vocabulary = statement.vocabulary
    run = set(vocabulary.run.values())
    for quantity in vocabulary:
        delay = quantity.role is Role.SETTING and quantity.domain is Domain.NONNEGATIVE
        free = quantity.name not in statement.settings and quantity.symbol in term.free_symbols
        if free and (delay or quantity.name in run):
            yield quantity.symbol


def _dropped_terms(statement: Statement) -> Iterator[_Change]:
    signs = _Signs(statement)
    for claim, label, term, words in _terms(statement):
        if len(claim.terms) > 1 and term != 0:
            sign = signs.of(term)
            growth = None if sign is None else -sign
            yield _with_term(statement, claim, label, None), f"{words}: dropped", _larger_is_weaker(claim, growth)


# --- Hypotheses ---


def _relaxed_conditions(statement: Statement) -> Iterator[_Change]:
    signs = _Signs(statement)
    for condition in statement.conditions:
        if condition.operator == "==" or signs.of(condition.right) != 1 or condition.right == 0:
            continue
        for factor in FACTORS:
            by = factor if condition.operator in ("<=", "<") else 1 / factor
            relaxed = dataclasses.replace(condition, right=by * condition.right)
            yield (
                {"conditions": _exchanged(statement.conditions, condition, relaxed)},
                f"{condition.text}: right side times {by}",
                Strength.STRONGER,
            )


def _exchanged(all_: tuple[Any, ...], one: object, other: object | None) -> tuple[Any, ...]:
    """The tuple with another element in the place of one, or without it."""
    kept = (other if each is one else each for each in all_)
    return tuple(each for each in kept if each is not None)


def _rules(statement: Statement) -> Iterator[StepRule]:
    """The step rules that are hypotheses."""
    return (rule for rule in statement.step_rules if not rule.free)


def _rule_text(rule: StepRule) -> str:
    return rule.condition.text


def _step_rules(statement: Statement) -> Iterator[_Change]:
    for rule in _rules(statement):
        for factor in BOTH_WAYS:
            direction = Strength.OPEN
            if rule.at_least:
                direction = Strength.WEAKER if factor > 1 else Strength.STRONGER
            scaled = dataclasses.replace(rule, value=factor * rule.value)
            yield (
                {"step_rules": _exchanged(statement.step_rules, rule, scaled)},
                f"{_rule_text(rule)}: right side times {factor}",
                direction,
            )


def _dropped_conditions(statement: Statement) -> Iterator[_Change]:
    for condition in statement.conditions:
        parts = {"conditions": _exchanged(statement.conditions, condition, None)}
        yield parts, f"{condition.text}: dropped", Strength.STRONGER
    for rule in _rules(statement):
        parts = {"step_rules": _exchanged(statement.step_rules, rule, None)}
        yield parts, f"{_rule_text(rule)}: dropped", Strength.STRONGER


def _dropped_assumptions(statement: Statement) -> Iterator[_Change]:
    """Without an assumption, and 0 for its constants where they may be 0; any participation where all took part."""
    for assumption in statement.assumptions:
        vanishing = {
            statement.vocabulary[name].symbol: sp.Integer(0)
            for name in assumption.constants
            if name in statement.parameters and statement.vocabulary[name].domain is Domain.NONNEGATIVE
        }
        parts = _at(statement, vanishing)
        if parts is None:
            continue
        parts["assumptions"] = tuple(each for each in statement.assumptions if each is not assumption)
        text = f"{assumption.value}: dropped"
        if vanishing:
            text += f", {', '.join(map(str, vanishing))} = 0"
        if assumption is Assumption.FULL_PARTICIPATION:
            participants = statement.vocabulary.run["participants"]
            parts["settings"] = {name: x for name, x in statement.settings.items() if name != participants}
            parts["assumptions"] = _exchanged(statement.assumptions, assumption, Assumption.UNIFORM_SAMPLING)
        yield parts, text, Strength.OPEN if vanishing else Strength.STRONGER


def _at(statement: Statement, values: Mapping[sp.Symbol, sp.Expr]) -> dict[str, Any] | None:
    """Claims, conditions and rules at these values; None where one of them has no value there, or says nothing."""
    if not values:
        return {}

    def put(expr: sp.Expr) -> sp.Expr:
        return sp.sympify(expr).xreplace(values)

    claims = tuple(
        dataclasses.replace(
            claim,
            terms={label: put(term) for label, term in claim.terms.items()},
            metric=dataclasses.replace(
                claim.metric, weights={quantity: put(w) for quantity, w in claim.metric.weights.items()}
            ),
        )
        for claim in statement.claims
    )
    conditions = tuple(each.put(values) for each in statement.conditions)
    rules = tuple(dataclasses.replace(each, value=put(each.value)) for each in statement.step_rules)
    exprs = [term for claim in claims for term in claim.terms.values()]
    exprs += [side for condition in conditions for side in (condition.left, condition.right)]
    exprs += [rule.value for rule in rules]
    if any(expr.has(sp.nan, sp.zoo, sp.oo) for expr in exprs):
        return None
    return {"claims": claims, "conditions": conditions, "step_rules": rules}


# --- Left sides ---


def _wrong_metrics(statement: Statement) -> Iterator[_Change]:
    for claim in _about_runs(statement):
        metric, among = claim.metric, "" if len(statement.claims) == 1 else f"{claim.name}: "
        if metric.over is Over.MEAN_OF_ROUNDS:
            parts = _with_metric(statement, claim, over=Over.EVERY_ROUND)
            yield parts, f"{among}every round instead of the mean over the rounds", _if_at_most(claim, 1)
        for weights, text, growth in (*_reweighted(statement, metric), *_swapped(statement, claim)):
            yield _with_metric(statement, claim, weights=weights), among + text, _if_at_most(claim, growth)


def _if_at_most(claim: Claim, growth: int | None) -> Strength:
    """The direction of a left side that grows, falls, or does what is not known."""
    return _larger_is_weaker(claim, None if growth is None else -growth)


def _with_metric(statement: Statement, claim: Claim, **parts: Any) -> dict[str, Any]:
    # What smoothness alone gives was said of the metric as it stood.
    return _with_claim(statement, claim, metric=dataclasses.replace(claim.metric, trivial=None, **parts))


_Weights = tuple[dict[sp.Symbol, sp.Expr], str, int | None]


def _reweighted(statement: Statement, metric: Metric) -> Iterator[_Weights]:
    """One weight replaced by 1, and one quantity left out where there are others."""
    signs = _Signs(statement)
    for quantity, weight in metric.weights.items():
        sign = signs.of(quantity)
        if weight != 1:
            change = signs.of(1 - weight)
            growth = None if sign is None or change is None else sign * change
            yield {**metric.weights, quantity: ONE}, f"{quantity} weighted by 1 instead of {shown(weight)}", growth
        if len(metric.weights) > 1:
            lost = signs.of(weight * quantity)
            others = {each: w for each, w in metric.weights.items() if each is not quantity}
            yield others, f"{quantity} left out", None if lost is None else -lost


def _swapped(statement: Statement, claim: Claim) -> Iterator[_Weights]:
    """Another quantity of the same scaling degrees and the same kind in the place of one."""
    weights, vocabulary = claim.metric.weights, statement.vocabulary
    known = {*weights, *claim.bound.free_symbols}
    for quantity in weights:
        one = vocabulary[quantity.name]
        others = [
            other
            for other in _measured_alike(vocabulary, claim.metric.over)
            if other not in known
            and (vocabulary[other.name].f_degree, vocabulary[other.name].x_degree) == (one.f_degree, one.x_degree)
            and vocabulary[other.name].domain is one.domain
        ]
        for other in others[:_SWAPS]:
            changed = {other if each == quantity else each: weight for each, weight in weights.items()}
            yield changed, f"{other} instead of {quantity}", None


_ROUND_BY_ROUND = (
    Over.MEAN_OF_ROUNDS, Over.EVERY_ROUND, Over.EVERY_ROUND_BUT_FIRST, Over.LAST_ROUND, Over.BEST_ROUND,
)  # fmt: skip


@functools.cache
def _measured_alike(vocabulary: Vocabulary, over: Over) -> tuple[sp.Symbol, ...]:
    """The quantities on left sides of the catalogue that are measured as often: per round, or once."""
    alike = _ROUND_BY_ROUND if over in _ROUND_BY_ROUND else (over,)
    left = {
        quantity
        for paper in bounds.PAPERS
        if bounds.vocabulary(paper) is vocabulary
        for statement in bounds.statements(paper)
        for claim in statement.claims
        if claim.metric.over in alike
        for quantity in claim.metric.weights
    }
    return tuple(q.symbol for q in vocabulary if q.role is Role.MEASURED and q.symbol in left)


_CHANGES: dict[MutationKind, Callable[[Statement], Iterator[_Change]]] = {
    MutationKind.CONSTANT: _constants,
    MutationKind.SCALED_TERM: _scaled_terms,
    MutationKind.EXPONENT: _exponents,
    MutationKind.DROPPED_TERM: _dropped_terms,
    MutationKind.RELAXED_CONDITION: _relaxed_conditions,
    MutationKind.DROPPED_CONDITION: _dropped_conditions,
    MutationKind.STEP_RULE: _step_rules,
    MutationKind.DROPPED_ASSUMPTION: _dropped_assumptions,
    MutationKind.WRONG_METRIC: _wrong_metrics,
}
