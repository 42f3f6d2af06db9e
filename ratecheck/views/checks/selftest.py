"""The self-test as plain text and as data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bounds import TEXTBOOK
from ratecheck.plain import picked, plain
from ratecheck.selftesting.audit import AuditStatus
from ratecheck.selftesting.montecarlo import LEVEL
from ratecheck.selftesting.mutants import MutationKind
from ratecheck.selftesting.run import MUCH, SOME, TIGHT, SelfTestReport, added
from ratecheck.selftesting.trial import Trial
from ratecheck.views.numbers import number
from ratecheck.views.width import table

_COUNTS = ("mutants", "audit", "falsify", "verify", "any", "harmless")


def report_text(report: SelfTestReport) -> str:
    """Tables of mutants by kind and by statement, valid instances, survivors, alarms and Monte Carlo."""
    data = plain(report_fields(report))
    by_kind = [[row["kind"], *_cells(row)] for row in (*data["kinds"], {"kind": "all", **data["all"]})]
    parts = [
        "Mutants, how many each check catches, and how many follow by the same argument:",
        table([["kind", *_COUNTS], *by_kind]),
        "",
        table([["statement", *_COUNTS, "tightness", "valid instances", "alarms"], *map(_row, data["statements"])]),
        "",
        *(_share_text(data[name]) for name in ("much", "some")),
        *(f"survivor {each['key']}: {each['reason']}" for each in data["survivors"]),
        *(f"contradiction {each['key']}: {each['reason']}" for each in data["contradictions"]),
        _alarms_text(data),
        *_open_text(data),
        *_textbook_text(data),
        *(f"alarm {alarm.key}: {alarm.left!r} <= {alarm.right!r} ({alarm.engine})" for alarm in report.alarms),
        _monte_carlo_text(data["monte_carlo"]),
        *_clock_text(data["clocked"]),
        *(f"NOT AS IT HAS TO BE: {failure}" for failure in data["failures"]),
    ]
    return "\n".join(parts)


def _cells(row: dict[str, Any]) -> list[str]:
    """Counts, with the share of the mutants that are not harmless."""
    harmful = row["mutants"] - row["harmless"]

    def cell(name: str) -> str:
        share = f" ({100 * row[name] / harmful:.0f}%)" if harmful and name not in ("mutants", "harmless") else ""
        return f"{row[name]}{share}"

    return [cell(name) for name in _COUNTS]


def _row(row: dict[str, Any]) -> list[str]:
    tight = "-" if row["tightness"] is None else number(row["tightness"])
    seen = ", ".join(f"{count} {engine}" for engine, count in row["instances"].items())
    return [row["key"], *_cells(row), tight, seen or "-", str(row["alarms"])]


def _share_text(share: dict[str, Any]) -> str:
    of = f" of statements with tightness above {share['tightness']:g}" if share["tightness"] else ""
    return (
        f"False by a factor of {share['factor']:g} or more{of}: {share['mutants']} mutants, of which {share['caught']} "
        f"are caught by audit or falsify ({share['falsify']} by falsify, {share['from_pool']} known from the pool)"
    )


def _alarms_text(data: dict[str, Any]) -> str:
    seen = ", ".join(f"{count} by {engine}" for engine, count in data["instances"].items())
    return f"Valid instances of sound statements: {seen}; {len(data['alarms'])} called violated"


def _open_text(data: dict[str, Any]) -> list[str]:
    """Valid instances that were left open, by cause."""
    found, decided = data["open"], sum(data["instances"].values())
    left = found["diverged"] + found["undecided"]
    share = f" ({100 * left / (left + decided):.2g}%)" if left else ""
    equal = (
        f", {found['textbook']} of them of the textbook, much of which holds with equality" if found["textbook"] else ""
    )
    first = f"Left open: {found['undecided']} undecided, {found['diverged']} diverged{share}{equal}"
    return [first, *(f"  {count} {cause}" for cause, count in found["causes"].items())]


def _textbook_text(data: dict[str, Any]) -> list[str]:
    """The false twins, and what is accused over all functions."""
    if not data["twins"] and not data["over_functions"]:
        return []
    counts = textbook_counts(data)
    found = (
        "Textbook: {caught} of {twins} false twins are caught by falsify; of {true} true statements "
        "{covered} are covered by the worst case over all functions, {accused} of them accused"
    )
    return [found.format(**counts)]


def textbook_counts(data: Mapping[str, Any]) -> dict[str, int]:
    """The false twins that are caught, and the true statements accused by the worst case over all functions."""
    covered = [each for each in data["over_functions"] if not each["reason"]]
    return {
        "twins": len(data["twins"]),
        "caught": sum(each["caught"] for each in data["twins"]),
        "true": len(data["over_functions"]),
        "covered": len(covered),
        "accused": sum(each["accused"] for each in covered),
    }


def _monte_carlo_text(found: dict[str, Any]) -> str:
    return (
        f"Monte Carlo at level {found['level']:g} on planted equalities: {found['verdicts']} verdicts, "
        f"{found['accused']} call a true statement violated, {found['passed']} say that a false one holds; "
        f"the level explains {found['limit']} of each"
    )


def _clock_text(clocked: Sequence[str]) -> list[str]:
    """The warning that a clock ended searches, where one did."""
    if not clocked:
        return []
    return [f"CLOCK: it ended {len(clocked)} searches early; the counts depend on this machine's speed"]


def report_fields(report: SelfTestReport) -> dict[str, Any]:
    """The report as JSON data, with every mutant."""
    verdicts, accused, passed, most = report.monte_carlo
    return {
        "plan": report.plan,
        "all": counted(report.trials),
        "kinds": [
            {"kind": kind.value, **counted([each for each in report.trials if each.kind is kind])}
            for kind in MutationKind
        ],
        "statements": [
            {
                **picked(each, "key", "tightness", "tried", "instances", "diverged", "undecided", "causes"),
                "alarms": len(each.alarms),
                **counted([trial for trial in report.trials if trial.original == each.key]),
            }
            for each in report.surveys
        ],
        "much": _share(report.false_by(MUCH), MUCH, 0.0),
        "some": _share(report.false_by(SOME, TIGHT), SOME, TIGHT),
        "survivors": [{**trial_fields(each), "reason": reason(each)} for each in report.survivors],
        "clocked": report.clocked,
        "contradictions": [{**trial_fields(each), "reason": contradiction(each)} for each in report.contradictions],
        "instances": added(each.instances for each in report.surveys),
        "open": {
            "diverged": sum(each.diverged for each in report.surveys),
            "undecided": sum(each.undecided for each in report.surveys),
            "textbook": sum(
                each.diverged + each.undecided for each in report.surveys if each.key.startswith(f"{TEXTBOOK}/")
            ),
            "causes": report.causes,
        },
        "twins": report.twins,
        "over_functions": report.functions,
        "alarms": report.alarms,
        "monte_carlo": {"level": LEVEL, "verdicts": verdicts, "accused": accused, "passed": passed, "limit": most},
        "failures": report.failures,
        "mutants": [trial_fields(each) for each in report.trials],
    }


def counted(trials: Iterable[Trial]) -> dict[str, int]:
    """The number of mutants, of those that each check catches, and of those that the audit proves to follow."""
    trials = list(trials)
    return {
        "mutants": len(trials),
        "audit": sum(each.by_audit for each in trials),
        "falsify": sum(each.by_search for each in trials),
        "verify": sum(each.by_verify for each in trials),
        "any": sum(each.caught for each in trials),
        "harmless": sum(each.audit is AuditStatus.HARMLESS and not each.caught for each in trials),
    }


def _share(trials: Sequence[Trial], factor: float, tightness: float) -> dict[str, Any]:
    return {
        "factor": factor,
        "tightness": tightness,
        "mutants": len(trials),
        "caught": sum(each.by_audit or each.by_search for each in trials),
        "falsify": sum(each.by_search for each in trials),
        "from_pool": sum((each.pool_factor or 0.0) >= factor for each in trials),
    }


def reason(trial: Trial) -> str:
    """The change, the factor by which it is false, and the checks that missed it."""
    tight = "" if trial.tightness is None else f", left / right at most {number(trial.tightness)}"
    return (
        f"{trial.kind.value}, {trial.text}; false by {number(trial.factor)} on the pool; falsify: {trial.evaluations} "
        f"instances, {trial.applicable} applicable{tight}; audit: {trial.audit.value}"
    )


def contradiction(trial: Trial) -> str:
    """The change, the reason for which the audit says that it follows, and what violates it."""
    checks = {"falsify": trial.by_search, "verify": trial.by_verify, "pool": (trial.pool_factor or 0.0) > 1}
    by = ", ".join(name for name, violated in checks.items() if violated)
    return (
        f"{trial.kind.value}, {trial.text}; audit: {trial.audit.value}, {trial.evidence}; violated by a factor of "
        f"{number(trial.factor)} ({by})"
    )


def trial_fields(trial: Trial) -> dict[str, Any]:
    """One mutant and what the checks said of it."""
    return {
        **picked(trial, "key", "original", "kind", "text", "audit", "evidence", falsify="searched", verify="verified"),
        "found_factor": _spelled(trial.found_factor),
        "pool_factor": _spelled(trial.pool_factor),
        **picked(trial, "tightness", "evaluations", "applicable", "reasons"),
    }


def _spelled(factor: float | None) -> float | str | None:
    """A factor as JSON has it, which knows no infinity."""
    return "infinite" if factor == math.inf else factor
