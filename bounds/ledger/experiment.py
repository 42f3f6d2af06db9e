"""The settings of the experiments that papers print, as data: what is to be compared with the conditions of theorems.

The module ``experiments`` of a paper has its EXPERIMENTS. It has only what the paper prints: a constant such as L that
it does not print is absent, and so unknown. ORDERED, where there is such a list, has pairs (smaller, larger) of
constants that are in this order for every problem that meets the paper's assumptions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import sympy as sp

import bounds
from bounds import papers

Numbers = Mapping[str, sp.Rational]


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """One setting of a paper's own experiments.

    ``place`` is where it is printed, ``algorithms`` the methods that are run with it, by name. ``values`` are its
    numbers by parameter, exact. ``alternatives`` are further numbers, one of which is meant: the paper does not say
    which. ``varying`` are the step sizes that change during the run, each with its rule as printed.
    """

    place: str
    algorithms: tuple[str, ...]
    values: Numbers
    alternatives: tuple[Numbers, ...] = ()
    varying: Mapping[str, str] = field(default_factory=dict)
    remark: str

    def cases(self) -> Iterator[dict[str, sp.Rational]]:
        """The numbers, with each of the alternatives where there are any."""
        for each in self.alternatives or ({},):
            yield {**self.values, **each}


def exact(**numbers: int | str) -> dict[str, sp.Rational]:
    """Numbers as printed, by parameter: whole ones, decimals and quotients as text.

    >>> exact(K=25, gamma="0.001")
    {'K': 25, 'gamma': 1/1000}
    """
    return {name: sp.Rational(value) for name, value in numbers.items()}


def encoded(paper: str) -> bool:
    """Whether the experiments of a paper were read; not of a file of one's own."""
    return paper in bounds.PAPERS and papers.has(paper, "experiments")


def ordered(paper: str) -> tuple[tuple[str, str], ...]:
    """The pairs (smaller, larger) of constants whose order follows from the assumptions of a paper."""
    found: tuple[tuple[str, str], ...] = (
        getattr(papers.part(paper, "experiments"), "ORDERED", ()) if encoded(paper) else ()
    )
    return found


def experiments(paper: str) -> tuple[Experiment, ...]:
    """The settings that a paper prints, in printed order; none where it prints none, or where nobody read them."""
    if not encoded(paper):
        return ()
    found: tuple[Experiment, ...] = papers.part(paper, "experiments").EXPERIMENTS
    return found
