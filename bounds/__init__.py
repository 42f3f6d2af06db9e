"""Convergence statements as symbolic objects: bounds, conditions, step-size rules.

Theory only: this package imports SymPy and nothing of ``ratecheck``. `get` finds a statement by its key
``<paper>/<statement>``; `keys` lists them. Each paper is one package in `bounds.papers`, imported when first needed;
``baselines`` stands for the other work that the papers' tables quote. Where a key is wanted, ``path/to/file.py:name``
is a statement of the user's own (`bounds.own`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bounds import hooks, own, papers
from bounds.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from bounds.statement import Statement
    from bounds.symbols import Vocabulary

# Lets ratecheck tell this package from an unrelated one of the same name.
DISTRIBUTION = "ratecheck"

PAPERS: tuple[str, ...] = papers.names()
# Statements on which the checks are tried; they are no part of the catalogue.
TEXTBOOK = papers.TEXTBOOK
# Well-known theorems of other work, no part of the catalogue either; with the textbook, all that has keys beside it.
CLASSICS = papers.CLASSICS
BESIDE: tuple[str, ...] = papers.BESIDE
# A statement does not know how it is printed; what prints it is imported when it is shown.
for _form in ("html", "latex", "markdown", "text"):
    hooks.register(_form, f"{__name__}.printing.notebook:{_form}")
hooks.register(hooks.STATEMENT, f"{__name__}:get")


def statements(paper: str) -> tuple[Statement, ...]:
    """All statements of one paper in printed order, or of a file; raises `InputError` for an unknown paper."""
    if own.is_own(paper):
        return own.statements(paper)
    found: tuple[Statement, ...] = papers.part(paper, "statements").STATEMENTS
    return found


def twins() -> tuple[Statement, ...]:
    """The textbook's statements with a number wrong, each of which has to be caught."""
    found: tuple[Statement, ...] = papers.part(TEXTBOOK, "statements").TWINS
    return found


def siblings(key: str) -> tuple[Statement, ...]:
    """All statements of the paper to which a key belongs; none for that of a statement from a file."""
    paper = key.partition("/")[0]
    return statements(paper) if paper in PAPERS else ()


def repaired_form(statement: Statement) -> Statement | None:
    """The first statement of its paper that repairs this one; None where there is none."""
    return next((each for each in siblings(statement.key) if each.repairs == statement.key), None)


def title(paper: str) -> str:
    """The title of one paper."""
    found: str = papers.part(paper, "statements").TITLE
    return found


def vocabulary(paper: str) -> Vocabulary:
    """The symbols of one paper."""
    found: Vocabulary = papers.part(paper, "statements").VOCABULARY
    return found


def left_out(paper: str) -> tuple[tuple[str, str], ...]:
    """Numbered statements of one paper that are not in the catalogue, each with the reason; none of a file."""
    if own.is_own(paper):
        return ()
    found: tuple[tuple[str, str], ...] = papers.part(paper, "statements").LEFT_OUT
    return found


def keys() -> tuple[str, ...]:
    """Every key of the catalogue, in printed order."""
    return tuple(statement.key for paper in PAPERS for statement in statements(paper))


def from_data(key: str, place: str) -> Statement:
    """The statement that a data file, at ``place``, names: one of the catalogue.

    Raises `InputError` where it names a Python file, which runs only where the user names it.
    """
    if own.is_own(key):
        raise InputError(
            f"{place} names {key!r}: a data file names statements of the catalogue only, and a Python file runs only "
            f"where the command line names it, as in 'ratecheck verify {key} --instance {place}'"
        )
    paper, slash, name = key.partition("/")
    if slash and paper not in (*PAPERS, *BESIDE):
        raise InputError(
            f"{place} names {key!r}, a statement in a file of its own: name that too, as in "
            f"'ratecheck verify {paper}.py:{name} --instance {place}'"
        )
    return get(key)


def get(key: str) -> Statement:
    """The statement of that key; raises `InputError` with a did-you-mean for an unknown one."""
    if own.is_own(key):
        return own.get(key)
    paper, slash, _ = key.partition("/")
    if slash and paper in (*PAPERS, *BESIDE):
        if papers.has(paper, "lookup") and (known := papers.part(paper, "lookup").find(key)) is not None:
            found: Statement = known
            return found
        for statement in (*statements(paper), *(twins() if paper == TEXTBOOK else ())):
            if statement.key == key:
                return statement
    if key in (*PAPERS, CLASSICS):
        raise InputError(f"{key!r} is a paper, not a statement: give {key}/..., 'ratecheck list {key}' has them all")
    others = keys() if paper not in BESIDE else tuple(each.key for each in statements(paper))
    raise InputError(f"no statement {key!r} in the catalogue; {did_you_mean(key, others)}")
