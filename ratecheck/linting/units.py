"""Is a statement the same in other units: every side has the scaling degrees of `bounds.symbols`.

Every objective may be multiplied by a number, and lengths may be measured in another unit: the run stays the same, and
so does whether a condition holds. Rounds and local steps are counted, so time has no unit.

A term of other degrees than the left side makes a right statement no better: in units in which it is small it says that
the others are enough. Where all terms can be small at once it says that the left side is zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias

import sympy as sp

from bounds import roots
from bounds.statement import Claim, Over, Relation, Statement, names_in, number
from bounds.symbols import Role
from ratecheck.algorithms import METHODS
from ratecheck.linting.draws import DrawnSettings
from ratecheck.linting.finding import Finding, Found, Level, NotChecked, at
from ratecheck.linting.occurrence import own

CHECK = "units"
Degrees: TypeAlias = tuple[Fraction, Fraction]

_NONE: Degrees = (Fraction(0), Fraction(0))
# Units of f and of x in which numbers are looked at.
_UNITS = ((100.0, 1.0), (1.0, 10.0), (0.01, 1.0), (1.0, 0.1), (100.0, 10.0), (0.01, 0.1))
_EQUAL = 1e-10
# So many numbers of a setting are named.
_NAMED = 8


class MixedUnitsError(Exception):
    """A sum, maximum or minimum of parts of different degrees; a power or a function of what has degrees."""

    def __init__(self, expr: sp.Expr, parts: Sequence[tuple[sp.Expr, Degrees]]) -> None:
        super().__init__(str(expr))
        self.expr, self.parts = expr, parts


def check(statement: Statement, drawn: DrawnSettings) -> Found:
    """Terms, conditions and step rules whose sides have different degrees."""
    if statement.order_only:
        yield NotChecked(check=CHECK, reason="the right side is known only up to a constant, which may have units")
        return
    if chosen := _chooses_units(statement):
        yield NotChecked(check=CHECK, reason=f"{chosen} is fixed to a number, which chooses the units")
        return
    if others := _of_other_units(statement):
        why = f"{statement.method} is not linear, so that {others} may have another unit than that of a gradient step"
        yield NotChecked(check=CHECK, reason=why)
        return
    units = _Units(statement, drawn)
    hypotheses = [*units.hypotheses()]
    found = [*hypotheses]
    for claim in statement.claims:
        found += units.claim(claim, homogeneous=not hypotheses)
    yield from _together(found)


def _of_other_units(statement: Statement) -> str:
    """Step sizes of a method that is not linear, as a step of a sign or of a unit vector has the length of its size."""
    method = METHODS.get(statement.algorithm or "")
    if method is None or method.algorithm.linear:
        return ""
    steps = {
        each.name for each in statement.vocabulary if each.role is Role.STEP_SIZE and (each.f_degree or each.x_degree)
    }
    return ", ".join(sorted(steps & {*statement.parameters}))


def _together(found: Sequence[Finding]) -> Iterator[Finding]:
    """One finding for the same part of a formula, wherever it occurs."""
    heads: dict[str, list[Finding]] = {}
    for each in found:
        heads.setdefault(each.text.partition("; at ")[0], []).append(each)
    for first, *others in heads.values():
        names = sorted({f"{each.field}[{each.part!r}]" for each in others} - {f"{first.field}[{first.part!r}]"})
        listed = ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")
        yield replace(first, text=f"{first.text}; the same in {listed}") if names else first


def degrees(expr: sp.Expr, statement: Statement) -> Degrees | None:
    """The powers of the units of f and x by which an expression is multiplied; None for zero, which has any.

    Raises `MixedUnitsError` where it has none.
    """
    if not expr.args:
        return None if expr.is_zero else _of_symbol(expr, statement) if expr.is_Symbol else _NONE
    if expr.is_Mul:
        return _product([degrees(factor, statement) for factor in expr.args])
    if expr.is_Add or isinstance(expr, (sp.Max, sp.Min)):
        return _alike(expr, statement)
    if expr.is_Pow and expr.exp.is_Rational:
        base = degrees(expr.base, statement)
        power = Fraction(int(expr.exp.p), int(expr.exp.q))
        return None if base is None else (base[0] * power, base[1] * power)
    # A power with a symbol in the exponent, a logarithm, an exponential.
    parts = [(part, degrees(part, statement) or _NONE) for part in expr.args]
    if any(found != _NONE for _, found in parts):
        raise MixedUnitsError(expr, parts)
    return _NONE


def _of_symbol(symbol: sp.Symbol, statement: Statement) -> Degrees:
    quantity = statement.vocabulary[symbol.name]
    return Fraction(quantity.f_degree), Fraction(quantity.x_degree)


def _product(factors: Sequence[Degrees | None]) -> Degrees | None:
    known = [each for each in factors if each is not None]
    if len(known) < len(factors):
        return None
    return sum((f for f, _ in known), Fraction(0)), sum((x for _, x in known), Fraction(0))


def _alike(expr: sp.Expr, statement: Statement) -> Degrees | None:
    parts = [(part, found) for part in expr.args if (found := degrees(part, statement)) is not None]
    if len({found for _, found in parts}) > 1:
        raise MixedUnitsError(expr, parts)
    return parts[0][1] if parts else None


def _chooses_units(statement: Statement) -> str:
    """The setting that fixes what has a unit to a number other than zero."""
    for name, value in statement.settings.items():
        try:
            found = degrees(value, statement)
        except MixedUnitsError:
            found = _NONE
        if found is not None and found != _of_symbol(statement.vocabulary[name].symbol, statement):
            return name
    return ""


class _Units:
    """The checks of one statement, with numbers from its settings."""

    def __init__(self, statement: Statement, drawn: DrawnSettings) -> None:
        self.statement = statement
        self.drawn = [dict(values) for values in (*drawn.settings, *drawn.constants)]

    def hypotheses(self) -> Iterator[Finding]:
        """Conditions and step rules whose sides differ."""
        rules = {id(rule.condition): rule for rule in self.statement.step_rules}
        for condition in self.statement.conditions:
            yield from self._sides("conditions", condition.name, condition.left, condition.operator, condition.right)
        for rule in rules.values():
            operator = ">=" if rule.at_least else "="
            yield from self._sides("step_rules", rule.symbol.name, rule.symbol, operator, rule.value)

    def _sides(self, field: str, part: str, left: sp.Expr, operator: str, right: sp.Expr) -> Iterator[Finding]:
        above, below = self.degrees(left), self.degrees(right)
        for side, found in ((left, above), (right, below)):
            if isinstance(found, MixedUnitsError):
                yield self._mixed(field, part, side, found)
                return
        if not (isinstance(above, tuple) and isinstance(below, tuple)) or above == below:
            return
        text = _brief(f"{shown(left)} {operator} {shown(right)}")
        words = f'the left side of "{text}" {_scales(above)}, the right side {_scales(below)}'
        yield Finding(
            level=Level.WARNING,
            check=CHECK,
            field=field,
            part=part,
            text=words + self._flipped(left, right),
            remedy=f"multiply one side by what has the unit {_unit(_minus(above, below))}"
            + self._declared({*names_in(left), *names_in(right)}),
        )

    def claim(self, claim: Claim, *, homogeneous: bool) -> Iterator[Finding]:
        """Terms of other degrees than the left side."""
        left = self.degrees(claim.metric.expr)
        if isinstance(left, MixedUnitsError):
            yield self._mixed("left", "", claim.metric.expr, left)
            return
        if left is None:
            return
        found = {label: self.degrees(term) for label, term in claim.terms.items()}
        for label, each in found.items():
            if isinstance(each, MixedUnitsError):
                yield self._mixed("right", label, claim.terms[label], each)
        wrong = {label: each for label, each in found.items() if isinstance(each, tuple) and each != left}
        vanishing = (
            homogeneous and claim.relation is Relation.AT_MOST and self._vanishes(claim, left, [*found.values()])
        )
        for label, each in wrong.items():
            yield self._term(claim, label, left, each, vanishing=vanishing, alone=len(found) > len(wrong))

    def _term(
        self, claim: Claim, label: str, left: Degrees, right: Degrees, *, vanishing: bool, alone: bool
    ) -> Finding:
        term, apart = claim.terms[label], _minus(left, right)
        shrink = next((unit for unit in _UNITS if _factor(right, unit) < _factor(left, unit) * (1 - _EQUAL)), _UNITS[0])
        what = f"term {label!r}, {shown(term)}," if len(claim.terms) > 1 else f"the right side {shown(term)}"
        text = f"{what} {_scales(right)}, the left side {_scales(left)}"
        hint = self._declared(names_in(term))
        if values := self._known(term):
            here, there = number(term, values), number(term, self._in(values, shrink))
            text += (
                f": at {at(values, sorted(names_in(term)))} it is {here:.6g}; {_in_units(shrink)} the left side is "
                f"multiplied by {_factor(left, shrink):.6g}, and the term is {there:.6g} in place of "
                f"{here * _factor(left, shrink):.6g}"
            )
        if vanishing:
            text += ". In suitable units the whole right side is as small as one likes, so the left side would be 0"
        elif alone and claim.relation is Relation.AT_MOST and not hint:
            text += ". If the statement is right in all units, it is right without this term"
        return Finding(
            level=Level.ERROR if vanishing and not hint else Level.WARNING,
            check=CHECK,
            field="right",
            part=label,
            text=text,
            remedy=f"multiply the term by what has the unit {_unit(apart)}" + hint,
        )

    def _vanishes(self, claim: Claim, left: Degrees, terms: Sequence[Degrees | MixedUnitsError | None]) -> bool:
        """Whether all terms shrink against a left side that is a quantity of a run, along some change of units."""
        if claim.metric.over is Over.NO_RUN or not all(isinstance(each, tuple) for each in terms):
            return False
        apart = [_minus(each, left) for each in terms if isinstance(each, tuple)]
        angles = (2 * math.pi * k / 64 + 0.01 for k in range(64))
        return any(
            all(math.cos(angle) * float(f) + math.sin(angle) * float(x) < -1e-3 for f, x in apart) for angle in angles
        )

    def degrees(self, expr: sp.Expr) -> Degrees | MixedUnitsError | None:
        """Degrees of a formula as it is written; where they differ inside, of its values at several settings."""
        try:
            return degrees(expr, self.statement)
        except MixedUnitsError as mixed:
            return self._measured(expr) or mixed

    def _measured(self, expr: sp.Expr) -> Degrees | None:
        """Degrees of a formula's values: it may have some although its parts differ, as in (a + x)^2 - a^2 - 2*a*x."""
        found = set()
        for values in self._all(expr)[:5]:
            here = number(expr, values)
            powers = []
            for unit in ((2.0, 1.0), (1.0, 2.0)):
                ratio = number(expr, self._in(values, unit)) / here if here else math.nan
                powers.append(Fraction(round(24 * math.log2(ratio)), 24) if 0 < ratio < math.inf else None)
                if powers[-1] is None or abs(ratio / 2 ** float(powers[-1]) - 1) > _EQUAL:
                    return None
            found.add((powers[0], powers[1]))
        return found.pop() if len(found) == 1 else None  # type: ignore[return-value]  # none of them is None

    def _mixed(self, field: str, part: str, expr: sp.Expr, mixed: MixedUnitsError) -> Finding:
        inside = shown(mixed.expr)
        groups: dict[Degrees, list[str]] = {}
        for each, found in mixed.parts:
            groups.setdefault(found, []).append(shown(each))
        listed = "; ".join(
            f"{' and '.join(map(_brief, names))} {_scales(found, several=len(names) > 1)}"
            for found, names in groups.items()
        )
        what = f"in {_brief(inside)} the parts have different units: {listed}"
        if values := self._known(expr):
            unit = _UNITS[1]
            here, there = number(expr, values), number(expr, self._in(values, unit))
            names = sorted(names_in(expr))
            where = at(values, names) if len(names) <= _NAMED else "a random setting"
            what += f"; at {where} it adds up to {here:.6g}, and {_in_units(unit)} to {there:.6g}"
        return Finding(
            level=Level.WARNING,
            check=CHECK,
            field=field,
            part=part,
            text=what,
            remedy="give its parts the same unit by a constant of the problem" + self._declared(names_in(mixed.expr)),
        )

    def _flipped(self, left: sp.Expr, right: sp.Expr) -> str:
        """A setting at which other units change which side is larger."""
        for values in self._all(left + right):
            for unit in _UNITS:
                there = self._in(values, unit)
                sides = [number(side, each) for each in (values, there) for side in (left, right)]
                if all(map(math.isfinite, sides)) and (sides[0] < sides[1]) != (sides[2] < sides[3]):
                    names = sorted(names_in(left) | names_in(right))
                    return (
                        f": at {at(values, names)} the sides are {sides[0]:.6g} and {sides[1]:.6g}; {_in_units(unit)} "
                        f"the same setting has {sides[2]:.6g} and {sides[3]:.6g}"
                    )
        return ""

    def _all(self, expr: sp.Expr) -> list[dict[str, float]]:
        names = names_in(expr)
        return [values for values in self.drawn if names <= values.keys()]

    def _known(self, expr: sp.Expr) -> dict[str, float]:
        return next((values for values in self._all(expr) if math.isfinite(number(expr, values))), {})

    def _in(self, values: Mapping[str, float], unit: tuple[float, float]) -> dict[str, float]:
        """A setting in other units."""
        vocabulary = self.statement.vocabulary
        scaled = {}
        for name, value in values.items():
            quantity = vocabulary[name]
            scaled[name] = value * unit[0] ** quantity.f_degree * unit[1] ** quantity.x_degree
        return scaled

    def _declared(self, names: set[str] | frozenset[str]) -> str:
        """A hint where symbols of one's own count as plain numbers, or steps of one's own method: that may be wrong."""
        vocabulary = self.statement.vocabulary
        plain = {name for name in names if (vocabulary[name].f_degree, vocabulary[name].x_degree) == (0, 0)}
        declared, method = own(vocabulary), METHODS.get(self.statement.algorithm or "")
        text = ""
        if mine := [name for name in declared if name in plain]:
            text += f", or declare the degrees of {', '.join(mine)}, which {_counts(mine)}"
        if method is not None and method.algorithm.own:
            plain -= {*declared}
            if steps := sorted(name for name in plain if vocabulary[name].role is Role.STEP_SIZE):
                text += (
                    f", or, where the method means another unit by {', '.join(steps)}, which {_counts(steps)}, take "
                    "symbol('another_name', role='step_size', degrees=...) in the method and in the statement"
                )
        return text


