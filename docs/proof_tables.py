"""Tables of what was found about proofs: audits, graphs, implications, changed claims, the self-test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import kept
import reviews
from erratum_cards import card
from markdown_parts import code, link, plain, table

import bounds
from bounds.ledger import steps
from bounds.ledger.fault import FaultKind
from bounds.ledger.implications import PAPERS as IMPLYING
from bounds.ledger.implications import audited, implications
from bounds.ledger.step import Scope
from ratecheck.auditing.finding import SPECIAL, StepVerdict
from ratecheck.auditing.graph import READ, Grade
from ratecheck.auditing.mutation.analysis import MutantStatus


def audit_counts() -> str:
    """How many steps each ledger has, by verdict, and on what the proofs rest."""
    labels = [*(verdict.value for verdict in StepVerdict), SPECIAL]
    kinds = [kind for kind in FaultKind if kind is not FaultKind.MISPRINT]
    rows, by_kind = [], []
    for paper in reviews.PAPERS:
        found, title = reviews.of_paper(paper), plain(bounds.title(paper))
        counts = [found["labels"].get(label, 0) for label in labels]
        bases = [found["bases"].get(basis, 0) for basis in ("certificate", "solver", "instances")]
        rows.append((f"[{title}]({paper}.md)", *map(str, (found["steps"], *counts, *bases))))
        wrong = (str(found["false"].get(kind.value, 0)) for kind in kinds)
        by_kind.append((title, *wrong, str(len(found["errata"]))))
    parts = [table(("paper", "steps", *labels, "certified", "z3 only", "on instances"), rows), ""]
    parts += ["The steps that are FALSE, by kind, and how many causes all errata have, misprints included:", ""]
    return "\n".join([*parts, table(("paper", *(kind.text for kind in kinds), "causes"), by_kind)])


def slack_counts() -> str:
    """How many constants have slack, and how many steps a hypothesis that they do not need, paper by paper."""
    columns = ("steps", "in part", "with slack", "constants")
    rows = [
        (plain(bounds.title(paper)), *(str(found[name]) for name in columns), str(len(found["unused"])))
        for paper, found in kept.load("slack").items()
    ]
    heads = (
        "paper",
        "steps that hold",
        "examined in part",
        "with slack",
        "constants with slack",
        "with a hypothesis not needed",
    )
    return table(heads, rows)


# --- One paper ---


def ledger(paper: str) -> str:
    """What the audit of a paper found: a conclusion for every statement, the errata, and how to see every step."""
    found, errata = reviews.of_paper(paper), reviews.errata(paper)
    head = ("statement", "steps", "certified", "conclusion")
    parts = [table(head, map(_concluded, found["statements"])), ""]
    if errata:
        parts += ["### Errata", "", "One per cause, what matters most first.", ""]
        parts += [line for each in errata for line in card(each)]
    parts += _narrower(paper)
    if unused := kept.load("slack")[paper]["unused"]:
        parts += ["### Hypotheses that are not needed", "", "The claim of the step is proved without them.", ""]
        parts += [
            table(("step", "not needed"), [(code(e["step"]), plain("; ".join(e["hypotheses"]))) for e in unused]),
            "",
        ]
    return "\n".join([*parts, *_graphs(paper)])


def _concluded(entry: Mapping[str, Any]) -> tuple[str, ...]:
    conclusion = f"**{entry['standing']}**" + "".join(f"; {plain(why)}" for why in entry["reasons"])
    return link(entry["key"]), ", ".join(entry["labels"]), str(entry["certified"]), conclusion


def _narrower(paper: str) -> list[str]:
    """The steps that examine another claim than the printed one, with what is narrower."""
    rows = [
        (code(step.id), plain(step.claim), step.scope.value, plain(step.narrower))
        for step in steps(paper)
        if step.scope is not Scope.AS_PRINTED
    ]
    head = ("step", "printed claim", "scope", "what is special or assumed")
    said = "[What the scopes mean](/audit.md#what-is-proved-and-what-is-printed)."
    return ["### Steps that examine less or more than is printed", "", said, "", table(head, rows), ""] if rows else []


def _graphs(paper: str) -> list[str]:
    """The graphs of the main theorems: what is checked, the figure, and what is missing."""
    drawn = [graph for key, graph in reviews.graphs(paper).items() if key in kept.DRAWN]
    rows = [
        (link(graph["root"]), graph["grade"], plain(graph["tallies"][0]), str(graph["read"]), *map(str, graph["own"]))
        for graph in drawn
    ]
    head = ("theorem", "", "links", READ, *(f"itself {grade.value}" for grade in Grade))
    parts = ["### Graphs of the main theorems", "", table(head, rows), ""]
    for graph in drawn:
        key = graph["root"]
        parts += [f"#### {plain(key)}", "", f"![{key}: {graph['grade']}](_static/{reviews.figure(key).name})", ""]
        parts += [plain(line) + "." for line in graph["tallies"]]
        if graph["added"]:
            parts += ["", "Assumed, and not printed or printed otherwise:", ""]
            parts += [f"- {code(of)}: {plain(what)}" for of, what in graph["added"]]
        parts += ["", *(f"{number}. {plain(gap)}" for number, gap in enumerate(graph["gaps"], 1)), ""]
    return parts


# --- Implications ---


def implied() -> str:
    """Every implication with its verdict and constants, as kept, and what is not algebra."""
    answers = iter(kept.load("implications"))
    parts = []
    for paper in IMPLYING:
        rows = [_implication(next(answers), one.premises) for one in implications(paper)]
        head = ("conclusion", "premises", "verdict", "constants: printed → sharpest")
        parts += [f"#### {bounds.title(paper)}", "", table(head, rows), ""]
        by_hand = [(link(key), ", ".join(map(link, used)), plain(why)) for key, used, why in audited(paper)]
        parts += [table(("conclusion", "premises", "not algebra between statements"), by_hand), ""] if by_hand else []
    return "\n".join(parts)


def _implication(answer: Mapping[str, Any], premises: Sequence[str]) -> tuple[str, ...]:
    constants = []
    for place, printed, sharpest, bracketed in answer["constants"]:
        sign = "" if bracketed or sharpest in (None, 0) else "<= "
        least = "?" if sharpest is None else f"{sharpest:.6g}"
        constants.append(plain(f"{place}: {printed:.6g} → {sign}{least}"))
    how = f" ({answer['how']})" if answer["how"] else ""
    return link(answer["conclusion"]), ", ".join(map(link, premises)), answer["verdict"] + how, "; ".join(constants)


# --- Changed claims ---


def mutants() -> str:
    """What became of the mutants of every ledger, as kept, and of how many no check says anything."""
    found = kept.load("mutations")
    kinds = (("all", "all"), ("algebra", "by algebra"), ("instances", "on instances"))
    fates = [fate.value for fate in MutantStatus]
    rows = [
        (plain(paper), str(each["steps"]), words, *(str(each[kind][f]) for f in fates), f"{each[kind]['share']:.1%}")
        for paper, each in found.items()
        for kind, words in kinds
    ]
    share = "refuted of those that may do harm"
    parts = [table(("paper", "steps tested", "claims", *fates, share), rows), ""]
    last, whole = [*found.items()][-1]
    by_kind = [
        (plain(kind), *(str(each[fate]) for fate in fates), f"{each['share']:.1%}")
        for kind, each in whole["kinds"].items()
        if any(each[fate] for fate in fates)
    ]
    parts += [f"Of {plain(last)}, by what is changed:", "", table(("what is changed", *fates, share), by_kind), ""]
    noticed = [(plain(paper), *map(str, each["noticed"].values())) for paper, each in found.items()]
    parts += ["Constants of claims on instances, by the change that an instance noticed:", ""]
    parts += [table(("paper", *whole["noticed"]), noticed), ""]
    survivors = [(code(e["id"]), *(str(e.get(fate, 0)) for fate in kept.TOLD)) for e in _surviving(found)]
    said = "Changes that may do harm and that nothing refutes; `ratecheck audit --step STEP --mutate` names them."
    return "\n".join([*parts, "### Survivors", "", said, "", table(("step", *kept.TOLD), survivors)])


def _surviving(found: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    rows = [row for each in found.values() for row in each["survivors"]]
    return [row for row in rows if any(row.get(fate) for fate in kept.TOLD)]


# --- The self-test ---


def self_test() -> str:
    """Mutants caught by kind and by statement, survivors, valid instances and Monte Carlo, from selftest.json."""
    data = kept.load("selftest")
    kinds = [(row["kind"], *_caught(row)) for row in (*data["kinds"], {"kind": "all", **data["all"]})]
    rows = [
        (
            link(row["key"]),
            *_caught(row),
            "" if row["tightness"] is None else f"{row['tightness']:.3g}",
            plain(", ".join(f"{count} {engine}" for count, engine in row["instances"])),
            str(row["alarms"]),
        )
        for row in data["statements"]
    ]
    survivors = [(code(each["key"]), plain(each["reason"])) for each in data["survivors"]]
    counts, random = data["instances"], data["monte_carlo"]
    alarms = (
        f"Of {sum(counts.values()):,} valid instances, {counts['exact']:,} of them decided by the exact engine, "
        f"{len(data['alarms'])} were called violated."
    )
    rows_open = {name: sum(row[name] for row in data["statements"]) for name in ("diverged", "undecided")}
    every = sum(rows_open.values()) + sum(counts.values())
    left_open = (
        f"Besides, {rows_open['undecided']:,} valid instances were left undecided, and on {rows_open['diverged']:,} "
        f"the run diverged: {sum(rows_open.values()) / every:.1%} of all."
    )
    causes = [(str(count), plain(cause)) for cause, count in data["open"]["causes"].items()]
    monte_carlo = (
        f"Of {random['verdicts']:,} Monte Carlo verdicts at the level {random['level']:g} on each side, "
        f"{random['accused']} called a true statement violated and {random['passed']} said that a false one holds; "
        f"the limit is {random['limit']}."
    )
    papers = " ".join(dict.fromkeys(row["key"].partition("/")[0] for row in data["statements"]))
    plan = " ".join(
        f"--{name} {data['plan'][name]}" for name in ("mutants", "instances", "planted", "evaluations", "seed")
    )
    return "\n".join(
        [
            f"The plan was `ratecheck selftest {papers} {plan} --json`.",
            "",
            "## Mutants",
            "",
            table(("kind", *_CHECKS), kinds),
            "",
            "| false by at least | of statements | mutants | caught by audit or falsify | by falsify |",
            "| --- | --- | --- | --- | --- |",
            *(_false_by(data[name]) for name in ("much", "some")),
            "",
            "## Survivors",
            "",
            "Mutants in the last table that neither audit nor falsify catches.",
            "",
            table(("mutant", "why"), survivors) if survivors else "None.",
            "",
            "## Statements",
            "",
            table(("statement", *_CHECKS, "tightness", "valid instances", "alarms"), rows),
            "",
            "## False alarms",
            "",
            alarms,
            "",
            left_open,
            "",
            *([table(("instances", "cause"), causes), ""] if causes else []),
            *_textbook(data),
            monte_carlo,
            "",
        ]
    )


def _textbook(data: Mapping[str, Any]) -> list[str]:
    """The textbook's false twins, and its true statements over all functions."""
    if "textbook" not in data:
        return []
    found = (
        "Of {twins} false twins of the textbook, {caught} are caught by falsify. Of its {true} true "
        "statements the worst case over all functions covers {covered}, and accuses {accused}."
    )
    return [found.format(**data["textbook"]), ""]


_CHECKS = ("mutants", "audit", "falsify", "verify", "any", "harmless")


def _caught(row: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(row[name]) for name in _CHECKS)


def _false_by(share: Mapping[str, Any]) -> str:
    of = f"tightness above {share['tightness']:g}" if share["tightness"] else "all"
    percent = f" ({share['caught'] / share['mutants']:.0%})" if share["mutants"] else ""
    return f"| {share['factor']:g} | {of} | {share['mutants']} | {share['caught']}{percent} | {share['falsify']} |"
