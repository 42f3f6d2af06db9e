"""``ratecheck verify``."""

from __future__ import annotations

from typing import Any

import click

import bounds
from bounds.statement import Statement
from ratecheck.algorithms import METHODS
from ratecheck.checks.verdict import Outcome, Verdict
from ratecheck.checks.verify import Options, verify
from ratecheck.commands.arguments import (
    divide,
    json_option,
    key_argument,
    parse_values,
    print_json,
    problem_option,
    replicates_option,
    seed_option,
    threads_option,
    values_argument,
)
from ratecheck.problems import Problem
from ratecheck.problems.build import build, dials
from ratecheck.views.progress import progress
from ratecheck.views.text import values_text, verdict_text

EXIT_CODES = {
    Outcome.HOLDS: 0,
    Outcome.VIOLATED: 1,
    Outcome.NOT_APPLICABLE: 3,
    Outcome.INCONCLUSIVE: 3,
    Outcome.DIVERGED: 3,
}

# The paper's experiments: ten clients, nine sampled, 25 local steps.
DEFAULTS = {"n": 10.0, "m": 9.0, "K": 25.0, "T": 400.0, "sigma_u": 0.3, "sigma_v": 0.3}


@click.command(name="verify")
@key_argument
@values_argument
@problem_option
@click.option("--engine", default="auto", show_default=True, metavar="NAME", help="auto, exact or step.")
@seed_option
@replicates_option
@threads_option
@click.option("--level", default=0.01, show_default=True, help="Error probability of a Monte Carlo verdict.")
@click.option("--anyway", is_flag=True, help="Compare even where a step size breaks the statement's conditions.")
@json_option
def command(
    key: str,
    assignments: tuple[str, ...],
    problem_name: str,
    engine: str,
    seed: int,
    replicates: int,
    threads: int | None,
    level: float,
    anyway: bool,
    as_json: bool,
) -> int:
    """Compare both sides of statement KEY on a problem and certify every assumption.

    Settings n, m, K, T, sigma_u, sigma_v default to 10, 9, 25, 400, 0.3, 0.3. Step sizes default to the prescribed ones
    (the largest admissible gamma, the smallest outer ones). Other names are dials of the problem, such as coupling=0.3.
    """
    statement = bounds.get(key)
    problem, values, name = prepare(statement, problem_name, parse_values(assignments))
    options = Options(
        engine=engine, seed=seed, replicates=replicates, threads=threads, level=level, anyway=anyway
    )
    with progress(f"verifying {key}") as report:
        verdict = verify(statement, problem, values, options, name=name, progress=report)
    if as_json:
        print_json(fields(verdict))
    else:
        click.echo(verdict_text(verdict))
    return EXIT_CODES[verdict.outcome]


def prepare(
    statement: Statement, problem_name: str, given: dict[str, float]
) -> tuple[Problem, dict[str, float], str]:
    """The problem, the statement's values with defaults, and a line that names the problem."""
    request = divide(given, dials(problem_name))
    # A problem from a file brings its own number of clients.
    clients = {} if problem_name.endswith(".npz") else {"n": given.get("n", DEFAULTS["n"])}
    options = {**clients, **_blocks(statement, request.dials), **request.dials}
    problem = build(problem_name, options)
    values = {"m": min(DEFAULTS["m"], problem.n), **{k: DEFAULTS[k] for k in ("K", "T", "sigma_u", "sigma_v")}}
    # Parameters that the statement fixes are not defaulted, so that a contradiction can only come from the caller.
    values = {k: v for k, v in values.items() if k not in statement.settings}
    for block, sigma in ((problem.d_u, "sigma_u"), (problem.d_v, "sigma_v")):
        if not block:
            values[sigma] = 0.0
    name = f"{problem_name}: {problem.n} clients, {problem.d_u} shared and {problem.d_v} personal variables"
    chosen = values_text({k: v for k, v in request.dials.items() if k != "n"})
    return problem, {**values, **request.values, "n": float(request.values.get("n", problem.n))}, " ".join([name, chosen]).strip()


def _blocks(statement: Statement, given: dict[str, float]) -> dict[str, float]:
    """Give a statement without personal (or without shared) variables a problem without them."""
    method = METHODS.get(statement.algorithm or "")
    if method is None or "shared" in given or (method.shared and method.personal):
        return {}
    return {"shared": 0} if method.personal else {"shared": given.get("d", 10)}


def fields(verdict: Verdict) -> dict[str, Any]:
    """A verdict as JSON data."""
    return {
        "key": verdict.statement.key,
        "verdict": verdict.outcome.value,
        "slack": verdict.slack,
        "problem": verdict.problem,
        "engine": verdict.engine,
        "claims": [
            {
                "name": c.claim,
                "round": c.round,
                "left": c.left,
                "right": c.right,
                "error": c.error,
                "slack": c.slack,
                "terms": c.terms,
            }
            for c in verdict.comparisons
        ],
        "values": verdict.values,
        "step_sizes": verdict.chosen,
        "constants": {
            c.name: {"value": c.value, "certificate": c.certificate.value, "reason": c.reason}
            for c in verdict.constants.values()
        },
        "assumptions": [a.value for a in verdict.statement.assumptions],
        "conditions": [
            {"name": c.condition.name, "text": c.condition.text, "holds": c.holds} for c in verdict.conditions
        ],
        "vacuous": verdict.vacuous,
        "vacuous_until": verdict.vacuous_until,
        "replicates": verdict.replicates,
        "level": verdict.level,
        "reasons": list(verdict.reasons),
        "notes": list(verdict.notes),
    }
