"""A review as a document: made from the data alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any, TypeAlias

from bounds.printing.nodes import (
    Code,
    Display,
    Document,
    Fold,
    Grid,
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
)
from ratecheck.auditing.graph import ProofGraph
from ratecheck.outcome import Outcome
from ratecheck.views.document.svg import graph_svg
from ratecheck.views.proofs.graph import tallies
from ratecheck.views.review import short, summary, words
from ratecheck.views.review.short import anchor

Data = Mapping[str, Any]
# Heads of a table, with the cell of what a row is about.
_Columns: TypeAlias = Mapping[str, Callable[[Any], Line]]
# Characters of a constant that is written exactly.
_SHORT = 12


def document(data: Data) -> Document:
    """The review of these data, in the order of a reviewer's questions."""
    return Document("Review", data["of"], data["title"], tuple(_sections(data)), data)


def _sections(data: Data) -> list[Section]:
    known = {each["key"] for each in data["statements"]}
    main = [each for each in data["statements"] if each["main"]]
    others = [each for each in data["statements"] if not each["main"]]
    found = [Section(2, "In short", "short", tuple(_short(data)))]
    found.append(Section(2, "Summary", "summary", tuple(_summary(data, known))))
    for title, name, entries in (("Main statements", "main", main), ("Other statements", "others", others)):
        if entries:
            sections = tuple(_statement(each, data, known) for each in entries)
            found.append(Section(2, title, f"{name}-statements", sections))
    if data["left_out"]:
        rows = tuple((each["what"], each["why"]) for each in data["left_out"])
        grid = Grid("Items of the paper that the catalogue leaves out", ("Item", "Why"), rows)
        found.append(Section(2, "Left out", "left-out", (grid,)))
    return found


def _linked(key: str, known: set[str]) -> Part:
    return Hyperlink(key, anchor(key)) if key in known else Code(key)


# --- The answers, and the summary ---


def _full(data: Data) -> dict[int, str]:
    """The statement under which each erratum is told in full: that of its first step, where the review has it."""
    found: dict[int, str] = {}
    for each in data["errata"]:
        under = [entry["key"] for entry in data["statements"] if each["number"] in entry["errata"]]
        found[each["number"]] = each["of"] if each["of"] in under or not under else under[0]
    return found


def _short(data: Data) -> Iterator[Node]:
    for number, (question, lines) in enumerate(short.answers(data), 1):
        yield Section(3, question, f"q-{number}", tuple(Paragraph(line) for line in lines))


def _summary(data: Data, known: set[str]) -> Iterator[Node]:
    if data["counts"]["steps"]:
        yield Section(3, "Words of this review", "words", (Terms(words.LEGEND),))
    yield Section(3, "What is wrong, what matters most first", "findings", tuple(_findings(data, known)))
    yield Section(3, "Does each main statement stand?", "stands", tuple(_stands(data, known)))
    yield Section(3, "What was checked", "checked", tuple(_checked(data)))
    not_checked: list[Node] = [Listing(tuple(data["not_checked"]))]
    if data["left_out"]:
        not_checked.append(Paragraph("Numbered items that the catalogue leaves out stand at the end."))
    yield Section(3, "What was not checked", "not-checked", tuple(not_checked))
    yield Section(3, "How would you check this?", "repeat", tuple(_repeated(data)))


def _repeated(data: Data) -> Iterator[Node]:
    yield Paragraph(("In a copy of the repository of ratecheck, ", Code(_INSTALL), " installs it."))
    yield _commands(data["commands"])


_INSTALL = "python -m venv .venv && . .venv/bin/activate && pip install ."


def _checked(data: Data) -> Iterator[Node]:
    first, *others = summary.checked(data)
    yield Paragraph(first)
    rows = tuple(summary.tally(data["counts"]))
    if rows:
        yield _tally(rows, "Steps of the proofs by verdict")
    # Of the sentences those that are no rows of the table.
    yield from (Paragraph(each) for each in others[len(rows) :])


def _tally(rows: Sequence[tuple[str, str, str]], caption: str) -> Grid:
    return Grid(caption, ("Verdict", "Steps", "What it says"), tuple(rows))


def _findings(data: Data, known: set[str]) -> Iterator[Node]:
    yield Listing(tuple(summary.levels(data)))
    if main := summary.main_errata(data):
        yield _errata(main, "Errata", data, known)
    if others := summary.other_errata(data):
        title = "The other errata: what they are and where" if main else "The errata"
        yield Fold(title, _errata(others, "The other errata", data, known))


def _errata(errata: Sequence[Data], caption: str, data: Data, known: set[str]) -> Grid:
    full = _full(data)
    columns: _Columns = {
        "No.": lambda each: Hyperlink(str(each["number"]), f"e-{each['number']}"),
        "Place": itemgetter("place"),
        "What is wrong": lambda each: (f"{each['kind']}: ", each["wrong"] or Code(each["printed"])),
        "Consequence": lambda each: (f"{each['consequence']}; in full under ", _linked(full[each["number"]], known)),
    }
    return Grid.of(caption, errata, columns)


