"""What a proof of a statement is about: the numbers that it takes, and why none is looked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

from bounds.statement import Assumption, Statement
from ratecheck.algorithms import METHODS
from ratecheck.algorithms.model.algorithm import U, V
from ratecheck.algorithms.model.unfolded import unfolded
from ratecheck.settings.applicability import counts_participants, every_participation, method_of
from ratecheck.stepsizes.choose import silent

_KNOWN = {
    Assumption.SMOOTHNESS,
    Assumption.CONVEXITY,
    Assumption.STRONG_CONVEXITY,
    Assumption.POLYAK_LOJASIEWICZ,
    Assumption.BOUNDED_SUBGRADIENTS,
    Assumption.NOISE,
    Assumption.DISSIMILARITY,
    Assumption.UNIFORM_SAMPLING,
    Assumption.FULL_PARTICIPATION,
    Assumption.NO_PERSONAL,
    Assumption.NO_SHARED,
    Assumption.MINIMISER_HETEROGENEITY,
    Assumption.INTERPOLATION,
    Assumption.CLIENTS_STRONG_CONVEXITY,
    Assumption.BOUNDED_GRADIENTS,
    Assumption.CONVEX_PART,
    Assumption.MONOTONE_OPERATOR,
    Assumption.COCOERCIVE_OPERATOR,
    Assumption.STRONGLY_MONOTONE_OPERATOR,
    Assumption.LIPSCHITZ_OPERATOR,
    Assumption.EXACT_INNER,
    Assumption.RANDOM_MIXING,
    Assumption.TOTAL_NOISE,
    Assumption.OBLIVIOUS_PARTICIPATION,
    Assumption.UNBIASED_SELECTION,
    Assumption.INNER_ACCURACY,
    Assumption.DUAL_START,
    Assumption.BOUNDED_BELOW,
}
_SCALES = {"L", "sigma", "sigma_u", "sigma_v", "mixing_share"}
# The names of the basic setting for how long and how wide a run is.
RUN = {"clients": "n", "participants": "m", "local_steps": "K", "rounds": "T"}
# Up to which a float is taken for the fraction that it is nearest to: floats are 10^8 times as dense as such fractions.
SMALL_DENOMINATOR = 10**4


def written(number: float | Fraction) -> Fraction:
    """The fraction that a number is as it is written: 0.1 is 1/10."""
    return Fraction(repr(float(number))) if isinstance(number, float) else Fraction(number)


def simplest(number: Fraction) -> Fraction:
    """The fraction of a small denominator that a float rounds, itself where there is none.

    >>> simplest(written(1 / 3)), simplest(written(0.3333))
    (Fraction(1, 3), Fraction(3333, 10000))
    """
    near = number.limit_denominator(SMALL_DENOMINATOR)
    return near if abs(near - number) <= abs(number) / 2**52 else number


def run_sizes(statement: Statement, values: Mapping[str, float]) -> dict[str, float]:
    """How long and how wide a run is, by the names of the basic setting; everybody takes part unless told otherwise."""
    names = statement.vocabulary.run
    named = {basic: values[basic] for role, basic in RUN.items() if basic in values and role not in names}
    found = {basic: values[names[role]] for role, basic in RUN.items() if names.get(role) in values}
    return {**named, **({"m": found["n"]} if "n" in found else {}), **found}


def followed(statement: Statement) -> Statement:
    """The statement about the method that is followed: with inner problems solved where the paper counts no steps."""
    method = None if statement.algorithm not in METHODS else method_of(statement)
    exact = method is not None and METHODS[statement.algorithm or ""].exact == method.name
    return replace(statement, algorithm=method.name) if method is not None and exact else statement


def scales(statement: Statement) -> list[str]:
    """Constants of its assumptions that a proof takes at numbers where the statement's formulas do not have them.

    Smoothness and the variances of the noise, without which nothing is known of a round. Other bounds that formulas do
    not have, such as one on the dissimilarity, may be arbitrarily large, and are not used.
    """
    facts, method = statement.vocabulary.facts, METHODS[statement.algorithm or ""]
    named = {fact: name for name, fact in facts.items()}
    # Assumptions speak of constants by the basic names, of which plain words have others.
    assumed = {facts.get(name, name) for each in statement.assumptions for name in each.constants}
    own = _SCALES - ({"sigma_v"} if not method.personal else set()) - ({"sigma_u"} if not method.shared else set())
    # Under another name, too.
    spoken = {facts.get(name) for name in statement.parameters}
    return sorted(named[fact] for fact in assumed & own - spoken if fact in named)


def of_anyone(statement: Statement) -> bool:
    """Whether a statement is about any participation, without a delay or a number that says that everybody takes part.

    Of that a run of all clients in every round is one case only.
    """
    said = {Assumption.OBLIVIOUS_PARTICIPATION, Assumption.FULL_PARTICIPATION} & {*statement.assumptions}
    return not said and every_participation(statement) and not counts_participants(statement)


def taken(statement: Statement) -> set[str]:
    """Names of the numbers that a proof is about: what the statement names, and step sizes about which it is silent."""
    steps = METHODS[statement.algorithm or ""].step_sizes
    return {*statement.parameters, *scales(statement), *silent(statement, steps)}


def beyond(statement: Statement) -> Iterator[str]:
    """Why no proof of a statement is looked for, whatever its numbers are."""
    method, assumptions = METHODS[statement.algorithm or ""], {*statement.assumptions}
    a, name = method.algorithm, getattr(method.algorithm, "name", method.name)
    if unknown := [each.value for each in statement.assumptions if each not in _KNOWN]:
        yield f"it assumes {'; '.join(unknown)}"
    if not a.linear and unfolded(a) is None:
        yield f"{name} is not linear"
    if a.steps_per_sample > 1:
        yield f"{name} has one sample for several local steps"
    if a.also and (not a.asks_gradients or a.second_oracle):
        yield f"{name} uses values of functions"
    if len(a.compressed) > 1:
        yield f"{name} compresses several messages"
    if a.projects or a.bilevel:
        yield f"a round of {name} is not modelled"
    if not {*a.blocks} <= {U, V}:
        yield f"{name} has variables {', '.join(a.blocks)}"
    if (a.second_oracle is not None) != (Assumption.CONVEX_PART in assumptions):
        yield "a second, convex part of f goes with a method that takes proximal steps of it"
