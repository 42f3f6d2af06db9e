"""What else is proved: each term with its smallest constant, the best step size, and factors along a range."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import sympy as sp
from scipy.optimize import minimize_scalar

from bounds.statement import Given, Statement
from ratecheck.complexity.compare import Axis
from ratecheck.errors import InputError, did_you_mean
from ratecheck.exponents.hard_instances import worst
from ratecheck.falsification.terms import in_parts
from ratecheck.proving.prove import ProofPart, completed, least, proof_part, proved_at, sized_plans
from ratecheck.proving.question import Question

# How far below the largest admissible value of a parameter the best one is looked for, and at how many values first.
_DEPTH, _GRID = 1e-3, 9
_TWO = 2
# Digits of the best value.
_DIGITS = 3


@dataclass(frozen=True)
class SharpTerm:
    """A summand of a right side with the factor that is proved for it, all others as they are; None where none is."""

    claim: str
    name: str
    term: sp.Expr
    parts: tuple[ProofPart, ...] = ()

    @property
    def factor(self) -> Fraction | None:
        """What the summand may be multiplied by."""
        factors = [part.factor for part in self.parts]
        return None if not factors or None in factors else max(f for f in factors if f is not None)


def sharpest(statement: Statement, values: Mapping[str, float]) -> Iterator[SharpTerm]:
    """Each summand of each right side with the smallest factor for which a proof is found, the others as they are.

    Where there are three summands or more, also all but one of them with one factor, that one as it is.
    """
    written = statement.written
    for claim in written.claims:
        alone = in_parts(replace(written, claims=(claim,)))
        (claim_in_parts,) = alone.claims
        terms = claim_in_parts.terms
        several = [(f"all but {name}", claim.bound - term) for name, term in terms.items() if len(terms) > _TWO]
        for name, scaled in [*terms.items(), *several]:
            q = Question(alone, values, every_pair=values.get("K", 1) == 1, scaled=scaled)
            if any(each.scaled <= 0 for each in q.compared):
                yield SharpTerm(claim.name, name, scaled)
                continue
            # A long run hides terms that do not grow with it: one potential for every T first.
            plans = [*sized_plans(q)]
            for_every_T = [each for each in plans if all(one.plan.every_T for one in each)]
            found = min(for_every_T or plans, key=least, default=None)
            parts = () if found is None else tuple(proof_part(each, room=True) for each in found)
            yield SharpTerm(claim.name, name, scaled, parts)


@dataclass(frozen=True)
class BestValue:
    """The value of a ``parameter`` for which the smallest right side is proved, beside the statement's own.

    ``bound`` is what is proved of the left side there, ``right`` the statement's right side, ``factor`` their ratio.
    """

    parameter: str
    value: float
    factor: Fraction
    bound: float
    own_value: float
    own_bound: float | None
    right: float


def best(statement: Statement, given: Given, parameter: str) -> BestValue:
    """The value of a free parameter with the smallest proved bound, below its largest admissible value.

    On a grid, then by bounded minimisation between its neighbours; what is answered has three digits and is proved.
    Raises `InputError` for a name that is no free parameter.
    """
    written = statement.written
    fixed = {name: value for name, value in given.items() if name != parameter}
    own, _ = completed(written, fixed)
    if parameter not in own or parameter in written.settings:
        raise InputError(f"{parameter!r} is no parameter of {statement.key}: known are {', '.join(sorted(own))}")
    if parameter in ("n", "m", "K", "T") or own[parameter] <= 0:
        raise InputError(f"--best takes a positive number that may vary, such as a step size: {parameter} is none")

    def bound(value: float) -> float:
        try:
            values, _ = completed(written, {**fixed, parameter: value})
            return _least_bound(written, values)
        except InputError:
            return math.inf

    high = own[parameter]
    grid = [float(x) for x in np.geomspace(high * _DEPTH, high, _GRID)]
    found = [bound(x) for x in grid]
    at = int(np.argmin(found))
    if not math.isfinite(found[at]):
        raise InputError(f"{statement.key}: no bound is proved for any {parameter} from {grid[0]:.3g} to {high:.3g}")
    ends = math.log(grid[max(at - 1, 0)]), math.log(grid[min(at + 1, _GRID - 1)])
    refined = minimize_scalar(
        lambda x: bound(math.exp(x)), bounds=ends, method="bounded", options={"xatol": 5e-3, "maxiter": 12}
    )
    candidates = [(found[at], grid[at]), (float(refined.fun), math.exp(refined.x))]
    value = float(f"{min(candidates)[1]:.{_DIGITS}g}")
    value = grid[at] if not math.isfinite(bound(value)) else value
    values, _ = completed(written, {**fixed, parameter: value})
    proof = proved_at(statement, values)
    if proof.factor is None:
        raise InputError(f"{statement.key}: the bound that the solver finds at {parameter}={value:g} is not proved")
    right = _right(written, values)
    own_proof = proved_at(statement, own)
    own_bound = None if own_proof.factor is None else float(own_proof.factor) * _right(written, own)
    return BestValue(parameter, value, proof.factor, float(proof.factor) * right, high, own_bound, right)


def _least_bound(statement: Statement, values: Mapping[str, float]) -> float:
    """The smallest bound that the solver finds of the first claim, of its last round where it is about each."""
    q = _first_claim(statement, values, every_pair=values.get("K", 1) == 1)
    factor = min(map(least, sized_plans(q)), default=math.inf)
    return factor * float(q.compared[-1].right)


def _right(statement: Statement, values: Mapping[str, float]) -> float:
    """The right side of the first claim, of its last round where it is about each."""
    return float(_first_claim(statement, values).compared[-1].right)


def _first_claim(statement: Statement, values: Mapping[str, float], *, every_pair: bool = True) -> Question:
    """The question whether the first claim holds, alone."""
    return Question(replace(statement, claims=statement.claims[:1]), values, every_pair=every_pair)


@dataclass(frozen=True)
class BracketPoint:
    """The share of a right side that is ``found`` on an instance, and the one that is ``proved``, at one value.

    ``reason`` says why there is no point.
    """

    value: float
    found: float | None
    proved: float | None
    right: float | None
    reason: str = ""


@dataclass(frozen=True)
class Bracket:
    """What is found and what is proved of a statement's right side, over the values of an ``axis``."""

    axis: Axis
    points: tuple[BracketPoint, ...]


def bracket(statement: Statement, given: Given, axis: Axis, names: Sequence[str]) -> Bracket:
    """The bracket at each value: the hardest instance that is known there, and the factor that is proved.

    ``names`` are those of the parameters along the axis, in the vocabulary of the statement.
    """
    for name in names:
        if name in given:
            raise InputError(f"{name} is given and stands on an axis: leave out one of them")
        if name not in statement.vocabulary:
            raise InputError(f"{statement.key} has no parameter {name!r}; {did_you_mean(name, statement.parameters)}")
    values = (float(x) for x in axis.values)
    return Bracket(axis, tuple(_point(statement, {**given, **dict.fromkeys(names, x)}, x) for x in values))


def _point(statement: Statement, given: Given, value: float) -> BracketPoint:
    written = statement.written
    try:
        values, _ = completed(written, given)
        proof = proved_at(statement, values)
        right = _right(written, values)
    except InputError as error:
        return BracketPoint(value, None, None, None, str(error))
    found = None
    # Of claims on every round the hardest instances are known at their own rounds only.
    if right > 0 and len(_first_claim(written, values).compared) == 1:
        with contextlib.suppress(InputError):
            found = worst(statement, values).left / right
    return BracketPoint(value, found, None if proof.factor is None else float(proof.factor), right)
