"""``ratecheck verify``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

import bounds
from bounds.statement import Statement
from ratecheck.algorithms import METHODS
from ratecheck.certification.certified_constants import NOISE
from ratecheck.commands.arguments import (
    divide_words,
    json_option,
    keys_argument,
    note,
    parse_values,
    print_json,
    problem_option,
    say,
    seed_option,
    threads_option,
)
from ratecheck.commands.audited import audit_fields
from ratecheck.errors import InputError
from ratecheck.outcome import Outcome
from ratecheck.participation import Trace
from ratecheck.participation.build import FILES, form_of, forms
from ratecheck.participation.build import build as participation
from ratecheck.participation.pattern import PerRound
from ratecheck.problems import Problem
from ratecheck.verification.defaults import completed, method_parameters
from ratecheck.verification.setting import Options
from ratecheck.verification.verdict import Verdict
from ratecheck.verification.verify import verify
from ratecheck.views.progress import progress
from ratecheck.views.text import outcome_text, proof_text, values_text, verdict_table, verdict_text

EXIT_CODES = {
    Outcome.HOLDS: 0,
    Outcome.VIOLATED: 1,
    Outcome.NOT_APPLICABLE: 3,
    Outcome.INCONCLUSIVE: 3,
    Outcome.DIVERGED: 3,
}


@click.command(name="verify")
@keys_argument
@problem_option
@click.option("--engine", default="auto", show_default=True, metavar="NAME", help="auto, exact or step.")
@seed_option
@click.option(
    "--replicates", default=1024, show_default=True, help="Monte Carlo runs at most; fewer where they decide."
)
@threads_option
@click.option("--level", default=0.01, show_default=True, help="Error probability of a Monte Carlo verdict.")
@click.option(
    "--participation",
    "pattern",
    metavar="PATTERN",
    help=f"Who takes part: {', '.join(form.form or form.name for form in forms().values())} or a file.",
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
    options = Options(engine, seed, replicates, level, anyway, threads, traces)
    if file is not None:
        return _ask_again(file, words, options, as_json=as_json)
    keys, assignments = divide_words(words)
    statements = select(keys)
    given = parse_values(assignments, *(statement.vocabulary for statement in statements))
    # Many checks in one run share one error budget.
    options = replace(options, level=level / len(statements))
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
            say(verdict_text(verdicts[-1]) + "\n")
    if len(statements) == 1 and (unused := _unused(statements[0], given)):
        note(f"{statements[0].key} does not depend on {', '.join(unused)}")
    if as_json:
        data = [fields(verdict) for verdict in verdicts]
        print_json(data[0] if len(keys) == 1 and not _is_whole(keys[0]) else data)
    elif len(verdicts) > 1:
        say(verdict_table(verdicts))
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
    from ratecheck.verification import instance, rigorous

    keys, assignments = divide_words(words) if words else ((), ())
    if assignments or len(keys) > 1:
        wrong = (*assignments, *keys)[0]
        raise InputError(f"{wrong!r} and --instance: the file says which problem and numbers")
    found = instance.load(file, select(keys)[0] if keys else None)
    with progress(f"verifying {found.statement.key}") as report:
        verdict = found.verdict(options, name=str(file), progress=report)
        proof = rigorous.prove(found, options)
    verdict = proof.decides(verdict)
    if as_json:
        print_json({**fields(verdict), "rigorous": proof.fields()})
    else:
        say(f"{verdict_text(verdict)}\n{proof_text(proof)}")
    return exit_code([verdict])


def _verify(
    statement: Statement, problem_name: str | None, given: dict[str, float], options: Options, pattern: str | None
) -> Verdict:
    typed = given
    if pattern is not None and pattern.endswith(FILES):
        given = {**_of_file(statement, pattern, given), **given}
    problem, values, name = prepare(statement, problem_name, given)
    participants = values.get(statement.vocabulary.run.get("participants", ""))
    if pattern is not None:
        values = _without_defaults(statement, values, typed, pattern)
    who = (
        None
        if pattern is None
        else participation(pattern, problem.n, None if participants is None else int(participants))
    )
    with progress(f"verifying {statement.key}") as report:
        return verify(statement, problem, values, options, participation=who, name=name, progress=report)


def _of_file(statement: Statement, path: str, typed: Mapping[str, float]) -> dict[str, float]:
    """Clients, rounds and the most that take part in one, as a file with a matrix has them, by symbol.

    Raises `InputError` for a number that was typed and that the file contradicts.
    """
    matrix = Trace.from_file(path).matrix
    rounds, clients = matrix.shape
    run = statement.vocabulary.run
    wanted = typed.get(run.get("rounds", ""))
    sizes = matrix[: rounds if wanted is None else max(1, int(wanted))].sum(axis=1)
    least, most = int(sizes.min()), int(sizes.max())
    in_words = f"{most} clients in every round" if least == most else f"between {least} and {most} clients in a round"
    agrees = {
        "clients": (f"{clients} clients", range(clients, clients + 1)),
        "rounds": (f"{rounds} rounds", range(1, rounds + 1)),
        "participants": (in_words, range(least, most + 1) if least == most else range(0)),
    }
    for role, (words, allowed) in agrees.items():
        for symbol in dict.fromkeys((run.get(role, ""), "n" if role == "clients" else "")):
            if symbol in typed and typed[symbol] not in allowed:
                raise InputError(f"{symbol}={typed[symbol]:g} contradicts {path}, which has {words}: leave it out")
    found = {"clients": clients, "rounds": rounds, "participants": most}
    return {
        run[role]: float(value) for role, value in found.items() if role in run and run[role] not in statement.settings
    }


def _without_defaults(
    statement: Statement, values: Mapping[str, float], typed: Mapping[str, float], pattern: str
) -> dict[str, float]:
    """The numbers without defaults that the pattern decides; raises `InputError` for one that it contradicts."""
    vocabulary, form = statement.vocabulary, form_of(pattern)
    size = vocabulary.run.get("participants", "")
    random, own = (form is not None and form.per_round is each for each in (PerRound.RANDOM, PerRound.OWN))
    if random and size in typed:
        raise InputError(
            f"{size}={typed[size]:g} contradicts {pattern}, where every client takes part on its own: leave one out"
        )
    decided = {symbol for symbol, fact in vocabulary.facts.items() if fact == "delta"}
    decided |= {size} if own or (random and size not in statement.parameters) else set()
    return {name: value for name, value in values.items() if name not in decided or name in typed}


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
    """The problem, the statement's values with defaults, and a line that names the problem."""
    asked = completed(statement, problem_name, given)
    name = _named(asked.problem_name, asked.problem)
    chosen = values_text({k: v for k, v in asked.dials.items() if k != "n"})
    return asked.problem, asked.values, f"{name}, {chosen}" if chosen else name


def _named(problem_name: str, problem: Problem) -> str:
    return f"{problem_name}: n={problem.n}, {problem.sizes}"


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
                "left_error": c.left_error,
                "right_error": c.right_error,
                "significant": c.significant,
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
        "headline": outcome_text(verdict),
        "supposes": list(verdict.supposes),
        "impossible": [each.fields() for each in verdict.impossible],
        "audit": audit_fields(verdict.statement),
    }
