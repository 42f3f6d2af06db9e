"""A theorem at numbers, proved from its method alone: potentials are looked for, and what is found is exact."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial

from bounds.sentences import words
from bounds.statement import Assumption, Given, Over, Relation, Statement
from bounds.symbols import Role
from ratecheck.algorithms import METHODS, Method
from ratecheck.errors import InputError, OutOfReachError
from ratecheck.falsification.deterministic import with_open_steps
from ratecheck.inputs import whole
from ratecheck.proving.attained import LONG_DATA, attained
from ratecheck.proving.forms import KnownFact
from ratecheck.proving.potentials import ProofPlan, chain, mean, one_step, rate, shortened, whole_run
from ratecheck.proving.program import certified, faces, solve
from ratecheck.proving.question import Question
from ratecheck.proving.reach import RUN, beyond, followed, run_sizes, taken
from ratecheck.proving.trials.trial import FEW, Trials, multiplied, trials
from ratecheck.settings.applicability import check_expectations
from ratecheck.stepsizes.feasible_set import step_names

# Numbers that are taken where none are given: constants of order 1, noise and dissimilarity below them.
DEFAULTS: Mapping[str, float] = {
    "n": 10, "m": 3, "K": 3, "T": 10, "L": 1.0, "mu": 0.1, "mu_PL": 0.1, "mu_c": 0.1, "F_0": 1.0, "dist2_0": 1.0,
    "sigma_u": 0.3, "sigma_v": 0.3, "b": 0.4, "b_star": 0.5, "M": 1.0, "G": 1.0, "lambda_": 1.0,
    "q": 0.5, "lambda_W": 0.5, "beta_W": 1.0, "p_W": 0.5, "sigma": 0.3, "mean_B_0": 2.0, "tau_max": 0.0, "tau_avg": 0.0,
    "lagrangian_gap": 1.0, "inner_error": 0.01,
}  # fmt: skip
# And the probability of a coin.
_CHANCE = 0.5
_ONE_FUNCTION = {
    Assumption.CONVEX_PART, Assumption.MONOTONE_OPERATOR, Assumption.COCOERCIVE_OPERATOR,
    Assumption.STRONGLY_MONOTONE_OPERATOR, Assumption.LIPSCHITZ_OPERATOR,
}  # fmt: skip
# A solver's optimum this close to 1 is one of a bound that cannot be improved.
_TIGHT = 1e-6
# And this close, it may be one of that kind.
_NEARLY = 1e-4
# And from which on a rate is.
_LONG_RATE = 250
# What is added to a factor that has no inside, so that there is a proof.
_HAIR = Fraction(1, 10**9)
# By how much the factor that is proved may exceed the smallest one.
_ROOM = Fraction(1, 1000)
# A factor below which none may be needed at all.
_NOTHING = Fraction(1, 10**5)
# Rounds of a run, unless a number is given, where a proof is looked for with one potential for all of them.
_LONG, _LONG_EVERY_ROUND = 1000, 100
# And the last number that is tried, whose square root is whole.
_SHORT = 4
# Rounds with a potential of their own; each is a block of the program.
_LONGEST_CHAIN = 40
# Plans that prove a claim together, with the round that each is about.
Way = Sequence[tuple[Callable[[], ProofPlan], int | None]]
# Unknown vectors of a run that is followed as a whole.
_LONGEST_RUN = 24
# Rounds of a claim on every round, each of which is a chain.
_MOST_CHAINS = 12
# Unknown numbers of the programs of a proof that takes a tenth of a second.
_FEW = 120


@dataclass(frozen=True)
class ProofPart:
    """One proof: ``factor`` times the right side, by a plan and exact values of its unknowns.

    ``round`` is the one that it is about, None for all. ``smallest`` is the least factor that the solver finds.
    """

    plan: ProofPlan
    round: int | None
    smallest: float
    factor: Fraction | None
    y: Sequence[Fraction] | None

    @property
    def multipliers(self) -> Iterator[tuple[str, str, Fraction]]:
        """Where an inequality is used, its name, and its multiplier, for those that are not 0."""
        yield from ((where, fact.name, value) for where, fact, value in self.used)

    @property
    def used(self) -> Iterator[tuple[str, KnownFact, Fraction]]:
        """Where an inequality, or an equation, is used, itself, and its multiplier, for those that are not 0."""
        if self.y is not None:
            for requirement in self.plan.program.required:
                yield from ((requirement.name, fact, self.y[u]) for u, fact in requirement.facts if self.y[u])


# What is said of a claim, the least first; a theorem has that of its weakest claim.
_VERDICTS = ("NOT PROVED", "PROVED UP TO 1e-9", "PROVED")


def verdict_on(factor: Fraction | None, *, rounded: bool, measured: bool) -> str:
    """The verdict on a right side of which a multiple is proved: by its factor, and by what the numbers are.

    Where one is ``rounded`` the factor leaves room for that, and where what is ``measured`` is on the right, too, it
    says nothing of how much that takes.
    """
    nothing, nearly, whole = _VERDICTS
    if factor is None or factor > 1 + _HAIR:
        return nothing
    if rounded and (measured or factor > 1 - _HAIR):
        return nearly
    return whole if factor <= 1 else nearly


@dataclass(frozen=True)
class ProvedClaim:
    """What was found of one claim: the parts that prove it together.

    Where a right side has quantities that are ``measured`` along the run, these are on the left, and the factor is that
    of what is left on the right, which may be 0. ``rounded`` are the numbers of which the method has fractions near
    them.
    """

    claim: str
    parts: tuple[ProofPart, ...]
    measured: bool = False
    nothing_left: bool = False
    rounded: tuple[str, ...] = ()

    @property
    def factor(self) -> Fraction | None:
        """The right side times this is proved; None where nothing is."""
        factors = [part.factor for part in self.parts]
        return None if not factors or None in factors else max(f for f in factors if f is not None)

    @property
    def verdict(self) -> str:
        """PROVED, PROVED UP TO 1e-9, or NOT PROVED."""
        return verdict_on(self.factor, rounded=bool(self.rounded), measured=self.measured)

    @property
    def smallest(self) -> float:
        """The least factor that the solver finds, infinite where it finds none."""
        return max((part.smallest for part in self.parts), default=math.inf)


@dataclass(frozen=True)
class PotentialProof:
    """All claims of a statement at its numbers.

    ``values`` and ``defaulted``, the names of those not given, are under the names of the basic vocabulary; ``shown``
    and ``shown_defaulted`` under those of the statement. ``trials`` are runs at these numbers; where one exceeds what
    was found, no claim has a proof.
    """

    statement: Statement
    values: Mapping[str, float]
    defaulted: tuple[str, ...]
    claims: tuple[ProvedClaim, ...]
    seconds: float = 0.0
    trials: Trials = field(default_factory=Trials)

    @property
    def shown(self) -> dict[str, float]:
        """The numbers under the names that they have in the statement."""
        return {self.statement.vocabulary.called(name): value for name, value in self.values.items()}

    @property
    def shown_defaulted(self) -> tuple[str, ...]:
        """Names of the numbers that were not given, as the statement has them."""
        return tuple(map(self.statement.vocabulary.called, self.defaulted))

    @property
    def factor(self) -> Fraction | None:
        """The largest of the factors of the claims; None where one has none."""
        factors = [claim.factor for claim in self.claims]
        return None if None in factors else max(f for f in factors if f is not None)

    @property
    def verdict(self) -> str:
        """PROVED, PROVED UP TO 1e-9, or NOT PROVED."""
        return min((claim.verdict for claim in self.claims), key=_VERDICTS.index)

    @property
    def every_T(self) -> bool:
        """Whether the same potential serves any number of rounds."""
        return all(part.plan.every_T for claim in self.claims for part in claim.parts)

    def tried(self, *most: int) -> PotentialProof:
        """What is left of it after runs at its numbers: nothing where one exceeds what is proved."""
        factors = [claim.factor for claim in self.claims if claim.factor is not None]
        if len(factors) < len(self.claims):
            return self
        proved = multiplied(self.statement, factors)
        found = trials(self.statement, proved, self.shown, *most, every_T=self.every_T)
        claims = self.claims if found.against is None else tuple(replace(each, parts=()) for each in self.claims)
        return replace(self, claims=claims, trials=found)


def prove(statement: Statement, given: Given, *, potential: str = "") -> PotentialProof:
    """Look for a proof of every claim of a statement at numbers; those not given have defaults.

    With a ``potential``, a formula as `Potential.give` reads it, no other one is tried.
    Raises `InputError` for what no proof is looked for, and for numbers that break a condition.
    """
    begun = time.perf_counter()
    basic, given = _asked(statement, given)
    written = basic.written
    proof: PotentialProof | None = None
    # A long run first: what is wrong of its length alone shows there, where one potential serves all rounds.
    for T in _lengths(written, given):
        # Of a bound that is attained the exact proof is found in a short run, if at all.
        if T == _SHORT and proof is not None and not all(abs(claim.smallest - 1) < _NEARLY for claim in proof.claims):
            break
        try:
            values, defaulted = completed(written, given if T is None else {**given, "T": T})
            found = proved_at(basic, values, potential=potential)
        except InputError:
            if proof is None or T != _SHORT:
                raise
            break
        if T == _SHORT and proof is not None and found.verdict in ("NOT PROVED", proof.verdict):
            break
        proof = replace(found, statement=statement, defaulted=defaulted if T is None else (*defaulted, "T"))
        if proof.verdict == "PROVED":
            break
    assert proof is not None
    return replace(proof.tried(), seconds=time.perf_counter() - begun)


def quick_proof(statement: Statement, given: Given) -> PotentialProof | None:
    """A proof of every claim by the plan that `prove` tries first, where this takes a tenth of a second; else None."""
    try:
        basic, given = _asked(statement, given)
        written = basic.written
        T = _lengths(written, given)[0]
        values, defaulted = completed(written, given if T is None else {**given, "T": T})
        claims = tuple(_quick_claim(replace(written, claims=(claim,)), values) for claim in written.claims)
    except InputError:
        return None
    proof = PotentialProof(statement, values, defaulted if T is None else (*defaulted, "T"), claims)
    return proof if proof.verdict == "PROVED" and proof.tried(FEW).verdict == "PROVED" else None


def _quick_claim(statement: Statement, values: Mapping[str, float]) -> ProvedClaim:
    """The only claim of a statement with the first plan's proof of it, without one where it is a long one."""
    q = next(questions(statement, values))
    _check_relation(q)
    plans = [(make(), number) for make, number in next(ways(q), ())]
    short = 0 < sum(len(plan.program.names) for plan, _ in plans) <= _FEW
    sized = [each for plan, number in plans if (each := _sized_plan(plan, number)) is not None] if short else []
    whole = 0 < len(plans) == len(sized) and least(sized) < 1 + _TIGHT
    return _claim_proved(q, _all_parts(sized, 1, made=proof_part) if whole else ())


