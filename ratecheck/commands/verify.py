"""``ratecheck verify``."""

from __future__ import annotations

from typing import Any

import click

import bounds
from bounds.statement import Statement
from bounds.symbols import COMMON
from ratecheck.algorithms import METHODS
from ratecheck.checks.verdict import Outcome, Verdict
from ratecheck.checks.verify import Options, verify
from ratecheck.commands.arguments import (
    divide,
    divide_words,
    json_option,
    keys_argument,
    note,
    parse_values,
    print_json,
    problem_option,
    seed_option,
    threads_option,
)
from ratecheck.errors import InputError
from ratecheck.problems import SingleLevel
from ratecheck.problems.build import build, dials, features
from ratecheck.views.progress import progress
from ratecheck.views.text import values_text, verdict_table, verdict_text

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
@keys_argument
@problem_option
@click.option("--engine", default="auto", show_default=True, metavar="NAME", help="auto, exact or step.")
@seed_option
@click.option("--replicates", default=256, show_default=True, help="Monte Carlo runs at most; fewer where they decide.")
@threads_option
@click.option("--level", default=0.01, show_default=True, help="Error probability of a Monte Carlo verdict.")
@click.option("--anyway", is_flag=True, help="Compare even where a step size breaks the statement's conditions.")
@json_option
def command(
    words: tuple[str, ...],
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

    Several KEYs, or a paper's name for all of its statements, end in a table. Settings n, m, K, T, sigma_u,
    sigma_v default to 10, 9, 25, 400, 0.3, 0.3. Step sizes default to the prescribed ones, else to the largest
    admissible gamma and the smallest outer ones. Other names are dials of the problem, such as coupling=0.3.
    """
    keys, assignments = divide_words(words)
    statements = select(keys)
    given = parse_values(assignments, *(statement.vocabulary for statement in statements))
    # Many checks in one run share one error budget.
    options = Options(
        engine=engine, seed=seed, replicates=replicates, threads=threads, level=level / len(statements), anyway=anyway
    )
    verdicts = []
    for statement in statements:
        try:
            verdicts.append(_verify(statement, problem_name, given, options))
        except InputError as error:
            # Among several statements one that does not fit the request is a result; alone it is an error.
            if len(statements) == 1:
                raise
            verdicts.append(Verdict(statement, Outcome.NOT_APPLICABLE, problem_name, "none", {}, reasons=(str(error),)))
        if not as_json:
            click.echo(verdict_text(verdicts[-1]) + "\n")
    if len(statements) == 1 and (unused := _unused(statements[0], given)):
        note(f"{statements[0].key} does not depend on {', '.join(unused)}")
    if as_json:
        data = [fields(verdict) for verdict in verdicts]
        print_json(data[0] if len(keys) == 1 and not _is_whole(keys[0]) else data)
    elif len(verdicts) > 1:
        click.echo(verdict_table(verdicts))
    return exit_code(verdicts)


def select(keys: tuple[str, ...]) -> list[Statement]:
    """Statements by key; a paper's or a file's name stands for all of its statements that have a value."""
    found: list[Statement] = []
    for key in keys:
        if _is_whole(key):
            valued = [statement for statement in bounds.statements(key) if not statement.order_only]
            if not valued:
                raise InputError(
                    f"{key} has orders only, which have no value to verify; 'ratecheck tables' compares them"
                )
            found += valued
        else:
            found.append(bounds.get(key))
    return found


def _is_whole(key: str) -> bool:
    """Whether the key stands for all statements of a paper or of a file."""
    return key in bounds.PAPERS or key.endswith(bounds.own.SUFFIX)


def exit_code(verdicts: list[Verdict]) -> int:
    """1 where anything is violated, else 3 where anything is undecided, else 0."""
    codes = {EXIT_CODES[verdict.outcome] for verdict in verdicts}
    return 1 if 1 in codes else max(codes)


def _verify(statement: Statement, problem_name: str, given: dict[str, float], options: Options) -> Verdict:
    problem, values, name = prepare(statement, problem_name, given)
    with progress(f"verifying {statement.key}") as report:
        return verify(statement, problem, values, options, name=name, progress=report)


def _unused(statement: Statement, given: dict[str, float]) -> tuple[str, ...]:
    """Given symbols that the statement does not depend on, but for settings of the run, on which it need not."""
    return statement.unused({k: v for k, v in given.items() if k in statement.vocabulary and k not in DEFAULTS})


def prepare(
    statement: Statement, problem_name: str, given: dict[str, float]
) -> tuple[SingleLevel, dict[str, float], str]:
    """The problem, the statement's values with defaults, and a line that names the problem."""
    request = divide(given, dials(problem_name), statement.vocabulary)
    # A problem from a file brings its own number of clients.
    clients = {} if problem_name.endswith(".npz") else {"n": given.get("n", DEFAULTS["n"])}
    blocks = _blocks(statement, problem_name, request.dials)
    problem = build(problem_name, {**clients, **blocks, **request.dials})
    defaults = {**DEFAULTS, "n": float(problem.n), "m": min(DEFAULTS["m"], problem.n)}
    for block, sigma in ((problem.d_u, "sigma_u"), (problem.d_v, "sigma_v")):
        if not block:
            defaults[sigma] = 0.0
    # Parameters that the statement fixes are not defaulted, so that a contradiction can only come from the caller;
    # nor are names that its paper does not have or has for something else.
    shared = {quantity.name for quantity in {*statement.vocabulary} & {*COMMON}}
    values = {k: v for k, v in defaults.items() if k in shared and k not in statement.settings}
    name = f"{problem_name}: n={problem.n}, {problem.d_u} shared and {problem.d_v} personal variables"
    chosen = values_text({k: v for k, v in request.dials.items() if k != "n"})
    return problem, {**values, **request.values}, f"{name}, {chosen}" if chosen else name


def _blocks(statement: Statement, problem_name: str, given: dict[str, float]) -> dict[str, float]:
    """Give a statement without personal (or without shared) variables a problem without them."""
    method = METHODS.get(statement.algorithm or "")
    if method is None or "shared" in given or (method.shared and method.personal):
        return {}
    return {"shared": 0 if method.personal else features(problem_name, given)}


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
