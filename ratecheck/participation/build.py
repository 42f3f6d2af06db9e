"""Participation patterns by name: for the command line, for instance files, and for what statements assume."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from bounds.assumption import Assumption
from bounds.numbers import decimal
from ratecheck.aliases import Array
from ratecheck.errors import InputError, did_you_mean
from ratecheck.extensions import Registry, by_kind
from ratecheck.inputs import real
from ratecheck.participation.graph import Graph
from ratecheck.participation.model.pattern import Participation, PerRound, Written
from ratecheck.participation.trace import Trace

GROUP = "ratecheck.participation"
FILES = (".csv", ".npz")


KINDS: Registry[type[Participation]] = Registry(lambda: by_kind("ratecheck.participation", GROUP, Participation))  # type: ignore[type-abstract]  # to compare


def forms() -> dict[str, Written]:
    """The patterns that can be written, by name, those that need a number of participants first."""
    found = [replace(each, build=each.build or kind) for kind in KINDS.values() for each in kind.written]
    found.sort(key=lambda each: each.per_round is not PerRound.GIVEN)
    return {each.name: each for each in found}


def in_file(text: str) -> bool:
    """Whether a text is the name of a file with a participation matrix."""
    return text.endswith(FILES) and not text.startswith(f"{Graph.kind}:")


def form_of(text: str) -> Written | None:
    """The form that a text has; None for a file or an unknown name."""
    return None if in_file(text) else forms().get(text.partition(":")[0])


def build(text: str, n: int, size: int | None) -> Participation:
    """The pattern that ``text`` names, for n clients of which ``size`` take part in a round.

    A name such as ``uniform``, one with numbers such as ``bernoulli:0.3`` (see `forms`), a file with a matrix of who
    takes part, or ``graph:FILE`` with a mixing matrix, where ``graph:FILE:0.5`` mixes in a round with that probability.
    Raises `InputError` for any other text, and where a number is missing or makes no sense.
    """
    if in_file(text):
        return Trace.from_file(text)
    name, _, rest = text.partition(":")
    if name == Graph.kind:
        file, colon, share = rest.rpartition(":")
        known_share = bool(colon) and file.endswith(FILES)
        return Graph.from_file(file, _number(text, share)) if known_share else Graph.from_file(rest)
    numbers = [_number(text, part) for part in rest.split(",")] if rest else []
    known = forms()
    if name not in known:
        raise InputError(f"no participation {text!r}; {did_you_mean(name, [*known, 'FILE.csv'])}")
    form = known[name]
    if form.by_client and len(numbers) != n:
        raise InputError(f"participation {text!r} has {len(numbers)} weights, but there are {n} clients")
    if len(numbers) != form.numbers and not form.by_client and not (form.optional and not numbers):
        if form.per_round is PerRound.GIVEN and not form.numbers:
            raise InputError(f"{text!r}: {name} takes no number here; how many clients take part is a setting")
        raise InputError(
            f"participation {text!r} has {len(numbers)} numbers: it is written as {form.example or form.name}"
        )
    assert form.build is not None
    if form.per_round is not PerRound.GIVEN:
        return form.build(n, *numbers)
    if size is None:
        raise InputError(f"participation {name!r} of how many clients per round? give their number")
    return form.build(n, size, *numbers)


def assumed(
    assumption: Assumption, n: int, size: int, delta: float | None = None, weights: Array | None = None
) -> Participation | None:
    """The pattern that an assumption is about; None for one about something else.

    ``weights`` (n,) are the clients' in the objective, 1/n each by default.
    """
    kind = next((kind for kind in KINDS.values() if assumption in kind.stands_for), None)
    weights = np.full(n, 1.0 / n) if weights is None else weights
    return None if kind is None else kind.assumed(n, size, delta, weights)


def fields(pattern: Participation) -> dict[str, Any]:
    """A pattern as JSON data; raises `InputError` where it has no such form."""
    own = pattern.fields()
    return {"kind": pattern.kind, **own}


def read(data: Mapping[str, Any]) -> Participation:
    """The inverse of `fields`; raises `InputError` for what is no pattern."""
    kind = data["kind"]
    if not isinstance(kind, str) or kind not in KINDS:
        raise InputError(f"a participation of the kind {kind!r} is not known")
    return KINDS[kind].read(data)


def _number(text: str, part: str) -> float:
    try:
        return real(text, decimal(part))
    except ValueError:
        raise InputError(f"participation {text!r}: {part!r} is not a number") from None