def _asked(statement: Statement, given: Given) -> tuple[Statement, Given]:
    """The statement and the numbers by the names of the basic vocabulary, where a proof of it can be looked for."""
    check_expectations(statement, "prove")
    if statement.order_only:
        raise OutOfReachError(f"{statement.key} is known only up to a constant, so there is nothing to prove")
    basic = words.basic(statement)
    if basic.written.algorithm is None or basic.written.algorithm not in METHODS:
        raise OutOfReachError(f"{statement.key} is not in reach of a proof: it is about no method")
    for reason in beyond(basic.written):
        # Before any number is asked for.
        raise OutOfReachError(f"{statement.key} is not in reach of a proof: {reason}")
    return basic, words.basic_names(statement, given)


def proved_at(statement: Statement, values: Mapping[str, float], *, potential: str = "") -> PotentialProof:
    """What is proved of a statement at complete numbers, as `completed` makes them."""
    written = statement.written
    claims = tuple(_proved_claim(replace(written, claims=(claim,)), values, potential) for claim in written.claims)
    return PotentialProof(statement, values, (), claims)


def _lengths(statement: Statement, given: Given) -> tuple[int | None, ...]:
    """Numbers of rounds to try, one after the other; None for what is given, fixed or the default."""
    if "T" not in statement.vocabulary or "T" in given or "T" in statement.settings:
        return (None,)
    if METHODS[followed(statement).algorithm or ""].algorithm.varying:
        # Each round has a potential of its own.
        return (None, _SHORT)
    every = any(claim.metric.over not in (Over.MEAN_OF_ROUNDS, Over.BEST_ROUND) for claim in statement.claims)
    return (_LONG_EVERY_ROUND if every else _LONG, None, _SHORT)


