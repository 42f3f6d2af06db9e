"""Tables of what was found by running: claims of studies, rate cards, classics, searches, times, confidence."""

from __future__ import annotations

import functools
import importlib
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import classics
import kept
import numpy as np
from markdown_parts import code, link, plain, table

import bounds
from bounds.papers.textbook.pairs import PairKind
from bounds.statement import Statement, number
from ratecheck.problems import Quadratic
from ratecheck.settings.setting import Options
from ratecheck.studies.loading import load
from ratecheck.verification.verify import verify

STUDIES = Path(__file__).parents[1] / "experiments"


def claims() -> str:
    """Every claim of the kept studies with its verdict and intervals, the choices, and the theorems on the curves."""
    parts = []
    for name, found in kept.load("claims").items():
        study = load(STUDIES / f"{name}.toml")
        said = {claim.name: claim for claim in study.claims}
        rows = [
            (plain(said[each["name"]].source), plain(said[each["name"]].says), _verdict(each), *_spans(each))
            for each in found["claims"]
        ]
        parts += [f"### {code(name)}", "", plain(study.title) + ".", ""]
        parts += [table(("in the paper", "claim", "verdict", "agree, oppose, of", "ratios", "limits"), rows), ""]
        if study.chosen:
            parts += ["Chosen here:", "", *(f"- {plain(text)}" for text in study.chosen), ""]
        if found["theory"]:
            head = ("figure", "curve", "theorem", "bound", "of the metric", "mean over rounds", "admissible")
            parts += [table(head, _beside(found)), ""]
    return "\n".join(parts)


def _verdict(claim: Mapping[str, Any]) -> str:
    """With the curves of which noise hides whether they are steady, where the claim is about steady states."""
    noisy = ", ".join(claim["noisy"])
    return claim["verdict"] + (plain(f"; not known to be steady: {noisy}") if noisy else "")


def _spans(claim: Mapping[str, Any]) -> tuple[str, ...]:
    count = f"{claim['agree']}, {claim['oppose']}, {claim['comparisons']}"
    if claim["ratios"] is None:
        return count, "", ""
    (low, high), (least, most) = claim["ratios"], claim["limits"]
    end = "∞" if most is None else f"{most:.3g}"
    return count, f"{low:.3g} to {high:.3g}", f"{least:.3g} to {end}"


def _beside(study: Mapping[str, Any]) -> list[tuple[str, ...]]:
    return [
        (
            plain(each["figure"]),
            plain(each["curve"].partition("=")[2]),
            link(each["statement"]),
            *("" if bound is None else f"{bound:.3g}" for bound in (each["bound"], each["metric_bound"])),
            f"{each['mean']:.3g}",
            "yes" if each["admissible"] else "no",
        )
        for each in study["theory"]
    ]


def measured(name: str) -> str:
    """A table of the times of a step, as kept."""
    cells = kept.load(name)

    def ratio(cell: dict, engine: str, other: str) -> str:
        return f"{cell[other] / cell[engine]:.1f}" if cell[engine] else ""

    rows = [
        (
            cell["task"],
            *(str(cell[key]) for key in ("n", "d", "K")),
            *(f"{cell[key]:.1f}" if cell[key] else "" for key in ("step", "leap", "JAX", "NumPy")),
            ratio(cell, "step", "JAX"),
            ratio(cell, "step", "NumPy"),
            ratio(cell, "leap", "JAX"),
        )
        for cell in cells
    ]
    times = ("step, ns", "leap, ns", "JAX, ns", "NumPy, ns")
    return table(("task", "n", "d", "K", *times, "JAX/step", "NumPy/step", "JAX/leap"), rows)


def methods() -> str:
    """A table of the times of a local step of every method, as kept."""
    rows = kept.load("methods")
    base = next(row["own"] for row in rows if row["method"] == "fedavg-p")

    def gain(row: dict) -> str:
        times = row["other"] / row["own"] if "other" in row else None
        return "" if times is None else f"{times:.0f}" if times > 10 else f"{times:.1f}"

    cells = [(row["method"], f"{1000 * row['own']:.3g}", f"{row['own'] / base:.1f}", gain(row)) for row in rows]
    return table(("method", "ns", "of FedAvg-P's", "times as fast as 634e71e"), cells)


