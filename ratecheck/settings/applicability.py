"""The applicability of a statement: its method, its participation, and whether problems and runs know its symbols."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping

import numpy as np
import sympy as sp

import bounds
from bounds.incompatible import incompatible
from bounds.numbers import as_float
from bounds.statement import Assumption, Given, Statement
from bounds.symbols import Domain, Role, Vocabulary
from ratecheck.algorithms import METHODS, Method, unknown
from ratecheck.certification.assumptions import CERTIFICATION
from ratecheck.certification.certified_constants import NOISE
from ratecheck.certification.uncertified import OPERATORS, of_operators, takes_partial_gradients
from ratecheck.errors import InputError
from ratecheck.participation import Participation
from ratecheck.problems import Problem


def method_of(statement: Statement) -> Method | None:
    """The method that runs; where the paper counts no local steps, with its inner problems solved exactly."""
    name = statement.algorithm
    if name is None:
        return None
    if name not in METHODS:
        place = bounds.own.place_of(statement)
        where = f"{place}: " if place else ""
        raise InputError(f"{where}{statement.key} is about no known method: {unknown(name)}")
    method = METHODS[name]
    return METHODS[method.exact] if method.exact and "local_steps" not in statement.vocabulary.run else method


def steps_of_method(statement: Statement) -> dict[str, float]:
    """The number of local steps that the statement's method takes, by symbol, where there is only one."""
    name, method = statement.vocabulary.run.get("local_steps"), method_of(statement)
    return {} if name is None or method is None or "K" not in method.fixed else {name: method.fixed["K"]}


def every_participation(statement: Statement) -> bool:
    """Whether the statement is about every participation by itself: it assumes no law of it, and averages over nothing.

    It says so, or its paper knows no noise, so that given the participation nothing is random.
    """
    assumptions, facts = {*statement.assumptions}, statement.vocabulary.facts.values()
    if assumptions & {*LAWS, Assumption.INDEPENDENT_PARTICIPATION, Assumption.DRAWN_STEP_SIZES}:
        return False
    return Assumption.OBLIVIOUS_PARTICIPATION in assumptions or not {*facts} & {*NOISE}


def certifiable(statement: Statement) -> dict[str, str]:
    """Symbols that need a certificate, each with the fact's name.

    Those of the statement's parameters, of its assumptions, and inside what is derived for it.
    """
    vocabulary = statement.vocabulary
    assumed = [vocabulary.called(name) for assumption in statement.assumptions for name in assumption.constants]
    derived = [vocabulary.derived[name] for name in statement.parameters if name in vocabulary.derived]
    inside = sorted({s.name for expr in derived for s in expr.free_symbols}, key=vocabulary.order.__getitem__)
    return {
        name: vocabulary.facts[name]
        for name in [*statement.parameters, *assumed, *inside]
        if name in vocabulary and name in vocabulary.facts and vocabulary[name].role is not Role.MEASURED
    }


def check_expectations(statement: Statement, what: str) -> None:
    """Raise `InputError` for a claim about the probability of runs, or one problem, which ``what`` is not about."""
    if statement.instance:
        why = f"{what} is about all problems: 'ratecheck verify' judges it"
        raise InputError(f"{statement.key} is a lower bound on {statement.instance} alone, and {why}")
    if statement.in_probability:
        about = f"{what} is about expectations: 'ratecheck verify' counts runs"
        raise InputError(f"{statement.key} claims something with a probability, and {about}")


def foreign(statement: Statement) -> tuple[str, ...]:
    """The parts of a statement that problems and runs do not know, or know as something else, in words.

    A default is no certificate. A free parameter of the analysis needs none: the statement holds whatever it is.
    """
    vocabulary = statement.vocabulary
    method = METHODS.get(statement.algorithm or "")
    own = set(method.algorithm.step_sizes) if method else set()
    parameters = own | {target for name in own for target in vocabulary.reach(name) if name in vocabulary}
    known = {*vocabulary.run.values(), *vocabulary.facts, *parameters}
    # A product of step sizes is known by those of the method.
    known |= {name for product in statement.step_products if product.names & known for name in product.names}

    def unknown(name: str) -> bool:
        role = vocabulary[name].role
        if name in known or role is Role.FREE or (role is Role.STEP_SIZE and method is None):
            return False
        return name not in vocabulary.derived or any(unknown(s.name) for s in vocabulary.derived[name].free_symbols)

    def unknown_with(*roles: Role) -> list[str]:
        return [name for name in statement.parameters if vocabulary[name].role in roles and unknown(name)]

    certified, steps = unknown_with(Role.SETTING, Role.CONSTANT), unknown_with(Role.STEP_SIZE)
    left = sorted((n for n in statement.measured if unknown(n)), key=vocabulary.order.__getitem__)
    title = "" if method is None else method.title
    found = (
        ("no problem certifies", certified),
        (f"no run of {title} takes the step size", steps),
        ("no run measures", left if not certified else []),
    )
    unknowns = [f"{what} {', '.join(names)} yet" for what, names in found if names]
    if steps and method is not None:
        taken = ", ".join(method.step_sizes)
        unknowns.append(f"{title} takes {taken}: step_products say what {', '.join(steps)} is made of")
    return (*unknowns, *_otherwise(statement, method), *_uncertifiable(statement))


