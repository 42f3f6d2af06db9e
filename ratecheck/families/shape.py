"""What is discrete about an instance: its family, its sizes, and who takes part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ratecheck.families.family import Family


@dataclass(frozen=True)
class InstanceShape:
    """A family with n clients, ``d_u`` shared and ``d_v`` personal variables, and ``size`` participants of a round.

    ``trace`` is who takes part, by the name of one of `who.TRACES`; "" for the pattern of the statement. ``groups``
    kinds of clients have even shares of them; 0 where every client is of its own kind. ``graph`` is the one on which
    clients mix, by name: with which share of a step is a coordinate.
    """

    family: Family
    n: int
    d_u: int
    d_v: int
    size: int
    trace: str = ""
    groups: int = 0
    graph: str = ""

    def __str__(self) -> str:
        equal = f"{self.groups} groups" if self.groups > 1 else ""
        kinds = (self.trace, equal, self.family.label, f"{self.graph} graph" if self.graph else "")
        return ", ".join((f"n={self.n}, d={self.d_u}+{self.d_v}, {self.size} per round", *filter(None, kinds)))

    @property
    def group_of(self) -> list[int]:
        """The group of every client: even shares, in order."""
        groups = self.groups or self.n
        return [i * groups // self.n for i in range(self.n)]
