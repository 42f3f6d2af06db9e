"""The families and sizes that a search covered, and those that it did not, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bounds.statement import Assumption, Statement
from ratecheck.families.cube import Cube
from ratecheck.families.statements import weighs
from ratecheck.settings.applicability import method_of, steps_of_method
from ratecheck.settings.convexity import any_sign, assumes_convexity

# What assumptions allow beside noise of one variance at all points, and where it is; noise that grows is searched where
# methods take one gradient a round.
_GROWS = {
    Assumption.RELATIVE_NOISE: "noise that grows with gradients, rho > 0: --noise relative:RHO of 'verify' has it",
    Assumption.EXPECTED_SMOOTHNESS: "noise that grows with gradients, B > 1: --noise relative:RHO of 'verify' has it",
}
_BESIDE = {
    Assumption.EXPECTED_SMOOTHNESS: "samples, A > 0: batch= of 'verify' has them",
    Assumption.HEAVY_TAILS: "other moments than the variance: --noise student:NU, pareto:ALPHA of 'verify' have them",
}
_WEIGHTS = "clients of unequal weights: --problem weighted-quadratic of 'verify' has them"


@dataclass(frozen=True)
class Searched:
    """``families`` of instances that were tried, each with its sizes, and ``missed``: what none of them is."""

    families: tuple[str, ...]
    missed: tuple[str, ...]

    @staticmethod
    def of(statement: Statement, cubes: Sequence[Cube]) -> Searched:
        """The families and sizes that a search in the cubes covered."""
        kinds: dict[str, list[Cube]] = {}
        for cube in cubes:
            kinds.setdefault(cube.family.text(statement), []).append(cube)
        run = method_of(statement) is not None
        found = tuple(f"{kind}, {_sizes(statement, each, run=run)}" for kind, each in kinds.items())
        return Searched(found, tuple(_missed(statement, cubes)) if run else ())


def _sizes(statement: Statement, cubes: Sequence[Cube], *, run: bool) -> str:
    clients = sorted({cube.shape.n for cube in cubes})
    variables = sorted({cube.shape.d_u + cube.shape.d_v for cube in cubes})
    parts = [f"n in {{{', '.join(map(str, clients))}}}", f"d in {{{', '.join(map(str, variables))}}}"]
    if run:
        roles, fixed = statement.vocabulary.run, cubes[0].fixed
        most = [max(each) for each in zip(*(cube.reach for cube in cubes), strict=True)]
        for role, limit in zip(("local_steps", "rounds"), most, strict=True):
            name = roles.get(role)
            if name is not None and name not in {*statement.settings, *steps_of_method(statement)}:
                parts.append(f"{name} = {fixed[name]:g}" if name in fixed else f"{name} to {limit:g}")
    return ", ".join(parts)


def _missed(statement: Statement, cubes: Sequence[Cube]) -> list[str]:
    """The quantities of the statement that no family has."""
    found = []
    if not (any_sign(statement) or assumes_convexity(statement)):
        found.append("functions that are not convex: what speaks of a minimum is taken to mean convex ones")
    families = {cube.family for cube in cubes}
    in_turn = sorted(families, key=lambda each: each.place, reverse=True)
    found += dict.fromkeys(line for each in in_turn for line in each.missed(families))
    if Assumption.DISSIMILARITY in statement.assumptions:
        found.append("unequal curvatures with noise")
    grows = {} if any(each.growing for each in families) else _GROWS
    found += [each[a] for each in (grows, _BESIDE) for a in each if a in statement.assumptions]
    method = method_of(statement)
    if weighs(statement) and not any(each.weighted for each in families):
        found.append(_WEIGHTS)
    if method is not None and method.algorithm.mixed:
        found.append("graphs of more than five clients but rings, mixing matrices that are not symmetric")
    if Assumption.INNER_ACCURACY in statement.assumptions:
        found.append("inner problems that are solved inexactly")
    return found
