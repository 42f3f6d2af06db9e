"""The figure of a bracket: the right side of a theorem, what is proved of it, and what is found, over a parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bounds.statement import Statement
from ratecheck.proving.bracket import Bracket
from ratecheck.views.drawing import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def bracket_figure(statement: Statement, found: Bracket) -> Figure:
    """Three curves: the bound as it stands, the proved one, and the largest left side that is known."""
    points = [p for p in found.points if p.right is not None]
    x, right, proved, reached = (
        np.array([np.nan if v is None else v for v in column])
        for column in zip(*((p.value, p.right, p.proved, p.found) for p in points), strict=True)
    )
    from matplotlib.ticker import LogLocator

    with style.styled():
        figure = style.new_figure(7.2, 4.6)
        ax = figure.subplots()
        curves = (("as stated", right), ("proved", proved * right), ("worst found", reached * right))
        for (name, y), look in zip(curves, style.looks(), strict=False):
            if np.isfinite(y).any():
                ax.plot(x, y, label=name, **look)
        ax.fill_between(x, reached * right, proved * right, color=style.COLOURS[1], alpha=0.12, linewidth=0)
        ax.set_xscale("log")
        ax.set_yscale("log")
        for axis in (ax.xaxis, ax.yaxis):
            # Powers of ten alone leave an axis of less than a decade without numbers.
            axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            axis.set_major_formatter(lambda value, _: f"{value:g}")
            axis.set_minor_formatter("")
        if found.axis.whole:
            ax.set_xticks(x, [f"{value:.0f}" for value in x])
            ax.set_xticks([], minor=True)
        ax.set_xlabel(", ".join(found.axis.names))
        ax.set_ylabel("bounds of the left side")
        ax.set_title(f"{statement.key}: {_range(proved, reached)}", fontsize=10)
        ax.legend()
    return figure


def _range(proved: np.ndarray, reached: np.ndarray) -> str:
    """What of the right side is proved and found, in words."""
    parts = [
        f"{name} {np.nanmin(share):.3g} to {np.nanmax(share):.3g}"
        for name, share in (("proved", proved), ("found", reached))
        if np.isfinite(share).any()
    ]
    return f"{', '.join(parts)} of the right side" if parts else "nothing is proved"