def _stands(data: Data, known: set[str]) -> Iterator[Node]:
    main = [each for each in data["statements"] if each["main"]]
    if not main:
        yield Paragraph("Nothing here is a main statement.")
        return
    rows = []
    for each in main:
        said = summary.standing(each)
        rows.append((_linked(each["key"], known), Strong(said[0]), ", ".join(said[1:]) or "no graph"))
    yield Grid("Main statements", ("Statement", "After the audit of its steps", "Beyond the steps"), tuple(rows))
    said_of = [each["standing"] for each in data["standings"] if each["standing"]]
    if said_of:
        yield Terms(tuple((standing, words.standing_meaning(standing)) for standing in said_of))
    grades = dict.fromkeys(graph["grade"] for each in main for graph in each["graphs"])
    if grades:
        yield Paragraph("A proof graph says whether the steps add up:")
        yield Terms(tuple((grade, words.grade_meaning(grade)) for grade in grades))


def _commands(commands: Sequence[Data]) -> Terms:
    return Terms(tuple((each["what"], Code(each["command"])) for each in commands))


# --- A statement ---


def _statement(entry: Data, data: Data, known: set[str]) -> Section:
    errata = [each for each in data["errata"] if each["number"] in entry["errata"]]
    violated = any(each["verdict"] == Outcome.VIOLATED.value for each in entry["searches"])
    said = (words.standing_said(entry), "refuted by a counterexample" if violated else "")
    standing = "; ".join(filter(None, said)) or "no proof was examined"
    nodes: list[Node] = [Paragraph((Strong(standing), f" — {entry['place']}"))]
    if entry["reasons"]:
        nodes.append(Listing(tuple(entry["reasons"])))
    if entry["known"]:
        nodes.append(Paragraph(f"Found by the audit: {entry['known']['text']}"))
    if entry["changed_by"]:
        links: list[Part] = ["Errata of other statements that change it:"]
        for number in entry["changed_by"]:
            links += [" ", Hyperlink(str(number), f"e-{number}")]
        nodes.append(Paragraph(tuple(links)))
    name = anchor(entry["key"])
    nodes.append(Section(4, "Statement", f"{name}-statement", tuple(_stated(entry, known))))
    nodes.append(Section(4, "Proof", f"{name}-proof", tuple(_proof(entry))))
    if errata:
        full = _full(data)
        told = [_erratum(each) for each in errata if full[each["number"]] == entry["key"]]
        # An erratum stands in one place, to which all that is said of it elsewhere leads.
        elsewhere: list[Line] = [
            (
                Hyperlink(f"Erratum {each['number']}", f"e-{each['number']}"),
                f", {each['kind']}: in full under ",
                _linked(full[each["number"]], known),
            )
            for each in errata
            if full[each["number"]] != entry["key"]
        ]
        also = [Listing(tuple(elsewhere))] if elsewhere else []
        nodes.append(Section(4, "Errata", f"{name}-errata", (*also, *told)))
    if entry["main"] and data["counts"]["settings"] is not None:
        experiments = tuple(_experiments(entry, data))
        nodes.append(Section(4, "The paper's own settings", f"{name}-settings", experiments))
    if entry["searches"]:
        nodes.append(Section(4, "Search for a counterexample", f"{name}-search", tuple(_searched(entry))))
    if entry["constants"]:
        nodes.append(Section(4, "Sharper constants", f"{name}-constants", tuple(_constants(entry))))
    if entry["brackets"]:
        lines: list[Line] = [(Code(each["key"]), f": {each['text']}") for each in entry["brackets"]]
        nodes.append(Section(4, "Proof from the method alone", f"{name}-bracket", (Listing(tuple(lines)),)))
    listed = Listing(tuple(entry["not_checked"]))
    nodes.append(Section(4, "Not checked", f"{name}-not-checked", (listed,)))
    commands = Fold("The commands", _commands(entry["commands"]))
    nodes.append(Section(4, "How would you check this?", f"{name}-repeat", (commands,)))
    return Section(3, (Code(entry["key"]), f": {entry['title']}"), name, tuple(nodes))


def _stated(entry: Data, known: set[str]) -> Iterator[Node]:
    yield from _blocks(entry["statement"], known)
    for form in entry["repaired"]:
        title: Line = ("Repaired form ", Code(form["key"]), f": {form['title']}")
        yield Section(5, title, anchor(form["key"]), tuple(_blocks(form["statement"], known)))
    rows = tuple(
        (Math(each["latex"]), Code(each["name"]), each["meaning"], each["domain"]) for each in entry["symbols"]
    )
    if rows:
        grid = Grid("Symbols", ("Symbol", "As typed", "Meaning", "Domain"), rows)
        yield Fold("What the symbols mean", grid)


