"""The data of a review: all that its text says, and nothing that was not found; every form of it is made from these."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bounds
from bounds.ledger.refuted import refuted
from bounds.ledger.step import StepKind
from bounds.printing.markup import MarkupBlocks
from bounds.printing.nodes import Code, Display, Listing, Math, Node, Paragraph, Part, parts, text
from bounds.printing.statement_page import page, place
from bounds.statement import Statement
from ratecheck.auditing.errata import Erratum
from ratecheck.auditing.export.conclusions import Conclusion, ProofStanding, refutes
from ratecheck.auditing.finding import SPECIAL, StepResult, StepVerdict
from ratecheck.auditing.graph import Grade, ProofGraph
from ratecheck.auditing.implications import CheckedImplication
from ratecheck.falsification.falsified import Falsified
from ratecheck.outcome import Outcome
from ratecheck.plain import picked, plain
from ratecheck.proving.bracket import ProvedBracket
from ratecheck.stepsizes.coverage import Coverage, CoverageVerdict
from ratecheck.views.checks.falsify import falsified_fields
from ratecheck.views.numbers import number
from ratecheck.views.proofs.audit import findings_fields
from ratecheck.views.proofs.implications import implication_fields
from ratecheck.views.proofs.prove import bracket_fields
from ratecheck.views.review.words import tried_as_a_whole

# What the page of a statement says of others, which a review says elsewhere.
_ELSEWHERE = ("Used in", "Repaired form", "Printed form")
# The instances of a step that are all there are of small sizes, as its evidence calls them.
_EXHAUSTIVE = "participation matrices"
# Where nobody has read the step that is refuted, and said why.
_NO_CAUSE = "of no stated cause"
HEADLINE = "against what the paper says of its results, changing no numbered statement"
# What the errata of each level do, the level that matters most first.
LEVELS = (
    "changing a theorem or a corollary as it is printed",
    HEADLINE,
    "for which no repair is known, or which show nothing",
    "changing explicit constants of a theorem that the paper prints with an O(.)",
    "changing another statement, or a theorem in an edge case",
    "changing lines of a proof and no statement",
    "misprints that change a statement",
    "misprints that change no statement",
)


@dataclass(frozen=True)
class Reviewed:
    """The material on one statement: its repaired forms, and what was found about it and them.

    ``address`` is what commands take for it, and ``given`` what `falsify` takes for each form, by key. ``graphs`` are
    by the key of the form that they are of, and so is ``coverage``: the settings of the paper's experiments, where it
    was examined whether they meet the conditions.
    """

    statement: Statement
    address: str
    main: bool
    repaired: tuple[Statement, ...] = ()
    given: Mapping[str, str] = field(default_factory=dict)
    graphs: Mapping[str, ProofGraph] = field(default_factory=dict)
    searches: tuple[Falsified, ...] = ()
    constants: tuple[CheckedImplication, ...] = ()
    coverage: Mapping[str, tuple[Coverage, ...]] = field(default_factory=dict)
    brackets: tuple[ProvedBracket, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the statement and of its repaired forms."""
        return (self.statement.key, *(each.key for each in self.repaired))