def twins() -> str:
    """A table of methods beside the same computation in batched NumPy and in JAX, as kept."""
    others = ("NumPy", "JAX")
    rows = [
        (
            row["method"],
            *(f"{1000 * row[which]:.3g}" for which in ("own", *others)),
            *(f"{row[which] / row['own']:.1f}" for which in others),
        )
        for row in kept.load("twins")
    ]
    return table(("method", "ns", "NumPy, ns", "JAX, ns", "NumPy/this", "JAX/this"), rows)


def coverage(kind: str) -> str:
    """How often confidence bounds of one kind are ever wrong, as kept."""
    found = [each for each in kept.load("confidence") if each["kind"] == kind]
    names = {"any": "any", "decide": "verify"}
    rows = []
    for each in found:
        moments = [] if kind == "rigorous" else ["none" if each["moment"] is None else f"{each['moment']:.4g}"]
        shares = (f"{rate:.1f}" + (r"\*" if beyond else "") for *_, rate, beyond in each["looks"])
        name = each["case"] if each["supposed"] else f"*{each['case']}*"
        rows.append((name, each["side"], *moments, *shares))
    heads = (f"level {100 * level:g}%, {names[looks]}" for level, looks, *_ in found[0]["looks"])
    return table(("values", "bound", *([] if kind == "rigorous" else ["moment"]), *heads), rows)


# --- Rate cards ---


@functools.cache
def _cards() -> dict[str, dict[str, Any]]:
    """The cards as kept, by paper and key."""
    found: dict[str, dict[str, Any]] = kept.load("rates")
    return found


def rate_cards(paper: str) -> str:
    """A paper's cards: per term and parameter both exponents and the verdict; below, what is not attained, and why.

    Rows of its tables that quote other work share one table at the end.
    """
    every = _cards().get(paper, {})
    own = {key: card for key, card in every.items() if key.startswith(f"{paper}/")}
    parts = [_own_card(key, card) for key, card in own.items()]
    quoted = [card for key, card in every.items() if key not in own]
    return "\n".join([*parts, *([_quoted_cards(quoted)] if quoted else [])])


def _own_card(key: str, card: Mapping[str, Any]) -> str:
    names, order = card["parameters"], bounds.get(key).order_only
    says = f"{link(key)}: {card['card']}. Each cell: term → worst case."
    if order:
        says += " Known up to a constant only: exponents are compared, nothing else."
    constants = () if order else ("left/right",)
    rows = [
        (plain(each["row"]), *_rate_cells(each, names), *(_rate_constants(each) for _ in constants))
        for each in card["rows"]
    ]
    return "\n".join(
        [
            f"### {code(key)}",
            "",
            says,
            *_evaluated(card),
            "",
            table(("term", *map(code, names), *constants), rows),
            "",
            *(line for each in card["rows"] for line in _rate_reasons(each)),
            "",
            "The hardest instances:",
            "",
            *map(_hardest, card["rows"]),
            "",
        ]
    )


def _quoted_cards(cards: Sequence[Mapping[str, Any]]) -> str:
    """One table of all rows; what is not attained is seen in its cells."""
    names = list(dict.fromkeys(name for card in cards for name in card["parameters"]))
    rows = [
        (link(card["key"]), plain(each["row"]), *_rate_cells(each, names)) for card in cards for each in card["rows"]
    ]
    return "\n".join(["### Rates of other work", "", table(("rate", "term", *map(code, names)), rows), ""])


def _rate_cells(row: Mapping[str, Any], names: Iterable[str]) -> tuple[str, ...]:
    return tuple(_rate_cell(row["cells"].get(name)) for name in names)