def _otherwise(statement: Statement, method: Method | None) -> Iterator[str]:
    """Step sizes of the statement that its method sets to a number, and which it does not set to the same, in words."""
    if method is None:
        return
    said = {**statement.settings, **{rule.symbol.name: rule.value for rule in statement.step_rules}}
    numbers = {name: float(value) for name, value in said.items() if sp.sympify(value).is_number}
    for name, value in method.fixed.items():
        spoken = name in statement.parameters and statement.vocabulary[name].role is Role.STEP_SIZE
        if spoken and numbers.get(name) != value:
            yield f"{method.title} sets {name} to {value:g}, and the statement does not"


def _uncertifiable(statement: Statement) -> Iterator[str]:
    """Assumptions that nothing certifies, whatever the problem, and those that no function meets together."""
    yield from (entry.text for entry in incompatible(statement.assumptions))
    for assumption in statement.assumptions:
        fits = CERTIFICATION[assumption].fits
        if fits is not None and not fits(statement):
            yield f"nothing certifies its assumption: {assumption.value}"
    if takes_partial_gradients(statement.algorithm) and not of_operators(statement.assumptions):
        yield (
            f"{statement.method} takes partial gradients, which only min-max problems have, and the statement "
            f"assumes none of {OPERATORS}, or something of functions besides"
        )


def method_parameters(algorithm: str | None, vocabulary: Vocabulary) -> tuple[str, ...]:
    """Parameters of a statement's method that its paper counts among the settings, such as lambda_."""
    method = METHODS.get(algorithm or "")
    names = () if method is None else method.algorithm.step_sizes
    return tuple(
        target
        for name in names
        if name in vocabulary
        for target in vocabulary.reach(name)
        if vocabulary[target].role is Role.SETTING
    )


def miscounted(name: str, entries: int, n: int) -> InputError:
    """The error of a list that is not one number per client."""
    wanted = f"give one number, or {n}, one per client"
    return InputError(f"{name} has {entries} entries: {wanted}; from Python rc.sweep takes several settings")


def steps_of_all(statement: Statement, given: Given, n: int) -> tuple[Given, str]:
    """What is given, with one number of local steps for all n clients; and why not, without it, where they differ.

    A statement that knows the clients' own numbers is given these as they are. Raises `InputError` for a list that is
    not one number per client.
    """
    symbol = statement.vocabulary.run.get("local_steps", "")
    if symbol not in given or np.isscalar(given[symbol]):
        return given, ""
    steps = [as_float(f"{symbol}[{i}]", each) for i, each in enumerate(np.ravel(given[symbol]))]
    if len(steps) != n:
        raise miscounted(symbol, len(steps), n)
    if len({*steps}) == 1:
        return {**given, symbol: steps[0]}, ""
    for each in steps:
        statement.vocabulary[symbol].check(each)
    listed = ",".join(f"{each:g}" for each in steps)
    why = f"{symbol}={listed} differs by client, but the statement is about {symbol} local steps of every client"
    return {name: value for name, value in given.items() if name != symbol}, why


def counts(statement: Statement) -> tuple[str, ...]:
    """Whole numbers of the analysis that fix a size of the run, such as the epochs of ``T = n*epochs + 1``."""
    vocabulary, sizes = statement.vocabulary, {*statement.vocabulary.run.values()}
    inside = {s.name for name, expr in statement.settings.items() if name in sizes for s in expr.free_symbols}
    return tuple(
        name
        for name in sorted(inside, key=vocabulary.order.__getitem__)
        if vocabulary[name].role is Role.FREE and vocabulary[name].domain is Domain.POSITIVE_INTEGER
    )


# Assumptions about the participants, from the number of participants alone.
LAWS = tuple(
    assumption
    for assumption, entry in CERTIFICATION.items()
    if (entry.law or entry.selects) and assumption is not Assumption.INDEPENDENT_PARTICIPATION
)


# Laws that everybody in every round is no case of.
_NEVER_ALL = {Assumption.INDEPENDENT_PARTICIPATION, Assumption.WEIGHTED_DRAWS}