def _blocks(blocks: Sequence[Data], known: set[str]) -> Iterator[Node]:
    for each in blocks:
        if "display" in each:
            yield Display(each["display"])
            continue
        lines = tuple(tuple(_part(part, known) for part in entry) for entry in each["entries"])
        label: tuple[Part, ...] = (Strong(f"{each['label']}:"), " ") if each["label"] else ()
        if len(lines) == 1:
            yield Paragraph((*label, *lines[0]))
        else:
            yield Paragraph(label)
            yield Listing(lines)


def _part(part: Data, known: set[str]) -> Part:
    if "latex" in part:
        return Math(part["latex"])
    return _linked(part["key"], known) if "key" in part else part["words"]


def _proof(entry: Data) -> Iterator[Node]:
    counts = entry["counts"]
    if not counts["steps"]:
        yield Paragraph("No step of its proof was examined.")
    else:
        said = summary.algebra(counts)
        yield Paragraph(f"{said[0].upper()}{said[1:]}.")
        yield _tally(tuple(summary.tally(counts)), f"Steps of the proof of {entry['key']} by verdict")
    for graph in entry["graphs"]:
        yield from _graph(graph)
    if entry["steps"]:
        columns: _Columns = {
            "Step": lambda each: Code(each["id"]),
            "Place": itemgetter("location"),
            "Verdict": lambda each: ": ".join(filter(None, (each["label"], each["narrower"]))),
            "Printed claim": lambda each: Code(each["claim"]),
            "Evidence": itemgetter("evidence"),
        }
        grid = Grid.of(f"Steps of the proof of {entry['key']}", entry["steps"], columns)
        yield Fold("Every step with its verdict", grid)


def _graph(graph: Data) -> Iterator[Node]:
    grade = graph["grade"]
    yield Paragraph(("Proof graph of ", Code(graph["root"]), ": ", Strong(grade), f": {words.grade_meaning(grade)}."))
    title = f"Proof graph of {graph['root']}: {grade}"
    flaws = {key: flaw.value for key, flaw in ProofGraph.read(graph).flaws.items()}
    says = "; ".join(f"{each['label']}: {flaws.get(each['id'], each['own'])}" for each in graph["nodes"])
    name = "g-" + "".join(sign if sign.isalnum() else "-" for sign in graph["root"])
    command = f"ratecheck audit {graph['root']} --graph proof.svg"
    instead: Line = ("The figure is drawn by ", Code(command), ".")
    yield Picture(name, title, says, partial(graph_svg, graph), instead)
    read = ProofGraph.read(graph)
    yield Paragraph(f"{'. '.join(tallies(read))}.")
    if read.added:
        yield Paragraph("What it assumes that is not printed, or printed otherwise:")
        yield Listing(tuple(f"{of}: {what}" for of, what in read.added))
    if graph["gaps"]:
        yield Paragraph("What keeps it from being proved, the nearest first:")
        yield Listing(tuple(graph["gaps"]))
    rows = tuple(
        (each["label"], each["own"], _whole(each, flaws), each["tally"] or each["why"] or "-")
        for each in graph["nodes"]
    )
    head = ("Statement or fact", "Itself", "With all that it rests on", "Its own steps")
    yield Fold("The graph as a table", Grid(f"What {graph['root']} rests on", head, rows))


def _whole(node: Data, flaws: Mapping[str, str]) -> str:
    """The grade of a node with all that it rests on, and why it does not stand where that is so."""
    flaw = flaws.get(node["id"], "")
    return f"{node['with_premises']}: {flaw}" if flaw else str(node["with_premises"])


def _erratum(erratum: Data) -> Node:
    repair = erratum["repair"]
    if erratum["repaired"]:
        repair = f"{repair or 'see the repaired form'} ({erratum['repaired']})"
    evidence: Line = erratum["evidence"]
    rows: list[tuple[str, Line]] = [
        ("Place", erratum["place"]),
        ("Printed", Code(erratum["printed"])),
        ("Repaired", repair or "no repair is known"),
        ("Why", erratum["wrong"]),
        *(
            (f"It refutes {each['key']}", each["evidence"])
            for each in erratum["refutes"]
            if each["evidence"] != erratum["evidence"]
        ),
        ("Counterexample", evidence),
        ("Meant", erratum["meant"]),
        ("Also in", ", ".join(erratum["steps"][1:])),
        ("Consequence", erratum["consequence"]),
        ("To repeat", Code(erratum["command"])),
    ]
    said = tuple(row for row in rows if row[1] != "")
    number = erratum["number"]
    return Section(5, f"Erratum {number}: {erratum['kind']}", f"e-{number}", (Terms(said),))