def _rate_cell(cell: Sequence[Any] | None) -> str:
    if cell is None:
        return ""
    term, worst, verdict = cell
    return verdict if term is None else plain(f"{_two(term)} → {_two(worst)}") + f" {verdict}"


def _evaluated(card: Mapping[str, Any]) -> list[str]:
    """What `verify` says of the hardest instances, one per cell at most."""
    if not card["checks"]:
        return []
    outcomes = ", ".join(f"{code(outcome)} on {count}" for outcome, count in card["checks"].items())
    evaluated = sum(card["checks"].values())
    says = (
        f"{code('verify')} evaluated one instance of {evaluated} of the {card['numbers']} cells with numbers: "
        f"{outcomes}. The others are runs that it does not take, mostly for their sizes."
    )
    return [says]


def _two(value: float) -> str:
    return f"{round(value, 2) + 0.0:.2f}".replace("-", "\N{MINUS SIGN}")


def _rate_constants(row: Mapping[str, Any]) -> str:
    if not row["constants"]:
        return "-"
    low, high = (f"{value:.3g}" for value in row["constants"])
    return plain(low if low == high else f"{low} ... {high}")


def _rate_reasons(row: Mapping[str, Any]) -> Iterable[str]:
    for name, by, reason in row["open"]:
        loose = "" if by is None else f" by {name}^{by:.2f}"
        verdict = row["cells"][name][-1]
        yield f"- {plain(row['row'])} in {code(name)}: {verdict}{plain(loose)}, {plain(reason)}"


def _hardest(row: Mapping[str, Any]) -> str:
    if not row["hardest"]:
        return f"- {plain(row['row'])}: none"
    text, name, low, high = row["hardest"]
    return f"- {plain(row['row'])}: {plain(text)}, while {code(name)} runs from {low:g} to {high:g}"


def planted_rates() -> str:
    """What the cards said of wrong exponents, statement by statement, and which they miss."""
    found = kept.load("planted")
    fates = list(dict.fromkeys(fate for each in found["statements"] for fate in each if fate not in ("key", "missed")))
    said = ", ".join(f"{sum(each.get(fate, 0) for each in found['statements'])} {fate}" for fate in fates)
    says = (
        f"Of {found['tried']} wrong exponents {found['tried'] - len(found['missed'])} are found as they should be: "
        f"{said}. An instance passes the wrong bound in {found['passed']} cells; {code('verify')} says "
        f"{code('VIOLATED')} of {found['violated']} of them, and the others are runs that it does not take, or not "
        "exactly enough."
    )
    columns = (*fates, "missed")
    rows = [(link(each["key"]), *(str(each.get(fate, 0)) for fate in columns)) for each in found["statements"]]
    missed = [
        f"- {code(each['statement'])}, {plain(each['row'])} in {code(each['parameter'])}: {_instead(each)}; "
        f"{plain(each['reason'])}"
        for each in found["missed"]
    ]
    return "\n".join([says, "", table(("statement", *columns), rows), "", "Missed:", "", *missed, ""])


def _instead(each: Mapping[str, Any]) -> str:
    if each["found"] != each["wanted"]:
        return f"{each['found']} instead of {each['wanted']}"
    loose = plain(f"x^{each['term'] - each['worst']:.3f}")
    return f"{each['found']} by {loose}, while x to the {_two(each['power'])} was planted"


# --- Searches ---


def caught() -> str:
    """How many wrong statements of the pairs the search refutes by kind, and which it misses, as kept."""
    found = kept.load("caught")
    says = (
        f"Of {found['wrong']} wrong statements {found['refuted']} are refuted, half of them within "
        f"{found['half within']} evaluations, and of {found['true']} true ones {found['accused']} are accused."
    )
    missed = [
        f"- missed: {code(each['key'])}, left / right at most {each['tightness']:.3g}"
        + (f"; needed: {plain(each['hard'])}" if each["hard"] else "")
        for each in found["missed"]
    ]
    rows = [(plain(PairKind[kind.upper()].value), *map(str, counts)) for kind, counts in found["kinds"].items()]
    kinds = table(("what is wrong", "refuted", "of"), rows)
    small = (
        f"Their {found['counterexamples']} counterexamples on quadratics and piecewise quadratic functions, shrunk: "
        f"{found['small']} have at most 3 clients, 2 variables and 3 digits in every numerator and denominator."
    )
    names = {"digits": "digits of a number"}
    sizes = [(names.get(name, name), *(f"{value:g}" for value in both)) for name, both in found["sizes"].items()]
    return "\n".join([says, "", *missed, "", kinds, "", small, "", table(("", "median", "largest"), sizes), ""])


