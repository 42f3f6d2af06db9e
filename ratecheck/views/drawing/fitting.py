"""Readable figures: text that is no wider than its place, and axes that no single value flattens."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bounds.symbols import Quantity
from ratecheck.aliases import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# What stands at one place is an outlier where the axis without it is shorter than this share of the axis with it, in
# decades, and shorter by at least one decade. At most this share of the places may be outliers.
_SHORTER, _FEWEST, _SHARE = 0.6, 1.0, 1 / 8
_SMALLEST = 5.0


@dataclass(frozen=True)
class Window:
    """The range of an axis: ``low`` ... ``high``, and whether values lie ``below`` or ``above`` it."""

    low: float
    high: float
    below: bool
    above: bool


def window(*curves: Array) -> Window | None:
    """The range of positive values on a logarithmic axis without outliers; None where there are no values.

    ``curves`` have one value per place each, (places,); what they have at one place is left out together.
    """
    values = np.array(curves, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(np.isfinite(values) & (values > 0), np.log10(values), math.nan)
    logs = logs[:, ~np.isnan(logs).all(axis=0)]
    if not logs.shape[1]:
        return None
    low, high = np.nanmin(logs, axis=0), np.nanmax(logs, axis=0)
    kept = np.ones(len(low), dtype=bool)
    for _ in range(max(1, int(_SHARE * len(low)))):
        if kept.sum() < 3:
            break
        span = high[kept].max() - low[kept].min()
        shorter = {}
        for place in {int(np.argmin(np.where(kept, low, math.inf))), int(np.argmax(np.where(kept, high, -math.inf)))}:
            rest = kept.copy()
            rest[place] = False
            shorter[place] = high[rest].max() - low[rest].min()
        place = min(shorter, key=shorter.__getitem__)
        if shorter[place] > _SHORTER * span or span - shorter[place] < _FEWEST:
            break
        kept[place] = False
    ends = low[kept].min(), high[kept].max()
    return Window(10.0 ** ends[0], 10.0 ** ends[1], bool(low.min() < ends[0]), bool(high.max() > ends[1]))


def width_of(figure: Figure, size: float, *, bold: bool = False) -> Callable[[str], float]:
    """The width in pixels of a line of text of that size, mathematics included."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.text import Text

    def measure(line: str) -> float:
        text = Text(0, 0, line, fontproperties=FontProperties(size=size, weight="bold" if bold else "normal"))
        text.set_figure(figure)
        return float(text.get_window_extent().width)

    return measure


def wrapped(line: str, widest: float, measure: Callable[[str], float]) -> list[str]:
    """The line in pieces of at most that width, broken at spaces outside mathematics, else inside a long word."""
    words = _words(line)
    # Mathematics is set anew for every measure, and most lines fit.
    if measure(whole := " ".join(words)) <= widest:
        return [whole]
    pieces: list[str] = []
    current = ""
    for word in words:
        longer = f"{current} {word}" if current else word
        if measure(longer) <= widest:
            current = longer
            continue
        if current:
            pieces.append(current)
        *cut, current = _cut(word, widest, measure)
        pieces += cut
    return [*pieces, current]


def _words(line: str) -> list[str]:
    """The words of a line; mathematics counts as one, with what touches it."""
    return re.findall(r"(?:\$[^$]*\$|[^\s$])+", line) or [""]


def _cut(word: str, widest: float, measure: Callable[[str], float]) -> list[str]:
    """A word without mathematics in pieces that fit; one with it stays whole."""
    if "$" in word or measure(word) <= widest:
        return [word]
    count = max(1, int(len(word) * widest / measure(word)) - 1)
    return [word[k : k + count] for k in range(0, len(word), count)]


def fitted(
    figure: Figure, lines: Sequence[str], widest: float, size: float, *, bold: bool = False
) -> tuple[str, float]:
    """The lines wrapped to a width in pixels, and the font size, which shrinks where a formula alone is too wide."""
    while True:
        measure = width_of(figure, size, bold=bold)
        pieces = [piece for line in lines for piece in wrapped(line, widest, measure)]
        if size <= _SMALLEST or all(measure(piece) <= widest for piece in pieces):
            return "\n".join(pieces), size
        size -= 0.5


def mathematics(latex: str, plain: str) -> str:
    r"""LaTeX for matplotlib, whose \frac wants braces; the plain text where it has no way to set it."""
    braced = "$" + re.sub(r"\\frac(\w)(\w|\{[^{}]*\})", r"\\dfrac{\1}{\2}\\,", latex) + "$"
    return braced if _is_set(braced) else plain


def letter(quantity: Quantity) -> str:
    r"""A symbol as it stands in mathematics; its name, upright, where matplotlib has no way to set it."""
    return quantity.latex if _is_set(f"${quantity.latex}$") else rf"\mathrm{{{quantity.name}}}".replace("_", r"\_")


@functools.cache
def _is_set(text: str) -> bool:
    """Whether matplotlib can set a formula between dollars."""
    from matplotlib.mathtext import MathTextParser

    try:
        MathTextParser("path").parse(text)
    except ValueError:
        return False
    # A dollar inside would end the mathematics.
    return "$" not in text[1:-1]


def tex(value: float, digits: int = 3) -> str:
    """A number in mathematics, by default with three digits."""
    if not math.isfinite(value):
        return r"\infty" if value > 0 else r"-\infty" if value < 0 else r"\mathrm{none}"
    if 1 <= abs(value) < 1e5 and float(value).is_integer():
        return f"{value:.0f}"
    mantissa, _, exponent = f"{value:.{digits}g}".partition("e")
    if not exponent:
        return mantissa
    sign = "-" if mantissa.startswith("-") else ""
    size = mantissa.removeprefix("-")
    return sign + (f"{size}\\cdot " if size != "1" else "") + f"10^{{{int(exponent)}}}"


def set_title(figure: Figure, text: str, size: float, *, margin: float = 0.04, **place: object) -> None:
    """Give the figure a title that is no wider than it is; ``place`` as for matplotlib's ``suptitle``."""
    fitting, size = fitted(figure, text.split("\n"), (1 - 2 * margin) * figure.bbox.width, size)
    figure.suptitle(fitting, fontsize=size, **place)


def lay_out(figure: Figure) -> None:
    """Place the panels as the figure's layout engine does.

    Matplotlib's ``draw_without_rendering`` does so too and then draws everything, which takes as long again.
    """
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)


def fit_panels(figure: Figure, *, placed: bool = True) -> None:
    """Wrap the titles of the panels to their widths, so that none is clipped or runs into its neighbour.

    Without ``placed`` these are widths before the panels are placed, which takes a while: they are smaller, so that
    titles may have a line more than they need.
    """
    titled = [axes for axes in figure.axes if axes.get_title()]
    if titled and placed:
        lay_out(figure)
    for axes in titled:
        size = float(axes.title.get_fontsize())
        text, size = fitted(figure, axes.get_title().split("\n"), axes.bbox.width, size)
        axes.set_title(text, fontsize=size)
