"""``rc.show``, the command ``show``."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import Any

from bounds.printing import markup
from bounds.printing.statement_page import Page, page
from bounds.printing.text import COLUMNS, statement_text
from bounds.statement import Statement
from ratecheck.api.given import StatementLike, one
from ratecheck.api.result import Result
from ratecheck.views.theory.page import page_fields


@dataclass(frozen=True, eq=False, repr=False)
class ShowResult(Result):
    """One statement: claims, assumptions, conditions, step sizes, and what every symbol means."""

    page: Page

    @property
    def statement(self) -> Statement:
        """The statement itself."""
        return self.page.statement

    @property
    def latex(self) -> str:
        """LaTeX, which needs amsmath and amssymb."""
        return markup.latex(self.page)

    @property
    def markdown(self) -> str:
        """Markdown with formulas between dollar signs."""
        return markup.markdown(self.page)

    @property
    def ascii(self) -> str:
        """The text in nothing but ASCII."""
        return self._text(unicode=False)

    def __str__(self) -> str:
        return self._text(unicode=True)

    def _text(self, *, unicode: bool) -> str:
        return statement_text(self.page, shutil.get_terminal_size((COLUMNS, 24)).columns, unicode=unicode)

    def _headline(self) -> str:
        return f"{self.statement.key}: {self.statement.title}"

    def _fields(self) -> dict[str, Any]:
        return page_fields(self.page)

    def _repr_html_(self) -> str:
        return markup.as_html(self.page)


def show(statement: StatementLike, /) -> ShowResult:
    """The statement with its formulas set in two dimensions; ``.latex``, ``.markdown`` and ``.ascii`` are other forms.

    Raises `InputError` for an unknown key.

    >>> import ratecheck as rc
    >>> rc.show("pfl/theorem-3.7").statement.algorithm
    'fedavg-p'
    """
    return ShowResult(page(one(statement)))
