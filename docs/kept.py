"""What is kept in git of runs that take from minutes to hours: a digest of each, in ``docs/kept``.

    python docs/kept.py NAME WHOLE.json

writes ``docs/kept/NAME.json`` from the whole run, the JSON that a command printed: ``python docs/kept.py`` lists the
names, each with its command. A digest has the numbers that a page shows, and *marks*, short hashes of what it leaves
out, so that a test can tell whether a part that is computed again is what it was.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import re
import statistics
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import bounds
from ratecheck.auditing.finding import StepVerdict
from ratecheck.auditing.graph import READ, Grade, ProofGraph
from ratecheck.auditing.mutation.analysis import MutantStatus
from ratecheck.outcome import Outcome
from ratecheck.views.checks.selftest import textbook_counts
from ratecheck.views.proofs.graph import tallies

FOLDER = Path(__file__).parent / "kept"


@functools.cache
def load(name: str) -> Any:
    """The digest of that name."""
    return json.loads((FOLDER / f"{name}.json").read_text())


def save(name: str, digest: Any) -> None:
    """Keep a digest."""
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{name}.json").write_text(written(digest) + "\n")
    load.cache_clear()


def written(value: Any, indent: str = "", *, row: bool = False) -> str:
    """JSON with a line for every row: an object in a list, if it has no list of objects; a list of numbers or words."""
    items = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    if not any(_has_rows(item) or (not row and isinstance(item, _WIDE[type(value)])) for item in items):
        return json.dumps(value)
    heads = [f"{json.dumps(key)}: " for key in value] if isinstance(value, dict) else [""] * len(items)
    of_list = isinstance(value, list)
    lines = [
        f"{indent} {head}{written(item, indent + ' ', row=of_list)}" for head, item in zip(heads, items, strict=True)
    ]
    opening, closing = "[]" if of_list else "{}"
    return ",\n".join([f"{opening}\n{lines[0]}", *lines[1:]]) + f"\n{indent}{closing}"


_WIDE: dict[type, tuple[type, ...]] = {dict: (dict,), list: (dict, list)}


def _has_rows(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(item, dict) or _has_rows(item) for item in value)


def mark(value: Any) -> str:
    """A short hash of JSON data."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:6]


def short(value: float | None, digits: int = 4) -> float | None:
    """A number with so many digits."""
    return None if value is None or math.isnan(value) else float(f"{value:.{digits}g}") + 0.0


def at(values: Mapping[str, float]) -> str:
    """Values of parameters as text."""
    return ", ".join(f"{name}={value:.4g}" for name, value in values.items())


# --- Audits ---

# The main theorems whose graphs are drawn; one that is false as printed in its repaired form.
DRAWN = (
    "pfl/theorem-3.7",
    "pfl/theorem-3.11",
    "pfl/theorem-4.5",
    "fedsum/theorem-c.1-repaired",
    "fedsum/theorem-d.1-repaired",
    "fedsum/theorem-e.1-repaired",
    "fedsum/theorem-4.1-repaired",
    "flame/theorem-2-unbiased-repaired",
    "flame/theorem-2-biased-repaired",
    "simfbo/theorem-1-repaired",
    "simfbo/theorem-2-repaired",
)
STEP = ("verdict", "basis", "evidence", "repaired", "certified")


def review(found: Mapping[str, Any]) -> dict[str, Any]:
    """One paper's review. What the ledger itself says of a step or of an erratum is left out."""
    audited = [entry for entry in found["statements"] if entry["steps"]]
    steps = [step for entry in audited for step in entry["steps"]]
    false = [step["finding"] for step in steps if step["verdict"] == StepVerdict.FALSE.value]
    return {
        "steps": len(steps),
        "labels": dict(Counter(step["label"] for step in steps)),
        "bases": dict(Counter(step["basis"] for step in steps if step["label"] == step["verdict"])),
        "false": dict(Counter(false)),
        "statements": [concluded(entry) for entry in audited],
        "errata": [
            {
                **{name: each[name] for name in ("evidence", "repaired", "consequence")},
                "step": each["steps"][0],
                "refutes": [one["key"] for one in each["refutes"]],
            }
            for each in found["errata"]
        ],
        "graphs": [graph(ProofGraph.read(each)) for entry in found["statements"] for each in entry["graphs"]],
    }


def concluded(entry: Mapping[str, Any]) -> dict[str, Any]:
    """What the steps of a statement say of it: their verdicts are counted, and each has a mark, in printed order."""
    return {
        "key": entry["key"],
        "standing": entry["standing"],
        "certified": entry["counts"]["certified"],
        "labels": [f"{count} {label}" for label, count in Counter(s["label"] for s in entry["steps"]).items()],
        "reasons": entry["reasons"],
        "marks": " ".join(step_mark(step) for step in entry["steps"]),
    }