# What describes the participation without a number of participants.
NO_SIZE = {Assumption.FULL_PARTICIPATION, Assumption.INDEPENDENT_PARTICIPATION}


def unlike(statement: Statement, problem: Problem, pattern: Participation, size: int) -> str | None:
    """Why a participation is not the one that the statement is about, on this problem."""
    n = pattern.n
    if Assumption.FULL_PARTICIPATION in statement.assumptions and pattern.rate < 1:
        symbol = statement.vocabulary.run.get("participants", "m")
        return f"{symbol}={pattern.rate * n:g}, but the statement is about full participation"
    method = method_of(statement)
    mixed = method is not None and method.algorithm.mixed
    if mixed and pattern.mixes < 1 and Assumption.RANDOM_MIXING not in statement.assumptions:
        return f"a round mixes with probability {pattern.mixes:g}, but the statement is about rounds that all mix"
    everybody = pattern.rate == 1
    for assumption in _laws(frozenset(statement.assumptions)):
        if assumption not in pattern.satisfies:
            if everybody and size in (0, n) and assumption not in _NEVER_ALL:
                continue
            return f"a pattern of the kind {pattern.kind}, but the statement is about {assumption.value}"
    weighted = {Assumption.WEIGHTED_SUBSETS, Assumption.WEIGHTED_DRAWS} & {*statement.assumptions}
    if weighted and pattern.weights is not None and not np.allclose(pattern.weights, problem.shares, rtol=1e-12):
        return "the weights by which clients are drawn are not those of the objective"
    participants = statement.vocabulary.run.get("participants")
    if counts_participants(statement) and pattern.rate < 1 and pattern.size != size:
        here = "differs from round to round" if pattern.size is None else f"is {pattern.size}"
        return f"{participants}={size} clients take part in a round, says the statement, but how many do here {here}"
    return None


@functools.cache
def _laws(assumptions: frozenset[Assumption]) -> tuple[Assumption, ...]:
    """The assumptions on the law of the participation, in the order of `CERTIFICATION`."""
    return tuple(each for each, entry in CERTIFICATION.items() if entry.law and each in assumptions)


def counts_participants(statement: Statement) -> bool:
    """Whether the statement says how many clients take part in a round: by a parameter, or by a number."""
    participants = statement.vocabulary.run.get("participants")
    fixed = statement.settings.get(participants or "")
    return participants in statement.parameters or (fixed is not None and bool(fixed.is_number))


def averages(statement: Statement) -> bool:
    """Whether clients on a graph all take the mean over everybody when they mix, says the statement: W = 11'/n."""
    rates = [name for name, fact in statement.vocabulary.facts.items() if fact == "mixing_rate"]
    return any(statement.settings.get(name) == 0 for name in rates)


def free_sizes(statement: Statement) -> frozenset[str]:
    """Sizes of the run, and the longest delay, that no other number decides, whether or not a formula names them.

    Participants are one where they are drawn by their number, the delay where any participation is meant.
    """
    vocabulary, assumptions = statement.vocabulary, {*statement.assumptions}
    roles = {"clients", "local_steps", "rounds"} | ({"participants"} if assumptions & ({*LAWS} - NO_SIZE) else set())
    found = {name for role, name in vocabulary.run.items() if role in roles}
    if every_participation(statement) and not assumptions & {*LAWS, *NO_SIZE}:
        found |= {name for name, fact in vocabulary.facts.items() if fact == "tau_max"}
    decided = {name for name, expr in statement.settings.items() if expr.free_symbols}
    return frozenset(found - decided - {*steps_of_method(statement)})


def within(expr: object, values: Mapping[str, float]) -> bool:
    """Whether all symbols of an expression are known."""
    return {s.name for s in expr.free_symbols} <= values.keys()  # type: ignore[attr-defined]


def step_source(statement: Statement) -> Statement | None:
    """The first statement that it follows from, nearest first, that says which step sizes to take."""
    queue = list(statement.follows_from)
    for key in queue:
        found = bounds.get(key)
        if found.step_rules:
            return found
        queue += [each for each in found.follows_from if each not in queue]
    return None


def built_on(statement: Statement) -> Statement | None:
    """A statement of the paper on the same method that says which step sizes to take: the nearest that follows from it.

    Where none does, the first.
    """
    others, reached = bounds.siblings(statement.key), {statement.key}
    ruling = [s for s in others if s.step_rules and s.algorithm == statement.algorithm and not s.order_only]
    while nearest := [s for s in others if s.key not in reached and reached & {*s.follows_from}]:
        if found := [s for s in ruling if s in nearest]:
            return found[0]
        reached |= {s.key for s in nearest}
    return ruling[0] if ruling else None
