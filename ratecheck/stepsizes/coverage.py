"""Coverage of a paper's experiments by the conditions of its theorems, and for which unknown constants.

The printed numbers are put into every condition, exactly. A condition without an unknown number is true or false. One
with a single unknown number x holds on a union of intervals of x, whose ends are the positive roots of the numerators
and denominators of both sides' difference, with one argument for every maximum and minimum: between two of them its
truth does not change, so that one point of each interval decides. Where several numbers are unknown, a lower limit on
a printed number fails if it does at its infimum, which is found where the limit is seen to grow with each of them; and
z3 decides whether any values meet all conditions that are quotients of polynomials. Else nothing is claimed.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import sympy as sp

from bounds.ledger.experiment import Experiment
from bounds.numbers import exact
from bounds.roots import shown
from bounds.statement import Condition, Statement, fill_product, names_in
from bounds.symbols import Domain, Role
from ratecheck.algebra.positivity.smt import SOLVER, written
from ratecheck.plain import picked

Exact = dict[str, sp.Expr]
# A condition with numbers put in: left side, operator, right side.
Relation = tuple[sp.Expr, str, sp.Expr]
# Where conditions hold: everywhere, nowhere, or None with where.
Answer = tuple[bool | None, str]

_RELATIONS = {"<=": sp.Le, ">=": sp.Ge, "==": sp.Eq, "<": sp.Lt, ">": sp.Gt}
_SMT = {"<=": "<=", ">=": ">=", "==": "=", "<": "<", ">": ">"}
# z3 is given conditions with at most so many unknown numbers; formulas with more are long.
_MOST_UNKNOWN = 4
# Its work, in seconds of a quiet machine, and seconds of the clock after which it is killed: then nothing is known.
_SECONDS, _LATE = 5.0, 600.0
_MOST_BRANCHES = 32
# A number with at most so many signs is written exactly.
_SHORT = 9


class CoverageVerdict(Enum):
    """The verdict of the printed numbers on all conditions together."""

    COVERED = "COVERED"
    DEPENDS = "DEPENDS"
    UNKNOWN = "UNKNOWN"
    NOT_COVERED = "NOT COVERED"
    OUTSIDE = "OUTSIDE"

    @property
    def meaning(self) -> str:
        """In a sentence."""
        return _MEANING[self]


_MEANING = {
    CoverageVerdict.COVERED: "every condition holds at the printed numbers",
    CoverageVerdict.DEPENDS: "it holds exactly where numbers that the paper does not print lie in the ranges that are "
    "named",
    CoverageVerdict.UNKNOWN: "the paper does not print enough: a condition ties several numbers that are not printed",
    CoverageVerdict.NOT_COVERED: "whatever the numbers are that are not printed, a condition fails at the printed "
    "ones, or the conditions exclude each other; or a number changes during the run of which the statement has one for "
    "all rounds",
    CoverageVerdict.OUTSIDE: "the statement is about another setting",
}


@dataclass(frozen=True)
class ConditionAtSetting:
    """A condition at printed numbers: ``here`` is it with these put in, ``unknown`` the names that are left.

    ``holds`` is None where these decide; ``where`` then says for which values of the one it holds, if it is one. Where
    it fails whatever they are, ``where`` says why.
    """

    name: str
    text: str
    here: str
    holds: bool | None
    where: str
    unknown: tuple[str, ...]

    @property
    def ranged(self) -> bool:
        """True where the condition holds for the values of one number that ``where`` names."""
        return self.holds is None and bool(self.where)


@dataclass(frozen=True)
class Case:
    """A setting with one of its alternatives: the numbers used, the verdict and what it rests on."""

    numbers: str
    verdict: CoverageVerdict
    reason: str
    conditions: tuple[ConditionAtSetting, ...]


@dataclass(frozen=True)
class Coverage:
    """A setting against one form of a statement; ``verdict`` is that of all its cases, UNKNOWN where they differ."""

    experiment: Experiment
    cases: tuple[Case, ...]

    @property
    def verdict(self) -> CoverageVerdict:
        """The verdict on the setting as a whole."""
        found = {case.verdict for case in self.cases}
        return found.pop() if len(found) == 1 else CoverageVerdict.UNKNOWN

    def fields(self) -> dict[str, Any]:
        """The coverage as JSON data."""
        return picked(self, place="experiment.place", remark="experiment.remark", verdict="verdict", cases="cases")


def restricts_step_sizes(statement: Statement) -> bool:
    """Whether a statement has a condition on a step size of its own, and is not known up to a constant only."""
    names = {name for condition in statement.hypotheses for name in condition.symbols}
    return not statement.order_only and any(statement.vocabulary[name].role is Role.STEP_SIZE for name in names)


def coverage(
    statement: Statement, experiments: Sequence[Experiment], ordered: Sequence[tuple[str, str]] = ()
) -> tuple[Coverage, ...]:
    """The settings that run the statement's method against its conditions; none where it restricts no step size.

    ``ordered`` has pairs (smaller, larger) of constants whose order follows from the assumptions. These themselves,
    such as smoothness, are not looked at, only conditions on numbers.

    >>> import bounds
    >>> from bounds.ledger.experiment import experiments
    >>> first, *_ = coverage(bounds.get("pfl/theorem-3.7"), experiments("pfl"))
    >>> first.verdict.value, first.cases[0].conditions[0].where
    ('DEPENDS', 'L <= 1.25')
    """
    if not restricts_step_sizes(statement):
        return ()
    return tuple(
        Coverage(each, tuple(_case(statement, each, values, ordered) for values in each.cases()))
        for each in experiments
        if statement.algorithm in each.algorithms
    )


# --- One case ---


def _case(
    statement: Statement,
    experiment: Experiment,
    printed: Mapping[str, sp.Rational],
    ordered: Sequence[tuple[str, str]],
) -> Case:
    numbers = ", ".join(f"{name}={_number(value)}" for name, value in printed.items() if name in statement.parameters)
    values: Exact = dict(printed)
    outside = _completed(statement, values)
    if outside:
        return Case(numbers, CoverageVerdict.OUTSIDE, outside, ())
    found = tuple(_at(each, values, statement, experiment.varying, ordered) for each in statement.hypotheses)
    joint = _joint(statement, values, found)
    if why_not := _excluded(statement, experiment, values, found, joint):
        return Case(numbers, CoverageVerdict.NOT_COVERED, why_not, found)
    verdict, reason = _left(found, [where for _, where in joint.values()])
    return Case(numbers, verdict, reason, found)


def _excluded(
    statement: Statement,
    experiment: Experiment,
    values: Exact,
    found: Sequence[ConditionAtSetting],
    joint: Mapping[str, Answer],
) -> str:
    """Why a setting is not covered, whatever the unknown numbers are; empty where it may be."""
    changing = [name for name in experiment.varying if name in statement.parameters]
    if changing:
        return _changing(changing, experiment.varying)
    failed = [each for each in found if each.holds is False]
    if failed:
        return "; ".join(f"{each.text} is false: {each.where or each.here}" for each in failed)
    for name, (holds, _) in joint.items():
        if holds is False:
            texts = "; ".join(each.text for each in found if each.ranged and each.unknown == (name,))
            return f"no value of {name} meets all of these at the printed numbers: {texts}"
    undecided = any(each.holds is None for each in found)
    return _contradiction(statement, values) if undecided else ""


def _changing(names: Sequence[str], varying: Mapping[str, str]) -> str:
    """Why the numbers of these names are none: with their rules, as printed."""
    rules = ", ".join(f"{name} = {varying[name]}" for name in names)
    change = "changes" if len(names) == 1 else "change"
    return f"{rules} {change} from round to round, and the statement has one number for all"


def _joint(statement: Statement, values: Exact, found: Sequence[ConditionAtSetting]) -> dict[str, Answer]:
    """By unknown number, where all conditions hold in which it alone is unknown."""
    groups: dict[str, list[Relation]] = {}
    for condition, each in zip(statement.hypotheses, found, strict=True):
        if each.ranged:
            relation = (_put(condition.left, values), condition.operator, _put(condition.right, values))
            groups.setdefault(each.unknown[0], []).append(relation)
    answers: dict[str, Answer] = {}
    for name, relations in groups.items():
        quantity = statement.vocabulary[name]
        every = "; ".join(each.where for each in found if each.unknown == (name,) and each.ranged)
        answers[name] = _region(relations, quantity.symbol, quantity.domain) or (None, every)
    return answers


def _left(found: Sequence[ConditionAtSetting], ranges: Sequence[str]) -> tuple[CoverageVerdict, str]:
    """The verdict where no condition fails, and what is left to the unknown numbers; ``ranges`` are of single ones."""
    left = [each for each in found if each.holds is None]
    if not left:
        return CoverageVerdict.COVERED, "every condition holds"
    tied = [each for each in left if not each.ranged]
    if not tied:
        return CoverageVerdict.DEPENDS, f"holds exactly where {'; '.join(ranges)}"
    unknown = ", ".join(dict.fromkeys(name for each in tied for name in each.unknown))
    needs = f"; it needs {'; '.join(ranges)}" if ranges else ""
    return CoverageVerdict.UNKNOWN, f"{', '.join(each.name for each in tied)}: not decided without {unknown}{needs}"


def _completed(statement: Statement, values: Exact) -> str:
    """Add what the statement fixes and what products of step sizes give; what contradicts the former, if anything."""
    for name, expr in statement.settings.items():
        fixed = _put(expr, values)
        if fixed.is_number and values.setdefault(name, fixed) != fixed:
            return f"it takes {name} = {expr}, and the setting has {name} = {values[name]}, {expr} = {fixed}"
    for each in statement.step_products:
        fill_product(values, each.product.name, each.local.name, each.outer.name)
    return ""


def _put(expr: sp.Expr, values: Exact) -> sp.Expr:
    """The expression with the known numbers put in."""
    expr = sp.sympify(expr)
    return expr.xreplace({each: values[each.name] for each in expr.free_symbols if each.name in values})


def _at(
    condition: Condition,
    values: Exact,
    statement: Statement,
    varying: Mapping[str, str],
    ordered: Sequence[tuple[str, str]],
) -> ConditionAtSetting:
    left, right = _put(condition.left, values), _put(condition.right, values)
    unknown = sorted(names_in(left) | names_in(right), key=statement.vocabulary.order.__getitem__)
    holds, where = None, ""
    if changing := [name for name in varying if name in unknown]:
        holds, where = False, _changing(changing, varying)
    elif not unknown:
        holds = _true(left, condition.operator, right)
    elif len(unknown) == 1:
        quantity = statement.vocabulary[unknown[0]]
        found = _region([(left, condition.operator, right)], quantity.symbol, quantity.domain)
        holds, where = (None, "") if found is None else found
    elif where := _out_of_reach(left, condition.operator, right, statement, ordered):
        holds = False
    here = f"{_side(left)} {condition.operator} {_side(right)}"
    return ConditionAtSetting(condition.name, condition.text, here, holds, where, tuple(unknown))


def _side(expr: sp.Expr) -> str:
    return _number(expr) if expr.is_number else str(shown(expr))


def _number(value: sp.Expr) -> str:
    """A number: exactly where that is short, else to six digits after "about"."""
    value = exact(value) if value.is_Float else value
    decimal = f"{float(value):.6g}"
    if value.is_Rational and sp.Rational(decimal) == value:
        return decimal
    return f"{value} (about {decimal})" if value.is_Rational and len(str(value)) <= _SHORT else f"about {decimal}"


def _true(left: sp.Expr, operator: str, right: sp.Expr) -> bool | None:
    """Whether a condition between numbers holds; False where a side has no value, None where it is not decided."""
    if not (left.is_finite and right.is_finite and left.is_real and right.is_real):
        return False if left.is_number and right.is_number else None
    found = _RELATIONS[operator](left, right)
    return bool(found) if found in (sp.true, sp.false) else None


# --- One unknown number ---


def _region(relations: Sequence[Relation], x: sp.Symbol, domain: Domain) -> Answer | None:
    """The set where conditions in x alone hold together in its domain; None where it is not known."""
    roots: set[sp.Expr] = set()
    for left, _, right in relations:
        found = _critical(left - right, x)
        if found is None or domain is Domain.REAL:
            return None
        roots |= found
    first = sp.Integer(1) if domain is Domain.POSITIVE_INTEGER else sp.Integer(0)
    ends = [first, *sorted((each for each in roots if each > first), key=float)]
    pieces: list[tuple[sp.Expr, sp.Expr, bool]] = []
    for low, high in itertools.pairwise([*ends, sp.oo]):
        if low != 0 or domain is Domain.NONNEGATIVE:
            pieces.append((low, low, True))
        pieces.append((low, high, False))
    truths = []
    for low, high, point in pieces:
        place = low if point else low + 1 if high == sp.oo else (low + high) / 2
        truths.append(_all(_true(left.subs(x, place), sign, right.subs(x, place)) for left, sign, right in relations))
    if None in truths:
        return None
    if all(truths) or not any(truths):
        return all(truths), ""
    return None, " or ".join(_ranges(x.name, pieces, truths))


def _all(truths: Iterable[bool | None]) -> bool | None:
    """Whether all are true; None where that is not decided."""
    found = {*truths}
    return False if False in found else None if None in found else True


def _ranges(name: str, pieces: Sequence[tuple[sp.Expr, sp.Expr, bool]], truths: Sequence[bool | None]) -> Iterator[str]:
    """The intervals in which it holds, in words."""
    for true, group in itertools.groupby(range(len(pieces)), key=lambda k: bool(truths[k])):
        part = [*group]
        if not true:
            continue
        low, high = pieces[part[0]][0], pieces[part[-1]][1]
        if low == high:
            yield f"{name} = {_number(low)}"
            continue
        # What the domain says by itself is not repeated.
        below = "" if part[0] == 0 else f"{_number(low)} {'<=' if pieces[part[0]][2] else '<'} "
        above = "" if high == sp.oo else f" {'<=' if pieces[part[-1]][2] else '<'} {_number(high)}"
        if below and not above:
            yield f"{name} {'>=' if pieces[part[0]][2] else '>'} {_number(low)}"
        else:
            yield f"{below}{name}{above}"


def _critical(expr: sp.Expr, x: sp.Symbol) -> set[sp.Expr] | None:
    """The positive numbers at which the sign of an expression in x may change; None where they are not found."""
    branches = _branches(expr)
    if branches is None:
        return None
    found: set[sp.Expr] = set()
    for branch in branches:
        roots = _roots_of_quotient(branch, x)
        if roots is None:
            return None
        found |= roots
    return found


def _branches(expr: sp.Expr) -> list[sp.Expr] | None:
    """The expression with each maximum and minimum replaced by each of its arguments; None where these are too many."""
    found, todo = [], [expr]
    while todo:
        each = todo.pop()
        node = next(iter(sorted(each.atoms(sp.Max, sp.Min), key=str)), None)
        if node is None:
            found.append(each)
        else:
            todo += [each.xreplace({node: argument}) for argument in node.args]
        if len(found) + len(todo) > _MOST_BRANCHES:
            return None
    return found


def _roots_of_quotient(expr: sp.Expr, x: sp.Symbol) -> set[sp.Expr] | None:
    """The positive roots of numerator and denominator of a quotient of polynomials in a root of x."""
    powers = [each for each in expr.atoms(sp.Pow) if x in each.free_symbols]
    if any(not each.exp.is_Rational or (not each.exp.is_Integer and each.base != x) for each in powers):
        return None
    order = int(sp.ilcm(1, 1, *(each.exp.q for each in powers)))
    y = sp.Dummy("y", positive=True)
    found: set[sp.Expr] = set()
    for part in sp.fraction(sp.together(expr.subs(x, y**order))):
        try:
            poly = sp.Poly(part, y)
        except sp.PolynomialError:
            return None
        coefficients = poly.all_coeffs()
        if any(each.free_symbols for each in coefficients):
            return None
        if poly.degree() == 1:
            roots = [-coefficients[1] / coefficients[0]]
        elif poly.degree() <= 0:
            roots = []
        elif all(each.is_Rational for each in coefficients):
            roots = sp.real_roots(poly, multiple=True)
        else:
            return None
        found |= {each**order for each in roots if each > 0}
    return found


# --- Several unknown numbers ---


def _out_of_reach(
    left: sp.Expr, operator: str, right: sp.Expr, statement: Statement, ordered: Sequence[tuple[str, str]]
) -> str:
    """Why a printed number misses a lower limit whatever the unknown numbers are, in this order; else empty."""
    if operator not in (">=", ">") or not left.is_number:
        return ""
    least = _infimum(right, statement, ordered)
    if least is None or not bool(left < least):
        return ""
    order = ", ".join(f"{low} <= {high}" for low, high in ordered)
    said = f"{left} is less than {_number(least)}, the infimum of the right side"
    return f"{said}{f' where {order}' if order else ''}"


def _infimum(expr: sp.Expr, statement: Statement, ordered: Sequence[tuple[str, str]]) -> sp.Expr | None:
    """The infimum of an expression over its symbols in their order; None where it is not seen to grow with each."""
    for low, high in ordered:
        smaller, larger = statement.vocabulary[low].symbol, statement.vocabulary[high].symbol
        expr = expr.xreplace({larger: smaller * (1 + sp.Dummy(high, nonnegative=True))})
    # The symbols that vanish first may keep others from cancelling.
    for _ in range(len(expr.free_symbols)):
        for symbol in sorted(expr.free_symbols, key=str):
            at_zero = expr.subs(symbol, 0)
            if symbol.is_nonnegative and at_zero.is_finite is not False and expr.diff(symbol).is_nonnegative:
                expr = _gathered(at_zero)
    return expr if expr.is_number and expr.is_real else None


def _gathered(expr: sp.Expr) -> sp.Expr:
    """Radicands as products, so that powers of the same symbol cancel."""
    return expr.replace(lambda e: e.is_Pow and not e.exp.is_Integer, lambda e: sp.factor(e.base) ** e.exp)


def _contradiction(statement: Statement, values: Exact) -> str:
    """Why no values of the unknown numbers meet all conditions that z3 can read; empty where it does not say so."""
    names: dict[sp.Symbol, str] = {}
    lines, used = [], []
    for condition in statement.hypotheses:
        difference = _put(condition.left, values) - _put(condition.right, values)
        symbols = difference.free_symbols
        if not 0 < len(symbols) <= _MOST_UNKNOWN or not _is_quotient(difference):
            continue
        numerator, denominator = sp.fraction(sp.together(difference))
        names |= {each: f"x{len(names) + k}" for k, each in enumerate(sorted(symbols - names.keys(), key=str))}
        product = sp.expand(numerator * denominator)
        lines.append(f"(assert ({_SMT[condition.operator]} {written(product, names)} 0.0))")
        lines.append(f"(assert (distinct {written(sp.expand(denominator), names)} 0.0))")
        used.append(condition)
    # One unknown number in one condition was decided before.
    if len(used) < 2:
        return ""
    declared = [f"(declare-const {name} Real)" for name in names.values()]
    for symbol, name in names.items():
        domain = statement.vocabulary[symbol.name].domain
        low = {Domain.POSITIVE: "(> {} 0.0)", Domain.NONNEGATIVE: "(>= {} 0.0)", Domain.POSITIVE_INTEGER: "(>= {} 1.0)"}
        if domain in low:
            declared.append(f"(assert {low[domain].format(name)})")
    answer, _ = SOLVER.check("\n".join([*declared, *lines]), _SECONDS, late=_LATE)
    if answer != "unsat":
        return ""
    unknown = ", ".join(sorted(each.name for each in names))
    texts = "; ".join(each.text for each in used)
    return f"no values of {unknown} meet all of these at the printed numbers (z3): {texts}"


def _is_quotient(expr: sp.Expr) -> bool:
    """True of a quotient of polynomials with rational coefficients."""
    powers = all(each.exp.is_Integer for each in expr.atoms(sp.Pow))
    return powers and not expr.has(sp.Max, sp.Min) and all(each.is_Rational for each in expr.atoms(sp.Number))
