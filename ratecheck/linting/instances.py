"""A bound below what simple instances show: below zero, or below the exact left side of a run of one or two rounds."""

from __future__ import annotations

from bounds.statement import Assumption, Relation, Statement
from ratecheck.errors import InputError
from ratecheck.linting.draws import Draws
from ratecheck.linting.finding import Finding, Found, Level, NotChecked, at
from ratecheck.outcome import Outcome
from ratecheck.settings.defaults import completed
from ratecheck.verification.negative_bounds import impossible
from ratecheck.verification.verdict import Verdict
from ratecheck.verification.verify import verify

NEGATIVE, RUN = "negative bound", "short run"
# Rounds and local steps of the runs.
_ROUNDS, _STEPS = (1.0, 2.0), 2.0


def check(statement: Statement, drawn: Draws) -> Found:
    """Both of it."""
    if statement.order_only:
        yield NotChecked(check=RUN, reason="the right side is known only up to a constant")
        return
    yield from _negative(statement, drawn)
    yield from _runs(statement)


def _negative(statement: Statement, drawn: Draws) -> Found:
    """Below zero although the left side never is. The constants drawn need not be those of any problem: a warning."""
    for values in drawn.settings:
        for each in impossible(statement, values):
            names = [name for name in statement.parameters if name in values]
            yield Finding(
                level=Level.WARNING,
                check=NEGATIVE,
                field="right",
                text=f"at {at(values, names)} all conditions hold and the bound is {each.right:.6g}, but {each.left} "
                "is never below 0: the statement is false if a problem has these constants",
                remedy="see whether a sign is wrong, or write the condition that excludes these constants",
                settings=len(drawn.settings),
            )
            return


def _runs(statement: Statement) -> Found:
    """The default problem with all assumptions certified, one round and two, where moments are exact."""
    run = statement.vocabulary.run
    if Assumption.DRAWN_STEP_SIZES in statement.assumptions:
        yield NotChecked(check=RUN, reason="both sides are expectations over the participation, which are sampled")
        return
    reasons: list[str] = []
    decided = False
    for rounds in _ROUNDS:
        given = {run["rounds"]: rounds} if "rounds" in run else {}
        given |= {run["local_steps"]: _STEPS} if "local_steps" in run else {}
        given = {name: value for name, value in given.items() if name not in statement.settings}
        try:
            inputs = completed(statement, None, given)
            verdict = verify(statement, inputs.problem, inputs.values, name=inputs.problem_name)
        except InputError as error:
            reasons.append(str(error))
            continue
        if verdict.outcome is Outcome.VIOLATED and verdict.engine == "exact" and not verdict.supposes:
            yield _violated(verdict, given)
            return
        decided |= verdict.outcome in (Outcome.HOLDS, Outcome.VIOLATED) and verdict.engine == "exact"
        reasons += verdict.reasons or (f"the engine {verdict.engine!r} is not exact",)
    if not decided:
        yield NotChecked(check=RUN, reason=reasons[0] if reasons else "there is no run")


def _violated(verdict: Verdict, given: dict[str, float]) -> Finding:
    run = at(given, list(given))
    worst = verdict.worst
    equal = {claim.name for claim in verdict.statement.claims if claim.relation is Relation.EQUAL}
    sides = "the left side is larger than the bound"
    if worst is not None:
        less = "not the right side" if worst.claim in equal else "larger than the bound"
        sides = f"the left side, {worst.left:.6g}, is {less}, {worst.right:.6g}"
    words = "".join(f" {name}={value:g}" for name, value in given.items())
    return Finding(
        level=Level.ERROR,
        check=RUN,
        field="right",
        text=f"it is violated on the default problem{f' with {run}' if run else ''}: {sides}, computed exactly",
        remedy=f"see its terms with 'ratecheck verify'{' and' if words else ''}{words}",
    )
