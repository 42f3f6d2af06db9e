"""What a search looked at, and what it could not reach, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bounds.statement import Assumption, Statement
from ratecheck.falsification.instance_families import InstanceFamily
from ratecheck.settings.applicability import method_of, steps_of_method
from ratecheck.settings.convexity import any_sign, assumes_convexity


@dataclass(frozen=True)
class Searched:
    """``families`` of instances that were tried, each with its sizes, and ``missed``: what none of them is."""

    families: tuple[str, ...]
    missed: tuple[str, ...]

    @staticmethod
    def of(statement: Statement, families: Sequence[InstanceFamily]) -> Searched:
        """Those of a search."""
        kinds: dict[str, list[InstanceFamily]] = {}
        for family in families:
            kinds.setdefault(_kind(statement, family), []).append(family)
        run = method_of(statement) is not None
        found = tuple(f"{kind}, {_sizes(statement, each, run=run)}" for kind, each in kinds.items())
        return Searched(found, tuple(_missed(statement, families)) if run else ())


def _kind(statement: Statement, family: InstanceFamily) -> str:
    if family.bilevel:
        return f"bilevel quadratics with one variable on each level{_levels(family)}"
    if family.shape.kinks:
        convex = "" if family.bent_both_ways else "convex "
        if family.shape.noisy:
            return "equal clients with a convex function that has one kink, noise of two values"
        return f"{convex}functions with {family.shape.kinks} kinks, without noise"
    if family.shape.continued:
        return "functions of any curvature where the run is, without noise"
    if family.shape.saddle or family.shape.opposed:
        saddles = "quadratic min-max problems of pairs of variables"
        return saddles if family.shape.saddle else "quadratics with clients that are not convex"
    return "quadratics" if method_of(statement) is not None else "vectors"


def _levels(family: InstanceFamily) -> str:
    """What clients of two levels have for themselves, and how they are sampled."""
    if not family.shape.bent:
        return ""
    own = ", Hessians of each client's own, of any sign above"
    if not family.shape.sampled:
        return own
    return f"{own}, noise of two values in first and second derivatives"


def _sizes(statement: Statement, families: Sequence[InstanceFamily], *, run: bool) -> str:
    clients = sorted({family.shape.n for family in families})
    variables = sorted({family.shape.d_u + family.shape.d_v for family in families})
    parts = [f"n in {{{', '.join(map(str, clients))}}}", f"d in {{{', '.join(map(str, variables))}}}"]
    if run:
        roles, fixed = statement.vocabulary.run, families[0].fixed
        most = [max(each) for each in zip(*(family.reach for family in families), strict=True)]
        for role, limit in zip(("local_steps", "rounds"), most, strict=True):
            name = roles.get(role)
            if name is not None and name not in {*statement.settings, *steps_of_method(statement)}:
                parts.append(f"{name} = {fixed[name]:g}" if name in fixed else f"{name} to {limit:g}")
    return ", ".join(parts)


def _missed(statement: Statement, families: Sequence[InstanceFamily]) -> list[str]:
    """What the statement speaks of and no family has."""
    found = []
    if not (any_sign(statement) or assumes_convexity(statement)):
        found.append("functions that are not convex: what speaks of a minimum is taken to mean convex ones")
    if all(family.bilevel for family in families):
        found.append("levels that are not quadratic")
        if any(family.shape.sampled for family in families):
            found.append("noise of more than two values, or in runs of more than 512 outcomes")
    elif any(family.shape.kinks for family in families):
        noisy = any(family.shape.noisy for family in families)
        but = ", but for equal clients with a kink and noise of two values" if noisy else ""
        found.append(f"functions that are not quadratic, with noise or with sampled clients{but}")
        found.append("functions that do not split into coordinates, but for quadratics")
    else:
        found.append("functions that are not quadratic")
    if any(family.shape.saddle for family in families):
        found.append("operators that are neither affine nor gradients, and pairs that do not split")
    if Assumption.DISSIMILARITY in statement.assumptions:
        found.append("unequal curvatures with noise")
    method = method_of(statement)
    if method is not None and method.algorithm.mixed:
        found.append("graphs of more than five clients but rings, mixing matrices that are not symmetric")
    if Assumption.INNER_ACCURACY in statement.assumptions:
        found.append("inner problems that are solved inexactly")
    return found
