"""A bound below what simple instances show: below zero, or below the exact left side of a run.

The runs are one and two rounds on the default problem, and, where these show nothing, those of a short search.
"""

from __future__ import annotations

from collections.abc import Mapping

from bounds.statement import Assumption, Relation, Statement
from ratecheck.errors import InputError
from ratecheck.falsification.cube_search import Budget
from ratecheck.falsification.falsified import Falsified
from ratecheck.falsification.falsify import falsify_to_the_end
from ratecheck.linting.draws import DrawnSettings
from ratecheck.linting.finding import Finding, Found, Level, NotChecked, at
from ratecheck.outcome import Outcome
from ratecheck.settings.applicability import method_of, steps_of_method
from ratecheck.settings.defaults import completed
from ratecheck.verification.negative_bounds import impossible
from ratecheck.verification.verdict import Verdict
from ratecheck.verification.verify import verify

NEGATIVE, RUN, SEARCH = "negative bound", "short run", "short search"
# Rounds and local steps of the runs.
_ROUNDS, _STEPS = (1.0, 2.0), 2.0


def check(statement: Statement, drawn: DrawnSettings, budget: Budget | None) -> Found:
    """All findings on instances; ``budget`` is that of the search, None for no search."""
    if statement.order_only:
        yield NotChecked(check=RUN, reason="the right side is known only up to a constant")
        return
    yield from _negative(statement, drawn)
    violated = False
    for each in _runs(statement):
        violated |= isinstance(each, Finding)
        yield each
    if not violated:
        yield from _search(statement, budget)


def _negative(statement: Statement, drawn: DrawnSettings) -> Found:
    """Below zero although the left side never is. The constants drawn need not be those of any problem: a warning."""
    for values in drawn.settings:
        for each in impossible(statement.claims, statement.vocabulary, values):
            names = _shown(statement, values)
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
    if statement.instance:
        yield NotChecked(check=RUN, reason=f"it is claimed of {statement.instance} alone")
        return
    if Assumption.DRAWN_STEP_SIZES in statement.assumptions:
        yield NotChecked(check=RUN, reason="both sides are expectations over the participation, which are sampled")
        return
    reasons: list[str] = []
    decided = False
    for rounds in _ROUNDS:
        given = {run["rounds"]: rounds} if "rounds" in run else {}
        given |= {run["local_steps"]: _STEPS} if "local_steps" in run else {}
        given |= steps_of_method(statement)
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


def _search(statement: Statement, budget: Budget | None) -> Found:
    """Violations on small quadratics without noise being sampled, with their numbers."""
    if budget is None:
        yield NotChecked(check=SEARCH, reason="no instance was to be searched")
        return
    if statement.instance:
        yield NotChecked(check=SEARCH, reason=f"it is claimed of {statement.instance} alone")
        return
    method = method_of(statement)
    if method is not None and not method.algorithm.linear:
        yield NotChecked(check=SEARCH, reason=f"{statement.method} is not linear, so that nothing is computed exactly")
        return
    found = falsify_to_the_end(statement, budget)
    if found.stopped:
        yield NotChecked(check=SEARCH, reason=found.stopped)
    elif found.outcome is Outcome.NOT_APPLICABLE:
        yield NotChecked(check=SEARCH, reason=found.reasons[0] if found.reasons else "nothing could be evaluated")
    if found.few and not found.stopped:
        yield NotChecked(
            check=SEARCH, reason=f"{found.applicable} of {found.evaluations} instances meet every condition"
        )
    if (unsure := found.unconfirmed) is not None:
        why = f"{unsure.where} exceeds the bound, which is not confirmed, since {unsure.why}"
        yield NotChecked(check=SEARCH, reason=why)
    verdict = found.verdict
    if found.by_instance and verdict is not None and verdict.engine == "exact" and not verdict.supposes:
        yield _found(found, verdict)


def _shown(statement: Statement, values: Mapping[str, float]) -> list[str]:
    """The parameters that have a value, but for those that the name of the method implies."""
    implied = statement.vocabulary.implied
    return [name for name in statement.parameters if name in values and name not in implied]


def _found(found: Falsified, verdict: Verdict) -> Finding:
    where = at(verdict.values, _shown(found.statement, verdict.values))
    return Finding(
        level=Level.ERROR,
        check=SEARCH,
        field="right",
        text=f"a search of {found.evaluations} instances finds one that violates it, at {where}: {_sides(verdict)}, "
        "computed exactly",
        remedy="see a small counterexample with 'ratecheck falsify'",
    )


def _sides(verdict: Verdict) -> str:
    """The sides of the claim that fails, with their numbers."""
    worst = verdict.worst
    if worst is None:
        return "the left side is larger than the bound"
    equal = {claim.name for claim in verdict.statement.claims if claim.relation is Relation.EQUAL}
    less = "not the right side" if worst.claim in equal else "larger than the bound"
    return f"the left side, {worst.left:.6g}, is {less}, {worst.right:.6g}"


def _violated(verdict: Verdict, given: dict[str, float]) -> Finding:
    run = at(given, list(given))
    words = "".join(f" {name}={value:g}" for name, value in given.items())
    return Finding(
        level=Level.ERROR,
        check=RUN,
        field="right",
        text=f"it is violated on the default problem{f' with {run}' if run else ''}: {_sides(verdict)}, "
        "computed exactly",
        remedy=f"see its terms with 'ratecheck verify'{' and' if words else ''}{words}",
    )
