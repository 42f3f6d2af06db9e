"""``ratecheck verify``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

import bounds
from bounds.statement import Statement
from bounds.symbols import Role, Vocabulary
from ratecheck.algorithms import METHODS
from ratecheck.checks.asked import Options
from ratecheck.checks.facts import NOISE
from ratecheck.checks.verdict import Outcome, Verdict
from ratecheck.checks.verify import verify
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
from ratecheck.participation.build import build as participation
from ratecheck.problems import Bilevel, Problem
from ratecheck.problems.build import build, dials, features
from ratecheck.views.progress import progress
from ratecheck.views.text import proof_text, values_text, verdict_table, verdict_text

EXIT_CODES = {
    Outcome.HOLDS: 0,
    Outcome.VIOLATED: 1,
    Outcome.NOT_APPLICABLE: 3,
    Outcome.INCONCLUSIVE: 3,
    Outcome.DIVERGED: 3,
}

# Ten clients, nine of them sampled, 25 local steps; by role in the run.
DEFAULTS = {"clients": 10.0, "participants": 9.0, "local_steps": 25.0, "rounds": 400.0}
_NOISE = 0.3
# By fact or by parameter of the method: each client takes part half of the time, and the inner problem is convex.
_OTHERS = {"delta": 0.5, "lambda_": 3.0}


@click.command(name="verify")
@keys_argument
@problem_option
@click.option("--engine", default="auto", show_default=True, metavar="NAME", help="auto, exact or step.")
@seed_option
@click.option("--replicates", default=256, show_default=True, help="Monte Carlo runs at most; fewer where they decide.")
@threads_option
@click.option("--level", default=0.01, show_default=True, help="Error probability of a Monte Carlo verdict.")
@click.option(
    "--participation",
    "pattern",
    metavar="PATTERN",
    help="Who takes part: full, uniform, cyclic, reshuffled, largest, sine, bernoulli:P, markov:JOIN,LEAVE or a file.",
)
@click.option("--traces", default=3, show_default=True, help="Participations that are drawn, where each is a check.")
@click.option(
    "--instance",
    "file",
    type=click.Path(path_type=Path),
    help="Ask again about the instance in this file, which 'ratecheck falsify' wrote; no KEY then.",
)
@click.option("--anyway", is_flag=True, help="Compare even where a step size breaks the statement's conditions.")
@json_option
def command(
    words: tuple[str, ...],
    problem_name: str | None,
    engine: str,
    seed: int,
    replicates: int,
    threads: int | None,
    level: float,
    pattern: str | None,
    traces: int,
    file: Path | None,
    anyway: bool,
    as_json: bool,
) -> int:
    """Compare both sides of statement KEY on a problem and certify every assumption.

    Several KEYs, or a paper's name for all of its statements, end in a table. By default there are 10 clients, 9 of
    them per round, 25 local steps, 400 rounds and noise of size 0.3. Who takes part is what the statement assumes; one
    about any participation is checked on several drawn ones. Step sizes default to the prescribed ones, else to the
    largest admissible product and the smallest outer ones. Other names are dials of the problem, such as coupling=0.3.
    """
    if file is not None:
        return _ask_again(
            file, words, Options(engine, seed, replicates, level, anyway, threads, traces), as_json=as_json
        )
    keys, assignments = divide_words(words)
    statements = select(keys)
    given = parse_values(assignments, *(statement.vocabulary for statement in statements))
    # Many checks in one run share one error budget.
    options = Options(
        engine=engine,
        seed=seed,
        replicates=replicates,
        threads=threads,
        level=level / len(statements),
        anyway=anyway,
        traces=traces,
    )
    verdicts = []
    for statement in statements:
        try:
            verdicts.append(_verify(statement, problem_name, given, options, pattern))
        except InputError as error:
            # Among several statements one that does not fit the request is a result; alone it is an error.
            if len(statements) == 1:
                raise
            verdicts.append(
                Verdict(statement, Outcome.NOT_APPLICABLE, problem_name or "-", "none", {}, reasons=(str(error),))
            )
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


def _ask_again(file: Path, words: tuple[str, ...], options: Options, *, as_json: bool) -> int:
    """Verify what a file says."""
    from ratecheck.checks import instance, rigorous

    if words:
        raise InputError(f"{words[0]!r} and --instance: the file says which statement, problem and numbers")
    found = instance.load(file)
    with progress(f"verifying {found.statement.key}") as report:
        verdict = found.verdict(options, name=str(file), progress=report)
        proof = rigorous.prove(found, options)
    verdict = proof.decides(verdict)
    if as_json:
        print_json({**fields(verdict), "rigorous": proof.fields()})
    else:
        click.echo(f"{verdict_text(verdict)}\n{proof_text(proof)}")
    return exit_code([verdict])


def _verify(
    statement: Statement, problem_name: str | None, given: dict[str, float], options: Options, pattern: str | None
) -> Verdict:
    problem, values, name = prepare(statement, problem_name, given)
    participants = values.get(statement.vocabulary.run.get("participants", ""))
    who = (
        None
        if pattern is None
        else participation(pattern, problem.n, None if participants is None else int(participants))
    )
    with progress(f"verifying {statement.key}") as report:
        return verify(statement, problem, values, options, participation=who, name=name, progress=report)


def _unused(statement: Statement, given: dict[str, float]) -> tuple[str, ...]:
    """Given symbols that the statement does not depend on, but for settings of the run, on which it need not."""
    vocabulary = statement.vocabulary
    noise = {symbol for symbol, fact in vocabulary.facts.items() if fact in NOISE}
    method = METHODS.get(statement.algorithm or "")
    steps = () if method is None else method.algorithm.step_sizes
    free = {*vocabulary.run.values(), *noise, *method_parameters(statement), *steps}
    return statement.unused({k: v for k, v in given.items() if k in vocabulary and k not in free})


def prepare(
    statement: Statement, problem_name: str | None, given: dict[str, float]
) -> tuple[Problem, dict[str, float], str]:
    """The problem, the statement's values with defaults, and a line that names the problem.

    Without a name the problem is the synthetic one of the kind that the statement's method is about.
    """
    vocabulary = statement.vocabulary
    problem_name = problem_name or _kind(statement)
    request = divide(given, dials(problem_name), vocabulary)
    clients = vocabulary.run.get("clients", "n")
    # A problem from a file brings its own number of clients.
    size = {} if problem_name.endswith(".npz") else {"n": given.get(clients, given.get("n", DEFAULTS["clients"]))}
    blocks = _blocks(statement, problem_name, request.dials)
    problem = build(problem_name, {**size, **blocks, **{k: v for k, v in request.dials.items() if k != "n"}})
    values = _defaults(statement, problem)
    name = _named(problem_name, problem)
    chosen = values_text({k: v for k, v in request.dials.items() if k != "n"})
    given_values = {k: v for k, v in request.values.items() if k != "n" or clients == "n"}
    # What the statement fixes is not defaulted, so that a contradiction can only come from the caller.
    defaults = {k: v for k, v in values.items() if k not in statement.settings and not _decided(vocabulary, k, given)}
    return problem, {**defaults, **given_values}, f"{name}, {chosen}" if chosen else name


def _kind(statement: Statement) -> str:
    """The first kind of problem that the method is about; of a statement without one, that of its paper's first."""
    names = (statement.algorithm, *(each.algorithm for each in bounds.siblings(statement)))
    method = METHODS.get(next((name for name in names if name is not None), ""))
    return "quadratic" if method is None else method.algorithm.problem_kinds[0]


