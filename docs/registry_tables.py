"""Tables of what the registries have: papers, symbols, methods, problems, and the papers' own tables, checked."""

from __future__ import annotations

import inspect
import math
from collections import Counter
from collections.abc import Callable

import reviews
import sympy as sp
from markdown_parts import code, link, linked, plain, table

import bounds
from bounds.ledger.rate_table import Row, tables
from bounds.ledger.refuted import of_paper
from bounds.roots import shown
from bounds.symbols import Quantity, Role
from ratecheck.algorithms import METHODS, Method
from ratecheck.algorithms.model.algorithm import Group
from ratecheck.complexity.tables import TableReport, check_table
from ratecheck.problems import Constant, Problem
from ratecheck.problems.build import KINDS, build
from ratecheck.views.theory.catalogue import count


def notation() -> str:
    """Every symbol of every paper, by who supplies its value; what papers share is listed with the first of them."""
    parts: list[str] = []
    listed: set[Quantity] = set()
    for paper, vocabulary in ((paper, bounds.vocabulary(paper)) for paper in bounds.PAPERS):
        own = [quantity for quantity in vocabulary if quantity not in listed]
        listed.update(own)
        parts += [f"### {bounds.title(paper)}", ""]
        for role in Role:
            rows = [_defined(quantity) for quantity in own if quantity.role is role]
            parts += [f"#### {_PLURAL[role]}", "", table(_NOTATION, rows)] if rows else []
    return "\n".join(parts)


_NOTATION = ("name", "symbol", "meaning", "domain", "degree in $f$", "degree in $x$")


def _defined(q: Quantity) -> tuple[str, ...]:
    return code(q.name), f"${q.latex}$", plain(q.meaning), q.domain.value, str(q.f_degree), str(q.x_degree)


_PLURAL = {
    Role.SETTING: "Settings of a run",
    Role.FREE: "Free parameters of the analysis",
    Role.CONSTANT: "Constants of a problem",
    Role.STEP_SIZE: "Step sizes",
    Role.MEASURED: "Quantities of a run",
}


def counts() -> str:
    """How many statements of each paper there are, as ``ratecheck list --summary`` counts them."""
    found = {paper: count(paper) for paper in bounds.PAPERS}
    rows = [(plain(bounds.title(paper)), code(paper), *map(str, row.values())) for paper, row in found.items()]
    return table(("paper", "prefix", *next(iter(found.values()))), rows)


def found_in_papers() -> str:
    """Of each paper, how many statements are printed, and which of them the audit refutes."""
    rows = []
    for paper in reviews.PAPERS:
        printed = [each.key for each in bounds.statements(paper) if not each.key.endswith("-repaired")]
        against = {each.key: each.what for each in of_paper(paper) if each.key in printed}
        said = "; ".join(f"{plain(what)}: {count}" for what, count in Counter(against.values()).items())
        listed = ", ".join(map(link, against))
        title = f"[{plain(bounds.title(paper))}](/statements/{paper}/index.md)"
        rows.append((title, str(len(printed)), said or "none refuted", listed or "-"))
    return table(("paper", "statements", "by the audit", "which"), rows)


def left_out(paper: str) -> str:
    """What of a paper is not in the catalogue, and why."""
    rows = [(plain(numbered), linked(reason)) for numbered, reason in bounds.left_out(paper)]
    return table(("in the paper", "why not"), rows) if rows else "Nothing."


def methods() -> str:
    """The registry of methods."""
    rows = [
        (
            code(method.name),
            method.title,
            code(type(method.algorithm).__name__),
            ", ".join(map(code, method.step_sizes)),
            ", ".join(code(f"{name}={value:g}") for name, value in method.fixed.items()) or "nothing",
            _blocks(method),
            "all" if method.full else "any",
        )
        for method in METHODS.values()
    ]
    return table(("name", "method", "algorithm", "step sizes to give", "fixes", "variables", "clients"), rows)


