"""The result of an engine: expected quantities round by round, with bounds of their rounding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ratecheck.aliases import Array
from ratecheck.errors import InputError

# A round and a client; None where it is about no single one.
Place = tuple[int | None, int | None]


@dataclass(frozen=True)
class Expectation:
    """Expected per-round quantities: ``records`` maps a name to an array (T,), ``errors`` to bounds of its rounding.

    ``weights`` says which of them add up to the quantity that the method's theorems bound. The bounds follow what the
    composition of local steps, the rounds and the quantities themselves round, as the run carries it on.

    Where entries are not rounds 0 ... T-1, ``places`` names the round and the client of each (None: no single one) and
    ``course`` is the metric per round. ``sizes`` holds, of a quantity that is a difference, how large it would be if
    nothing in it cancelled. ``rounds`` is T where fewer were followed, since the run blows up early. ``notes`` say what
    a verdict has to tell of how the run was followed, ``least`` of what left sides are known from below only.
    """

    records: dict[str, Array]
    errors: dict[str, Array]
    weights: dict[str, float]
    rate: float
    places: Sequence[Place] | None = None
    course: Array | None = None
    sizes: dict[str, Array] = field(default_factory=dict)
    rounds: int | None = None
    notes: tuple[str, ...] = ()
    least: str = ""

    def __repr__(self) -> str:
        return f"<Expectation T={len(next(iter(self.records.values()), ()))}: {', '.join(self.records)}>"

    @property
    def metric(self) -> Array:
        """The expectation of what the method's theorems bound, per round: such as E[G_u + rate*G_v]."""
        return weighted(self.records, self.weights) if self.course is None else self.course

    def place(self, entry: int) -> Place:
        """Round and client of an entry."""
        return (entry, None) if self.places is None else self.places[entry]

    @property
    def rounding(self) -> Array:
        """Rounding error of the metric per round."""
        return weighted(self.errors, self.weights)

    @property
    def diverged(self) -> bool:
        """Whether a moment left the range of floating-point numbers."""
        return not bool(np.isfinite(self.metric).all())


def weighted(records: Mapping[str, Array], weights: Mapping[str, float]) -> Array:
    """The weighted sum of records; raises `InputError` where one of them was not recorded."""
    missing = [name for name in weights if name not in records]
    if missing:
        raise InputError(f"the metric needs {', '.join(missing)}, which the caller chose not to record")
    return np.asarray(sum(weight * records[name] for name, weight in weights.items()))
