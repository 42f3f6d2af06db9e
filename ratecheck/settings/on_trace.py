"""A setting on one participation trace: its certified constants, and all numbers of the statement with step sizes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from bounds.numbers import apart
from bounds.statement import Given, Statement, number
from bounds.symbols import Role, Vocabulary
from ratecheck.certification.certified_constants import ALONE, LOWER, NOISE, CertifiedCase
from ratecheck.certification.trajectory_constants import MEASURES
from ratecheck.errors import InputError
from ratecheck.participation import Participation
from ratecheck.problems import Certificate, Constant, Problem
from ratecheck.problems.constants import DRAWN
from ratecheck.settings.applicability import built_on, certifiable, method_parameters
from ratecheck.settings.at_minimiser import from_minimiser
from ratecheck.settings.drawn import beyond_means
from ratecheck.settings.setting import Setting, resolve
from ratecheck.stepsizes.choose import FREE, GIVEN, any_value, chosen_values, silent

# Certificates are certified up to this share of them.
_MARGIN = 1e-12
# What decides constants that cannot be claimed otherwise.
_DECIDED = {
    "mixing_share": "the participation sets it, as complete:0.2 sets 0.2",
    "noise_order": "the law of the noise sets it",
    "mean_work": "the numbers of local steps set it",
    "least_steps": "the numbers of local steps set it",
    "most_steps": "the numbers of local steps set it",
}


@dataclass(frozen=True)
class OnTrace:
    """A setting on one participation; built by `on_trace`.

    ``statement`` is the one of which ``constants`` are certified, by symbol: that of the setting, or one on the same
    run that it takes its step sizes from. ``case`` is what certifies them.
    """

    setting: Setting
    trace: Participation
    statement: Statement
    case: CertifiedCase
    constants: Mapping[str, Constant]

    def with_constants(self, found: Mapping[str, Constant]) -> OnTrace:
        """A setting on its trace with other constants of these names."""
        return replace(self, constants={**self.constants, **found})

    @property
    def absent(self) -> dict[str, Constant]:
        """The constants that do not exist, as far as problem and participation tell."""
        return {symbol: c for symbol, c in self.constants.items() if c.certificate is Certificate.ABSENT}

    @property
    def contradicted(self) -> tuple[str, ...]:
        """Constants that the statement fixes at a value that this problem exceeds, in words."""
        found = []
        for name, constant in self.constants.items():
            fixed = self.setting.fixed(name)
            if fixed is not None and constant.certificate is not Certificate.ABSENT and constant.value != fixed:
                taken, here = apart(fixed, constant.value)
                found.append(f"the statement takes {name}={taken}, but {name} is {here} here")
        return tuple(found)


@dataclass(frozen=True)
class StepValues:
    """All numbers of a statement by symbol, and where each of its step sizes comes from, in words."""

    statement: Statement
    values: dict[str, float]
    chosen: dict[str, str]

    def plus(self, others: Mapping[str, float], origin: str) -> StepValues:
        """The numbers with further step sizes, all from one place."""
        chosen = {**self.chosen, **dict.fromkeys(others, origin)}
        return replace(self, values={**self.values, **others}, chosen=chosen)


def on_trace(setting: Setting, trace: Participation, statement: Statement | None = None) -> OnTrace:
    """The constants of the setting's statement on a participation, or those of another statement on the same run.

    Raises `InputError` for a given constant that is stronger than the certified one, and for a start that is a
    minimiser.
    """
    case, own = setting.case(trace), statement or setting.statement
    constants = _certified(setting, case, own)
    if statement is None and (at_minimiser := from_minimiser(own, constants, setting.values)) is not None:
        setting, own = replace(setting, statement=at_minimiser), at_minimiser
    _check_start(own.vocabulary, constants)
    return OnTrace(setting, trace, own, case, constants)


def certify(
    statement: Statement, problem: Problem, given: Given, participation: Participation | None = None
) -> dict[str, Constant]:
    """The constants of a statement on a problem, by the paper's symbols; arguments as for `verify`.

    Where the participation is sampled they are those on its first trace.
    """
    setting = resolve(statement, problem, participation, given)
    return dict(on_trace(setting, setting.traces()[0]).constants)


# --- Certified constants ---


def _certified(setting: Setting, case: CertifiedCase, statement: Statement) -> dict[str, Constant]:
    constants = {}
    called = statement.vocabulary.called
    assumed = {called(name) for assumption in statement.assumptions for name in assumption.constants}
    facts = certifiable(statement)
    drawn = [name for name, fact in facts.items() if case.draws(fact) and name in statement.parameters]
    beyond = beyond_means(statement, drawn) if drawn else ""
    for name, fact in facts.items():
        constant = case.fact(fact)
        if beyond and name in drawn:
            assert case.participation is not None
            why = (
                f"{DRAWN} under {case.participation.kind} participation, and {beyond}; its expectation is a symbol of "
                f"its own, with fact='mean_{fact}'"
            )
            constant = Constant.absent(name, why)
        if constant is not None:
            constants[name] = _claimed(setting, case, fact, replace(constant, name=name))
        elif name in {*statement.parameters, *assumed}:
            # What the statement only derives others from may stay open.
            why = "this problem and participation do not certify it"
            constants[name] = Constant.absent(name, why)
    return constants


def _claimed(setting: Setting, case: CertifiedCase, fact: str, constant: Constant) -> Constant:
    """The certified constant, or a weaker one that the caller gave."""
    name = constant.name
    if fact in NOISE:
        return constant
    claimed = setting.values.get(name)
    if claimed is None:
        return _weakened(setting, name, fact, constant)
    if constant.certificate is Certificate.ABSENT:
        if fact in MEASURES and (setting.method is not None or setting.pointwise) and MEASURES[fact].possible(case):
            # It is measured later.
            return constant
        raise InputError(f"{name}={claimed:g} cannot be assumed: there is no {name} here, {constant.reason}")
    if abs(claimed - constant.value) <= _MARGIN * abs(constant.value):
        return constant
    # A weaker constant is as true as the certified one; a stronger one would be a false assumption.
    lower = fact in LOWER
    shown, value = apart(claimed, constant.value)
    if fact in ALONE:
        raise InputError(f'{name}={shown} breaks "{name} == {value}", its value here: {_DECIDED[fact]}')
    if claimed > constant.value if lower else claimed < constant.value:
        relation, extreme = ("<=", "Largest") if lower else (">=", "Smallest")
        raise InputError(
            f'{name}={shown} breaks "{name} {relation} {value}", its {constant.certificate.value} '
            f"value on this problem. {extreme} admissible {name}: {constant.value:.10g}."
        )
    kind = Certificate.LOWER_BOUND if lower else Certificate.UPPER_BOUND
    return replace(constant, value=claimed, certificate=kind, reason="given")


def _weakened(setting: Setting, name: str, fact: str, constant: Constant) -> Constant:
    """The certified constant, or the weaker one that the statement fixes."""
    fixed = setting.fixed(name)
    measured = fact in MEASURES and not MEASURES[fact].weakens
    if fixed is None or constant.certificate is Certificate.ABSENT or fact in ALONE or measured:
        return constant
    # A certificate up to rounding is one of the number that is written.
    weaker = fixed <= constant.value if fact in LOWER else fixed >= constant.value
    if weaker or abs(fixed - constant.value) <= _MARGIN * abs(constant.value):
        kind = Certificate.LOWER_BOUND if fact in LOWER else Certificate.UPPER_BOUND
        return replace(constant, value=fixed, certificate=kind, reason="fixed by the statement")
    return constant


def _check_start(vocabulary: Vocabulary, constants: Mapping[str, Constant]) -> None:
    for name, constant in constants.items():
        gap = vocabulary.facts[name] == "F_0" and not vocabulary[name].domain.admits(0.0)
        if gap and constant.certificate is not Certificate.ABSENT and constant.value <= 0:
            raise InputError(
                f"{name}=0: the start is already a minimiser, so the statement says nothing; give another start"
            )


# --- Step sizes ---


def step_values(on: OnTrace) -> StepValues:
    """All numbers of the statement: given, certified, and step sizes as `chosen_values` takes them.

    Raises `InputError` for given numbers that contradict the statement, `NoValueError` and `BeyondFloatsError` where a
    rule for step sizes has no value, or none in the range of floats.
    """
    statement, setting = on.statement, on.setting
    parameters = method_parameters(statement.algorithm, statement.vocabulary)
    own = {*statement.parameters, *setting.used_sizes(on.trace), *parameters}
    unsaid = silent(statement, () if setting.method is None else setting.method.step_sizes)
    names = {*own, *unsaid}
    known = {k: v for k, v in setting.values.items() if k in names}
    known |= {name: c.value for name, c in on.constants.items() if math.isfinite(c.value)}
    values, chosen = chosen_values(statement, known)
    chosen |= {name: GIVEN for name in unsaid if name in values}
    found = StepValues(statement, values, chosen)
    return _with_derived(_with_silent(on, unsaid, found))


def _with_silent(on: OnTrace, unsaid: list[str], found: StepValues) -> StepValues:
    """The values with step sizes that the statement does not have: with L any that descend, else borrowed ones."""
    smooth, vocabulary = on.case.fact("L"), on.statement.vocabulary
    if smooth is None:
        return _with_borrowed(on, found)
    steps = float(on.setting.steps.max())
    free = [name for name in unsaid if name not in found.values]
    values = {name: any_value(vocabulary[name], smooth.value, steps) for name in free}
    return found.plus(values, FREE)


def _with_borrowed(on: OnTrace, found: StepValues) -> StepValues:
    """The values with step sizes that the statement does not have: those of the first statement that builds on it."""
    setting, statement, vocabulary = on.setting, on.statement, on.statement.vocabulary
    needed = () if setting.method is None else setting.method.step_sizes
    missing = [s for s in needed if s in vocabulary and s not in {*found.values, *setting.parameters}]
    missing = [s for s in missing if vocabulary[s].role is Role.STEP_SIZE]
    rules = built_on(statement) if missing else None
    if rules is None:
        return found
    names = {*rules.parameters, *needed}
    constants = _certified(setting, on.case, rules)
    known = {**{s: c.value for s, c in constants.items() if math.isfinite(c.value)}, **found.values}
    known |= {s: value for s, value in setting.values.items() if s in names}
    others, _ = chosen_values(rules, {s: value for s, value in known.items() if s in names})
    borrowed = {s: others[s] for s in missing if s in others}
    return found.plus(borrowed, f"that of {rules.key}")


def _with_derived(found: StepValues) -> StepValues:
    """The values with parameters computed from others; `InputError` for a constant that is given too small."""
    statement, values, vocabulary = found.statement, dict(found.values), found.statement.vocabulary
    for name, expr in vocabulary.derived.items():
        if name not in statement.parameters or vocabulary[name].role is Role.MEASURED:
            continue
        value = number(expr, values)
        given = values.setdefault(name, value)
        if vocabulary[name].role is Role.CONSTANT and given < value * (1 - _MARGIN):
            shown, least = apart(given, value, 10)
            raise InputError(f'{name}={shown} breaks "{name} >= {least}", its value here')
    return replace(found, values=values)