def completed(statement: Statement, given: Given) -> tuple[dict[str, float], tuple[str, ...]]:
    """Numbers for everything that the statement needs, and the names of those that were not given.

    A step size that is left open is the largest admissible one, rounded down to three digits, or half of an end that
    is not admissible itself.
    """
    method = METHODS[followed(statement).algorithm or ""]
    statement.check_names(given)
    defaults = _defaults(statement, method, given)
    known = {each for name in given for each in statement.vocabulary.reach(name)} | {*statement.settings}
    known |= {*method.fixed} - {"n", "m", "T"}
    # A statement need not speak of the local steps of a method that takes one.
    steps = {name: float(method.fixed[name]) for name in {"K"} & {*method.fixed} - {*given, *statement.settings}}
    steps = {name: number for name, number in steps.items() if name in statement.vocabulary}
    filled = {name: x for name, x in defaults.items() if name in statement.vocabulary and name not in known} | steps
    values, _ = statement.complete({**filled, **given})
    open_steps, approached = with_open_steps(statement, values)
    if approached:
        half = {name: end / 2 for name, end in approached.items()}
        open_steps, _ = with_open_steps(statement, statement.complete({**values, **half})[0])
    prescribed = {rule.symbol.name for rule in statement.step_rules if not rule.at_least}
    rounded: dict[str, float] = {}
    for name in step_names(statement):
        if name not in given and name not in prescribed and name not in values:
            # What depends on a rounded step size follows it.
            with contextlib.suppress(InputError):
                so_far, _ = statement.complete({**filled, **given, **rounded, name: _shortened(open_steps[name])})
                trial, _ = with_open_steps(statement, so_far)
                if all(check.holds is not False for check in statement.check_conditions(trial)):
                    rounded[name], open_steps = trial[name], trial
    for name in statement.vocabulary.run.values():
        if name in open_steps:
            whole(name, open_steps[name], 1)
    missing = [
        name
        for name in statement.required
        if name not in open_steps and statement.vocabulary[name].role is not Role.MEASURED
    ]
    if missing:
        raise InputError(f"{statement.key} needs a value for {missing[0]}: give {missing[0]}=...")
    if broken := [check.broken for check in statement.check_conditions(open_steps) if check.holds is False]:
        raise InputError(" ".join(broken))
    named = taken(statement)
    return open_steps, tuple(name for name in open_steps if name not in given and name in named)