@dataclass(frozen=True)
class Requested:
    """The request for a review: ``of`` is the paper, key or file, ``evaluations`` 0 where nothing is searched.

    ``settings`` is how many settings of experiments the paper prints, None where nobody read them.
    """

    of: str
    title: str
    evaluations: int
    seed: int
    sharpest: bool
    prove: bool = False
    file: str = ""
    papers: tuple[str, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()
    settings: int | None = None


def review_fields(
    requested: Requested,
    reviewed: Sequence[Reviewed],
    steps: Sequence[StepResult],
    conclusions: Mapping[str, Conclusion],
    wrong: Sequence[Erratum],
) -> dict[str, Any]:
    """Everything that a review says, as JSON data."""
    ordered = [*(each for each in reviewed if each.main), *(each for each in reviewed if not each.main)]
    numbered = [_erratum(number, each, requested) for number, each in enumerate(wrong, 1)]
    entries = [_entry(each, requested, steps, conclusions, numbered) for each in ordered]
    return {
        "of": requested.of,
        "title": requested.title,
        "asked": picked(requested, "evaluations", "seed", "sharpest", "prove"),
        "counts": {
            **counts(steps),
            "statements": len(entries),
            "main": sum(each.main for each in ordered),
            "errata": len(numbered),
            "searched": sum(len(each.searches) for each in ordered),
            "left_out": len(requested.left_out),
            "settings": requested.settings,
        },
        "standings": _standings([each for each in entries if each["main"]]),
        "levels": [
            {"level": level, "what": what, "count": count}
            for level, what in enumerate(LEVELS)
            if (count := sum(each["level"] == level for each in numbered))
        ],
        "errata": numbered,
        "statements": entries,
        "not_checked": _never(requested, steps),
        "left_out": [{"what": what, "why": why} for what, why in requested.left_out],
        "commands": _commands_of_all(requested, steps),
    }


def counts(steps: Sequence[StepResult]) -> dict[str, Any]:
    """The number of steps of each verdict by its basis, and of refuted ones by kind of fault."""
    checked = [each for each in steps if each.verdict is StepVerdict.CHECKED]
    false = [each for each in steps if each.verdict is StepVerdict.FALSE]
    unproved = (StepVerdict.CHECKED, StepVerdict.STANDARD, StepVerdict.UNKNOWN)
    special = sum(each.special for each in checked)
    exhaustive = sum(_EXHAUSTIVE in each.evidence for each in checked if not each.special)
    kinds = Counter(_NO_CAUSE if each.fault is None else each.fault.kind.text for each in false)
    return {
        "steps": len(steps),
        "certified": sum(each.certified and each.verdict is StepVerdict.PROVED for each in steps),
        "solver": sum(each.basis == "solver" and each.verdict is StepVerdict.PROVED for each in steps),
        "special": special,
        "exhaustive": exhaustive,
        "instances": len(checked) - exhaustive - special,
        "standard": sum(each.verdict is StepVerdict.STANDARD for each in steps),
        "false": len(false),
        "kinds": dict(sorted(kinds.items())),
        "misprints": sum(each.verdict is StepVerdict.TYPO for each in steps),
        "undecided": sum(each.verdict is StepVerdict.UNKNOWN for each in steps),
        "unproved": sum(each.verdict in unproved for each in steps),
        "repairs_unproved": sum(
            each.verdict in (StepVerdict.FALSE, StepVerdict.TYPO) and each.repaired == StepVerdict.CHECKED.value
            for each in steps
        ),
    }


def has_finding(data: Mapping[str, Any]) -> bool:
    """Whether a step is false, a search refutes a statement, or the argument of a proof breaks."""
    entries = data["statements"]
    violated = any(each["verdict"] == Outcome.VIOLATED.value for entry in entries for each in entry["searches"])
    broken = any(each["grade"] == Grade.FALSE.value for entry in entries for each in entry["graphs"])
    return bool(data["counts"]["false"]) or violated or broken


# --- One statement ---


def _entry(
    reviewed: Reviewed,
    requested: Requested,
    steps: Sequence[StepResult],
    conclusions: Mapping[str, Conclusion],
    wrong: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    statement = reviewed.statement
    own = [each for each in steps if each.of == statement.key]
    conclusion = conclusions.get(statement.key)
    ids = {each.id for each in own}
    told = [each["number"] for each in wrong if ids & {*each["steps"]} or each["of"] in reviewed.keys]
    searches = [{**_search(each), "command": _search_command(each, reviewed, requested)} for each in reviewed.searches]
    found = plain(
        {
            **picked(statement, "key", "title"),
            "place": place(statement),
            "number": statement.source.number,
            "main": reviewed.main,
            "statement": _blocks(statement),
            "symbols": _symbols(statement),
            "repaired": [
                {"key": each.key, "title": each.title, "statement": _blocks(each)} for each in reviewed.repaired
            ],
            "standing": None if conclusion is None else conclusion.standing.value,
            "reasons": [] if conclusion is None else list(conclusion.reasons),
            "known": _known(statement),
            "rests_on": [
                {"key": key, "standing": conclusions[key].standing.value} for key in _rests_on(statement, conclusions)
            ],
            "counts": counts(own),
            # Where a file of one's own lies is nobody else's business, and changes from machine to machine.
            "steps": [each | {"paper": Path(each["paper"]).name} for each in findings_fields(own, conclusions)],
            "graphs": [graph.fields() for graph in reviewed.graphs.values()],
            "errata": told,
            "changed_by": [
                each["number"] for each in wrong if statement.key in each["changes"] and each["number"] not in told
            ],
            "searches": searches,
            "constants": [implication_fields(each) for each in reviewed.constants],
            "brackets": [bracket_fields(each) for each in reviewed.brackets],
            "coverage": [_coverage(key, found) for key, found in reviewed.coverage.items()],
        }
    )
    return {
        **found,
        "not_checked": _not_checked(found, requested),
        "commands": _commands(reviewed, requested, own),
    }


def _rests_on(statement: Statement, conclusions: Mapping[str, Conclusion]) -> list[str]:
    """The next statements, on the way to what it follows from, that have a proof of their own."""
    found: dict[str, None] = {}
    for key in statement.follows_from:
        found |= dict.fromkeys([key] if key in conclusions else _rests_on(bounds.get(key), conclusions))
    return [*found]


def _known(statement: Statement) -> dict[str, Any] | None:
    """The catalogue's objection to a statement, and the same in a few words; None for none."""
    against = refuted(statement)
    return None if against is None else {**against.fields(), "what": against.what}


def _blocks(statement: Statement) -> list[dict[str, Any]]:
    """The page of a statement without title and symbols."""
    kept = (each for each in MarkupBlocks(page(statement)).body if getattr(each, "label", "") not in _ELSEWHERE)
    return [_block(each) for each in kept]


def _block(node: Node) -> dict[str, Any]:
    if isinstance(node, Display):
        return {"display": node.latex}
    assert isinstance(node, Paragraph | Listing), "titles and symbols stand elsewhere"
    entries = (node.parts,) if isinstance(node, Paragraph) else node.items
    return {"label": node.label, "entries": [[_inline(part) for part in parts(entry)] for entry in entries]}


def _inline(part: Part) -> dict[str, str]:
    if isinstance(part, Math):
        # What stands in a line is set as large as a display, which is for whoever shows it.
        return {"latex": part.latex}
    return {"key": part.text} if isinstance(part, Code) else {"words": text(part)}


def _symbols(statement: Statement) -> list[dict[str, str]]:
    rows = MarkupBlocks(page(statement)).symbols.rows
    return [dict(zip(("latex", "name", "meaning", "domain"), map(text, row), strict=True)) for row in rows]


def _search(found: Falsified) -> dict[str, Any]:
    """A search as JSON data: some fields of the command's, and ``ratio``, the tightness as it is printed."""
    fields = falsified_fields(found)
    kept = (
        "key", "verdict", "tightness", "shape", "evaluations", "applicable", "zero", "stopped", "reasons",
        "counterexample",
    )  # fmt: skip
    terms = [
        {**{name: each[name] for name in ("term", "tightness", "reason")}, "ratio": number(each["tightness"])}
        for each in fields["terms"]
    ]
    unsure = {"unconfirmed": fields["unconfirmed"]} if fields["unconfirmed"] else {}
    return {**{name: fields[name] for name in kept}, **unsure, "ratio": number(fields["tightness"]), "terms": terms}


def _coverage(key: str, found: Sequence[Coverage]) -> dict[str, Any]:
    """The settings against one form of a statement, and how many have each verdict."""
    verdicts = Counter(each.verdict for each in found)
    return {
        "key": key,
        "count": len(found),
        "verdicts": {each.value: verdicts[each] for each in CoverageVerdict if verdicts[each]},
        "settings": [each.fields() for each in found],
    }


# --- Errata ---


def _erratum(number: int, erratum: Erratum, requested: Requested) -> dict[str, Any]:
    first, fault = erratum.first, erratum.fault
    return {
        "number": number,
        "level": erratum.rank[0],
        "kind": erratum.kind,
        **picked(first, of="of", place="location", printed="claim"),
        "wrong": "" if fault is None else fault.wrong,
        **picked(first, "evidence", "repair", "repaired"),
        "meant": "" if fault is None else fault.meant,
        "consequence": erratum.consequence,
        "refutes": _refutes(erratum, requested),
        "changes": [] if fault is None else list(fault.changes),
        "steps": [each.id for each in erratum.findings],
        "command": _step_command(first, requested),
    }


def _refutes(erratum: Erratum, requested: Requested) -> list[dict[str, str]]:
    """The statements that it makes false as printed, each with the numbers that show it and how to repeat them."""
    steps = sorted(filter(refutes, erratum.findings), key=lambda each: erratum.refutes.index(each.of))
    return [{"key": each.of, "evidence": each.evidence, "command": _step_command(each, requested)} for each in steps]


def _step_command(step: StepResult, requested: Requested) -> str:
    return f"ratecheck audit{_of_file(requested, step)} --step {step.id}"


def _of_file(requested: Requested, step: StepResult) -> str:
    return f" {requested.file}" if step.file and requested.file else ""


def _standings(entries: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The main statements by their standing, the worst first."""
    found = []
    for standing in (*reversed([each.value for each in ProofStanding]), None):
        keys = [each["key"] for each in entries if each["standing"] == standing]
        if keys:
            found.append({"standing": standing, "count": len(keys), "keys": keys})
    return found


# --- What was not checked ---


def _not_checked(entry: Mapping[str, Any], requested: Requested) -> list[str]:
    """The parts of a statement that were not checked, or only partly."""
    found = _steps_left(entry) if entry["steps"] else [_without_steps(entry)]
    if entry["steps"] and not entry["graphs"]:
        found.append("that the steps add up to the statement: no graph of its proof was made")
    found += [
        f"that {graph['root']} is proved as a whole: its graph is {graph['grade']}, see what keeps it from it"
        for graph in entry["graphs"]
        if graph["grade"] not in (Grade.PROVED.value, Grade.FALSE.value)
    ]
    if not requested.evaluations:
        refuted = entry["standing"] == ProofStanding.FALSE.value or entry["known"]
        beyond = " beyond those of its steps" if tried_as_a_whole(entry) else ""
        what = (
            "whether its repaired form has a counterexample" if refuted else f"whether an instance{beyond} violates it"
        )
        found.append(f"{what}, and how tight it and its terms are: not searched")
    for search in entry["searches"]:
        if search["verdict"] == Outcome.INCONCLUSIVE.value:
            found.append(f"instances of {search['key']} beyond the {search['evaluations']} that were tried")
        elif search["verdict"] == Outcome.NOT_APPLICABLE.value:
            found.append(f"instances of {search['key']}: the search had nothing to evaluate")
    if not requested.sharpest:
        found.append("whether its constants could be sharper: not computed")
    return found


def _without_steps(entry: Mapping[str, Any]) -> str:
    """The unchecked part of a statement of which the ledger has no step of its own."""
    if not entry["rests_on"]:
        return "its proof: no step of it was examined"
    several = ", ".join(each["key"] for each in entry["rests_on"])
    return f"how it follows from {several}: no step of that was examined"


def _steps_left(entry: Mapping[str, Any]) -> list[str]:
    """The steps that are not proved, by what is known of them; apart what is the statement itself, which is proved."""
    proved = any(each["root"] == entry["key"] and each["grade"] == Grade.PROVED.value for each in entry["graphs"])
    whole = (StepKind.END_TO_END.value, StepVerdict.CHECKED.value)
    beside = [each["id"] for each in entry["steps"] if proved and (each["kind"], each["verdict"]) == whole]
    steps = [each for each in entry["steps"] if each["id"] not in beside]
    refuted = (StepVerdict.FALSE.value, StepVerdict.TYPO.value)
    rows = (
        ("not proved, only not refuted on instances", (StepVerdict.CHECKED.value,), None),
        ("textbook facts, taken as known and only tried on instances", (StepVerdict.STANDARD.value,), None),
        ("neither proved nor refuted", (StepVerdict.UNKNOWN.value,), None),
        ("false as printed; the repaired form is only not refuted on instances", refuted, "CHECKED"),
        ("false as printed, without a repaired form that was checked", refuted, ""),
        ("false as printed, and so is the repaired form", refuted, "FALSE"),
        ("false as printed, the repaired form not decided", refuted, "UNKNOWN"),
    )
    special = [f"{each['id']} ({each['narrower']})" for each in steps if each["label"] == SPECIAL]
    found = [f"proved in a special case only: {', '.join(special)}"] if special else []
    steps = [each for each in steps if each["label"] != SPECIAL]
    for what, verdicts, repaired in rows:
        ids = [each["id"] for each in steps if each["verdict"] in verdicts and repaired in (None, each["repaired"])]
        found += [f"{what}: {', '.join(ids)}"] if ids else []
    if beside:
        found.append(f"the whole statement, which is proved, only compared on instances as well: {', '.join(beside)}")
    return found


def _never(requested: Requested, steps: Sequence[StepResult]) -> list[str]:
    """Checks that no review of this kind makes, and those that this one was not requested to make."""
    found = [
        "That the statements and steps are what is printed, and all of it: people transcribed them.",
        "That the steps of a proof add up to its statement, but for links of a proof graph that are PROVED.",
        _experiments_left(requested),
        "The results of experiments, related work, novelty, and whatever else is neither a statement nor a proof.",
    ]
    if not requested.evaluations:
        beyond = " beyond the instances of their steps" if steps else ""
        found.append(f"Counterexamples to whole statements{beyond}, and tightness: not searched; --evaluations N does.")
    if not requested.sharpest:
        found.append("Sharper constants: not computed; --sharpest does.")
    if not requested.prove:
        found.append("Proofs from the methods alone: not looked for; --prove does.")
    return found


def _experiments_left(requested: Requested) -> str:
    if requested.settings is None:
        return "Whether the settings of experiments meet the conditions of the statements: none were read."
    if not requested.settings:
        return "Whether the settings of the experiments meet the conditions of the statements: the paper prints none."
    return (
        "Whether the problems of the experiments meet the assumptions, and their settings the conditions of other "
        "statements than the main ones."
    )


# --- How to repeat it ---


# Instances of a search that a reader is told to run.
_EVALUATIONS = 400
# Where recheck.py is, without importing what it is there to check.
_WHERE = (
    'import importlib.util as u, pathlib as p; print(p.Path(u.find_spec("ratecheck").origin).with_name("recheck.py"))'
)


def _commands_of_all(requested: Requested, steps: Sequence[StepResult]) -> list[dict[str, str]]:
    found = []
    if steps:
        found += [
            {"what": "every step of the proofs", "command": f"ratecheck audit {requested.of}"},
            {"what": "the certificates", "command": f"ratecheck audit {requested.of} --certificates proofs.json"},
            {
                "what": "recheck.py, one file of Python that needs nothing else, to read before it is trusted",
                "command": f"cp \"$(python -c '{_WHERE}')\" recheck.py",
            },
            {"what": "the certificates without ratecheck", "command": "python recheck.py proofs.json"},
        ]
    options = f" --evaluations {requested.evaluations} --seed {requested.seed}" if requested.evaluations else ""
    options += " --sharpest" * requested.sharpest + " --prove" * requested.prove
    return [*found, {"what": "this review", "command": f"ratecheck review {requested.of}{options} --out review.html"}]


def _options(requested: Requested) -> str:
    return f"--evaluations {requested.evaluations or _EVALUATIONS} --seed {requested.seed}"


def _search_command(search: Falsified, reviewed: Reviewed, requested: Requested) -> str:
    """The command of a search, of a printed form by its address, of a repaired one by its key or its whole file."""
    key = search.statement.key
    address = reviewed.address if key == reviewed.statement.key else requested.file or key
    return f"ratecheck falsify {address} {_options(requested)}"


def _commands(reviewed: Reviewed, requested: Requested, own: Sequence[StepResult]) -> list[dict[str, str]]:
    address = reviewed.address
    found = [{"what": "the statement", "command": f"ratecheck show {address}"}]
    if own:
        found.append({"what": "the steps of its proof", "command": f"ratecheck audit {address}"})
        found.append(
            {"what": "one step", "command": f"ratecheck audit{_of_file(requested, own[0])} --step {own[0].id}"}
        )
    found += [
        {"what": f"the proof graph of {key}", "command": f"ratecheck audit {key} --graph proof.svg"}
        for key in reviewed.graphs
    ]
    options = _options(requested)
    found.append({"what": "a search for a counterexample", "command": f"ratecheck falsify {address} {options}"})
    found += [
        {"what": f"the same for the repaired form {each.key}", "command": f"ratecheck falsify {each.key} {options}"}
        for each in reviewed.repaired
        if not requested.file
    ]
    found.append(
        {"what": "given numbers against the conditions", "command": f"ratecheck stepsize {address} NAME=VALUE"}
    )
    return found
