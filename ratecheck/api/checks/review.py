"""``rc.review``, the command ``review``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import bounds
from bounds.ledger import experiment
from bounds.ledger.own import OwnLedger
from bounds.printing.nodes import Document
from bounds.statement import Statement
from ratecheck.api.checks.falsify import falsify
from ratecheck.api.document import DocumentResult, check_out
from ratecheck.api.proofs.audit import AuditResult, audit
from ratecheck.api.proofs.implications import implications
from ratecheck.api.proofs.proof import graphs
from ratecheck.auditing import ledger, selection
from ratecheck.auditing.graph import ProofGraph
from ratecheck.auditing.implications import CheckedImplication
from ratecheck.falsification.falsified import Falsified
from ratecheck.inputs import whole
from ratecheck.proving.bracket import proved_bracket
from ratecheck.stepsizes.coverage import Coverage, coverage, restricts_step_sizes
from ratecheck.views.review import summary
from ratecheck.views.review.data import Requested, Reviewed, has_finding, review_fields
from ratecheck.views.review.document import document

# What a paper calls its main results.
_MAIN = ("theorem", "corollary")
_NO_AUDIT = AuditResult((), {}, ())


@dataclass(frozen=True, eq=False, repr=False)
class ReviewResult(DocumentResult):
    """A review of a paper, of a statement or of a file: its ``data``, and these as text, Markdown and HTML.

    Every form is made from the data alone, so that they say the same.
    """

    data: Mapping[str, Any]

    @property
    def finding(self) -> bool:
        """Whether a step is false, a search refutes a statement, or the argument of a proof breaks."""
        return has_finding(self.data)

    def _made(self) -> Document:
        return document(self._plain)

    def __str__(self) -> str:
        return summary.text(self._plain)

    def _headline(self) -> str:
        return summary.headline(self._plain)

    def _fields(self) -> dict[str, Any]:
        return {**self.data}


# Instances that a statement of one's own is searched with, unless another number is given.
_OF_OWN = 200


def review(
    subject: str | Path,
    /,
    *,
    evaluations: int | None = None,
    seed: int = 0,
    sharpest: bool = False,
    prove: bool = False,
    out: str | Path | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
) -> ReviewResult:
    """A review of the theorems of a paper and their proofs, as one document for an author or an area chair.

    ``subject`` is a paper, the key of a statement, or a Python file of one's own, ``path/to/file.py`` or
    ``path/to/file.py:name``; of a key the statements that it follows from are reviewed too. Every step of the proofs is
    examined as by `audit`, and the main statements, printed and repaired, have their graphs as by `proof`. Every
    statement is searched for a counterexample with so many ``evaluations`` and this ``seed``, as by `falsify`; by
    default with 200 in a file of one's own and with none in the catalogue, and the review says so. With ``sharpest``
    constants are made as sharp as the argument allows, as by `implications` (minutes). With ``prove`` every statement
    has what of its right side is proved and found at the default numbers of `prove` (minutes). ``out`` is a file, HTML
    or Markdown by its ending. ``workers`` and ``scheduler`` are those of `audit`. The same input gives the same bytes.
    Raises `InputError` for an unknown paper or key, for a file that cannot be used, and for one that cannot be written.

    >>> import ratecheck as rc
    >>> found = rc.review("flame")  # doctest: +SKIP
    >>> found.data["errata"][0]["place"], found.finding  # doctest: +SKIP
    """
    place = None if out is None else check_out(out)
    name = str(subject)
    own = bounds.own.is_own(name)
    if evaluations is None:
        evaluations = _OF_OWN if own else 0
    whole("evaluations", evaluations, 0)
    whole("seed", seed, 0)
    many = {"workers": workers, "scheduler": scheduler}
    scope = _of_file(name, many) if own else _of_catalogue(name, many)
    drawn = {} if own else _graphs(scope, many)
    searches = _searches(scope, evaluations, seed, many)
    constants = _constants(name, scope) if sharpest and not own else {}
    reviewed = [
        replace(
            each,
            graphs={key: drawn[key] for key in each.keys if key in drawn},
            searches=tuple(searches[key] for key in each.keys if key in searches),
            constants=tuple(answer for key in each.keys for answer in constants.get(key, ())),
            coverage={} if own or not each.main else _coverage(each),
            brackets=tuple(proved_bracket(bounds.get(at)) for at in each.given.values()) if prove else (),
        )
        for each in scope.sections
    ]
    requested = Requested(
        of=scope.name,
        title=scope.title,
        evaluations=evaluations,
        seed=seed,
        sharpest=sharpest and not own,
        prove=prove,
        file=scope.file,
        left_out=() if own or "/" in name else bounds.left_out(name),
        settings=None if own else _settings(name.partition("/")[0]),
    )
    found = scope.found
    result = ReviewResult(review_fields(requested, reviewed, found.steps, found.conclusions, found.errata))
    return result if place is None else result.save(place)


# --- What a review is of ---


@dataclass(frozen=True)
class _Scope:
    """The sections of a review, and the audit that it rests on."""

    name: str
    title: str
    sections: tuple[Reviewed, ...]
    found: AuditResult
    file: str = ""


def _sections(
    statements: Sequence[Statement], main: Sequence[str], given: Mapping[str, str], address: Mapping[str, str]
) -> tuple[Reviewed, ...]:
    """A section for every statement that is no repaired form of another one."""
    keys = {each.key for each in statements}
    return tuple(
        Reviewed(
            statement=each,
            address=address.get(each.key, each.key),
            main=each.key in main,
            repaired=(repaired := tuple(other for other in statements if other.repairs == each.key)),
            given={key: given.get(key, key) for key in (each.key, *(other.key for other in repaired))},
        )
        for each in statements
        if each.repairs not in keys
    )


def _of_catalogue(name: str, many: Mapping[str, Any]) -> _Scope:
    """A paper, or a statement with all that it follows from."""
    if "/" not in name:
        statements = bounds.statements(name)
        found = _audited(name, many) if ledger.has_ledger(name) else _NO_AUDIT
        main = [each.key for each in statements if each.key.partition("/")[2].startswith(_MAIN)]
        return _Scope(name, bounds.title(name), _sections(statements, main, {}, {}), found)
    statement = bounds.get(name)
    paper = name.partition("/")[0]
    statements = bounds.statements(paper)
    key = statement.repairs or statement.key
    roots = _with_steps(statement, paper)
    # One of several audits would leave the others out.
    found = _audited(roots[0] if len(roots) == 1 else paper, many) if roots else _NO_AUDIT
    wanted = {key, *found.conclusions}
    chosen = [each for each in statements if each.key in wanted or each.repairs in wanted]
    return _Scope(name, f"{statement.title} ({bounds.title(paper)})", _sections(chosen, [key], {}, {}), found)


def _with_steps(statement: Statement, paper: str) -> list[str]:
    """The statement, or the next ones on the way to what it follows from, of which the ledger has steps."""
    if _has_steps(statement, paper):
        return [statement.key]
    found: dict[str, None] = {}
    for key in statement.follows_from:
        found |= dict.fromkeys(_with_steps(bounds.get(key), paper))
    return [*found]


def _has_steps(statement: Statement, paper: str) -> bool:
    """Whether the ledger has steps of it, or of the printed form of a repaired one."""
    if not ledger.has_ledger(paper):
        return False
    steps = ledger.load(ledger.module_of(paper))
    return any(selection.of_statement(key, steps) for key in (statement.key, statement.repairs) if key)


def _of_file(address: str, many: Mapping[str, Any]) -> _Scope:
    """A file of one's own, or one statement of it, with a ledger or without."""
    path, name = bounds.own.split(address)
    # Whatever is wrong with a statement is said by what reads it for every command.
    _ = bounds.get(address) if name else bounds.statements(path)
    own = OwnLedger.read(path)
    # Folders are the machine's, and a review is for others.
    file = Path(path).name
    named = {each.key: key for key, each in reversed(own.statements.items())}
    chosen = {name: own.statements[name]} if name else dict(own.statements)
    keys = {each.key for each in chosen.values()} | {each.repairs for each in chosen.values() if each.repairs}
    found = _audited(address, many) if _has_own_steps(own, keys) else _NO_AUDIT
    wanted = keys | {*found.conclusions}
    mine = [each for each in own.statements.values() if each.key in wanted or each.repairs in wanted]
    mine = [*{each.key: each for each in mine}.values()]
    others = [bounds.get(key) for key in found.conclusions if key not in named]
    given = {key: f"{path}:{each}" for key, each in named.items()}
    shown = {key: f"{file}:{each}" for key, each in named.items()}
    sections = _sections([*mine, *others], [each.key for each in mine if each.key in keys], given, shown)
    return _Scope(f"{file}:{name}" if name else file, _title(chosen, file), sections, found, file=file)


