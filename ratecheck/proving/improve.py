"""What else is proved: each term with its smallest constant, and the best step size."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import sympy as sp
from scipy.optimize import minimize_scalar

from bounds.statement import Given, Statement
from ratecheck.errors import InputError
from ratecheck.falsification.terms import in_parts
from ratecheck.proving.bracket import first_claim, right_side
from ratecheck.proving.prove import ProofPart, completed, least, proof_part, proved_at, sized_plans
from ratecheck.proving.question import Question
from ratecheck.proving.trials.trial import FEW, multiplied, trials

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
            sharp = SharpTerm(claim.name, name, scaled, parts)
            yield sharp if _holds(alone, sharp, values) else replace(sharp, parts=())


def _holds(alone: Statement, found: SharpTerm, values: Mapping[str, float]) -> bool:
    """Whether no run at these numbers exceeds the right side with the proved multiple of the term."""
    if found.factor is None:
        return True
    (claim,) = alone.claims
    more = sp.Rational(*found.factor.as_integer_ratio()) - 1
    other = replace(alone, claims=(replace(claim, terms={"all": claim.bound + more * found.term}),))
    return trials(alone, multiplied(other, [Fraction(1)]), values, FEW).against is None


@dataclass(frozen=True)
class BestValue:
    """The value of a ``parameter`` for which the smallest right side is proved, beside the statement's own.

    ``bound`` is what is proved of the left side there, ``right`` the statement's right side, ``factor`` their ratio: of
    the first claim, whose name ``claim`` is where there are several, and in the last ``round`` that it is about, None
    where its rounds count together.
    """

    parameter: str
    value: float
    factor: Fraction
    bound: float
    own_value: float
    own_bound: float | None
    right: float
    claim: str
    round: int | None


def best(statement: Statement, given: Given, parameter: str) -> BestValue:
    """The value of a free parameter with the smallest proved bound, below its largest admissible value.

    On a grid, then by bounded minimisation between its neighbours; what is answered has three digits and is proved.
    Raises `InputError` for a name that is no free parameter.
    """
    claims = statement.written.claims
    written = replace(statement.written, claims=claims[:1])
    fixed = {name: value for name, value in given.items() if name != parameter}
    own, _ = completed(written, fixed)
    if parameter not in own or parameter in written.settings:
        raise InputError(f"{parameter!r} is no parameter of {statement.key}: known are {', '.join(sorted(own))}")
    if parameter in ("n", "m", "K", "T") or own[parameter] <= 0:
        raise InputError(f"--best takes a positive number that may vary, such as a step size: {parameter} is none")

    # Known to be a number, or nothing is looked for.
    right_side(written, own)

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
    proof = proved_at(written, values).tried(FEW)
    if proof.factor is None:
        raise InputError(f"{statement.key}: the bound that the solver finds at {parameter}={value:g} is not proved")
    q = first_claim(written, values)
    right = float(q.compared[-1].right)
    own_proof = proved_at(written, own).tried(FEW)
    own_bound = None if own_proof.factor is None else float(own_proof.factor) * right_side(written, own)
    about = (claims[0].name if len(claims) > 1 else "", q.compared[-1].round)
    return BestValue(parameter, value, proof.factor, float(proof.factor) * right, high, own_bound, right, *about)


def _least_bound(statement: Statement, values: Mapping[str, float]) -> float:
    """The smallest bound that the solver finds of the first claim, of its last round where it is about each."""
    q = first_claim(statement, values, every_pair=values.get("K", 1) == 1)
    factor = min(map(least, sized_plans(q)), default=math.inf)
    return factor * float(q.compared[-1].right)
