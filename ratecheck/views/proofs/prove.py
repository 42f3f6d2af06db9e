"""Proofs by potentials as text and as JSON data."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from bounds.numbers import counted
from bounds.statement import Assumption, Statement
from ratecheck.algorithms import METHODS
from ratecheck.proving.bracket import ProvedBracket
from ratecheck.proving.potentials import Potential
from ratecheck.proving.prove import PotentialProof, ProofPart, ProvedClaim
from ratecheck.proving.reach import taken
from ratecheck.proving.trials.trial import said_against

# Facts and terms beyond these are counted.
_SHOWN = 12
# Binary digits of a whole number that Python writes.
_MOST_BITS = 14_000
# Of a chain only so many potentials are shown: the first ones and the last.
_ROUNDS = 2


def prove_text(found: PotentialProof) -> str:
    """The verdict with its factor, the potential, and the inequalities with their weights."""
    lines = [f"{found.verdict} at these numbers  {found.statement.key}   {_numbers(found)}"]
    for claim in found.claims:
        lines += [f"  {line}" for line in _claim(found, claim)]
    if found.factor is not None:
        lines.append(f"  {_scope(found)}")
    if rounded := dict.fromkeys(name for claim in found.claims for name in claim.rounded):
        called = ", ".join(map(found.statement.vocabulary.called, rounded))
        lines.append(f"  of irrational numbers those of 16 digits are taken: {called}")
    if defaulted := [name for name in found.shown_defaulted if name in _spoken(found)]:
        lines.append(f"  not given, and taken: {', '.join(defaulted)}")
    return "\n".join(lines)


def bracket_text(found: ProvedBracket) -> str:
    """The share of the right side that is proved, and the one that an instance reaches, in a line."""
    proof = found.proof
    if proof is None or proof.factor is None:
        return found.reason or f"no proof is found at {_numbers(proof)}" if proof else found.reason
    return proved_text(proof, "" if found.found is None else f" (an instance reaches {found.found:.6g})")


def proved_text(proof: PotentialProof, reached: str = "") -> str:
    """What is proved, at which numbers and of what, in a line; ``reached`` is what an instance attains of it."""
    return f"{proved_sides(proof)}{reached} is proved at {_numbers(proof)}, {_scope(proof)}"


def proved_sides(proof: PotentialProof) -> str:
    """What is proved of the right sides of all claims."""
    assert proof.factor is not None
    measured, nothing_left = any(c.measured for c in proof.claims), all(c.nothing_left for c in proof.claims)
    return side_text(proof.factor, measured=measured, nothing_left=nothing_left)


def side_text(factor: Fraction | float, *, measured: bool, nothing_left: bool = False) -> str:
    """What is proved of a right side that is ``measured`` along the run in part, or with ``nothing_left`` beside that.

    >>> side_text(Fraction(1, 2), measured=False)
    'left side <= 0.5 * right side'
    """
    if nothing_left:
        return "left side <= right side"
    beside = "what is measured on the right + " * measured
    return f"left side <= {beside}{factor_text(factor)} * {'the rest' if measured else 'right side'}"


def multiplied(*, measured: bool) -> str:
    """What a factor multiplies, as JSON data have it."""
    return "what is not measured on the right" if measured else "right side"


def bracket_fields(found: ProvedBracket) -> dict[str, Any]:
    """A bracket as JSON data, with its line."""
    proof = found.proof
    return {
        "key": found.statement.key,
        "values": None if proof is None else {name: float(value) for name, value in proof.shown.items()},
        "found": found.found,
        "proved": None if proof is None or proof.factor is None else float(proof.factor),
        "of": multiplied(measured=proof is not None and any(claim.measured for claim in proof.claims)),
        "every_T": proof is not None and proof.factor is not None and proof.every_T,
        "text": bracket_text(found),
    }


def proved_fields(proof: PotentialProof) -> dict[str, Any]:
    """What is proved at its numbers as JSON data, with its line."""
    return {
        "values": {name: float(value) for name, value in proof.shown.items() if name in _spoken(proof)},
        "factor": None if proof.factor is None else float(proof.factor),
        "of": multiplied(measured=any(claim.measured for claim in proof.claims)),
        "every_T": proof.every_T,
        "text": proved_text(proof),
    }


def _numbers(found: PotentialProof) -> str:
    return " ".join(f"{name}={found.shown[name]:.10g}" for name in found.shown if name in _spoken(found))


def _spoken(found: PotentialProof) -> set[str]:
    """Names of the numbers to show: what a sentence implies, such as one client, goes without saying."""
    written = found.statement.written
    return {*taken(written), "n", "m", "K", "T"} - {*found.statement.vocabulary.implied}


def _claim(found: PotentialProof, claim: ProvedClaim) -> Iterator[str]:
    name = f"{claim.claim}: " if len(found.claims) > 1 else ""
    if found.trials.against is not None:
        yield f"{name}{said_against(found.trials)}"
        return
    if claim.factor is None:
        yield f"{name}no potential of these forms was found; that refutes nothing"
        return
    said = side_text(claim.factor, measured=claim.measured, nothing_left=claim.nothing_left)
    yield f"{name}{said}, in exact arithmetic"
    if (not claim.nothing_left and claim.smallest < float(claim.factor) * (1 - 1e-3)) or claim.factor > 1:
        yield f"with potentials of this form the solver finds no factor below {claim.smallest:.6g}"
    for part in claim.parts[:1] if claim.parts[0].plan.kind != "step" else ():
        yield from _potential(part)
    for part in claim.parts[-1:]:
        yield from _weights(part)


def _potential(part: ProofPart) -> Iterator[str]:
    potentials = [(each.label, terms) for each in part.plan.potentials if (terms := _terms(part, each))]
    shown = potentials if len(potentials) <= 2 * _ROUNDS else [*potentials[:_ROUNDS], *potentials[-_ROUNDS:]]
    for label, terms in shown:
        written = " + ".join(f"{_decimal(value)} {_as_term(name)}" for name, value in terms)
        yield f"{label} = {written.replace('+ -', '- ')}"
    if len(shown) < len(potentials):
        yield f"and {len(potentials) - len(shown)} more between them"


def _terms(part: ProofPart, potential: Potential) -> list[tuple[str, Fraction]]:
    """Terms of a potential with their coefficients, where these are not 0."""
    assert part.y is not None
    return [(name, part.y[u]) for name, u in potential.terms if part.y[u]]


def _as_term(term: str) -> str:
    return f"({term})" if term == "f - f*" else term


def _weights(part: ProofPart) -> Iterator[str]:
    used = [each for each in part.used if not each[1].name.startswith("noise")]
    # Only an inequality has a weight of one sign.
    used.sort(key=lambda each: each[1].equal)
    facts = [(f"{where}: {fact.name}", value) for where, fact, value in used]
    equations = sum(fact.equal for _, fact, _ in used)
    beside = f" and {counted(equations, 'equation')}" if equations else ""
    said = f"{counted(len(facts) - equations, 'inequality', 'inequalities')} with positive weights{beside}"
    yield f"by {said}" + (":" if facts else "")
    for name, value in facts[:_SHOWN]:
        yield f"  {_decimal(value):>12}  {name}"
    if len(facts) > _SHOWN:
        yield f"  and {len(facts) - _SHOWN} more"


def _scope(found: PotentialProof) -> str:
    kinds = {part.plan.kind for claim in found.claims for part in claim.parts}
    rounds = f"for T = {int(found.values['T'])}"
    if found.every_T:
        rounds = "from every state that a run can be in" if kinds == {"step"} else "for every T"
    if Assumption.OBLIVIOUS_PARTICIPATION in found.statement.assumptions:
        rounds += ", with every client in every round"
    return (
        f"{rounds}, in every dimension, for all functions and noise laws that are assumed{sets_text(found.statement)}"
    )


def sets_text(statement: Statement) -> str:
    """On which sets and from where a proof holds of a method that projects; empty for others."""
    projects = not METHODS[statement.written.algorithm or ""].algorithm.linear
    return ", on every closed convex set from a start in it, f* and x* being those on the set" * projects


def _decimal(value: Fraction) -> str:
    text = f"{float(value):.6g}"
    return text if Fraction(text) == value else f"{text}" if abs(value) else "0"


def factor_text(value: Fraction | float, digits: int = 6) -> str:
    """A factor in so many digits that is not smaller than it: less would not be proved.

    >>> factor_text(Fraction(1, 3)), factor_text(Fraction(1, 4)), factor_text(1 + Fraction(1, 10**9))
    ('0.333334', '0.25', '(1 + 1e-9)')
    """
    value = Fraction(value)
    if value == 1 + Fraction(1, 10**9):
        return "(1 + 1e-9)"
    text = f"{float(value):.{digits}g}"
    if Fraction(text) >= value:
        return text
    step = Fraction(10) ** (math.floor(math.log10(value)) - digits + 1)
    return f"{float(math.ceil(value / step) * step):.{digits}g}"


def _fraction(value: Fraction) -> str:
    """A fraction as text, as a decimal where it has thousands of digits."""
    long = max(value.numerator.bit_length(), value.denominator.bit_length()) > _MOST_BITS
    return repr(float(value)) if long else str(value)


def prove_fields(found: PotentialProof) -> dict[str, Any]:
    """Verdict, factor, potential, multipliers and seconds."""
    return {
        "key": found.statement.key,
        "values": {name: float(value) for name, value in found.shown.items()},
        "defaulted": list(found.shown_defaulted),
        "verdict": found.verdict,
        "factor": None if found.factor is None else float(found.factor),
        "of": multiplied(measured=any(claim.measured for claim in found.claims)),
        "every_T": found.every_T and found.factor is not None,
        "claims": [
            {
                "claim": claim.claim,
                "factor": None if claim.factor is None else float(claim.factor),
                "exact_factor": None if claim.factor is None else str(claim.factor),
                "of": multiplied(measured=claim.measured),
                "smallest": claim.smallest,
                "parts": [
                    {"kind": part.plan.kind, "round": part.round, "factor": str(part.factor), **_named(part)}
                    for part in claim.parts
                ],
            }
            for claim in found.claims
        ],
        **({} if found.trials.against is None else {"against": found.trials.against.fields()}),
        "seconds": found.seconds,
    }


def _named(part: ProofPart) -> dict[str, Any]:
    potential = {
        f"{each.label}: {name}": _fraction(value) for each in part.plan.potentials for name, value in _terms(part, each)
    }
    multipliers: dict[str, list[str]] = {}
    for where, name, value in part.multipliers:
        multipliers.setdefault(f"{where}: {name}", []).append(_fraction(value))
    return {"potential": potential, "multipliers": multipliers}