def _defaults(statement: Statement, method: Method, given: Given) -> dict[str, float]:
    """The numbers that are taken where none are given, by the statement's names."""
    vocabulary = statement.vocabulary
    # What a vocabulary calls otherwise has the number of what it is.
    own = {name: fact for name, fact in vocabulary.facts.items() if fact in DEFAULTS}
    own |= {vocabulary.run[role]: basic for role, basic in RUN.items() if role in vocabulary.run}
    defaults = {**DEFAULTS, **_chance(method), **{name: DEFAULTS[basic] for name, basic in own.items()}}
    if _ONE_FUNCTION & {*statement.assumptions} or statement.settings.get("n") == 1:
        defaults |= {"n": 1, "m": 1}
    clients, participants = (vocabulary.run.get(role, RUN[role]) for role in ("clients", "participants"))
    n, L, F_0 = (float(given.get(name, defaults[name])) for name in (clients, "L", "F_0"))  # type: ignore[arg-type]
    # Gradients at the start that say no more than what the gap allows where all clients are alike.
    defaults["B_0"] = 2 * n * L * F_0
    if Assumption.INNER_ACCURACY in statement.assumptions:
        # Inner problems of functions that need not be convex have one solution.
        defaults["lambda_"] = 3 * L
    everyone = method.full or Assumption.FULL_PARTICIPATION in statement.assumptions
    defaults[participants] = n if everyone else min(defaults[participants], n)
    for name in {*method.algorithm.per_client} & {*vocabulary.aliases}:
        # What may be another number for each client is the same for all.
        defaults |= dict.fromkeys(vocabulary.reach(name), method.algorithm.optional[name](int(n)))
    return defaults


