"""Brackets of right sides: the share that an instance reaches, and the one that is proved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bounds.sentences import words
from bounds.statement import Given, Over, Statement
from ratecheck.complexity.compare import Axis
from ratecheck.errors import InputError, did_you_mean
from ratecheck.exponents.hard_instances import of_alike_alone, worst
from ratecheck.proving.prove import PotentialProof, completed, prove, proved_at
from ratecheck.proving.question import Question
from ratecheck.proving.trials.trial import FEW


@dataclass(frozen=True)
class ProvedBracket:
    """A statement's ``proof`` at numbers, or the ``reason`` why there is none, and the share ``found`` on an instance.

    The largest left side of all instances with these numbers is between both shares of the right side.
    """

    statement: Statement
    proof: PotentialProof | None
    found: float | None
    reason: str = ""


def proved_bracket(statement: Statement, given: Given | None = None) -> ProvedBracket:
    """The bracket at numbers; those not given have the defaults of `prove`."""
    try:
        proof = prove(statement, given or {})
    except InputError as error:
        return ProvedBracket(statement, None, None, str(error))
    return ProvedBracket(statement, proof, found_share(words.basic(statement), proof.values))


def found_share(statement: Statement, values: Mapping[str, float]) -> float | None:
    """The share of the right side that the hardest known instance reaches; None where none is known.

    Of claims on every round the hardest instances are known at their own rounds only.
    """
    # Of single rounds hard instances are known where clients are alike and nothing is random.
    mean = statement.claims[0].metric.over is Over.MEAN_OF_ROUNDS
    if not (mean or of_alike_alone(statement)) or len(first_claim(statement.written, values).compared) > 1:
        return None
    try:
        right = right_side(statement.written, values)
        return worst(statement, values).left / right if right > 0 else None
    except InputError:
        return None


def right_side(statement: Statement, values: Mapping[str, float]) -> float:
    """The right side of the first claim, of its last round where it is about each.

    Raises `InputError` where it is no number, but measured along the run in part.
    """
    q = first_claim(statement, values)
    if q.measures_right:
        raise InputError(f"the right side of {statement.key} is no number: a run measures what it is made of")
    return float(q.compared[-1].right)


def first_claim(statement: Statement, values: Mapping[str, float], *, every_pair: bool = True) -> Question:
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
        proof = proved_at(statement, values).tried(FEW)
        right = right_side(written, values)
    except InputError as error:
        return BracketPoint(value, None, None, None, str(error))
    share = None if proof.factor is None else float(proof.factor)
    return BracketPoint(value, found_share(statement, values), share, right)
