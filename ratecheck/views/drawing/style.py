"""One look for all plots: readable by the colour-blind, in grey, and in print."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ratecheck import files
from ratecheck.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito's palette, dark tones first; line styles and markers tell the curves apart without any colour.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
# What a bound does not allow.
WRONG = "#B00020"
LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 3)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

_SETTINGS: dict[str, Any] = {
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.constrained_layout.use": True,
    "figure.dpi": 120,
    "font.size": 10,
    "grid.alpha": 0.3,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "savefig.dpi": 200,
    "svg.fonttype": "none",
    "svg.hashsalt": "ratecheck",
}

FORMATS = (".png", ".svg", ".pdf")


def looks() -> Iterator[dict[str, Any]]:
    """Keyword arguments of one curve after the other: colour, line style and marker together."""
    for colour, line, marker in cycle(zip(COLOURS, LINES, MARKERS, strict=True)):
        yield {"color": colour, "linestyle": line, "marker": marker, "markersize": 4.5}


@contextmanager
def styled() -> Iterator[None]:
    """Inside the block figures are made and written in the common style."""
    import matplotlib as mpl

    with mpl.rc_context(_SETTINGS):  # type: ignore[arg-type]
        yield


def new_figure(width: float, height: float) -> Figure:
    """An empty figure, in inches, that needs no screen and leaves the user's pyplot and its backend alone."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure


def check_format(path: Path) -> None:
    """Raise `InputError` unless the file's ending is one that can be written."""
    if path.suffix not in FORMATS:
        raise InputError(f"{path} cannot be written: the ending has to be one of {', '.join(FORMATS)}")


def save(figure: Figure, path: Path) -> None:
    """Write the figure without a date, so that the same run writes the same bytes."""
    check_format(path)
    metadata: dict[str, Any] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(path.suffix, {})
    with styled():
        files.save(path, lambda file: figure.savefig(file, format=path.suffix[1:], metadata=metadata))


def check_target(path: Path) -> None:
    """Raise `InputError` unless a figure can be written there: known before minutes of computation."""
    check_format(path)
    files.check_target(path)


def as_html(figure: Figure) -> str:
    """The figure as an image inside of a page."""
    import base64
    import io

    data = io.BytesIO()
    with styled():
        figure.savefig(data, format="png", dpi=figure.dpi)
    return f'<img src="data:image/png;base64,{base64.b64encode(data.getvalue()).decode()}">'