def _chance(method: Method) -> dict[str, float]:
    """The probability of a coin, where the method has one without a default."""
    coin = method.algorithm.coin
    return {} if coin is None or coin in method.algorithm.optional else {coin: _CHANCE}


def _shortened(x: float) -> float:
    """A positive number rounded down to three digits."""
    if not x > 0 or not math.isfinite(x):
        return x
    unit = 10.0 ** (math.floor(math.log10(x)) - 2)
    return float(f"{math.floor(x / unit * (1 + 1e-12)) * unit:.12g}")


def _proved_claim(statement: Statement, values: Mapping[str, float], potential: str) -> ProvedClaim:
    """The best proof of the only claim of a statement, by few pairs of points if these do."""
    (claim,) = statement.claims
    found, reason = ProvedClaim(claim.name, ()), None
    for question in questions(statement, values, potential):
        try:
            proved = _proved(question)
        except InputError as error:
            reason = error
            continue
        if found.factor is None or (proved.factor is not None and proved.factor < found.factor):
            found = proved
        reason = None
        if found.factor is not None and found.factor <= 1:
            break
    if reason is not None:
        raise reason
    return found


def questions(statement: Statement, values: Mapping[str, float], potential: str = "") -> Iterator[Question]:
    """What is looked at for a proof, cheaper ones first: which pairs of points, and whether participants apart."""
    sizes = {"n": 1.0, "m": 1.0, "K": 1.0, **run_sizes(statement, values)}
    local, sampled = sizes["K"] > 1, sizes["m"] < sizes["n"]
    first = Question(statement, values, every_pair=not local, potential=potential)
    yield first
    if sampled and not first.own_points:
        yield Question(statement, values, every_pair=not local, apart=True, potential=potential)
    if local:
        yield Question(statement, values, apart=sampled and not first.own_points, potential=potential)


def _proved(q: Question) -> ProvedClaim:
    """The best proof of one claim."""
    best: list[list[SizedPlan]] = []
    attained: list[list[SizedPlan]] = []
    for plans in sized_plans(q):
        smallest = least(plans)
        best.append(plans)
        if plans[0].plan.kind == "chain" and abs(smallest - 1) < _TIGHT:
            # The exact face of many potentials is the hardest to find.
            attained.append(plans)
        elif smallest < 1 + _TIGHT and (parts := _all_parts(plans, 1, made=proof_part)):
            return _claim_proved(q, parts)
    whole = any(plans[0].plan.kind == "run" for plans in best)
    for plans in attained if q.T <= _SHORT or not whole else ():
        if parts := _all_parts(plans, 1, made=proof_part):
            return _claim_proved(q, parts)
    for plans in best:
        if abs(least(plans) - 1) < _NEARLY and (parts := _all_parts(plans, 1 + _HAIR, made=attained_part)):
            return _claim_proved(q, parts)
    for plans in sorted(best, key=least)[:2]:
        if parts := _all_parts(plans, math.inf, made=partial(proof_part, room=True)):
            return _claim_proved(q, parts)
    return _claim_proved(q, ())


