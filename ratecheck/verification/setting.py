"""What a statement is asked about: settings, parameters, participation, certified constants, step sizes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from bounds.statement import Assumption, Given, Statement, number
from bounds.symbols import Role
from ratecheck.algorithms import Method
from ratecheck.algorithms.base import RECORDS
from ratecheck.aliases import Array, Progress
from ratecheck.certification.certified_constants import LOWER, NOISE, CertifiedCase
from ratecheck.certification.local_work import ALONE, Work
from ratecheck.certification.trajectory_constants import MEASURES
from ratecheck.engines import setup
from ratecheck.engines.moments import lemmas, quantities
from ratecheck.engines.monte_carlo import bilevel_rounds
from ratecheck.errors import InputError, did_you_mean
from ratecheck.inputs import real, whole
from ratecheck.participation import Participation, Trace, Uniform
from ratecheck.participation.build import assumed
from ratecheck.participation.delays import draw_until
from ratecheck.problems import Certificate, Constant, Problem
from ratecheck.stepsizes.choose import FREE, GIVEN, any_value, chosen_values
from ratecheck.verification import claim_sides as sides
from ratecheck.verification import pointwise as points
from ratecheck.verification.applicability import (
    LAWS,
    NO_SIZE,
    built_on,
    certifiable,
    every_participation,
    method_of,
    within,
)
from ratecheck.verification.entries import Observe

_ENGINES = ("auto", "exact", "step")
# Rounds times clients of a participation that is drawn beforehand.
_LARGEST_TRACE = 10**8


@dataclass(frozen=True)
class Options:
    """How to verify: engine ("auto", "exact", "step"), seed, replicates at most, error level, and ``anyway``.

    ``level`` is the probability of a wrong verdict that Monte Carlo may have. ``anyway`` compares the two sides even
    where a step size breaks the statement's conditions. ``traces`` is how many participations are drawn for a statement
    that speaks about each of them, or about their mean. ``vacuity`` asks from which T on the bound says something.
    ``rigorous`` asks the interval engine where rounding alone leaves a claim undecided.
    Raises `InputError` for values that make no sense.
    """

    engine: str = "auto"
    seed: int = 0
    replicates: int = 1024
    level: float = 0.01
    anyway: bool = False
    threads: int | None = None
    traces: int = 3
    vacuity: bool = True
    rigorous: bool = True

    def __post_init__(self) -> None:
        if self.engine not in _ENGINES:
            raise InputError(f"no engine {self.engine!r}; {did_you_mean(str(self.engine), _ENGINES)}")
        whole("replicates", self.replicates, 2, why="one run has no confidence bound")
        whole("traces", self.traces, 1)
        if self.threads is not None:
            whole("threads", self.threads, 1)
        if not 0 < real("level", self.level) < 0.5:
            raise InputError(f'level={self.level:g} breaks "0 < level < 0.5": it is the probability of a wrong verdict')


def wanted(statement: Statement) -> set[str]:
    """The quantities of the run that it compares, under the names of the engines."""
    return {statement.vocabulary.facts[symbol] for symbol in sides.measured(statement)}


def recordable(names: set[str]) -> bool:
    """Whether the engines record these quantities, rather than the lemmas' own engines."""
    others = lemmas.NAMES - {*RECORDS} | bilevel_rounds.NAMES
    return not names & others and not any(quantities.known(name) for name in names)


def certify(
    statement: Statement, problem: Problem, given: Given, participation: Participation | None = None
) -> dict[str, Constant]:
    """The constants of a statement on a problem, by the paper's symbols; arguments as for `verify`."""
    return Asked(statement, problem, dict(given), Options(), "", participation, {}, None, None).certified_on_first()


def prepared(
    statement: Statement, problem: Problem, given: Given, options: Options, participation: Participation | None,
    start: Mapping[str, ArrayLike],
) -> tuple[Asked, Participation]:  # fmt: skip
    """What `verify` works on, and who takes part; raises `InputError` for unusable input."""
    check = Asked(statement, problem, dict(given), options, "", participation, start, None, None)
    return check, check.prepare()


