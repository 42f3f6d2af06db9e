"""Nodes as Markdown, formulas between dollar signs."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from bounds.printing.nodes import (
    Code,
    Display,
    Fold,
    Grid,
    Heading,
    Hyperlink,
    Line,
    Listing,
    Math,
    Node,
    Paragraph,
    Part,
    Picture,
    Section,
    Strong,
    Terms,
    parts,
)


def escaped(text: str) -> str:
    """Text with everything that Markdown would interpret escaped."""
    escaped = re.sub(r"[\\`*_{}\[\]<>#|~$^]|^[-+]", r"\\\g<0>", text)
    # A number that begins a list; a backslash before a digit would be shown.
    return re.sub(r"^(\d+)([.)])(?=\s|$)", r"\1\\\2", escaped)


def code(text: str) -> str:
    """Text as typed, between more backticks than it has."""
    ticks = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{space}{' '.join(text.split())}{space}{ticks}"


def formula(latex: str) -> str:
    """LaTeX in one line that neither ends the formula it stands in nor is HTML to whoever reads it without formulas."""
    kept = re.sub(r"(\\.)|\$", lambda found: found[1] or r"\$", re.sub(r"\s+", " ", latex))
    return re.sub(r"<(?=[A-Za-z/!?])", "< ", kept)


def display(latex: str) -> str:
    """LaTeX on lines of its own, none of them empty, which would end it."""
    lines = "\n".join(formula(line) for line in latex.splitlines() if line.strip())
    return f"$$\n{lines}\n$$"


@dataclass(frozen=True)
class Markdown:
    """Writes nodes as Markdown; ``key`` sets the key of a statement and ``words`` prose."""

    key: Callable[[str], str] = code
    words: Callable[[str], str] = escaped

    def text(self, nodes: Iterable[Node]) -> str:
        """Nodes with empty lines between them."""
        return "\n\n".join(part for node in nodes for part in self._node(node)) + "\n"

    def line(self, line: Line) -> str:
        """The parts of a line."""
        return "".join(map(self._part, parts(line)))

    def _part(self, part: Part) -> str:
        if isinstance(part, Code):
            return self.key(part.text) if part.key else code(part.text)
        if isinstance(part, Math):
            return f"${formula(part.latex)}$"
        if isinstance(part, Hyperlink):
            return f"[{self.words(part.text)}](#{part.target})"
        if isinstance(part, Strong):
            return f"**{self.words(part.text)}**"
        return self.words(part)

    def _cell(self, line: Line) -> str:
        """A line in a table, where a bar would end the cell."""
        found = ""
        for part in parts(line):
            if isinstance(part, Math):
                found += self._part(Math(part.latex.replace(r"\|", r"\Vert ").replace("|", r"\vert ")))
            elif isinstance(part, Code):
                found += self._part(part).replace("|", "\\|")
            else:
                # A line break would end the row; a space between a label and what follows it stays.
                found += re.sub(r"\s+", " ", self._part(part))
        return found.strip()

    def _node(self, node: Node) -> Iterator[str]:  # noqa: C901  # one case per kind of node
        if isinstance(node, Heading):
            yield f"### {self.line(node.parts)}"
        elif isinstance(node, Section):
            # Names that links lead to: those that readers make of headings differ from reader to reader.
            yield f'<a id="{html.escape(node.name)}"></a>'
            yield f"{'#' * node.level} {self.line(node.title)}"
            for each in node.nodes:
                yield from self._node(each)
        elif isinstance(node, Paragraph):
            yield (f"**{node.label}:** " if node.label else "") + self.line(node.parts)
        elif isinstance(node, Listing):
            if node.label:
                yield f"**{node.label}:**"
            yield "\n".join(f"- {self.line(item)}" for item in node.items)
        elif isinstance(node, Terms):
            yield "\n".join(f"- **{self.words(label)}**: {self.line(line)}" for label, line in node.rows)
        elif isinstance(node, Display):
            yield display(node.latex)
        elif isinstance(node, Grid):
            head = [f"| {' | '.join(map(self._cell, node.head))} |", f"|{' --- |' * len(node.head)}"]
            yield "\n".join([*head, *(f"| {' | '.join(map(self._cell, row))} |" for row in node.rows)])
        elif isinstance(node, Fold):
            yield f"**{self.words(node.title)}**"
            yield from self._node(node.node)
        elif isinstance(node, Picture):
            yield self.line(node.instead) if node.instead else self.words(node.says)