def step_mark(step: Mapping[str, Any]) -> str:
    """The mark of a verdict with its numbers; not with the words that tell what a certificate is like."""
    proved = step["basis"] in ("certificate", "solver")
    return mark(["" if proved and name == "evidence" else step[name] for name in STEP])


def graph(found: ProofGraph) -> dict[str, Any]:
    """What a graph is of, its grade, and how many of its nodes and links have which; of those drawn also why."""
    grades = [node.own for node in found.nodes.values()], [link.grade for link in found.links]
    own, links = ([sum(each is grade for each in some) for grade in Grade] for some in grades)
    said = {"tallies": tallies(found), "added": [list(each) for each in found.added], "gaps": list(found.gaps)}
    return {
        "root": found.root,
        "grade": found.grade.value,
        "statements": [node.id for node in found.nodes.values() if not node.is_fact],
        "implied": sum(link.how.startswith("implication") for link in found.links),
        "own": own,
        "links": links,
        "read": found.kinds[READ],
        "missing": len(found.gaps),
        "assumed": len(found.added),
        **(said if found.root in DRAWN else {}),
    }


def remarks(steps: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Of the steps of one paper that hold; a mark for each that was examined whole."""
    every: dict[str, list[Mapping[str, Any]]] = {}
    for step in steps:
        every.setdefault(step["of"], []).append(step)
    holding = [step for own in every.values() for step in own if step["basis"]]
    return {
        "steps": len(holding),
        "in part": sum(not step["asked"] for step in holding),
        "with slack": sum(bool(step["loose"]) for step in holding),
        "constants": sum(len(step["loose"]) for step in holding),
        "unused": [{"step": step["id"], "hypotheses": step["unused"]} for step in holding if step["unused"]],
        "marks": [
            {
                "key": key,
                "places": " ".join(str(place) for place, step in enumerate(own) if step["basis"]),
                "marks": " ".join(slack_mark(step) if step["asked"] else "-" for step in own if step["basis"]),
            }
            for key, own in every.items()
            if any(step["basis"] for step in own)
        ],
    }


def slack_mark(step: Mapping[str, Any]) -> str:
    """The mark of what a step holds without and of the slack of its constants."""
    return mark([list(step["unused"]), list(step["loose"])])


# --- Changed claims ---

# Mutants that are the same or weaker on every instance are counted together.
NO_STRONGER = "no stronger"
_COUNTED = {MutantStatus.SAME.value: NO_STRONGER, MutantStatus.WEAKER.value: NO_STRONGER}
TOLD = (MutantStatus.OPEN.value, MutantStatus.UNSEEN.value)


def mutations(whole: Mapping[str, Any]) -> dict[str, Any]:
    """Of a mutation run, by paper: counts by fate, and of each step those that are not refuted."""
    return {run["paper"]: _mutated(run) for run in whole["summaries"]}


def _mutated(run: Mapping[str, Any]) -> dict[str, Any]:
    by_step: dict[str, list[tuple[str, str]]] = {}
    for row in run["survivors"]:
        by_step.setdefault(row["id"], []).append((row["mutant"], row["reason"]))
    return {
        "steps": run["steps"],
        **{name: _shares(run[name]) for name in ("all", "algebra", "instances")},
        "kinds": {kind: _shares(found) for kind, found in run["kinds"].items()},
        "noticed": run["noticed"],
        "survivors": [{"id": step, **surviving(rows)} for step, rows in by_step.items()],
    }


def _shares(found: Mapping[str, Any]) -> dict[str, Any]:
    return {**found, "share": short(found["share"])}


def surviving(rows: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """How many mutants of a step, with reasons, survive, by fate; a mark of those that may do harm.

    Code moves, so that its line is left out.
    """
    fates = Counter(next(f.value for f in MutantStatus if reason.startswith(f.value)) for _, reason in rows)
    counts: Counter[str] = Counter()
    for fate, count in fates.items():
        counts[_COUNTED.get(fate, fate)] += count
    told = [[re.sub(r" in line \d+ of ", " in ", text), reason] for text, reason in rows if reason.startswith(TOLD)]
    return {**counts, "mark": mark(sorted(told))}


def implications(whole: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Of each implication its verdict, and its constants as printed and at their sharpest."""
    answers = whole["implications"] if isinstance(whole, Mapping) else whole
    return [
        {
            **{name: each[name] for name in ("conclusion", "verdict", "how")},
            "constants": [
                [c["place"], c["printed"], short(c["sharpest"], 9), bool(c["bracketed"])] for c in each["constants"]
            ],
        }
        for each in answers
    ]


def selftest(whole: Mapping[str, Any]) -> dict[str, Any]:
    """Of a self-test all counts; of statements what the page shows; no single mutant but the survivors."""
    same = ("plan", "all", "kinds", "much", "some", "clocked", "contradictions", "instances", "alarms", "monte_carlo")
    columns = ("key", "mutants", "audit", "falsify", "verify", "any", "harmless", "diverged", "undecided", "alarms")
    return {
        **{name: whole[name] for name in same},
        "failures": whole["failures"],
        "open": {name: whole["open"][name] for name in ("diverged", "undecided", "textbook", "causes")},
        "survivors": [{name: each[name] for name in ("key", "reason")} for each in whole["survivors"]],
        "statements": [
            {
                **{name: row[name] for name in columns},
                "tightness": short(row["tightness"], 3),
                "instances": [[count, engine] for engine, count in row["instances"].items()],
            }
            for row in whole["statements"]
        ],
        **_textbook(whole),
    }


def _textbook(whole: Mapping[str, Any]) -> dict[str, Any]:
    return {"textbook": textbook_counts(whole)} if whole.get("twins") else {}


# --- Searches ---


def tightness(whole: Mapping[str, Any]) -> dict[str, Any]:
    """Of a search for the largest left over right side: the largest, and where; that of every term.

    ``searches`` is what `falsify --json` printed of several statements, and ``pep`` has both ends of `--pep` by key.
    """
    searches, terms = [], []
    for found in whole["searches"]:
        worst = found["worst"]
        searches.append(
            {
                **{name: found[name] for name in ("key", "verdict", "evaluations", "shape")},
                "tightness": short(found["tightness"], 10),
                "engine": None if worst is None else worst["engine"],
                "at": "" if worst is None else at(worst["values"]),
                "functions": [short(each) for each in whole["pep"].get(found["key"]) or ()],
            }
        )
        sizes = [*bounds.get(found["key"]).vocabulary.run.values()]
        terms += [{"key": found["key"], **_niche(niche, sizes)} for niche in found["terms"]]
    [one] = [each["instance"] for each in whole["searches"] if each["key"] == AGAIN]
    return {"searches": searches, "terms": terms, "instance": json.dumps(one)}


# The statement of which the instance itself is kept.
AGAIN = "pfl/theorem-3.7"


def _niche(niche: Mapping[str, Any], sizes: Sequence[str]) -> dict[str, Any]:
    where = niche["instance"] or niche["reason"]
    values = niche["values"] if niche["instance"] else {}
    at_sizes = at({name: values[name] for name in sizes if name in values})
    return {"term": niche["term"], "tightness": short(niche["tightness"], 7), "where": where, "at": at_sizes}


def caught(whole: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Of a search for violations of true and wrong statements: how many are refuted, by kind, and which are not."""
    wrong = [each for each in whole if not each["true"]]
    true = [each for each in whole if each["true"]]
    refuted = [each for each in wrong if each["outcome"] == Outcome.VIOLATED.value]
    kinds = Counter(each["kind"] for each in wrong)
    found = Counter(each["kind"] for each in refuted)
    sizes = [each["counterexample"] for each in wrong if "counterexample" in each]
    limits = {"clients": 3, "variables": 2, "digits": 3}
    return {
        "wrong": len(wrong),
        "refuted": len(refuted),
        "half within": sorted(each["evaluations"] for each in refuted)[len(refuted) // 2],
        "true": len(true),
        "accused": sum(each["outcome"] == Outcome.VIOLATED.value for each in true),
        "kinds": {kind: [found[kind], count] for kind, count in kinds.items()},
        "missed": [
            {"key": each["key"], "tightness": short(each["tightness"], 3), "hard": each["hard"]}
            for each in wrong
            if each["outcome"] != Outcome.VIOLATED.value
        ],
        "counterexamples": len(sizes),
        "small": sum(all(each[name] <= most for name, most in limits.items()) for each in sizes),
        "sizes": {
            name: [statistics.median(each[name] for each in sizes), max(each[name] for each in sizes)]
            for name in ("clients", "variables", "rounds", "digits")
        },
    }


def planted(whole: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Of wrong exponents in rate cards: how many are found, as what, by statement, and which are not."""
    passed = [each["verify"] for each in whole if each["left"] is not None]
    rows: dict[str, Counter[str]] = {}
    for each in whole:
        rows.setdefault(each["statement"], Counter()).update([each["found"] if each["caught"] else "missed"])
    shown = ("statement", "row", "parameter", "power", "wanted", "found", "term", "worst", "reason")
    return {
        "tried": len(whole),
        "passed": len(passed),
        "violated": passed.count(Outcome.VIOLATED.value),
        "statements": [{"key": key, **counts} for key, counts in rows.items()],
        "missed": [{name: each[name] for name in shown} for each in whole if not each["caught"]],
    }


def polish(whole: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Of local methods from the same points: the share that each reaches, and in how many evaluations."""
    limit = whole[0]["evaluations"]
    rows = []
    for way in whole[0]["ways"]:
        shares, spent = [], {level: [] for level in (0.9, 0.99, 0.999)}
        for each in whole:
            most = max(run[-1][1] for run in each["ways"].values())
            shares.append(each["ways"][way][-1][1] / most)
            for level, counts in spent.items():
                reached = (count for count, found in each["ways"][way] if found >= level * most)
                counts.append(next(reached, math.inf))
        means = [round(statistics.mean(min(count, limit) for count in counts)) for counts in spent.values()]
        reached = [sum(map(math.isfinite, counts)) for counts in spent.values()]
        mean, least = (round(value, 3) for value in (statistics.mean(shares), min(shares)))
        rows.append({"way": way, "mean": mean, "least": least, "evaluations": means, "reached": reached})
    statements = len({each["key"] for each in whole})
    return {"searches": len(whole), "statements": statements, "evaluations": limit, "ways": rows}


def reach(whole: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Of searches beside worst functions: the largest ratio by evaluations, with seconds."""
    return [
        {
            "theorem": each["theorem"],
            **{
                name: [
                    [run["evaluations"], *(short(run[x], 7) for x in ("least", "largest")), short(run["seconds"], 2)]
                    for run in each[name]
                ]
                for name in ("search", "quadratics")
            },
            "functions": [
                *(short(each["functions"][end], 7) for end in ("lower", "upper")),
                short(each["functions"]["seconds"], 2),
                each["functions"]["programs"],
            ],
            "pepit": [short(each["pepit"]["ratio"], 7), short(each["pepit"]["seconds"], 2)] if "pepit" in each else [],
        }
        for each in whole
    ]


# --- Figures of benchmarks ---


def cores(whole: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Of the times of a step: nanoseconds by engine."""
    engines = ("step", "leap", "JAX", "NumPy")
    return [
        {
            **{name: c[name] for name in ("task", "n", "d", "K")},
            **{e: short(c[e], 9) if c[e] else None for e in engines},
        }
        for c in whole
    ]


def methods(whole: Mapping[str, Mapping[str, float]]) -> list[dict[str, Any]]:
    """Of the times of a local step of every method: microseconds of this, of twins and of another version."""
    return [{"method": name, **{which: short(us, 3) for which, us in row.items()}} for name, row in whole.items()]


def confidence(whole: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Of confidence bounds: how often each is ever wrong, in per cent; a star where that is more than its level."""
    rows: dict[tuple[str, str, str], dict[str, Any]] = {}
    for c in whole:
        row = rows.setdefault((c["kind"], c["case"], c["side"]), {name: c[name] for name in ("kind", "case", "side")})
        row["moment"], row["supposed"] = short(c["moment"]), c["supposed"]
        row.setdefault("looks", []).append([c["level"], c["looks"], round(100 * c["rate"], 1), c["least"] > c["level"]])
    return list(rows.values())


MAKES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "mutations": (mutations, "ratecheck audit --mutate --json"),
    "implications": (implications, "ratecheck implications --sharpest --json"),
    "selftest": (selftest, "the command above the tables of docs/selftest.md"),
    "tightness": (tightness, "ratecheck falsify --json --evaluations 400 KEY..., beside it the values of --pep"),
    "caught": (caught, "python benchmarks/caught.py"),
    "planted": (planted, "python benchmarks/planted.py"),
    "polish": (polish, "python benchmarks/polish.py"),
    "reach": (reach, "python benchmarks/reach.py --out FILE"),
    "one-core": (cores, "python benchmarks/run.py --cores 1 --out FILE"),
    "two-cores": (cores, "python benchmarks/run.py --cores 2 --clients 10 --out FILE"),
    "methods": (methods, "python benchmarks/methods.py --other FOLDER --out FILE"),
    "twins": (methods, "python benchmarks/methods.py --twins --out FILE"),
    "confidence": (confidence, "python benchmarks/confidence.py --out FILE"),
}


def main(words: Sequence[str]) -> None:
    """Keep the digest of a whole run, or list what can be kept."""
    if len(words) != 2 or words[0] not in MAKES:
        lines = (f"  {name:13} {command}" for name, (_, command) in MAKES.items())
        sys.exit("python docs/kept.py NAME WHOLE.json, with NAME one of\n" + "\n".join(lines))
    name, path = words
    save(name, MAKES[name][0](json.loads(Path(path).read_text())))


if __name__ == "__main__":
    main(sys.argv[1:])