def _decided(vocabulary: Vocabulary, symbol: str, given: Mapping[str, object]) -> bool:
    """Whether an alias was given that decides the symbol."""
    return any(symbol in vocabulary.reach(name) for name in given if name in vocabulary)


def _defaults(statement: Statement, problem: Problem) -> dict[str, float]:
    """Settings of the run, noise and parameters of the method under the paper's symbols."""
    vocabulary = statement.vocabulary
    values = {symbol: DEFAULTS[role] for role, symbol in vocabulary.run.items() if role in DEFAULTS}
    if "clients" in vocabulary.run:
        values[vocabulary.run["clients"]] = float(problem.n)
    if "participants" in vocabulary.run:
        values[vocabulary.run["participants"]] = min(DEFAULTS["participants"], float(problem.n))
    for symbol, fact in vocabulary.facts.items():
        if fact in NOISE:
            values[symbol] = 0.0 if _absent(fact, problem) else _NOISE
        elif fact in _OTHERS:
            values[symbol] = _OTHERS[fact]
    return values | {name: _OTHERS[name] for name in method_parameters(statement) if name in _OTHERS}


def method_parameters(statement: Statement) -> tuple[str, ...]:
    """Parameters of the statement's method that its paper counts among the settings, such as lambda_."""
    method, vocabulary = METHODS.get(statement.algorithm or ""), statement.vocabulary
    names = () if method is None else method.algorithm.step_sizes
    return tuple(
        target
        for name in names
        if name in vocabulary
        for target in vocabulary.reach(name)
        if vocabulary[target].role is Role.SETTING
    )


def _absent(fact: str, problem: Problem) -> bool:
    """Whether the noise belongs to a block of variables that the problem lacks."""
    if isinstance(problem, Bilevel):
        return False
    return (fact == "sigma_u" and not problem.d_u) or (fact == "sigma_v" and not problem.d_v)


def _named(problem_name: str, problem: Problem) -> str:
    if isinstance(problem, Bilevel):
        return f"{problem_name}: n={problem.n}, {problem.d_x} upper and {problem.d_y} lower variables"
    return f"{problem_name}: n={problem.n}, {problem.d_u} shared and {problem.d_v} personal variables"


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
                "client": c.client,
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