def _title(chosen: Mapping[str, Statement], file: str) -> str:
    return next(iter(chosen.values())).title if len(chosen) == 1 else f"the statements of {file}"


def _has_own_steps(own: OwnLedger, keys: set[str]) -> bool:
    """Whether a file has steps of one of these statements; what is wrong with its ledger is said, not passed over."""
    return selection.has_steps_of_its_own(own) and any(step.of in keys for step in own.steps)


# --- What is found about it ---


def _audited(subject: str, many: Mapping[str, Any]) -> AuditResult:
    return audit(subject, mutate=False, **many)


def _graphs(scope: _Scope, many: Mapping[str, Any]) -> dict[str, ProofGraph]:
    """The graphs of the main statements and of their repaired forms, where their paper has a ledger."""
    forms = [key for section in scope.sections if section.main for key in section.keys]
    if not forms or not ledger.has_ledger(forms[0].partition("/")[0]):
        return {}
    return graphs(forms, {each.id: each for each in scope.found.steps}, **many)


def _settings(paper: str) -> int | None:
    """The number of settings that a paper prints for its experiments; None where nobody read them."""
    return len(experiment.experiments(paper)) if experiment.encoded(paper) else None


def _coverage(section: Reviewed) -> dict[str, tuple[Coverage, ...]]:
    """The settings of the paper's experiments against each form of a statement that restricts step sizes."""
    forms = (section.statement, *section.repaired)
    paper = section.statement.key.partition("/")[0]
    printed, order = experiment.experiments(paper), experiment.ordered(paper)
    return {each.key: coverage(each, printed, order) for each in forms if printed and restricts_step_sizes(each)}


def _searches(scope: _Scope, evaluations: int, seed: int, many: Mapping[str, Any]) -> dict[str, Falsified]:
    """The ends of the searches by key; none where none was requested."""
    if not evaluations:
        return {}
    given = {key: address for section in scope.sections for key, address in section.given.items()}
    spread = {"workers": many["workers"] or 1, "scheduler": many["scheduler"]}
    found = falsify(*given.values(), evaluations=evaluations, seed=seed, **spread)
    # A page of half of the searches would be read as one of all.
    if found.stop is not None:
        raise found.stop
    return dict(zip(given, found.searches, strict=True))


def _constants(name: str, scope: _Scope) -> dict[str, list[CheckedImplication]]:
    """The implications with their sharpest constants, by what they conclude."""
    found: dict[str, list[CheckedImplication]] = {}
    wanted = [name] if "/" not in name else [key for section in scope.sections for key in section.keys]
    for each in wanted:
        for answer in implications(each, sharpest=True).answers:
            found.setdefault(answer.implication.conclusion, []).append(answer)
    return found
