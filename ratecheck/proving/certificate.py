"""Certificates of proofs by potentials: files that say what has to hold, and numbers for which it does.

A certificate lists affine forms in unknown numbers, each of which has to be nonnegative for every positive semidefinite
Gram matrix and all values, and the unknown numbers as fractions. `check` reads nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from ratecheck.errors import InputError
from ratecheck.proving.forms import Entry, Key, Value
from ratecheck.proving.program import Affine, Program, meets
from ratecheck.proving.prove import Part, Proof


def certificate(proof: Proof) -> dict[str, Any]:
    """All parts of a proof as JSON data; numbers are fractions in text."""
    return {
        "schema": 1,
        "key": proof.statement.key,
        "values": {name: repr(float(value)) for name, value in proof.values.items()},
        "claims": [
            {
                "claim": claim.claim,
                "factor": None if claim.factor is None else str(claim.factor),
                "parts": [_part(part) for part in claim.parts],
            }
            for claim in proof.claims
        ],
    }


def _part(part: Part) -> dict[str, Any]:
    program, y = part.plan.program, part.y
    assert y is not None
    return {
        "kind": part.plan.kind,
        "round": part.round,
        "factor": str(part.factor),
        "unknowns": [
            {"name": name, "nonnegative": signed, "value": str(value)}
            for name, signed, value in zip(program.names, program.signed, y, strict=True)
        ],
        "nonnegative_forms": [
            {"" if u is None else str(u): {_key(key): str(c) for key, c in form.items()} for u, form in affine.items()}
            for affine in program.forms
        ],
        "zeros": [{"" if u is None else str(u): str(c) for u, c in row.items()} for row in program.equal],
    }


def check(data: Mapping[str, Any]) -> bool:
    """Whether every part of a certificate holds exactly, and none is missing.

    Raises `InputError` for what is no certificate.
    """
    try:
        parts = [part for claim in data["claims"] for part in claim["parts"]]
        return bool(parts) and all(claim["parts"] for claim in data["claims"]) and all(map(_holds, parts))
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, ZeroDivisionError) as error:
        raise InputError(f"no certificate of a proof by potentials: {type(error).__name__} {error}") from None


def _holds(part: Mapping[str, Any]) -> bool:
    program = Program()
    for each in part["unknowns"]:
        program.unknown(str(each["name"]), signed=bool(each["nonnegative"]))
    for affine in part["nonnegative_forms"]:
        read: Affine = {_unknown(u): {_entry(k): Fraction(c) for k, c in form.items()} for u, form in affine.items()}
        program.nonnegative(read)
    program.equal = [{_unknown(u): Fraction(c) for u, c in row.items()} for row in part["zeros"]]
    return meets(program, [Fraction(each["value"]) for each in part["unknowns"]])


def _unknown(text: str) -> int | None:
    return int(text) if text else None


def _key(key: Key) -> str:
    if isinstance(key, Value):
        return key.name
    return f"{key.block} {'own' if key.deviations else 'mean'} {key.first} {key.second}"


def _entry(text: str) -> Key:
    parts = text.split(" ")
    if len(parts) != 4:
        return Value(text)
    first, second = sorted(map(int, parts[2:]))
    return Entry(parts[0], {"own": True, "mean": False}[parts[1]], first, second)