@dataclass
class Asked:
    """The numbers of one check by the paper's symbols; `prepare` comes first, arguments as for `verify`."""

    statement: Statement
    problem: Problem
    raw: dict[str, object]
    options: Options
    name: str
    asked: Participation | None
    start: Mapping[str, ArrayLike]
    progress: Progress | None
    observe: Observe | None

    def certified_on_first(self) -> dict[str, Constant]:
        """Constants on the participation, or on the first draw of it."""
        self.trace = self.traces(self.prepare())[0]
        return self._certify(self.statement)

    def prepare(self) -> Participation:
        """Settings, parameters and noise by the paper's symbols; returns who takes part."""
        statement = self.statement
        self.measured: dict[str, float] = {}
        self.method = method_of(statement)
        if self.method is not None:
            self.method.check_problem(self.problem)
        self.given = statement.resolve(self.raw)  # type: ignore[arg-type]  # names were checked
        # What contradicts the statement's own settings is refused before anything is computed.
        statement.bare.complete({k: v for k, v in self.given.items() if statement.vocabulary[k].role is Role.SETTING})
        self._clients()
        self._fix()
        self.parameters = self._parameters()
        self.settings = self._settings()
        self.noise = {
            fact: self.given.get(symbol, 0.0) for symbol, fact in statement.vocabulary.facts.items() if fact in NOISE
        }
        return self._pattern()

    # --- What the statement is asked about ---

    def _clients(self) -> None:
        """The number of clients is that of the problem; raises `InputError` where another was given."""
        symbol = self.statement.vocabulary.run.get("clients")
        if symbol is not None and self.given.setdefault(symbol, float(self.problem.n)) != self.problem.n:
            given = self.given[symbol]
            raise InputError(f"{symbol}={given:g} does not fit the problem, which has {self.problem.n} clients")

    def _fix(self) -> None:
        """What the statement itself fixes of the run and its noise counts as given."""
        vocabulary = self.statement.vocabulary
        open_ = dict(self.statement.settings)
        while known := [name for name, expr in open_.items() if within(expr, self.given)]:
            for name in known:
                value = number(open_.pop(name), self.given)
                if vocabulary[name].role is Role.SETTING or vocabulary.facts.get(name) in NOISE:
                    self.given.setdefault(name, value)

    def contradicted(self, constants: Mapping[str, Constant]) -> tuple[str, ...]:
        """Constants that the statement fixes at a value that this problem exceeds, in words."""
        found = []
        for name, constant in constants.items():
            fixed = self._fixed(name)
            if fixed is not None and constant.certificate is not Certificate.ABSENT and constant.value != fixed:
                found.append(f"the statement takes {name}={fixed:g}, but {name} is {constant.value:.6g} here")
        return tuple(found)

    def _fixed(self, name: str) -> float | None:
        """What the statement's settings make of a constant that a problem certifies."""
        expr = self.statement.settings.get(name)
        return number(expr, self.given) if expr is not None and within(expr, self.given) else None

    def _parameters(self) -> dict[str, ArrayLike]:
        """Parameters of the method that are no step sizes of the paper, such as the clients' weights."""
        if self.method is None:
            return {}
        vocabulary = self.statement.vocabulary
        found: dict[str, ArrayLike] = {}
        for name in self._own_parameters(self.method):
            targets = [target for target in vocabulary.reach(name) if name in vocabulary]
            if not targets or vocabulary[targets[0]].role is Role.STEP_SIZE:
                continue
            values = {self.given[target] for target in targets if target in self.given}
            default = self.method.algorithm.optional.get(name)
            if name in self.raw:
                numbers = np.ravel(np.asarray(self.raw[name], dtype=float))
                found[name] = float(numbers[0]) if numbers.size == 1 else numbers
            elif len(values) == 1:
                found[name] = values.pop()
            elif values:
                raise InputError(f"{' and '.join(targets)} differ: give {name}=..., one number per client")
            elif default is not None:
                found[name] = default(self.problem.n)
            else:
                raise InputError(f"{self.method.name} needs {vocabulary[targets[0]].meaning}: give {targets[0]}=...")
            for target, choose in getattr(vocabulary.aliases.get(name), "targets", {}).items():
                self.given[target] = choose(list(np.ravel(np.asarray(found[name], dtype=float))))
        return found

    def _own_parameters(self, method: Method) -> tuple[str, ...]:
        """The method's parameters but for those that the paper computes from others; these cannot be given."""
        derived = self.statement.vocabulary.derived
        for name in method.step_sizes:
            if name in derived and name in self.raw:
                raise InputError(f"{name} is not free: {self.statement.key} has {name} = {derived[name]}")
        return tuple(name for name in method.step_sizes if name not in derived)

    def _settings(self) -> dict[str, float]:
        """Clients, participants, local steps and rounds by role; raises `InputError` for what is missing."""
        roles, statement = self.statement.vocabulary.run, self.statement
        found = {role: self.given[s] for role, s in roles.items() if s in self.given}
        given = None if self.asked is None else self.asked.matrix
        size = None if self.asked is None or given is not None else self.asked.size
        if size is not None and found.setdefault("participants", float(size)) != size:
            raise InputError(f"{roles['participants']}={found['participants']:g} contradicts a pattern with {size}")
        if "participants" in found and "participants" in roles:
            self.given.setdefault(roles["participants"], found["participants"])
        sized = self.asked is not None or NO_SIZE & {*statement.assumptions} or self._pointwise()
        needed = set() if sized else {"participants"}
        needed |= (
            {"participants"} if roles.get("participants") in statement.parameters and not self._pointwise() else set()
        )
        needed |= {"local_steps", "rounds"} if self.method is not None else set()
        needed |= {"rounds"} if "rounds" in roles and roles["rounds"] in statement.parameters else set()
        for role in sorted(needed & {*roles} - {*found}):
            raise InputError(f"how many {statement.vocabulary[roles[role]].meaning}? give {roles[role]}=...")
        self.steps, self.coefficients = self._local_steps(found), self._coefficients()
        if given is not None and "participants" in found:
            most = int(given.sum(axis=1).max())
            if found["participants"] < most:
                symbol, wanted = roles["participants"], found["participants"]
                raise InputError(
                    f'{symbol}={wanted:g} breaks "{symbol} >= {most}": a round of the trace has {most} clients'
                )
        return found

    def _local_steps(self, found: Mapping[str, float]) -> Array:
        """Local steps (n,) of the clients, of which the paper's symbol may be the mean; 1 each without a method."""
        symbol, n = self.statement.vocabulary.run.get("local_steps", "K"), self.problem.n
        if self.method is None:
            return np.ones(n)
        lists = [name for name in self.raw if name != symbol and symbol in self.statement.vocabulary.reach(name)]
        name = lists[0] if lists else symbol
        steps = self._per_client(name, self.raw[name] if lists else found.get("local_steps", 1))
        for each in steps:
            self.method.check_steps(whole(name, each, 1))
        return steps

    def _coefficients(self) -> Array:
        """The coefficient (n,) of each client's local steps, 1 by default."""
        name = self.statement.vocabulary.run.get("coefficients", "a")
        return self._per_client(name, self.raw.get(name, 1.0))

    def _per_client(self, name: str, value: object) -> Array:
        numbers = np.ravel(np.asarray(value, dtype=float))
        if len(numbers) not in (1, self.problem.n):
            raise InputError(f"{name} has {len(numbers)} entries: give one number, or {self.problem.n}, one per client")
        return np.asarray(np.broadcast_to(numbers, (self.problem.n,)))

    def used(self) -> set[str]:
        """Symbols of the sizes of the run that the run has: of those alone a verdict prints a number."""
        roles = {"clients"}
        if self.method is not None:
            roles |= {"local_steps", "rounds", "coefficients"}
            roles -= {"local_steps"} if self.method.fixed.get("K") else set()
        if self.trace.size is not None or (self.asked is not None and self.asked.matrix is not None):
            roles |= {"participants"}
        run = self.statement.vocabulary.run
        return {run[role] for role in roles if role in run} | {*run.values()} & {*self.statement.parameters}

    def ranges(self) -> dict[str, tuple[int, int]]:
        """The least and largest number of participants, by symbol, where a given matrix has different ones."""
        symbol = self.statement.vocabulary.run.get("participants")
        if symbol is None or self.asked is None or self.asked.matrix is None or self.asked.size is not None:
            return {}
        sizes = self.asked.matrix[: self._setting("rounds") or None].sum(axis=1)
        return {symbol: (int(sizes.min()), int(sizes.max()))}

    def asked_values(self) -> dict[str, float]:
        """What was given, without sizes that no run has."""
        sizes = {*self.statement.vocabulary.run.values()} - self.used()
        return {name: value for name, value in self.given.items() if name not in sizes}

    def _setting(self, role: str, default: int = 0) -> int:
        name = self.statement.vocabulary.run.get(role, role)
        return whole(name, self.settings.get(role, default), 0, setup.LARGEST_RUN)

    def _pattern(self) -> Participation:
        """The participation that was asked for, or the one that the statement assumes."""
        if self.asked is not None:
            if self.asked.n != self.problem.n:
                raise InputError(
                    f"the participation is about {self.asked.n} clients, but the problem has {self.problem.n}"
                )
            return self.asked
        n, assumptions = self.problem.n, self.statement.assumptions
        size = self._setting("participants", n)
        if Assumption.FULL_PARTICIPATION in assumptions:
            return Uniform(n, size or n)
        delta = None
        if Assumption.INDEPENDENT_PARTICIPATION in assumptions:
            symbol = next((s for s, fact in self.statement.vocabulary.facts.items() if fact == "delta"), "delta")
            if symbol not in self.given:
                raise InputError(f"with which probability does a client take part? give {symbol}=...")
            delta = self.given[symbol]
        laws = (each for each in (Assumption.INDEPENDENT_PARTICIPATION, *LAWS) if each in assumptions)
        return next((found for each in laws if (found := assumed(each, n, size, delta)) is not None), Uniform(n, size))

    def traces(self, pattern: Participation) -> list[Participation]:
        """The pattern itself, or draws of it where the statement speaks about every participation by itself."""
        T = self._setting("rounds")
        if not every_participation(self.statement) or pattern.follows_state or pattern.fixed(T) is not None:
            return [pattern]
        if T * pattern.n > _LARGEST_TRACE:
            raise InputError(
                f"T={T} with {pattern.n} clients: participations are drawn as matrices of at most "
                f"{_LARGEST_TRACE:g} entries. Largest T here: {_LARGEST_TRACE // pattern.n}."
            )
        return [Trace(draw_until(pattern, T, self.options.seed, r)) for r in range(self.options.traces)]

    # --- One participation ---

    def _pointwise(self) -> bool:
        """Whether the statement is about points of a bilevel problem."""
        return self.method is None and self.problem.bilevel is not None and self._wanted() <= points.NAMES

    def _wanted(self) -> set[str]:
        return wanted(self.statement)

    def _fact(self, symbol: str) -> str:
        return self.statement.vocabulary.facts[symbol]

    @property
    def case(self) -> CertifiedCase:
        """What facts are asked of."""
        T = self._setting("rounds") or None
        samples = Assumption.EVERY_SAMPLE in self.statement.assumptions
        return CertifiedCase(
            self.problem, self.trace, T, self.noise, self.parameters, self.start, self._work(), samples
        )

    def _work(self) -> Work:
        shares = self.problem.shares
        if self.method is None:
            return Work(self.steps, self.coefficients, shares, shares)
        weights = self.method.algorithm.weights(shares, self.steps * self.coefficients)
        return Work(self.steps, self.coefficients, shares, weights)

    def _certify(self, statement: Statement) -> dict[str, Constant]:
        """The constants of a statement by symbol."""
        case, constants = self.case, {}
        assumed = {name for assumption in statement.assumptions for name in assumption.constants}
        for name, fact in certifiable(statement).items():
            constant = case.fact(fact)
            if constant is None:
                # What the statement only derives others from may stay open.
                if name in {*statement.parameters, *assumed}:
                    why = "this problem and participation do not certify it"
                    constants[name] = Constant(name, math.inf, Certificate.ABSENT, why)
                continue
            constants[name] = self._claimed(name, fact, replace(constant, name=name))
        self._check_start(statement, constants)
        return constants

    def _claimed(self, name: str, fact: str, constant: Constant) -> Constant:
        """The certified constant, or a weaker one that the caller gave."""
        if fact in NOISE:
            return constant
        claimed = self.given.get(name)
        if claimed is None:
            return self._weakened(name, fact, constant)
        found_later = fact in MEASURES and (self.method is not None or self._pointwise())
        if constant.certificate is Certificate.ABSENT and found_later:
            return constant
        if constant.certificate is Certificate.ABSENT:
            raise InputError(f"{name}={claimed:g} cannot be assumed: there is no {name} here, {constant.reason}")
        margin = 1e-12 * abs(constant.value)
        if abs(claimed - constant.value) <= margin:
            return constant
        # A weaker constant is as true as the certified one; a stronger one would be a false assumption.
        lower = fact in LOWER
        if fact in ALONE:
            raise InputError(f'{name}={claimed:g} breaks "{name} == {constant.value:g}", its value here')
        if claimed > constant.value if lower else claimed < constant.value:
            relation, extreme = ("<=", "Largest") if lower else (">=", "Smallest")
            raise InputError(
                f'{name}={claimed:g} breaks "{name} {relation} {constant.value:g}", its {constant.certificate.value} '
                f"value on this problem. {extreme} admissible {name}: {constant.value:.10g}."
            )
        return replace(constant, value=claimed, certificate=Certificate.UPPER_BOUND, reason="given")

    def _weakened(self, name: str, fact: str, constant: Constant) -> Constant:
        """The certified constant, or the weaker one that the statement fixes."""
        fixed = self._fixed(name)
        if fixed is None or constant.certificate is Certificate.ABSENT or fact in ALONE or fact in MEASURES:
            return constant
        # A certificate up to rounding is one of the number that is written.
        weaker = fixed <= constant.value if fact in LOWER else fixed >= constant.value
        if weaker or abs(fixed - constant.value) <= 1e-12 * abs(constant.value):
            return replace(constant, value=fixed, certificate=Certificate.UPPER_BOUND, reason="fixed by the statement")
        return constant

    def _check_start(self, statement: Statement, constants: Mapping[str, Constant]) -> None:
        for name, constant in constants.items():
            gap = statement.vocabulary.facts[name] == "F_0"
            if gap and constant.certificate is not Certificate.ABSENT and constant.value <= 0:
                raise InputError(
                    f"{name}=0: the start is already a minimiser, so the statement says nothing; give another start"
                )

    def _values(
        self, statement: Statement, constants: Mapping[str, Constant]
    ) -> tuple[dict[str, float], dict[str, str]]:
        """All numbers of the statement, and where each step size comes from."""
        silent = self._silent(statement)
        names = {*statement.parameters, *self.used(), *silent}
        values = {k: v for k, v in self.given.items() if k in names}
        values |= {name: c.value for name, c in constants.items() if math.isfinite(c.value)}
        values, chosen = chosen_values(statement, values)
        self._fill_silent(statement, silent, values, chosen)
        vocabulary = statement.vocabulary
        for name, expr in vocabulary.derived.items():
            if name not in statement.parameters or vocabulary[name].role is Role.MEASURED:
                continue
            value = number(expr, values)
            given = values.setdefault(name, value)
            if vocabulary[name].role is Role.CONSTANT and given < value * (1 - 1e-12):
                raise InputError(f'{name}={given:g} breaks "{name} >= {value:.10g}", its value here')
        return values, chosen

    def _fill_silent(
        self, statement: Statement, silent: list[str], values: dict[str, float], chosen: dict[str, str]
    ) -> None:
        """Step sizes of which the statement says nothing: any that descend where L says which, else borrowed ones."""
        chosen |= {name: GIVEN for name in silent if name in values}
        smooth = self.case.fact("L")
        if smooth is None:
            self._borrow(statement, values, chosen)
            return
        for name in silent:
            if name not in values:
                steps = self._setting("local_steps", 1)
                values[name], chosen[name] = any_value(statement.vocabulary[name], smooth.value, steps), FREE

    def _borrow(self, statement: Statement, values: dict[str, float], chosen: dict[str, str]) -> None:
        """Step sizes of the run that the statement does not speak of: those of the first one that builds on it."""
        needed = () if self.method is None else self.method.step_sizes
        missing = [s for s in needed if s in statement.vocabulary and s not in {*values, *self.parameters}]
        missing = [s for s in missing if statement.vocabulary[s].role is Role.STEP_SIZE]
        rules = built_on(statement) if missing else None
        if rules is None:
            return
        names = {*rules.parameters, *needed}
        known = {**{s: c.value for s, c in self._certify(rules).items() if math.isfinite(c.value)}, **values}
        known |= {s: value for s, value in self.given.items() if s in names}
        others, _ = chosen_values(rules, {s: value for s, value in known.items() if s in names})
        found = {s: others[s] for s in missing if s in others}
        values |= found
        chosen |= dict.fromkeys(found, f"that of {rules.key}")

    def _silent(self, statement: Statement) -> list[str]:
        """Step sizes that the run needs and about which the statement says nothing: it is about all of them."""
        if self.method is None or Assumption.DRAWN_STEP_SIZES in statement.assumptions:
            return []
        tied = {name for product in statement.step_products for name in product.names}
        vocabulary, known = statement.vocabulary, {*statement.parameters, *tied}
        return [
            name
            for name in self.method.step_sizes
            if name not in known and name in vocabulary and name not in vocabulary.aliases
            and vocabulary[name].role is Role.STEP_SIZE
        ]  # fmt: skip