def classic_rows() -> str:
    """The classics by chapter: three answers to each beside the known worst case, as kept."""
    every = classics.rows()
    sharp = [row for row in every if classics.comparable(row)]
    agreeing = [row for row in sharp if classics.agrees(row)]
    refuted = [row for row in every if row["worst"].get("false", {}).get("outcome") == "VIOLATED"]
    says = (
        f"There are {len(every)} theorems. For {len(sharp)} the literature's value is tight, proved or as far as "
        f"computed, and a worst case was enclosed: in {len(agreeing)} rows both ends agree with it within "
        f"{classics.AGREEMENT:.1%}. {len(refuted)} of the theorems are refuted at their numbers where they say twice "
        "as much."
    )
    parts = [says, ""]
    for chapter, rows in itertools.groupby(every, key=lambda row: row["chapter"]):
        doc = importlib.import_module(f"bounds.papers.classics.{chapter}").__doc__ or ""
        header = ("theorem", "verify", "search", "worst case", "known", "found / known", "says twice as much")
        parts += [f"## {chapter.replace('_', ' ').capitalize()}", "", doc, "", table(header, map(_classic_row, rows))]
    return "\n".join(parts)


def _classic_row(row: dict[str, Any]) -> tuple[str, ...]:
    verdict, search, worst = row["verify"], row["search"], row["worst"]
    refused = plain("refused: ")
    at = ", ".join(f"{name}={value:g}" for name, value in row["at"].items())
    outcome = verdict.get("outcome", refused + plain(verdict.get("refused", ""))).replace("_", " ")
    engine = verdict.get("engine", "none")
    slack = "" if engine == "none" else f" ({engine})"
    slack += "" if verdict.get("slack") is None else f", {verdict['slack']:.3g}"
    reasons = "" if not verdict.get("reasons") else f": {plain(verdict['reasons'][0])}"
    tightest = search.get("tightness")
    searched = refused + plain(search.get("refused", "")) if "refused" in search else _ratio(tightest)
    known = plain(row["standing"])
    known += f": {code(row['value'])}, {plain(row['known_from'])}" if row["value"] else ""
    if "refused" in worst:
        return (
            f"{code(row['key'])}: {plain(row['title'])}. {plain(row['source'])}", outcome + slack + reasons, searched,
            refused + plain(worst["refused"]), known, "", "",
        )  # fmt: skip
    enclosed = f"{worst['lower']:.6g} to {worst['upper']:.6g} at {code(at)}; right side {worst['right']:.6g}"
    return (
        f"{code(row['key'])}: {plain(row['title'])}. {plain(row['source'])}",
        outcome + slack + reasons,
        searched,
        enclosed,
        known,
        _ratio(worst["lower"] / worst["known"]) if worst["known"] else "",
        plain(worst["false"]["outcome"].split(" up to")[0]),
    )


def _ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.5g}"


def reach() -> str:
    """How close to tight theorems the search comes by evaluations, beside worst functions and PEPit, as kept."""
    searches, others = [], []
    for each in kept.load("reach"):
        for run, alone in zip(each["search"], each["quadratics"], strict=True):
            found = (f"{_range(*ends)}; {seconds:.2g} s" for _, *ends, seconds in (run, alone))
            searches.append((each["theorem"], str(run[0]), *found))
        *ends, seconds, programs = each["functions"]
        pepit = "{:.7g}; {:.2g} s".format(*each["pepit"]) if each["pepit"] else "-"
        others.append((each["theorem"], f"{_range(*ends)}; {seconds:.2g} s, {programs} programs", pepit))
    first = table(("theorem", "evaluations", "search", "search on quadratics alone"), searches)
    return f"{first}\n\n{table(('theorem', 'worst functions', 'PEPit'), others)}\n"