def _counts(names: Sequence[str]) -> str:
    return "count as plain numbers" if len(names) > 1 else "counts as a plain number"


def shown(expr: sp.Expr) -> str:
    """A formula as messages have it."""
    return str(roots.shown(expr))


def _minus(one: Degrees, other: Degrees) -> Degrees:
    return one[0] - other[0], one[1] - other[1]


def _factor(found: Degrees, unit: tuple[float, float]) -> float:
    return float(unit[0] ** float(found[0]) * unit[1] ** float(found[1]))


def _unit(found: Degrees) -> str:
    """The unit in words, such as ``f^2/x^2``."""
    if found == _NONE:
        return "of a plain number"
    above, below = (
        [
            name if abs(power) == 1 else f"{name}^{power if power > 0 else -power}"
            for name, power in zip("fx", found, strict=True)
            if power * sign > 0
        ]
        for sign in (1, -1)
    )
    bottom = "*".join(below)
    return "*".join(above or ["1"]) + (f"/({bottom})" if len(below) > 1 else f"/{bottom}" if below else "")


def _scales(found: Degrees | None, *, several: bool = False) -> str:
    has = "have" if several else "has"
    return f"{has} no unit" if found is None or found == _NONE else f"{has} the unit {_unit(found)}"


def _in_units(unit: tuple[float, float]) -> str:
    said = [f"{name} multiplied by {factor:g}" for name, factor in zip("fx", unit, strict=True) if factor != 1]
    return f"with {' and '.join(said)}"


def _brief(text: str) -> str:
    return text if len(text) <= 80 else text[:77] + "..."