def _experiments(entry: Data, data: Data) -> Iterator[Node]:
    if not data["counts"]["settings"]:
        yield Paragraph("The paper prints no settings of experiments.")
        return
    if not entry["coverage"]:
        yield Paragraph("It has no condition on a step size, so there is nothing to compare.")
        return
    verdicts: dict[str, None] = {}
    for form in entry["coverage"]:
        if not form["count"]:
            yield Paragraph((Code(form["key"]), ": the paper prints no setting of an experiment with this method."))
            continue
        verdicts |= dict.fromkeys(form["verdicts"])
        labelled = [(label, case) for each in form["settings"] for label, case in _cases(each)]
        several = "; one that leaves a number open has several rows" if len(labelled) > form["count"] else ""
        yield Paragraph((Code(form["key"]), f": {summary.covered(form)}{several}."))
        rows = tuple(
            (label, Code(case["numbers"]), Strong(case["verdict"]), case["reason"]) for label, case in labelled
        )
        yield Grid(
            f"Settings of the experiments against {form['key']}", ("Printed in", "Numbers", "Verdict", "Why"), rows
        )
        conditions = tuple(
            (label, condition["name"], Code(condition["here"]), _held(condition))
            for label, case in labelled
            for condition in case["conditions"]
        )
        if conditions:
            head = ("Printed in", "Condition", "With the printed numbers", "Holds")
            title = f"The conditions of {form['key']} with the printed numbers"
            yield Fold("Every condition with the printed numbers", Grid(title, head, conditions))
    if verdicts:
        yield Terms(tuple((each, summary.verdict_meaning(each)) for each in verdicts))
    remarks = {each["place"]: each["remark"] for form in entry["coverage"] for each in form["settings"]}
    if remarks:
        yield Terms(tuple(remarks.items()))


def _cases(setting: Data) -> Iterator[tuple[str, Data]]:
    """The cases of a setting, each after where it is printed and the numbers in which it differs from the others."""
    numbers = [case["numbers"].split(", ") for case in setting["cases"]]
    common = {each for each, count in Counter(n for those in numbers for n in those).items() if count == len(numbers)}
    for case, those in zip(setting["cases"], numbers, strict=True):
        own = [each for each in those if each not in common]
        yield f"{setting['place']}, {own[0]}" if own else setting["place"], case


def _held(condition: Data) -> str:
    if condition["holds"] is False:
        return f"no: {condition['where']}" if condition["where"] else "no"
    if condition["holds"]:
        return "yes"
    return condition["where"] or f"not known without {', '.join(condition['unknown'])}"


def _searched(entry: Data) -> Iterator[Node]:
    for each in entry["searches"]:
        yield Paragraph((Code(each["key"]), ": ", Strong(words.search_said(each)), _spent(each)))
        if each["counterexample"] is not None:
            yield Paragraph(("The smallest counterexample known: ", *_sentence(each["counterexample"]["latex"])))
        if each["reasons"]:
            yield Listing(tuple(each["reasons"]))
        if each["tightness"] is not None:
            what = "Largest left side over right side that was found"
            yield Paragraph(f"{what}: {each['ratio']}")
        rows = tuple((term["term"], term["ratio"], term["reason"] or "") for term in each["terms"])
        if rows:
            yield Grid(
                "Tightness where one term is nearly all of the bound", ("Term", "Left over right", "Remark"), rows
            )


def _spent(search: Data) -> str:
    stopped = f"; {search['stopped']}" if search["stopped"] else ""
    zero = "; both sides are 0 on all of them" if 0 < search["applicable"] == search["zero"] else ""
    tried = f"{search['evaluations']} instances tried, of which {search['applicable']} meet every condition"
    return f"; {tried}{zero}{stopped}"


def _sentence(text: str) -> Iterator[Part]:
    """A sentence with formulas between dollar signs."""
    for number, piece in enumerate(text.split("$")):
        if piece:
            yield Math(piece) if number % 2 else piece


def _constants(entry: Data) -> Iterator[Node]:
    for each in entry["constants"]:
        premises = ", ".join(each["premises"]) or "facts of its proof"
        yield Paragraph((f"From {premises}: ", Strong(each["verdict"])))
        rows = tuple((constant["place"], str(constant["printed"]), _sharp(constant)) for constant in each["constants"])
        if rows:
            yield Grid(f"Constants of {each['conclusion']}", ("Place", "Printed", "Sharpest by the argument"), rows)


def _sharp(constant: Data) -> str:
    """Exact where that is short, after a sign where smaller ones are not refuted."""
    if constant["exact"] is None:
        return "not known"
    shown = constant["exact"] if len(constant["exact"]) <= _SHORT else str(constant["sharpest"])
    return shown if constant["bracketed"] else f"\N{LESS-THAN OR EQUAL TO} {shown}"
