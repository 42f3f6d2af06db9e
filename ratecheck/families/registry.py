"""All families, and the shapes in which a statement is tried on them.

A family is one file: a module of this folder with ``FAMILIES``, a tuple of `Family`, or an entry point of the group
``ratecheck.families`` that names a `Family` or several, as in ``mine = "my_package:FAMILIES"``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import sympy as sp

from bounds.assumption import BOUNDED
from bounds.statement import Statement
from ratecheck.errors import InputError
from ratecheck.extensions import Registry, named
from ratecheck.families import who
from ratecheck.families.family import Family, InstanceShape
from ratecheck.families.quadratics import QUADRATICS
from ratecheck.families.statements import dimension, excluded, is_bilevel, sets_alike
from ratecheck.settings.applicability import method_of

GROUP = "ratecheck.families"
# What is tried with more clients on graphs, and how many these are.
_PAIR, _ON_GRAPHS = InstanceShape(QUADRATICS, 2, 1, 0, 2), (4, 5)
# Clients at most where runs are drawn, and variables.
_FEW_DRAWN = 2


def _families() -> dict[str, Family]:
    found = named("ratecheck.families", "FAMILIES", GROUP, Family)  # type: ignore[type-abstract]  # to compare
    return {each.name: each for each in sorted(found, key=lambda each: each.place)}


FAMILIES: Registry[Family] = Registry(_families)


def shapes(statement: Statement, fixed: Mapping[str, float] | None = None) -> list[InstanceShape]:
    """The shapes that a statement is tried on, small ones first; of those with ``fixed`` sizes, if any.

    Raises `InputError` where no shape has these sizes.
    """
    fixed, run = fixed or {}, statement.vocabulary.run
    n, size = (fixed.get(run.get(role, "")) for role in ("clients", "participants"))
    families = [each for each in FAMILIES.values() if not (each.later or each.drawn)]
    found = _mixing(statement, _alike(statement, [shape for each in families for shape in each.shapes(statement)]))
    if BOUNDED & {*statement.assumptions}:
        # Only functions that are linear far away have such a bound.
        found = [shape for shape in [*found, *later_shapes(statement)] if shape.family.linear_far_away] or found
    if is_bilevel(statement):
        # Every number of clients is few here, and conditions on it alone leave others nothing to say.
        found = [shape for shape in found if not excluded(statement, shape)] or found
    if n is None:
        # Others contradict the statement.
        found = [shape for shape in found if _set(statement, "clients", shape) in (None, shape.n)] or found
    found = [shape for shape in found if not _again(statement, shape, found)]
    if n is not None:
        found = [shape for shape in found if shape.n == n] or _mixing(
            statement, [shape for each in families for shape in each.sized(statement, int(n))]
        )
    found = [shape for shape in found if size is None or shape.size == size]
    variables = dimension(statement, fixed)
    if variables is not None:
        found = _of_dimension(found, int(variables[1]))
    if not found:
        sizes = {name: fixed[name] for role in ("clients", "participants") if (name := run.get(role, "")) in fixed}
        sizes |= dict([variables] if variables is not None else [])
        listed = ", ".join(f"{name}={value:g}" for name, value in sizes.items())
        raise InputError(f"the search has no instances with {listed} for {statement.key}")
    return found


def later_shapes(statement: Statement) -> list[InstanceShape]:
    """The shapes of families that are searched where no other has violated the statement."""
    found = [shape for each in FAMILIES.values() if each.later for shape in each.shapes(statement)]
    return _mixing(statement, _alike(statement, found))


def drawn_shapes(statement: Statement) -> list[InstanceShape]:
    """The shapes on which runs have to be drawn: of families of such, and of few clients where a method is not linear.

    There are none where nothing but noise is random and the statement has none.
    """
    found = [shape for each in FAMILIES.values() if each.drawn for shape in each.shapes(statement)]
    found = _alike(statement, found)
    method = method_of(statement)
    if method is not None and not method.algorithm.linear:
        found += [
            shape
            for shape in shapes(statement)
            if shape.family.noise and max(shape.n, shape.d_u + shape.d_v) <= _FEW_DRAWN
        ]
    # Others contradict the statement.
    return [each for each in found if _set(statement, "clients", each) in (None, each.n)]


def _alike(statement: Statement, found: list[InstanceShape]) -> list[InstanceShape]:
    """The shapes with clients of one function, where the statement is about no others."""
    if not sets_alike(statement):
        return found
    several = [shape for shape in found if shape.n > 1 and shape.family.grouped]
    return [*(shape for shape in found if shape.n == 1), *(replace(shape, groups=1) for shape in several)]


def _again(statement: Statement, shape: InstanceShape, found: Sequence[InstanceShape]) -> bool:
    """Whether the statement sets other participants, with which the shape is another one of those found."""
    number = None if shape.trace else _set(statement, "participants", shape)
    return number not in (None, shape.size) and replace(shape, size=number) in found


def _set(statement: Statement, role: str, shape: InstanceShape) -> int | None:
    """The size that the statement sets in so many clients, if it does."""
    run = statement.vocabulary.run
    formula = statement.settings.get(run.get(role, ""))
    if formula is None:
        return None
    number = formula.xreplace(
        {statement.vocabulary[name].symbol: sp.Integer(shape.n) for name in [run.get("clients")] if name}
    )
    return int(number) if number.is_Integer else None


def _of_dimension(found: Sequence[InstanceShape], d: int) -> list[InstanceShape]:
    """The shapes with so many variables, and where there are none those of families that have any number of them."""

    def sized(shape: InstanceShape) -> InstanceShape:
        return replace(shape, d_u=d - shape.d_v) if shape.d_u else replace(shape, d_v=d)

    some = [shape for shape in found if shape.family.any_dimension and (not shape.d_u or shape.d_v < d)]
    same = [shape for shape in found if shape.d_u + shape.d_v == d]
    return [*dict.fromkeys([*same, *map(sized, some)])]


def _mixing(statement: Statement, found: Iterable[InstanceShape]) -> list[InstanceShape]:
    """The shapes with graphs where the method mixes clients, and those of a few more clients then."""
    if not who.mixes(statement):
        return [*found]
    few = [shape for shape in found if not shape.trace]
    few += [replace(shape, n=n, size=n) for n in _ON_GRAPHS for shape in few if shape == _PAIR]
    return [each for shape in few for each in who.on_graphs(statement, shape)]
