"""The largest left side over instances that make a bound's terms needed: one-dimensional quadratics at a setting.

A quadratic with diagonal matrices is a sum of one-dimensional modes, so that one mode with everything on it, the start,
the noise and the difference between clients, at its worst curvature, is as hard as any such quadratic up to a factor:
the number of things that a bound adds up. The curvature runs from far below 1/(gamma K T) to L. The families are
`families.differing`, clients of two groups, `families.alike`, which has what is hard for the last round, for values,
and where a minimum is spoken of, piecewise quadratic functions, too, and `families.flame`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import sympy as sp

from bounds.own import address_of
from bounds.statement import Assumption, Statement
from bounds.symbols import measured_in
from ratecheck.algorithms import METHODS, Method
from ratecheck.algorithms.model.algorithm import check_alike
from ratecheck.certification.certified_constants import DELAYS, MEAN_DELAYS
from ratecheck.errors import InputError
from ratecheck.exponents.families import alike, differing, drawn_delays, flame
from ratecheck.exponents.families.curve import HardCurve
from ratecheck.exponents.families.differing import SAMPLED
from ratecheck.exponents.families.hard import Hard
from ratecheck.exponents.sweep import check_measurable
from ratecheck.settings.applicability import LAWS, foreign, step_source

# A typical instance has so many coordinates, with curvatures over a decade.
_COORDINATES = 8

# The share of the largest left side on a grid from which on a family is looked at more closely.
_NEAR = 0.5

# What is assumed beside participation, and holds on every instance here.
_MET = {
    Assumption.SMOOTHNESS, Assumption.NOISE, Assumption.TOTAL_NOISE, Assumption.DISSIMILARITY, Assumption.NO_PERSONAL,
    Assumption.NO_SHARED, Assumption.OBLIVIOUS_PARTICIPATION, Assumption.INNER_ACCURACY, Assumption.DUAL_START,
    Assumption.BOUNDED_BELOW, Assumption.CONVEXITY,
}  # fmt: skip

# Constants with which what is lost at the start decays geometrically.
_LEAST_CURVED = frozenset({"strong_convexity", "polyak_lojasiewicz"})


def worst(statement: Statement, values: Mapping[str, float], scale: str | None = None) -> Hard:
    """The instance with the largest left side at a setting.

    ``values`` has every constant and size of the statement, and its free step sizes. With a ``scale``, the symbol of a
    noise or of a difference between clients, nothing else makes the left side large: all clients start at the
    minimiser. Raises `InputError` for a statement whose runs these families do not cover.
    """
    glances = [(each, *each.glanced()) for each in _curves(statement, values, scale)]
    if not glances:
        raise InputError(
            f"{statement.key}: no hard instances are known on which {scale or 'its start'} alone makes the left side "
            f"large under its participation; 'ratecheck scaling {address_of(statement)}' measures the rate on a problem"
        )
    tops = [np.max(lefts, where=np.isfinite(lefts), initial=0.0) for *_, lefts in glances]
    # A closer look gains little: what is far behind is not looked at again.
    found = [each.worst(*seen) for (each, *seen), top in zip(glances, tops, strict=True) if top >= _NEAR * max(tops)]
    # Of two that are as hard the first: what is moved by nothing but its start is the simplest.
    return max(found, key=lambda each: each.left)


def _curves(statement: Statement, values: Mapping[str, float], scale: str | None) -> Iterator[HardCurve]:
    """The families of a statement, simple ones first."""
    if covered(statement).algorithm.oracle == "prox":
        yield from flame.curves(statement, values, starts=scale is None)
        return
    source = statement.vocabulary.facts.get(scale or "")
    if source is None:
        yield from alike.curves(statement, values)
    if not of_alike_alone(statement):
        yield from differing.curves(statement, values, source)


def unknown(statement: Statement, scale: str | None) -> str:
    """Why there are no hard instances on which a scale, as in `worst`, makes the left side large; empty where some are.

    Of the last round, of values and of distances they are known without noise and where clients do not differ.
    """
    if scale is None or not of_alike_alone(statement):
        return ""
    return f"no hard instances are known on which {scale} alone makes this left side large"


def of_alike_alone(statement: Statement) -> bool:
    """Whether only instances of clients that are alike are known for a statement."""
    return alike.covers(statement) and alike.only(statement)


def typical(statement: Statement, values: Mapping[str, float], scale: str | None = None) -> float:
    """The left side of a well-conditioned quadratic at a setting; arguments and errors as for `worst`.

    It has eight coordinates with curvatures from L/10 to L. What may be lost at the start, the noise and the difference
    between clients are spread over them evenly, and all clients have the same curvatures.
    """
    spread = np.geomspace(0.1, 1.0, _COORDINATES)
    # The left side is a quadratic in each mode's start, slope and noise: an eighth of all three is an eighth of it.
    curves = [each for each in _curves(statement, values, scale) if each.typical]
    with np.errstate(over="ignore"):
        return max(float(each.lefts(each.largest * spread).mean()) for each in curves)


def check_covered(statement: Statement) -> None:
    """Raise `InputError` unless there are hard instances for the statement's runs and for what it says of them."""
    if not of_alike_alone(statement):
        check_measurable(statement)
    covered(statement)
    size = statement.vocabulary.run.get("participants", "")
    if (fixed := statement.settings.get(size, sp.Integer(1))).is_number and fixed != 1:
        raise InputError(
            f"{statement.key} takes {size} = {fixed}, and hard instances have their own {size}: leave it open, and "
            "give it to 'verify' and 'bound'"
        )


