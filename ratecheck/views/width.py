"""Text as wide as the terminal: lines break between words, columns of tables become narrower.

What goes to a file or a pipe stays as it is, so that a line is what a script finds; COLUMNS sets a width there too.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
from collections.abc import Sequence

# Columns are made no narrower than this, nor is text.
_NARROWEST = 12
# What a continued line is indented by: the label of its first line, such as "  because ", or a little.
_LABEL = re.compile(r"  \S+ +")
_LITTLE = "    "


def columns() -> int | None:
    """The width that output has to fit; None where nothing limits it."""
    said = os.environ.get("COLUMNS", "")
    if said.isdecimal() and int(said) > 0:
        return int(said)
    try:
        return shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    except (AttributeError, ValueError):  # no stdout, or a closed one
        return None


def wrapped(text: str) -> str:
    """The text with its long lines broken between words."""
    width = columns()
    if width is None:
        return text
    return "\n".join(part for line in text.split("\n") for part in _broken(line, max(width, 2 * _NARROWEST)))


def _broken(line: str, width: int) -> list[str]:
    if len(line) <= width:
        return [line]
    label = _LABEL.match(line)
    indent = " " * len(label.group()) if label and len(label.group()) <= width // 2 else _LITTLE
    # Runs of spaces between parts of a line are kept where it does not break.
    return textwrap.wrap(
        line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False,
        drop_whitespace=True, replace_whitespace=False,
    )  # fmt: skip


def table(rows: Sequence[Sequence[str]]) -> str:
    """Columns aligned to the left, two spaces apart; cells take several lines where the terminal is too narrow."""
    return "\n".join(table_rows(rows))


def table_rows(rows: Sequence[Sequence[str]]) -> list[str]:
    """The rows of a `table` one by one, each of one or more lines."""
    widths = _narrowed([max(len(row[k]) for row in rows) for k in range(len(rows[0]))])
    found = []
    for row in rows:
        cells = [
            textwrap.wrap(cell, width) if len(cell) > width else [cell] for cell, width in zip(row, widths, strict=True)
        ]
        lines = []
        for k in range(max(map(len, cells))):
            parts = (cell[k] if k < len(cell) else "" for cell in cells)
            lines.append("  ".join(part.ljust(width) for part, width in zip(parts, widths, strict=True)).rstrip())
        found.append("\n".join(lines))
    return found


def _narrowed(widths: list[int]) -> list[int]:
    """The widths of columns that fit: the widest give way first."""
    most = columns()
    widths = list(widths)
    while most is not None and sum(widths) + 2 * (len(widths) - 1) > most and max(widths) > _NARROWEST:
        widths[widths.index(max(widths))] -= 1
    return widths
