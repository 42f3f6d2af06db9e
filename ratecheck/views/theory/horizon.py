"""The number of rounds that a bound needs, as text and as JSON data."""

from __future__ import annotations

from typing import Any

from ratecheck.complexity.rounds import Horizon, RunCost
from ratecheck.plain import picked, picked_or_none
from ratecheck.stepsizes.typable import steps_text
from ratecheck.views.numbers import number
from ratecheck.views.width import table

_CALLS = {
    "gradient": "local steps, each with one call of the oracle",
    "gradients": "gradients, several in each local step",
    "prox": "inner problems solved",
}


def horizon_text(answer: Horizon) -> str:
    """The rounds, the bound and step sizes there, what they cost, and from where the bound is not vacuous."""
    statement, T = answer.statement, answer.counter
    lines = [f"{statement.key}   {statement.title}"]
    if answer.rounds is not None and answer.point is not None and answer.point.value is not None:
        rows = [("rounds", str(answer.rounds), f"the smallest {T} with a bound of at most {answer.eps:g}")]
        rows.append(("bound", f"{answer.point.value:.10g}", f"at this {T}"))
        for name, value in steps_text(statement, answer.given, answer.point.steps).items():
            if name in statement.vocabulary.implied:
                continue
            how = "minimises the bound" if name in answer.point.minimised else ""
            rows.append((name, value, how))
        lines.append(table(rows))
        if answer.budget is not None:
            lines += _budget(answer.budget)
    elif answer.eps is not None:
        lines.append(f"no {T} gives a bound of at most {answer.eps:g}: {answer.why}")
    lines.append(_vacuity(answer))
    return "\n".join(lines)


def _vacuity(answer: Horizon) -> str:
    if answer.trivial is None:
        return "nothing is known without the statement that it could be compared with"
    known, T = f"{number(answer.trivial)}, which smoothness alone gives", answer.counter
    if answer.vacuous_until is None:
        return f"vacuous at every {T}: never below {known}"
    return f"not vacuous from {T} = {answer.vacuous_until}: below {known}"


def _budget(budget: RunCost) -> list[str]:
    who = (
        "by one client that takes part in every round"
        if budget.participants is None
        else f"by {budget.participants:g} participants per round"
    )
    rows = []
    for label, vectors in (("received", budget.received), ("sent", budget.sent)):
        listed = " + ".join(f"{count:g} {block}-vectors" for block, count in vectors.items())
        rows.append((label, listed or "nothing", f"{who}{_share(budget) if label == 'sent' else ''}"))
    calls = "unknown" if budget.calls is None else f"{budget.calls:g}"
    rows.append(("oracle", calls, _CALLS[budget.oracle]))
    return table(rows).splitlines()


def _share(budget: RunCost) -> str:
    """Of compressed vectors, how much of them is sent."""
    if budget.sent_share == 1.0:
        return ""
    share = "q" if budget.sent_share is None else f"q={number(budget.sent_share)}"
    return f", of their coordinates the share {share} on average"


def horizon_fields(answer: Horizon) -> dict[str, Any]:
    """The answer as JSON data."""
    point = answer.point
    return {
        **picked(answer, key="statement.key", eps="eps", rounds="rounds", counter="counter"),
        "bound": None if point is None else point.value,
        "step_sizes": {} if point is None else point.steps,
        "minimised": [] if point is None else point.minimised,
        **picked(answer, "why", "vacuous_until", "trivial"),
        "cost": picked_or_none(answer.budget, "participants", "received", "sent", "sent_share", "oracle", "calls"),
    }