def covered(statement: Statement) -> Method:
    """The method of a statement that these families are about; raises `InputError` for any other."""
    method = METHODS.get(statement.algorithm or "")
    if method is not None and method.algorithm.bilevel:
        order = "simfbo/theorem-2-order" if statement.algorithm == "shrofbo" else "simfbo/theorem-1-order"
        raise InputError(
            f"{statement.key} bounds runs on two levels, and hard instances of such runs are known for what their "
            f"papers print as orders alone: try {order}"
        )
    if method is None or (method.algorithm.oracle == "prox" and not flame.covers(statement)):
        raise InputError(f"{statement.key} is about no run that hard instances are known for")
    check_alike(method.algorithm, "a hard instance")
    if not method.algorithm.tabled:
        what = method.algorithm.beyond or "is not linear"
        raise InputError(
            f"{method.spoken} {what}, and no hard instances are known for such methods; 'ratecheck scaling "
            f"{address_of(statement)}' measures the rate on a problem"
        )
    if reasons := foreign(statement):
        raise InputError(f"{statement.key}: {reasons[0]}")
    sides = (measured_in(claim.bound, statement.vocabulary) for claim in statement.claims)
    if names := sorted(frozenset().union(*sides)):
        raise InputError(f"{statement.key} has {', '.join(names)} on its right side, which every run has its own of")
    assumptions, facts = {*statement.assumptions}, statement.vocabulary.facts
    laws = {*LAWS, Assumption.INDEPENDENT_PARTICIPATION}
    if unmet := sorted(each.value for each in assumptions - SAMPLED - _MET - {Assumption.DRAWN_STEP_SIZES} - laws):
        raise InputError(f'{statement.key} assumes "{unmet[0]}", of which no hard instances are known')
    if named := sorted({facts[s] for s in statement.parameters if facts.get(s) in _LEAST_CURVED}):
        raise InputError(f"{statement.key} has a rate for {named[0].replace('_', ' ')}, which is no power of T")
    if named := [s for s in statement.parameters if facts.get(s) in _drawn_delays(statement)]:
        raise InputError(f"{statement.key} has {named[0]} in it, which no hard instance of this participation sets")
    if not _known_participation(statement, assumptions & laws):
        law = next((f', "{each.value}"' for each in statement.assumptions if each in laws), "")
        raise InputError(
            f"{statement.key}: no hard instances are known for its participation{law}; what it follows from may have a "
            f"card: {', '.join(statement.follows_from) or 'none'}"
        )
    return METHODS[method.exact] if method.exact else method


def _drawn_delays(statement: Statement) -> tuple[str, ...]:
    """Facts about delays that the families do not set: their means, and those of participants that are drawn."""
    if {Assumption.DRAWN_STEP_SIZES, Assumption.OBLIVIOUS_PARTICIPATION} & {*statement.assumptions}:
        return MEAN_DELAYS
    return (*DELAYS, *MEAN_DELAYS)


def _known_participation(statement: Statement, laws: set[Assumption]) -> bool:
    """Whether participation is sampled, any, or by a law of `drawn_delays`, with step sizes that are known then."""
    if Assumption.DRAWN_STEP_SIZES in statement.assumptions:
        return laws <= drawn_delays.LAWS and step_source(statement) is not None
    any_is_meant = Assumption.OBLIVIOUS_PARTICIPATION in statement.assumptions and not laws - SAMPLED
    return any_is_meant or bool(SAMPLED & {*statement.assumptions})