def polish() -> str:
    """What local methods reach from the same points, and in how many evaluations, as kept."""
    found = kept.load("polish")
    rows = []
    for each in found["ways"]:
        means = (f"{mean} ({reached})" for mean, reached in zip(each["evaluations"], each["reached"], strict=True))
        rows.append((each["way"], f"{each['mean']:.3f}", f"{each['least']:.3f}", *means))
    says = (
        f"{found['searches']} searches of {found['statements']} statements, {found['evaluations']} evaluations each. "
        "Shares are of the largest that any way reaches from the same points; evaluations to so much of it in the "
        "mean, all of them where it is not reached, and in how many searches it is."
    )
    heads = ("way", "share, mean", "share, least", "to 90%", "to 99%", "to 99.9%")
    return f"{says}\n\n{table(heads, rows)}\n"


def _range(low: float, high: float) -> str:
    """Two numbers, or one where they agree to seven digits."""
    one, other = f"{low:.7g}", f"{high:.7g}"
    return one if one == other else f"{one} to {other}"


# --- Tightness ---


_TIGHT = ("pfl/theorem-3.7", "pfl/theorem-3.11", "pfl/theorem-4.5")


def tightness() -> str:
    """The largest left side / right side of every sound theorem, as kept."""
    rows = []
    for found in kept.load("tightness")["searches"]:
        pep = " ... ".join(f"{value:.4f}" for value in found["functions"])
        ratio = "-" if found["tightness"] is None else f"{found['tightness']:.4g}"
        where = "-" if found["shape"] is None else f"{found['shape']}: {_numbers(found['at'])}"
        rows.append((link(found["key"]), ratio, found["engine"] or "-", where, str(found["evaluations"]), pep))
    return table(("statement", "largest left / right", "engine", "instance", "tried", "over all functions"), rows)


def tightness_by_term() -> str:
    """The largest left side / right side found where each term of a theorem decides the bound."""
    rows = []
    for found in kept.load("tightness")["terms"]:
        ratio = "-" if found["tightness"] is None else f"{found['tightness']:.3g}"
        where = "; ".join(filter(None, (plain(found["where"]), _numbers(found["at"]))))
        rows.append((link(found["key"]), plain(found["term"]), ratio, where))
    return table(("statement", "term", "left / right", "instance, or why there is none"), rows)


def _numbers(at: str) -> str:
    return ", ".join(map(code, filter(None, at.split(", "))))


def quarter() -> str:
    """The limits of the ratio for three theorems, and on one quadratic chosen by hand."""
    rows = [(link(key), *(f"{x:.4f}" for x in (_limit(bounds.get(key)), _coupled(key)))) for key in _TIGHT]
    return table(("statement", "limit", "coupled"), rows)


def _cap(statement: Statement) -> float:
    """The largest admissible L*K*gamma with one client."""
    condition = next(c for c in statement.conditions if c.name == "gamma")
    return number(condition.right, {"n": 1.0, "m": 1.0, "K": 1.0, "L": 1.0})


def _limit(statement: Statement) -> float:
    """x/(2(1-exp(-2x))) at x = L*K*gamma: gradient flow between rounds, the first term alone on the right."""
    x = _cap(statement)
    return -x / (2 * math.expm1(-2 * x))


def _coupled(key: str) -> float:
    """Left / right for one client with f = (u+v-1)^2/2, many local steps and many rounds."""
    problem = Quadratic(np.ones((1, 2, 2)), np.ones((1, 2)), shared=1)
    verdict = verify(bounds.get(key), problem, {"m": 1, "K": 1000, "T": 1000}, Options(engine="exact"))
    worst = verdict.worst
    return math.nan if worst is None else worst.left / worst.right
