"""The problem, the numbers and the participation of a check from a user's input, by name or as objects."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from bounds.statement import Statement, number
from ratecheck.algorithms import METHODS
from ratecheck.certification.certified_constants import NOISE
from ratecheck.errors import InputError
from ratecheck.participation import Participation
from ratecheck.participation.build import build, form_of, in_file
from ratecheck.participation.files import read_matrix
from ratecheck.participation.model.pattern import Matrix, PerRound
from ratecheck.problems import Problem, own
from ratecheck.settings.applicability import method_parameters, within
from ratecheck.settings.defaults import completed, completed_on

# What ``--problem`` and ``--participation`` take, or the object itself.
ProblemLike: TypeAlias = str | os.PathLike[str] | Problem
ParticipationLike: TypeAlias = str | os.PathLike[str] | Participation


@dataclass(frozen=True)
class Inputs:
    """Arguments of a verdict: the problem, the line that names it, the numbers, and the participation if given."""

    problem: Problem
    name: str
    values: dict[str, float]
    participation: Participation | None


def prepare(
    statement: Statement, problem: ProblemLike | None, given: Mapping[str, Any]
) -> tuple[Problem, dict[str, float], str]:
    """The problem, the statement's values with defaults, and a line that names the problem.

    ``given`` are values and, for a problem by name, its parameters. Raises `InputError` for a name in ``given`` that is
    neither, and for a problem that cannot be built.
    """
    if statement.instance:
        named = isinstance(problem, str | os.PathLike) and os.fspath(problem) == statement.instance
        if problem is not None and not named:
            raise InputError(f"{statement.key} is a lower bound on {statement.instance} alone: name no other problem")
        problem = statement.instance
    if isinstance(problem, Problem):
        return problem, completed_on(statement, problem, given), _named(problem.kind, problem)
    if problem is not None and not isinstance(problem, str | os.PathLike):
        raise InputError(f"{problem!r} is no problem: give a name, the path of an .npz file, or one of rc.problems")
    if problem is not None and own.is_own(address := os.fspath(problem)):
        # Only here, where a user names the file: what a study or an instance names is never run.
        found = own.get(address)
        return found, completed_on(statement, found, given), _named(address, found)
    inputs = completed(statement, None if problem is None else os.fspath(problem), dict(given))
    name = _named(inputs.problem_name, inputs.problem)
    chosen = _values_text({k: v for k, v in inputs.parameters.items() if k != "n"})
    return inputs.problem, inputs.values, f"{name}, {chosen}" if chosen else name


def prepare_with(
    statement: Statement,
    problem: ProblemLike | None,
    given: Mapping[str, Any],
    participation: ParticipationLike | None,
) -> Inputs:
    """The arguments of a verdict, with a participation whose sizes are taken where ``given`` has none.

    Raises `InputError` also for a number in ``given`` that the participation contradicts.
    """
    if participation is not None and not isinstance(participation, str | os.PathLike | Participation):
        raise InputError(f"{participation!r} is no participation: give a name, a file, or one of rc.participation")
    pattern = os.fspath(participation) if isinstance(participation, os.PathLike) else participation
    sizes: Mapping[str, Any] = {}
    if isinstance(pattern, str):
        sizes = _of_matrix(statement, read_matrix(pattern), pattern, given) if in_file(pattern) else {}
    elif pattern is not None and pattern.matrix is not None:
        sizes = _of_matrix(statement, pattern.matrix, "the participation matrix", given)
    elif pattern is not None:
        sizes = _of_pattern(statement, pattern, given)
    instance, values, name = prepare(statement, problem, {**sizes, **given})
    if pattern is None:
        return Inputs(instance, name, values, None)
    participants = _participants(statement, values, instance.n)
    values = _without_defaults(statement, values, given, pattern)
    if isinstance(pattern, str):
        pattern = build(pattern, instance.n, None if participants is None else int(participants))
    return Inputs(instance, name, values, pattern)


def _participants(statement: Statement, values: Mapping[str, float], n: int) -> float | None:
    """The number of participants that is given, or that the statement fixes; None where neither says it."""
    run = statement.vocabulary.run
    symbol, known = run.get("participants", ""), {run.get("clients", ""): float(n), **values}
    fixed = statement.settings.get(symbol)
    if symbol in values or fixed is None or not within(fixed, known):
        return values.get(symbol)
    return number(fixed, known)


def unused(statement: Statement, given: Mapping[str, Any]) -> tuple[str, ...]:
    """Given symbols that the statement does not depend on, but for settings of the run, on which it need not."""
    vocabulary = statement.vocabulary
    noise = {symbol for symbol, fact in vocabulary.facts.items() if fact in NOISE}
    method = METHODS.get(statement.algorithm or "")
    steps = () if method is None else method.algorithm.step_sizes
    free = {*vocabulary.run.values(), *noise, *method_parameters(statement.algorithm, vocabulary), *steps}
    return statement.unused({k: v for k, v in given.items() if k in vocabulary and k not in free})


def _named(problem_name: str, problem: Problem) -> str:
    return f"{problem_name}: n={problem.n}, {problem.sizes}"


def _values_text(values: Mapping[str, object]) -> str:
    """``n=10 m=9``."""
    return " ".join(
        f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}" for name, value in values.items()
    )


def _of_matrix(statement: Statement, matrix: Matrix, source: str, typed: Mapping[str, Any]) -> dict[str, float]:
    """Clients, rounds and the most that take part in one, as a matrix has them, by symbol.

    Raises `InputError` for a number that was typed and that the matrix contradicts.
    """
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
                raise InputError(f"{symbol}={typed[symbol]:g} contradicts {source}, which has {words}: leave it out")
    return _by_symbol(statement, {"clients": clients, "rounds": rounds, "participants": most})


def _of_pattern(statement: Statement, pattern: Participation, typed: Mapping[str, Any]) -> dict[str, float]:
    """Clients and, where it sets their number, participants of a pattern by symbol; see `_of_matrix`."""
    run, size = statement.vocabulary.run, pattern.size
    sizes = {"clients": pattern.n} | ({} if size is None else {"participants": size})
    for role, value in sizes.items():
        symbol = run.get(role, "")
        if symbol in typed and typed[symbol] != value:
            kind = type(pattern).__name__
            raise InputError(f"{symbol}={typed[symbol]:g} contradicts {kind}, which has {symbol}={value}: leave it out")
    return _by_symbol(statement, sizes)


def _by_symbol(statement: Statement, sizes: Mapping[str, int]) -> dict[str, float]:
    run = statement.vocabulary.run
    return {
        run[role]: float(value) for role, value in sizes.items() if role in run and run[role] not in statement.settings
    }


def _without_defaults(
    statement: Statement, values: Mapping[str, float], typed: Mapping[str, Any], pattern: str | Participation
) -> dict[str, float]:
    """The numbers without defaults that the pattern decides; raises `InputError` for one that it contradicts."""
    vocabulary = statement.vocabulary
    size = vocabulary.run.get("participants", "")
    if isinstance(pattern, str):
        name, form = pattern, form_of(pattern)
        random, own = (form is not None and form.per_round is each for each in (PerRound.RANDOM, PerRound.OWN))
    else:
        name, own = pattern.kind, False
        random = pattern.size is None and not pattern.deterministic
    if random and size in typed:
        raise InputError(
            f"{size}={typed[size]:g} contradicts {name}, where every client takes part on its own: leave one out"
        )
    decided = {symbol for symbol, fact in vocabulary.facts.items() if fact == "delta"}
    decided |= {size} if own or (random and size not in statement.parameters) else set()
    return {name: value for name, value in values.items() if name not in decided or name in typed}
