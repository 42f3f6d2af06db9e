"""Parts of the pages that are computed, as Markdown: text that is safe, links to statements, tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import bounds


def plain(text: str) -> str:
    """Text with everything that Markdown would interpret escaped."""
    return re.sub(r"([\\`*_{}\[\]<>#|~$^+.!-])", r"\\\1", text)


def code(text: str) -> str:
    """Text as inline code."""
    return f"`{text}`"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose cells may contain anything but line breaks."""
    lines = ["```{list-table}", ":header-rows: 1", ":class: colwidths-auto", ""]
    for row in (header, *rows):
        lines += [f"{'*' if k == 0 else ' '} - {cell}".rstrip() for k, cell in enumerate(row)]
    return "\n".join([*lines, "```", ""])


def statement_label(key: str) -> str:
    """Label of the page of a statement."""
    return "statement-" + re.sub(r"[^a-z0-9]+", "-", key)


def link(key: str) -> str:
    """A link to the page of a statement; the name alone of what is not in the catalogue."""
    return code(key) if key not in set(bounds.keys()) else f"[{code(key)}](#{statement_label(key)})"


def linked(text: str) -> str:
    """Text with the keys of statements in it as links."""
    keys = sorted(bounds.keys(), key=len, reverse=True)
    pieces = re.split(f"({'|'.join(map(re.escape, keys))})", text)
    return "".join(link(piece) if piece in keys else plain(piece) for piece in pieces)
