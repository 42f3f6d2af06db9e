"""Constants of a problem instance, each with the certificate that says how far it can be trusted."""

from __future__ import annotations

import enum
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

# How a reason begins where nothing is known.
CANNOT_TELL = "float64 cannot tell"
NO_PROOF = "no proof was found"
UNKNOWN = "problems of this kind know no such constant"
# How the reason of a constant begins that has another value in every run.
DRAWN = "it differs from run to run"
_UNPROVED = (CANNOT_TELL, NO_PROOF, UNKNOWN)


class Certificate(enum.Enum):
    """The certificate of a constant: how it is known. The values are what a verdict prints."""

    EXACT = "exact"
    UPPER_BOUND = "upper bound"
    LOWER_BOUND = "lower bound"
    TRAJECTORY = "along the trajectory"
    DECLARED = "declared"
    ABSENT = "does not exist"


@dataclass(frozen=True)
class Constant:
    """One constant of an instance, such as the smoothness ``L``.

    ``value`` is ``math.inf`` when the certificate is ``ABSENT``: no finite number satisfies the definition, or none is
    known to (`standing`).
    ``reason`` says in one phrase where the value comes from.
    """

    name: str
    value: float
    certificate: Certificate
    reason: str

    @staticmethod
    def exact(name: str, value: float, reason: str) -> Constant:
        """A constant that is known."""
        return Constant(name, value, Certificate.EXACT, reason)

    @staticmethod
    def absent(name: str, reason: str) -> Constant:
        """A constant that does not exist, or is not known to."""
        return Constant(name, math.inf, Certificate.ABSENT, reason)

    @property
    def standing(self) -> str:
        """The certificate in words; what float64 cannot tell, or no proof was found of, may well exist."""
        if self.certificate is Certificate.ABSENT and self.reason.startswith(DRAWN):
            return "is no one number"
        unknown = self.certificate is Certificate.ABSENT and self.reason.startswith(_UNPROVED)
        return "is not certified" if unknown else self.certificate.value

    @property
    def missing(self) -> str:
        """Why there is no such constant, in a sentence."""
        return f"{self.name} {self.standing}: {self.reason}"

    def __post_init__(self) -> None:
        finite = math.isfinite(self.value)
        if finite == (self.certificate is Certificate.ABSENT) or math.isnan(self.value):
            raise ValueError(f"{self.name}: value {self.value} does not fit the certificate {self.certificate.value!r}")


class Constants(Mapping[str, Constant]):
    """The constants of one instance by name, in the order in which they were certified."""

    def __init__(self, *constants: Constant) -> None:
        self._by_name = {c.name: c for c in constants}

    def __getitem__(self, name: str) -> Constant:
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def __repr__(self) -> str:
        rows = (f"{c.name}={c.value:.6g} ({c.standing}: {c.reason})" for c in self.values())
        return f"Constants({'; '.join(rows)})"