def _blocks(method: Method) -> str:
    if method.algorithm.bilevel:
        return "upper, lower and system"
    if not {*method.algorithm.blocks} <= {"u", "v"}:
        return f"{' and '.join(method.algorithm.blocks)}, each with its partial gradients"
    return " and ".join(name for name, has in (("shared", method.shared), ("personal", method.personal)) if has)


def variables() -> str:
    """Which variables each algorithm keeps where."""
    algorithms = {type(method.algorithm): method.algorithm for method in METHODS.values()}
    rows = [
        (code(type(a).__name__), *(_group(group) for group in (a.server, a.client, a.local, a.message)))
        for a in algorithms.values()
    ]
    return table(("algorithm", "server", "client", "local", "message"), rows)


def _group(group: Group) -> str:
    return ", ".join(f"{code(name)} (on {block})" for name, block in group.items())


def parameters() -> str:
    """The parameters of every kind of problem, with their defaults."""
    names: dict[Callable[..., Problem], list[str]] = {}
    for kind in KINDS.values():
        for form in kind.written:
            maker = getattr(kind, form.maker) if form.maker else kind
            names.setdefault(getattr(maker, "__func__", maker), []).append(code(form.form))
    rows = [
        (", ".join(written), ", ".join(code(f"{p.name}={p.default}") for p in _numeric(maker)))
        for maker, written in names.items()
    ]
    return table(("problem", "parameters and their defaults"), rows)


def _numeric(maker: Callable[..., Problem]) -> list[inspect.Parameter]:
    """Parameters that a command can set, those with a default that is no word."""
    parameters = inspect.signature(maker).parameters.values()
    return [p for p in parameters if p.default is not p.empty and not isinstance(p.default, str)]


def constants() -> str:
    """The constants of three problems, with their certificates."""
    problems = {
        "`quadratic`": build("quadratic", {}),
        "`quadratic`, `coupling=0.3`": build("quadratic", {"coupling": 0.3}),
        "`digits`": build("digits", {}),
    }
    found = {name: problem.constants(sigma_u=0.3, sigma_v=0.3) for name, problem in problems.items()}
    names = next(iter(found.values()))
    rows = [(code(name), *(_certified(each[name]) for each in found.values())) for name in names]
    return table(("constant", *problems), rows)


def _certified(constant: Constant) -> str:
    value = "" if math.isinf(constant.value) else f"{constant.value:.4g}, "
    return f"{value}**{constant.certificate.value}**: {plain(constant.reason)}"


def rate_tables() -> str:
    """The papers' tables, checked: a table each, and below it what decided every row."""
    return "\n".join(_rate_table(check_table(each)) for each in tables().values())


def _rate_table(report: TableReport) -> str:
    printed = report.table
    words = list(dict.fromkeys(column for row in printed.rows for column in row.columns))
    names = {quantity.symbol: quantity.latex for quantity in printed.vocabulary}

    def order(row: Row, column: str) -> str:
        terms = " + ".join(sp.latex(shown(term), symbol_names=names) for term in row.orders[column])
        name = r"\tilde O" if row.hides_logarithms else "O"
        return rf"${name}\left({terms}\right)$"

    rows = [
        (
            plain(checked.row.label),
            *(order(checked.row, column) for column in printed.headers),
            *(plain(checked.row.columns.get(word, "")) for word in words),
            link(checked.row.key),
            plain(checked.headline),
        )
        for checked in report.rows
    ]
    source = printed.source
    lines = [f"### {code(printed.name)}: {plain(printed.title)}", ""]
    lines += [f"{plain(source.number)}, {plain(source.location)}, of {plain(source.paper)}.", ""]
    lines.append(table(("row", *printed.headers.values(), *words, "statement", "verdict"), rows))
    findings = [(checked.row.label, finding) for checked in report.rows for finding in checked.findings]
    findings += [("special case", finding) for finding in report.reductions]
    for label, finding in findings:
        lines.append(
            f"- **{plain(label)}** {code(finding.outcome.value)}{''.join(f' {limit}' for limit in finding.limits)} "
            f"{linked(finding.says)}: {plain(finding.evidence)}"
        )
    return "\n".join([*lines, ""])
