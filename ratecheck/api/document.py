"""A result that is a document: a review, a report."""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from bounds.printing.nodes import Document
from ratecheck import files
from ratecheck.api.given import place_of
from ratecheck.api.result import Result
from ratecheck.errors import InputError
from ratecheck.views.document import html, markdown
from ratecheck.views.progress import progress

_FORMS = {".html": html.page, ".md": markdown.page}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class DocumentResult(Result):
    """A result as one document, in HTML and in Markdown; ``file`` is where it was written."""

    file: Path | None = None

    @abstractmethod
    def _made(self) -> Document:
        """The document anew."""

    @cached_property
    def _document(self) -> Document:
        return self._made()

    @cached_property
    def _plain(self) -> dict[str, Any]:
        return self.to_dict()

    @property
    def html(self) -> str:
        """One file without network and scripts, the data inside."""
        return html.page(self._document)

    @property
    def markdown(self) -> str:
        """The document in Markdown, formulas between dollar signs; of figures the command that draws them."""
        return markdown.page(self._document)

    def save(self, path: str | Path) -> Self:
        """Write the document, HTML or Markdown by the ending of ``path``; raises `InputError` where that fails."""
        place = check_out(path)
        with progress(f"writing {place}"), self.kept():
            files.save(place, _FORMS[place.suffix](self._document))
        return dataclasses.replace(self, file=place)


def check_out(path: str | Path) -> Path:
    """The place of a document; raises `InputError` where none can be written: known before minutes of computation."""
    place = place_of("path", path)
    if place.suffix not in _FORMS:
        raise InputError(f"{place} cannot be written: the ending has to be one of {', '.join(_FORMS)}")
    files.check_target(place)
    return place
