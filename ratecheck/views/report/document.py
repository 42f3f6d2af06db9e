"""A report of a study as a document: made from its data, but for the figures, which are drawn from the records."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, TypeAlias

from bounds import numbers
from bounds.printing.nodes import (
    Code,
    Document,
    Fold,
    Grid,
    Hyperlink,
    Line,
    Listing,
    Node,
    Paragraph,
    Picture,
    Section,
    Strong,
    Terms,
)
from ratecheck.views.numbers import number

Data = Mapping[str, Any]
# Heads of a table, with the cell of what a row is about.
_Columns: TypeAlias = dict[str, Callable[[Any], Line]]

_MEANS: Mapping[str, str] = {
    "CONFIRMED": "every comparison goes the claimed way, significantly",
    "REFUTED": "more than half of the comparisons go the other way, significantly",
    "MIXED": "some comparisons go the claimed way and some the other, significantly",
    "UNRESOLVED": "anything else: the intervals do not tell",
    "SKIPPED": "a smoke test did not decide it, which says nothing about the study",
}


def document(data: Data, drawings: Mapping[str, Callable[[], str]]) -> Document:
    """The report of these data; ``drawings`` make the figures as SVG, by name."""
    sections = [
        Section(2, "Summary", "summary", tuple(_summary(data))),
        Section(2, "Claims", "claims", tuple(map(_claim, data["claims"]))),
        Section(2, "Figures", "figures", tuple(_figures(data, drawings))),
        Section(2, "Theorems on the curves", "theorems", tuple(_theorems(data))),
        Section(2, "What was run", "settings", tuple(_settings(data))),
    ]
    return Document("Report", data["of"], data["title"], tuple(each for each in sections if each.nodes), data)


def text(data: Data) -> str:
    """The summary in plain text: what ``ratecheck report`` prints."""
    parts = [f"report of {data['of']}: {data['title']}", "", "what was found", f"  {counted(data)}"]
    for each in data["claims"]:
        parts += [f"  {each['verdict']}   {each['figure']}: {each['says']}", f"     {_tally(each)}"]
    parts += ["", "what was not checked", *(f"  {line}" for line in data["not_checked"])]
    return "\n".join(parts)


def counted(data: Data) -> str:
    """The number of claims of each verdict, in one line."""
    counts = data["counts"]
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in counts["verdicts"].items() if count)
    claims = numbers.counted(counts["claims"], "claim")
    return f"{claims}{': ' if verdicts else ''}{verdicts}{' (smoke test)' if data['quick'] else ''}"


def _anchor(name: str) -> str:
    return "c-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


# --- The summary ---


def _summary(data: Data) -> Iterator[Node]:
    yield Section(3, "What was found", "found", tuple(_found(data)))
    listed = Listing(tuple(data["not_checked"]))
    yield Section(3, "What was not checked", "not-checked", (listed,))
    if data["chosen"]:
        chosen = Listing(tuple(data["chosen"]))
        yield Section(3, "Chosen here, where the source leaves a choice", "chosen", (chosen,))
    commands = Terms(tuple((each["what"], Code(each["command"])) for each in data["commands"]))
    yield Section(3, "How would you check this?", "repeat", (commands,))


def _found(data: Data) -> Iterator[Node]:
    yield Paragraph((Strong(counted(data)), "."))
    if not data["claims"]:
        return
    columns: _Columns = {
        "Claim": lambda each: Hyperlink(each["name"], _anchor(each["name"])),
        "Verdict": lambda each: Strong(each["verdict"]),
        "What it says": itemgetter("says"),
        "Source": lambda each: each["source"] or "-",
        "Comparisons": _tally,
    }
    yield Grid.of("Claims", data["claims"], columns)
    verdicts = dict.fromkeys(each["verdict"] for each in data["claims"])
    yield Terms(tuple((verdict, _MEANS[verdict]) for verdict in verdicts))
    at_once, alone = 1 - data["level"], 1 - data["level_of_one_interval"]
    said = f"Every interval is right with probability {alone:.6g}, all of them at once with probability {at_once:.6g}."
    yield Paragraph(said)


def _tally(claim: Data) -> str:
    sides = [each["side"] for each in claim["comparisons"]]
    said = f"{sides.count('agrees')} of {len(sides)} agree"
    against = sides.count("opposes")
    return f"{said}, {against} go significantly the other way" if against else said


# --- A claim ---


def _claim(claim: Data) -> Section:
    nodes: list[Node] = [Paragraph((Strong(claim["verdict"]), f" — {claim['says']}"))]
    rows: list[tuple[str, Line]] = [
        ("Source", claim["source"]),
        ("Figures", ", ".join(filter(None, (claim["figure"], claim["than"])))),
        ("What is compared", claim["judged"]),
        ("Comparisons", _tally(claim)),
        ("Mean ratio", _interval(claim["average"]) if claim["average"] else ""),
        ("Too noisy to tell whether steady", ", ".join(claim["noisy"])),
    ]
    nodes.append(Terms(tuple(row for row in rows if row[1] != "")))
    nodes.append(_comparisons(claim))
    return Section(3, claim["name"], _anchor(claim["name"]), tuple(nodes))


# So many rows of a table are read; more are folded.
_ROWS = 12


def _comparisons(claim: Data) -> Node:
    levels = any(each["level"] is not None for each in claim["comparisons"])
    columns: _Columns = {
        "First": itemgetter("first"),
        "Second": itemgetter("second"),
        **({"Level": lambda each: number(each["level"])} if levels else {}),
        "Second / first": lambda each: _interval(each["ratio"]),
        "Side": lambda each: each["side"] + (f": {each['reason']}" if each["reason"] else ""),
    }
    return _folded("comparisons", Grid.of("Ratios with their simultaneous limits", claim["comparisons"], columns))


def _folded(what: str, grid: Grid) -> Node:
    """The table, folded where it is long."""
    return grid if len(grid.rows) <= _ROWS else Fold(f"All {len(grid.rows)} {what}", grid)


def _interval(interval: Data | None) -> str:
    if interval is None:
        return "-"
    return f"{number(interval['value'])} [{number(interval['low'])}, {number(interval['high'])}]"


# --- Figures, theorems, settings ---


def _figures(data: Data, drawings: Mapping[str, Callable[[], str]]) -> Iterator[Node]:
    for panel in data["panels"]:
        name = panel["name"]
        curves = [each for each in data["curves"] if each["figure"] == name]
        nodes: list[Node] = []
        if name in drawings:
            says = "; ".join(f"{each['curve']}: {_state(each)}" for each in curves)
            instead: Line = ("The figure is drawn by ", Code(f"ratecheck run {data['file']} --only {name}"), ".")
            nodes.append(
                Picture(f"f-{_anchor(name)}", f"{name}: {panel['vary']} varies", says, drawings[name], instead)
            )
        nodes.append(_curves(curves))
        yield Section(3, _heading(panel), f"f-{_anchor(name)}-s", tuple(nodes))


def _heading(panel: Data) -> str:
    return f"{panel['name']}: {panel['repeats']} at admissible step sizes" if panel["repeats"] else str(panel["name"])


def _curves(curves: Sequence[Data]) -> Grid:
    columns: _Columns = {
        "Curve": itemgetter("curve"),
        "Mean of the last rounds": lambda each: _interval(each["steady_state"]),
        "There": _state,
        "Mean of all rounds": lambda each: number(each["mean"]),
        "Rounds to a share of the start": lambda each: (
            ", ".join(f"{share}: {number(rounds)}" for share, rounds in each["rounds_to"].items()) or "-"
        ),
    }
    return Grid.of("The metric on each curve", curves, columns)


def _state(curve: Data) -> str:
    return f"diverged in {curve['diverged']}" if curve["diverged"] else str(curve["steadiness"])


def _theorems(data: Data) -> Iterator[Node]:
    if not data["theory"]:
        return
    admitted = sum(each["admissible"] for each in data["theory"])
    said = (
        f"{admitted} of {len(data['theory'])} bounds are of settings that their theorem admits; the others bound "
        f"nothing, and the condition that is broken stands beside them."
    )
    yield Paragraph(said)
    columns: _Columns = {
        "Curve": _title,
        "Statement": lambda each: Code(each["statement"]),
        "Measured mean": lambda each: number(each["mean"]),
        "Bound": lambda each: number(each["bound"]),
        "Measured / bound": _ratio,
        "Admissible": lambda each: "yes" if each["admissible"] else "no",
        "Broken": lambda each: "; ".join(each["broken"]),
    }
    yield _folded("bounds", Grid.of("Bounds beside the means that they bound", data["theory"], columns))


def _title(curve: Data) -> str:
    return f"{curve['figure']} {curve['curve']}"


def _ratio(theory: Data) -> str:
    if not theory["bound"] or theory["mean"] is None:
        return "-"
    return number(theory["mean"] / theory["bound"])


def _settings(data: Data) -> Iterator[Node]:
    metric = "what the theorems on a curve's method bound" if data["metric"] == "theorem" else _pairs(data["metric"])
    steady = f"{data['window']:g} of all; steady where their two halves differ by less than {data['tolerance']:g}"
    rows: tuple[tuple[str, Line], ...] = (
        ("File", Code(data["file"])),
        ("Metric", metric),
        ("Seed", str(data["seed"])),
        ("Last rounds", steady),
        ("Code", (Code(data["code"]), ", with which cells of the store are named")),
    )
    yield Terms(rows)
    columns: _Columns = {
        "Curve": _title,
        "Algorithm": itemgetter("algorithm"),
        "Who takes part": itemgetter("participation"),
        "Sizes": lambda each: f"m={each['m']}, K={each['K']}, T={each['rounds']}",
        "Step sizes": lambda each: _pairs(each["step_sizes"]),
        "Noise": lambda each: _pairs(each["noise"]) or "-",
        "Replicates": lambda each: str(each["replicates"]),
        "Problem": lambda each: f"{each['problem']}: {_pairs(each['parameters'])}",
    }
    yield Fold(f"All {len(data['curves'])} curves", Grid.of("Settings of the curves", data["curves"], columns))


def _pairs(values: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name}={number(value) if isinstance(value, float) else value}" for name, value in values.items()
    )  # fmt: skip