def _claim_proved(q: Question, parts: tuple[ProofPart, ...]) -> ProvedClaim:
    """The claim of a question with what proves it."""
    nothing_left = all(each.right == 0 for each in q.compared)
    name = q.statement.claims[0].name
    return ProvedClaim(name, parts, measured=q.measures_right, nothing_left=nothing_left, rounded=q.rounded)


def _all_parts(
    plans: Sequence[SizedPlan], most: Fraction | float, *, made: Callable[[SizedPlan], ProofPart]
) -> tuple[ProofPart, ...]:
    """The proofs that make up a claim; none where one of them is missing or has a larger factor than ``most``."""
    parts: list[ProofPart] = []
    # The longest run is the hardest.
    for each in reversed(plans):
        parts.insert(0, made(each))
        factor = parts[0].factor
        if factor is None or factor > most:
            return ()
    return tuple(parts)


def sized_plans(q: Question) -> Iterator[list[SizedPlan]]:
    """Plans that prove the claim together, with the least factors that the solver finds; cheaper ones first."""
    _check_relation(q)
    for way in ways(q):
        if (plans := _sized(way)) is not None:
            yield plans


def _check_relation(q: Question) -> None:
    claim = q.statement.claims[0]
    if claim.relation is not Relation.AT_MOST:
        raise q.out_of_reach(f"the claim {claim.name!r} is no upper bound")


def least(plans: Sequence[SizedPlan]) -> float:
    """The least factor that the solver finds for all of them together."""
    return max(each.smallest for each in plans)


@dataclass(frozen=True)
class SizedPlan:
    """A plan for a round with the least factor that the solver finds."""

    plan: ProofPlan
    round: int | None
    smallest: float


def _sized(way: Way) -> list[SizedPlan] | None:
    """The plans of a way with their least factors; None where one of them has none."""
    found = []
    for make, number in way:
        sized = _sized_plan(make(), number)
        if sized is None:
            return None
        found.append(sized)
    return found


def _sized_plan(plan: ProofPlan, number: int | None) -> SizedPlan | None:
    """A plan with its least factor, None where it has none."""
    proposal = solve(plan.program, {plan.factor: 1.0})
    return None if proposal is None else SizedPlan(plan, number, proposal.cost)


def proof_part(sized: SizedPlan, *, room: bool = False) -> ProofPart:
    """A proof with a factor near the smallest one."""
    plan, smallest = sized.plan, sized.smallest
    near = _above(Fraction(max(smallest, 0.0)) * (1 + _ROOM) + Fraction(1, 10**6))
    goals = [*([Fraction(0)] if near <= _NOTHING else []), near]
    for goal in [*goals, Fraction(1)] if near <= 1 else []:
        if (y := certified(plan.program, {plan.factor: goal})) is not None:
            return ProofPart(plan, sized.round, smallest, goal, y)
    # Where nothing is inside: on the face of what is far from the least factor, or of what is at it.
    tight = [Fraction(1)] if smallest < 1 + _TIGHT else []
    ways = [(Fraction(1), [*goals, Fraction(1)])] if near <= 1 else [(goal, [goal]) for goal in tight]
    for at, wanted in [*ways, *([(near, [near])] if room else [])]:
        if near > 1 and (y := certified(plan.program, {plan.factor: at})) is not None:
            return ProofPart(plan, sized.round, smallest, at, y)
        # The face of a bound that is attained is none of simple fractions where data are rounded irrational numbers.
        attained = plan.kind in ("chain", "run") and abs(smallest - 1) < _NEARLY
        long = attained and plan.program.digits > LONG_DATA
        for face in () if long else faces(plan.program, {plan.factor: at}):
            for goal in wanted:
                if (y := certified(face, {plan.factor: goal})) is not None:
                    return ProofPart(plan, sized.round, smallest, goal, y)
    return ProofPart(plan, sized.round, smallest, None, None)


