"""What pages of statements and documents are made of: nodes that Markdown, LaTeX and HTML set each in its own way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Code:
    """Text as it is typed; a ``key`` is that of a statement."""

    text: str
    key: bool = False


@dataclass(frozen=True)
class Math:
    """A formula between words."""

    latex: str


@dataclass(frozen=True)
class Hyperlink:
    """Text that leads to a section of the document."""

    text: str
    target: str


@dataclass(frozen=True)
class Strong:
    """Emphasised text, seen first."""

    text: str


Part: TypeAlias = str | Code | Math | Hyperlink | Strong
Line: TypeAlias = Part | tuple[Part, ...]


def parts(line: Line) -> tuple[Part, ...]:
    """The parts of a line, which may be one alone."""
    return line if isinstance(line, tuple) else (line,)


def text(line: Line) -> str:
    """A line without marks and links; a formula is its LaTeX."""
    return "".join(map(_text, parts(line)))


def _text(part: Part) -> str:
    return part if isinstance(part, str) else part.latex if isinstance(part, Math) else part.text


@dataclass(frozen=True)
class Heading:
    """The title of a page."""

    parts: Line


@dataclass(frozen=True)
class Paragraph:
    """A line of parts, after what it is called, if it is."""

    parts: Line
    label: str = ""


@dataclass(frozen=True)
class Listing:
    """Lines one below the other, after what they are called, if they are."""

    items: tuple[Line, ...]
    label: str = ""


@dataclass(frozen=True)
class Terms:
    """Labels, each with what it says."""

    rows: tuple[tuple[str, Line], ...]


@dataclass(frozen=True)
class Grid:
    """A table; the first cell of a row names it."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[Line, ...], ...]

    @classmethod
    def of(cls, caption: str, items: Iterable[Any], columns: Mapping[str, Callable[[Any], Line]]) -> Grid:
        """A table with a row for each item; columns have their heads, and what the cell of an item is."""
        return cls(caption, tuple(columns), tuple(tuple(cell(each) for cell in columns.values()) for each in items))


@dataclass(frozen=True)
class Display:
    """A formula on lines of its own."""

    latex: str


@dataclass(frozen=True)
class Picture:
    """A figure, which ``draw`` makes as SVG; ``says`` is the same in words, ``instead`` what text has in its place."""

    name: str
    title: str
    says: str
    draw: Callable[[], str] = field(repr=False)
    instead: Line = ()


@dataclass(frozen=True)
class Fold:
    """A part that is folded until a reader opens it."""

    title: str
    node: Node


@dataclass(frozen=True)
class Section:
    """A section with its heading; ``name`` is what links lead to."""

    level: int
    title: Line
    name: str
    nodes: tuple[Node, ...]


Node: TypeAlias = Heading | Paragraph | Listing | Terms | Grid | Display | Picture | Fold | Section


@dataclass(frozen=True)
class Document:
    """A ``kind`` of document, such as Review, ``of`` something; its ``data`` are inside, so that it can be checked."""

    kind: str
    of: str
    title: str
    sections: tuple[Section, ...]
    data: Mapping[str, Any]
