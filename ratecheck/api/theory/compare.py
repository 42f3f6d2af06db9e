"""``rc.compare``, the command ``compare``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ratecheck.api.given import Parameter, Parameters, StatementLike, one, warning
from ratecheck.api.given import parameters as numbers
from ratecheck.api.result import DrawnResult, Result, target
from ratecheck.complexity import compare as bounds_beside
from ratecheck.complexity.compare import BoundComparison, read_axes
from ratecheck.views.progress import progress
from ratecheck.views.theory.compare import comparison_fields, comparison_figure, comparison_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False, repr=False)
class CompareResult(DrawnResult):
    """The smallest of several bounds; ``comparison`` has all values, and where the smallest one changes."""

    comparison: BoundComparison

    def __str__(self) -> str:
        return comparison_text(self.comparison)

    def _headline(self) -> str:
        axes = ", ".join(axis.label for axis in self.comparison.axes)
        keys = ", ".join(statement.key for statement in self.comparison.statements)
        return f"{keys}{f' over {axes}' if axes else ''}"

    def _fields(self) -> dict[str, Any]:
        return {**comparison_fields(self.comparison), "file": self.file}

    def _draw(self) -> Figure:
        return comparison_figure(self.comparison)

    def _repr_html_(self) -> str:
        return super()._repr_html_() if self.comparison.axes else Result._repr_html_(self)


def compare(
    *statements: StatementLike,
    over: str | Sequence[str] = (),
    out: str | Path | None = None,
    parameters: Parameters | None = None,
    **named: Parameter,
) -> CompareResult:
    """The smallest of the statements' bounds, at one setting, along an axis or over two.

    ``over`` is ``"NAME=LOW:HIGH"`` or ``"NAME=LOW:HIGH:POINTS"``, or two of these; ``"m,S=1:10"`` moves several symbols
    together. ``out`` is the file of a picture, if one is wanted. Parameters as for `bound`, each statement taking those
    that it knows; step sizes follow each statement's rules, and those that it leaves open minimise its bound. Raises
    `InputError` for an axis or a file that will not do, and for a number that no statement knows.

    >>> import ratecheck as rc
    >>> setting = dict(n=10, m=9, T=400, L=1, F_0=1, b=0.4, sigma_u=0.3, sigma_v=0.3)
    >>> rc.compare("pfl/corollary-3.8", "pfl/corollary-4.6", over="K=1:100:5", **setting).comparison.axes[0].label
    'K'
    """
    found = [one(each) for each in statements]
    given = numbers(parameters, named, *(statement.vocabulary for statement in found))
    file = target(out)
    axes = read_axes(found, (over,) if isinstance(over, str) else tuple(over))
    with progress("comparing") as report:
        comparison = bounds_beside.compare(found, given, axes, progress=report)
    remarks = [
        f"no bound depends on {name}"
        for name, value in given.items()
        if all(name in statement.unused({name: value}) for statement in found)
    ]
    remarks += [text for statement in found for text in warning(statement)]
    return CompareResult(comparison, remarks=tuple(remarks)).save(file)