def attained_part(sized: SizedPlan) -> ProofPart:
    """A proof of 1, or of 1 + 1e-9, where 1 is the least factor; of a smaller one as `proof_part`."""
    if sized.smallest < 1 - _NEARLY:
        return proof_part(sized)
    y = attained(sized.plan.program, sized.plan.factor, _HAIR)
    return ProofPart(sized.plan, sized.round, sized.smallest, None if y is None else y[sized.plan.factor], y)


def _above(number: Fraction) -> Fraction:
    """A decimal of four digits that is not smaller."""
    digits = 4 - math.floor(math.log10(number)) if number < 1 else 4
    return Fraction(math.ceil(number * 10**digits), 10**digits)


def ways(q: Question) -> Iterator[Way]:
    """The plans of which each list proves the claim, cheaper ones first."""
    first = q.compared[0]
    # Gradients after a round depend on who took part.
    with_gradients = (False,) if q.sampled and not q.apart else (False, True)
    if q.potential:
        yield from _with_potential(q)
        return
    if first.changes and first.round is not None:
        unlike = q.algorithm.varying
        different = {
            (each.scaled, each.kept, unlike and each.round, *sorted(each.weights.items())): each for each in q.compared
        }
        yield [(partial(one_step, q, each), each.round) for each in different.values()]
    for gradients in with_gradients:
        yield from _one_potential(q, gradients=gradients)
    for gradients in with_gradients:
        if q.over in (Over.MEAN_OF_ROUNDS, Over.BEST_ROUND):
            if q.T <= _LONGEST_CHAIN:
                kind = "mean" if q.over is Over.MEAN_OF_ROUNDS else "best"
                yield [(partial(chain, q, first, gradients=gradients, weights=kind), None)]
        elif (_LONGEST_CHAIN if len(q.compared) == 1 else _MOST_CHAINS) >= q.T:
            yield [(partial(chain, q, each, gradients=gradients), each.round) for each in q.compared]
    # Every vector of a short run at once is all that is known of it.
    vectors = q.T * q.K * (1 + any(q.noise.values())) * (1 if q.n == 1 else 2)
    if not (q.sampled or first.changes or q.algorithm.coin) and vectors <= _LONGEST_RUN:
        kinds = {Over.MEAN_OF_ROUNDS: "mean", Over.BEST_ROUND: "best"}
        yield [(partial(whole_run, q, each, weights=kinds.get(q.over, "last")), each.round) for each in q.compared]


def _with_potential(q: Question) -> Iterator[Way]:
    """The plans with a potential of one's own; raises `InputError` where none takes one."""
    first = q.compared[0]
    if first.changes or (len(q.compared) == 1 and first.round is not None):
        raise q.out_of_reach("one's own potential is checked for means over rounds and for claims on every round")
    if q.algorithm.varying:
        raise q.out_of_reach("one's own potential is one for all rounds, and those of this method differ")
    yield from _one_potential(q, gradients=True)


def _one_potential(q: Question, *, gradients: bool) -> Iterator[Way]:
    """The plans with one potential for all rounds."""
    first = q.compared[0]
    if q.algorithm.varying or any(each.weights != first.weights for each in q.compared):
        # A round of them says nothing of the others.
        return
    if q.over in (Over.MEAN_OF_ROUNDS, Over.BEST_ROUND):
        for every_T in (True, False) if q.in_rounds is not None else (False,):
            yield [(partial(mean, q, first, gradients=gradients, every_T=every_T), None)]
    elif len(q.compared) > 1 and not first.changes:
        yield from ([(partial(rate, q, q.compared, rho, gradients=gradients), None)] for rho in _rates(q))


def _rates(q: Question) -> Iterator[Fraction]:
    """By how much a potential may shrink in a round: as the right side does, and not at all."""
    right = [each.right for each in q.compared]
    if len(right) > 2 and right[0] != right[1]:
        found = (
            right[1] / right[0]
            if right[1] ** 2 == right[0] * right[2]
            else (right[2] - right[1]) / (right[1] - right[0])
        )
        if 0 < found < 1:
            yield shortened(found, _LONG_RATE)
    yield Fraction(1)
