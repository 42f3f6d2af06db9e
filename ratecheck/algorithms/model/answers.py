"""What a local step may use beside the gradient at the first local variable, such as gradients at other points."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

# In the place of a block: of a value of a function, one number per row.
NUMBER = "number"


class Kind(Enum):
    """What is evaluated of f_i at a point x; xi is the sample of the local step, the same for all its answers."""

    GRADIENT = "grad f_i(x; xi)"
    FULL_GRADIENT = "grad f_i(x)"
    VALUE = "f_i(x; xi)"
    FULL_VALUE = "f_i(x)"
    EXCESS = "f_i(x) - inf f_i"
    GAP = "f_i(x) - inf f"

    @property
    def is_gradient(self) -> bool:
        """A vector, affine in x where f_i is quadratic; the other kinds are numbers."""
        return self in (Kind.GRADIENT, Kind.FULL_GRADIENT)

    @property
    def sampled(self) -> bool:
        """An answer on the sample of a local step, and not on all data."""
        return self in (Kind.GRADIENT, Kind.VALUE)

    @property
    def above(self) -> bool:
        """Whether an infimum has to be known."""
        return self in (Kind.EXCESS, Kind.GAP)


@dataclass(frozen=True)
class Evaluated:
    """An answer of the oracle at the local variable ``at``.

    It takes the place of the first local variable of its block; those of other blocks stay where they are. A gradient
    is that in the coordinates of the block, a value one number per row, (rows, 1).
    """

    at: str
    kind: Kind


def gradient_at(variable: str) -> Evaluated:
    """The stochastic gradient there, with the sample of the step: grad f_i(x; xi)."""
    return Evaluated(variable, Kind.GRADIENT)


def full_gradient_at(variable: str) -> Evaluated:
    """The gradient there over all data and without noise: grad f_i(x)."""
    return Evaluated(variable, Kind.FULL_GRADIENT)


def value_at(variable: str) -> Evaluated:
    """The value there over the rows that the step has drawn, f_i(x; xi); of additive noise it has none."""
    return Evaluated(variable, Kind.VALUE)


def full_value_at(variable: str) -> Evaluated:
    """The value there over all data: f_i(x)."""
    return Evaluated(variable, Kind.FULL_VALUE)


def excess_at(variable: str) -> Evaluated:
    """How far the client's function is above its own infimum there: f_i(x) - inf f_i."""
    return Evaluated(variable, Kind.EXCESS)


def gap_at(variable: str) -> Evaluated:
    """How far the client's function is above the infimum of the mean there: f_i(x) - inf f, whose mean is the gap."""
    return Evaluated(variable, Kind.GAP)
