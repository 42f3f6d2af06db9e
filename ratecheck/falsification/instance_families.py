"""Families of instances: points of a unit cube decoded into problems, participations, settings and step sizes.

A `InstanceShape` fixes what is discrete (sizes, who takes part); a point of the cube gives the rest: spectra, alignment
of the clients' gradients, noise, how many rounds and local steps, where in the admissible region the step sizes lie,
and constants that are claimed larger than they are. Every decoded instance meets the statement's assumptions by
construction; its conditions are met as far as step sizes inside their intervals do.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from bounds.statement import Assumption, Over, Statement
from bounds.symbols import Domain, Role
from ratecheck.algorithms import METHODS
from ratecheck.aliases import Array
from ratecheck.certification.certified_constants import DELAYS, LOWER, MEAN_DELAYS, NOISE
from ratecheck.certification.trajectory_constants import MEASURES
from ratecheck.certification.uncertified import may_continue, of_operators, takes_partial_gradients
from ratecheck.engines.rigorous.mean_field import FEW
from ratecheck.engines.wanted import recordable
from ratecheck.errors import InputError
from ratecheck.participation import Graph, Participation, Trace
from ratecheck.participation.build import assumed
from ratecheck.problems import (
    Bilevel,
    BilevelSamples,
    Certificate,
    MinMax,
    Piecewise,
    PiecewiseSamples,
    Problem,
    Quadratic,
)
from ratecheck.settings import pointwise as points
from ratecheck.settings.applicability import counts, every_participation, method_of, steps_of_method
from ratecheck.settings.convexity import OF_F, any_sign, assumes_convexity, says_quadratic
from ratecheck.settings.kinks import has_noisy_pieces, has_pieces
from ratecheck.settings.measured import counts_rounds, measured
from ratecheck.settings.on_trace import certify
from ratecheck.settings.setting import Options, wanted
from ratecheck.stepsizes.choose import silent
from ratecheck.stepsizes.feasible_set import FeasibleSet as Region
from ratecheck.stepsizes.interval import TINY, Interval
from ratecheck.verification.instance import Instance

# The largest numbers of local steps and rounds: those of expectations by repeated squaring, and of those whose cost
# grows with both.
_FAR = (1e6, 1e9)
_NEAR = (32, 32)
_NEAR_OF_MANY = (8, 8)
_BY_ENTRY = (1e6, 64)
_ROUND_BY_ROUND = (1e6, 200)
# Methods that are not linear are followed local step by local step, in Python.
_STEP_BY_STEP = (8, 200)
# Where every point of a run is looked at.
_VISITED = (32, 64)
# Where all outcomes of samples are followed: local steps, rounds, and outcomes in the end, as a power of 2.
_OUTCOMES, _SAMPLED = 9, (4, 8)
# On functions with kinks runs are followed local step by local step.
_PIECE_BY_PIECE = (16, 500)
# A coordinate of a curvature that is next to none, with either sign or without.
_BARELY = 0.3
# Kinks of such a function, and the least curvature of one that is strongly convex.
_KINKS, _LEAST = 2, 0.02
# The lesser curvature at a kink where walks of two steps move furthest; what a point is asked by for its step sizes.
_SOFT = 1 / 3
_FLOATS = Options(vacuity=False, rigorous=False)
# How near 0 a kink is at least.
_NEAREST = 0.01
# Beside a hill: how far gradients are from their mean, in the cube's coordinates and really; and rounds, of which the
# least error of the start grows with every one.
_APART, _PULL, _AWHILE = 0.2, 2.0, 0.74
# Clients that are each of their own kind; numbers of clients that are tried where nothing runs, and in two groups of
# equal clients.
_FEW = 3
_MANY = (10, 40)
_GROUPED = 10
# Graphs of few clients on which these mix, and of more clients that are tried for graphs only; of many. Named by their
# edges: all that a few clients may have, but for the symmetric matrices whose edges have unequal weights.
_GRAPHS = {2: ("path",), 3: ("path", "complete"), 4: ("ring", "star"), 5: ("path",)}
_OF_MANY = "ring"
# The least share of a step of mixing, and the largest of what keeps W nonnegative: clients would swap places.
_SLOWEST, _FASTEST = 0.02, 0.95
# Clients whose mean is nearly their expectation; local steps and rounds of these, and of one client.
_CROWD = 10**6
_OF_CROWD, _OF_ONE = (8, 500), (6, 13)
# What is no bound but what the participation is: a number for the graph that no graph has is about none.
_NO_BOUNDS = ("delta", "mixing_rate", "mixing_change", "mixing_share")
# The share of instances in which a client takes one local step, where clients take different numbers of them.
_ONE_STEP = 0.25
# The largest step size where any is admissible.
_LARGE = 4.0
# Spans of logarithmic coordinates, as factors above and below 1.
_WIDE = 1e3


@dataclass(frozen=True)
class InstanceShape:
    """What is discrete: clients, variables of the two blocks, participants, and a trace's kind ("" for a pattern).

    ``groups`` kinds of clients have even shares of them; 0 where every client is of its own kind.
    ``continued``: curvatures are negative, and unequal although the statement bounds the clients' dissimilarity, of
    functions that continue otherwise beyond what the run sees. ``kinks``: clients' functions are quadratic between so
    many points of each coordinate. Everybody takes part in both, and there is no noise. ``opposed``: curvatures of
    single clients are negative where that of f, their mean, is positive.
    ``noisy``: all clients have one function with ``kinks``, whose samples are off by sigma to either side.
    ``bent``, of two levels: every client has its own Hessians, coupled and of any sign in the upper level, and v starts
    anywhere in its ball. ``sampled`` ones also draw samples, of second derivatives too.
    ``graph`` is the one on which clients mix, by name: with which share of a step is a coordinate.
    ``saddle``: min-max problems, the first half of the shared variables being minimised over and the other maximised.
    """

    n: int
    d_u: int
    d_v: int
    size: int
    trace: str = ""
    groups: int = 0
    continued: bool = False
    kinks: int = 0
    bent: bool = False
    sampled: bool = False
    opposed: bool = False
    noisy: bool = False
    graph: str = ""
    saddle: bool = False

    @property
    def quiet(self) -> bool:
        """Whether nothing is random."""
        return self.continued or (self.kinks > 0 and not self.noisy)

    def __str__(self) -> str:
        kinds = (
            self.trace,
            "equal clients with noise" if self.noisy else f"{self.groups} groups" if self.groups else "",
            "curvatures of any sign" if self.continued else "",
            f"{self.kinks} kink{'s' * (self.kinks > 1)}" if self.kinks else "",
            "own Hessians on both levels" if self.bent else "",
            "samples" if self.sampled else "",
            "clients that are not convex" if self.opposed else "",
            f"{self.graph} graph" if self.graph else "",
            "min-max problems" if self.saddle else "",
        )
        return ", ".join((f"n={self.n}, d={self.d_u}+{self.d_v}, {self.size} per round", *filter(None, kinds)))

    @property
    def group_of(self) -> list[int]:
        """The group of every client: even shares, in order."""
        groups = self.groups or self.n
        return [i * groups // self.n for i in range(self.n)]


# Who takes part, as matrices: client 0 always and the others as named; never with nobody at all in round 0.
TRACES = ("cyclic", "once", "late", "alternating", "blocks", "rare", "leaving")


def _matrix(kind: str, n: int, size: int, T: int) -> NDArray[np.bool_]:
    rounds = np.arange(T)[:, None]
    clients = np.arange(n)[None, :]
    return np.asarray(
        {
            "cyclic": (clients - rounds * size) % n < size,
            # All in round 0, then client 0 alone.
            "once": (rounds == 0) | (clients == 0),
            # Client 0 alone until the last round.
            "late": (rounds == T - 1) | (clients == 0),
            "alternating": ((clients + rounds) % 2 == 0) | (n == 1),
            # Client after client, each for a stretch of rounds.
            "blocks": clients == rounds * n // T,
            # All of them four times.
            "rare": np.broadcast_to(rounds % -(-T // 4) == 0, (T, n)),
            # All of them twice, and then nobody any more.
            "leaving": np.broadcast_to(rounds <= 1, (T, n)),
        }[kind]
    )


def shapes(statement: Statement, fixed: Mapping[str, float] | None = None) -> list[InstanceShape]:
    """The shapes that a statement can be asked about, small ones first; of those with ``fixed`` sizes, if any.

    Raises `InputError` where no shape has these sizes.
    """
    fixed, run = fixed or {}, statement.vocabulary.run
    n, size = (fixed.get(run.get(role, "")) for role in ("clients", "participants"))
    found = _on_graphs(statement, _shapes(statement))
    if Assumption.BOUNDED_GRADIENTS in statement.assumptions:
        # Only functions that are linear far away have such a bound.
        found = [shape for shape in found if shape.kinks] or found
    if is_bilevel(statement):
        # Every number of clients is few here, and conditions on it alone leave others nothing to say.
        found = [shape for shape in found if not _excluded(statement, shape)] or found
    if n is not None:
        found = [shape for shape in found if shape.n == n] or _on_graphs(
            statement,
            [
                *_saddles(statement, int(n)),
                *([] if takes_partial_gradients(statement) else _grouped(statement, int(n))),
                *_kinked(statement, int(n)),
            ],
        )
    found = [shape for shape in found if size is None or shape.size == size]
    if not found:
        sizes = [name for role in ("clients", "participants") if (name := run.get(role, "")) in fixed]
        listed = ", ".join(f"{name}={fixed[name]:g}" for name in sizes)
        raise InputError(f"the search has no instances with {listed} for {statement.key}")
    return found


def _on_graphs(statement: Statement, found: list[InstanceShape]) -> list[InstanceShape]:
    """The shapes with graphs where the method mixes clients, and those of a few more clients then."""
    method = method_of(statement)
    if method is None or not method.algorithm.mixed:
        return found
    few = [shape for shape in found if not shape.trace]
    few += [replace(shape, n=n, size=n) for n in (4, 5) for shape in found if shape == InstanceShape(2, 1, 0, 2)]
    return [replace(shape, graph=name) for shape in few for name in _graphs(shape.n)]


def _graphs(n: int) -> tuple[str, ...]:
    return _GRAPHS.get(n, (_OF_MANY,) if n > 1 else ("",))


def _excluded(statement: Statement, shape: InstanceShape) -> bool:
    """Whether the conditions on the number of clients alone are broken."""
    name = statement.vocabulary.run.get("clients", "")
    alone = replace(statement, conditions=tuple(c for c in statement.conditions if c.symbols == {name}))
    return any(check.holds is False for check in alone.check_conditions({name: float(shape.n)}))


def _grouped(statement: Statement, n: int) -> list[InstanceShape]:
    """Shapes of many clients, in two groups of equal ones."""
    d_u, d_v = _blocks(statement)[0]
    groups = 0 if method_of(statement) is None else 2
    sizes = sorted({*_participants(statement, n)} & {1, n // 2, n - 1, n})
    return [InstanceShape(n, d_u, d_v, size, groups=groups) for size in sizes]


def _kinked(statement: Statement, n: int) -> list[InstanceShape]:
    """The shape of clients with kinks, where such runs are followed exactly."""
    d_u = _blocks(statement)[0][0]
    asked = d_u and has_pieces(statement) and not says_quadratic(statement)
    # Floats seldom give functions with kinks one minimiser.
    asked = asked and (n == 1 or Assumption.INTERPOLATION not in statement.assumptions)
    return [InstanceShape(n, d_u, 0, n, kinks=_KINKS)] if asked else []


def noisy_shapes(statement: Statement) -> list[InstanceShape]:
    """Shapes of equal clients with noise and a kink: one client, and so many that each round is nearly its mean.

    The noise has two values, so that a statement whose title speaks of another kind is not asked.
    """
    gaussian = "gaussian" in statement.title.lower()
    # With one kink a function that is linear far away is so everywhere, or has no minimum.
    if Assumption.BOUNDED_GRADIENTS in statement.assumptions or _OF_QUIET_RUNS & {*statement.assumptions}:
        return []
    if gaussian or says_quadratic(statement) or every_participation(statement) or not has_noisy_pieces(statement):
        return []
    fixed = statement.settings.get(statement.vocabulary.run.get("clients", ""))
    numbers = (1, _CROWD) if fixed is None else ()
    found = [InstanceShape(n, 1, 0, n, groups=1, kinks=1, noisy=True) for n in numbers]
    return [shape for shape in found if not _excluded(statement, shape)]


def _blocks(statement: Statement) -> list[tuple[int, int]]:
    """Numbers of shared and personal variables that are tried."""
    method = method_of(statement)
    if method is None:
        return [(1, 0), (2, 0)]
    sizes_u = (1, 2) if method.shared else (0,)
    sizes_v = (0, 1) if method.personal and method.shared else (1, 2) if method.personal else (0,)
    return list(itertools.product(sizes_u, sizes_v))


def _shapes(statement: Statement) -> list[InstanceShape]:
    """All of them."""
    method = method_of(statement)
    if is_bilevel(statement):
        return _two_level_shapes(statement)
    if takes_partial_gradients(statement):
        return _saddles(statement)
    blocks = _blocks(statement)
    found = []
    for n, (d_u, d_v) in itertools.product(range(1, _FEW + 1), blocks):
        for size in _participants(statement, n):
            kinds = () if not every_participation(statement) else TRACES if n > 1 else ("rare", "leaving")
            found.append(InstanceShape(n, d_u, d_v, size))
            if size == 1:
                found += [InstanceShape(n, d_u, d_v, size, kind) for kind in kinds]
    if method is not None:
        found += _grouped(statement, _GROUPED)
        if any_sign(statement) and not says_quadratic(statement) and may_continue(statement):
            found += [InstanceShape(n, *blocks[0], n, continued=True) for n in (1, 2, 3)]
        if of_f_alone(statement):
            found += [
                InstanceShape(n, 1, 0, size, opposed=True) for n in (2, _FEW) for size in _participants(statement, n)
            ]
        found += [shape for n in range(1, _FEW + 1) for shape in _kinked(statement, n)]
        found = [*_saddles(statement), *found]
    else:
        # Without a run many clients cost little, and delays grow with their number.
        found += [shape for n in _MANY for shape in _grouped(statement, n)]
    return found


def _saddles(statement: Statement, n: int | None = None) -> list[InstanceShape]:
    """Those of min-max problems, on which statements about operators alone say something; of n clients, if any."""
    method = method_of(statement)
    if method is None or not of_operators(statement) or not method.algorithm.asks_gradients or not method.shared:
        return []
    fixed = statement.settings.get(statement.vocabulary.run.get("clients", ""))
    if n is None and fixed is not None and fixed.is_Integer:
        n = int(fixed)
    sizes = [(1, 2), (1, 4), *((k, 2) for k in range(2, _FEW + 1))]
    sizes = sizes if n is None else [(k, d) for k, d in sizes if k == n] or [(n, 2)]
    return [InstanceShape(k, d, 0, size, saddle=True) for k, d in sizes for size in _participants(statement, k)]


def of_f_alone(statement: Statement) -> bool:
    """Whether f has a minimum by an assumption on f, which says nothing of single clients."""
    assumed, method = {*statement.assumptions}, method_of(statement)
    on_clients = assumed & {Assumption.CONVEXITY, Assumption.DISSIMILARITY, Assumption.INTERPOLATION}
    return bool(assumed & OF_F) and not on_clients and method is not None and method.shared


def _two_level_shapes(statement: Statement) -> list[InstanceShape]:
    """Those of bilevel problems: constants along a run are those of one run, or of all outcomes of its samples."""
    plain = [InstanceShape(n, 1, 1, n) for n in (1, 2)]
    found = [*plain, *(replace(shape, bent=True) for shape in plain)]
    if method_of(statement) is None or not {*statement.assumptions} & _OF_SAMPLES:
        return found
    found += [InstanceShape(n, 1, 1, n, bent=True, sampled=True) for n in (1, 2)]
    if Assumption.UNIFORM_SAMPLING in statement.assumptions:
        found.append(InstanceShape(2, 1, 1, 1, bent=True, sampled=True))
    return found


def has_delays(statement: Statement) -> bool:
    """Whether the bound or a condition has a delay in it."""
    facts = statement.vocabulary.facts
    return any(facts.get(name) in (*DELAYS, *MEAN_DELAYS) for name in statement.parameters)


def is_bilevel(statement: Statement) -> bool:
    """Whether the statement is about problems with a lower level."""
    method = method_of(statement)
    if method is not None:
        return method.algorithm.bilevel
    return (
        bool(measured(statement))
        and {statement.vocabulary.facts.get(name) for name in measured(statement)} <= points.NAMES
    )


def _participants(statement: Statement, n: int) -> Sequence[int]:
    if Assumption.FULL_PARTICIPATION in statement.assumptions:
        return (n,)
    return range(1, n + 1)


class InstanceFamily:
    """All instances of a statement with one shape; ``coordinates`` names the axes of the cube in order.

    Numbers that are ``fixed`` are those of all of them; see `ratecheck.falsification.fixed`.
    """

    def __init__(self, statement: Statement, shape: InstanceShape, fixed: Mapping[str, float] | None = None) -> None:
        self.statement, self.shape, self.fixed = statement, shape, fixed or {}
        self.coordinates = tuple(self._names())

    def _names(self) -> Iterator[str]:
        shape = self.shape
        yield from ("rounds", "local_steps")
        yield from (f"local_steps {group}" for group in range(1, len({*shape.group_of})) if self._steps_of_each)
        if self.bilevel:
            yield from ("curvature lower", "curvature x", "curvature y", "slope coupling")
            yield from (f"slope {name} {i}" for i in range(shape.n) for name in ("lower", "x", "y"))
            yield from self._names_of_bent() if shape.bent else ()
        else:
            for i, c in itertools.product(range(shape.groups or shape.n), range(shape.d_u + shape.d_v)):
                yield from (f"kink {i} {c} {j}" for j in range(shape.kinks))
                yield from (f"piece {i} {c} {j}" for j in range(shape.kinks and shape.kinks + 1))
                # Shared coordinates have one curvature for all clients, without which no dissimilarity bound exists.
                if not shape.kinks and (i == 0 or c >= shape.d_u or not self._common):
                    yield f"curvature {i} {c}"
                yield f"slope {i} {c}"
        yield from (f"coupling {i}" for i in range(self._coupled))
        if shape.saddle:
            yield from (f"turn {i} {c}" for i in range(shape.n) for c in range(shape.d_u // 2))
        yield "spread"
        yield from (f"noise {symbol}" for symbol in self._noises)
        yield from (f"parameter {name}" for name in self._parameters)
        yield from (f"count {name}" for name in counts(self.statement))
        yield from (f"step {name}" for name in self._free_steps)
        yield from (f"claim {name}" for name in self._claimable)
        if Assumption.INDEPENDENT_PARTICIPATION in self.statement.assumptions and not shape.quiet:
            yield "probability"
        if self.shape.graph:
            yield "edges"
        if self._mixes_at_random:
            yield "mixing"

    @cached_property
    def _steps_of_each(self) -> str:
        """The name under which clients are given local steps of their own; empty where the statement has no such."""
        if Assumption.UNEQUAL_STEPS not in self.statement.assumptions or self.shape.quiet or self.shape.noisy:
            return ""
        vocabulary = self.statement.vocabulary
        mean = vocabulary.run.get("local_steps", "")
        names = [each.name for each in vocabulary.aliases.values() if each.many and mean in each.targets]
        return next((name for name in names if not {name, mean} & {*self.fixed, *self.statement.settings}), "")

    def _names_of_bent(self) -> Iterator[str]:
        """What clients have for themselves, the start of v, and samples."""
        others = range(1, self.shape.n)
        yield from (f"curvature {name} {i}" for i in others for name in ("lower", "x", "y"))
        yield from (f"cross {i}" for i in range(self.shape.n))
        if method_of(self.statement) is not None:
            yield "start v"
        if self.shape.sampled:
            yield from (f"sample {name}" for name in ("f", "f side", "g", "gg", "gg side"))

    @cached_property
    def bilevel(self) -> bool:
        """Whether problems have a lower level."""
        return is_bilevel(self.statement)

    @cached_property
    def _common(self) -> bool:
        return Assumption.DISSIMILARITY in self.statement.assumptions and not self.shape.continued

    @cached_property
    def _coupled(self) -> int:
        """Groups of clients whose shared and personal variable are coupled: none where a dissimilarity is bounded."""
        shape = self.shape
        pair = (shape.d_u, shape.d_v) == (1, 1) and not shape.continued and not (self._common and shape.n > 1)
        return (shape.groups or shape.n) if pair else 0

    @cached_property
    def _noises(self) -> tuple[str, ...]:
        """Noise of the variables that there are, where the statement does not say how large it is."""
        if self.bilevel or self.shape.quiet or _OF_QUIET_RUNS & {*self.statement.assumptions}:
            # Two levels have noise in the samples of the problem, if any.
            return ()
        absent = {name for name, d in (("sigma_u", self.shape.d_u), ("sigma_v", self.shape.d_v)) if not d}
        facts = self.statement.vocabulary.facts.items()
        return tuple(s for s, fact in facts if fact in {*NOISE} - absent and s not in self.statement.settings)

    @cached_property
    def _parameters(self) -> tuple[str, ...]:
        """Parameters of the method that the paper counts among the settings."""
        method, vocabulary = METHODS.get(self.statement.algorithm or ""), self.statement.vocabulary
        names = () if method is None else method.algorithm.step_sizes
        return tuple(
            name
            for name in names
            if name in vocabulary
            and name not in vocabulary.derived
            and all(vocabulary[t].role is Role.SETTING for t in vocabulary.reach(name))
        )

    @cached_property
    def _restricted(self) -> tuple[str, ...]:
        """Parameters of the method that stand in a condition beside step sizes, and are chosen before those."""
        steps = {q.name for q in self.statement.vocabulary if q.role is Role.STEP_SIZE}
        together = [c.symbols for c in self.statement.conditions if c.symbols & steps]
        return tuple(
            name for name in self._parameters if name not in self.fixed and any(name in symbols for symbols in together)
        )

    @cached_property
    def _free_steps(self) -> tuple[str, ...]:
        """Step sizes that no rule sets and no others decide, products first."""
        statement, vocabulary = self.statement, self.statement.vocabulary
        ruled = {rule.symbol.name for rule in statement.step_rules if not rule.at_least}
        products = dict.fromkeys(p.product.name for p in statement.step_products)
        names = [n for n in statement.parameters if vocabulary[n].role is Role.STEP_SIZE and n not in ruled]
        # A local step size follows from a product and its outer one, and gives the outer ones of its other products.
        locals_: dict[str, str] = {}
        for each in statement.step_products:
            locals_.setdefault(each.local.name, each.product.name)
        follow = {p.outer.name for p in statement.step_products if locals_[p.local.name] != p.product.name}
        free = [
            n for n in dict.fromkeys((*products, *names)) if n in names and n not in {*locals_, *follow, *self.fixed}
        ]
        return (*tuple(n for n in free if n not in statement.settings)[:4], *self._unsaid_steps)

    @property
    def _unsaid_steps(self) -> tuple[str, ...]:
        """Step sizes of a bilevel run of which the statement says nothing, so that it is about all of them."""
        method = method_of(self.statement)
        if method is None or not self.bilevel:
            return ()
        return tuple(name for name in silent(self.statement, method.step_sizes) if name not in self.fixed)

    @cached_property
    def _claimable(self) -> tuple[str, ...]:
        """Constants of which more than the certified value may be claimed."""
        statement, vocabulary = self.statement, self.statement.vocabulary
        return tuple(
            name
            for name in statement.parameters
            if vocabulary[name].role is Role.CONSTANT
            and vocabulary[name].domain is not Domain.REAL
            and vocabulary.facts.get(name, "") not in (*NOISE, "")
            and vocabulary.facts[name] not in _NO_BOUNDS
        )

    @property
    def size(self) -> int:
        """Coordinates of the cube."""
        return len(self.coordinates)

    def drawn(self, rng: np.random.Generator) -> Array:
        """A random point, whose coordinates are at an end one time in three."""
        point = rng.random(self.size)
        ends = rng.random(self.size) < 1 / 3
        point = np.where(ends, rng.integers(0, 2, self.size).astype(float), point)
        if self.shape.bent:
            # What is 0 in the middle is so one time in four.
            centred = np.array([name.startswith(_CENTRED) for name in self.coordinates])
            point = np.where(centred & (rng.random(self.size) < 1 / 4), 0.5, point)
        return point

    def hard(self) -> Iterator[Array]:
        """Points that are known to be hard.

        Of clients on a graph: they pull apart at a point that is next to the minimiser of f, where one is curved and
        the others are next to flat. Of min-max problems: all clients turn alike, with no curvature, little, or half.
        Of clients that are not convex: all of them share their stationary point, and nearly cancel. Of functions with
        kinks and one client: gradient descent with steps of 1/L stays on a slope until the last round, or meets the
        same gradient again where curvatures may be negative. Of several: clients pull apart, with slopes of +1 and
        nearly -1, and differ in between alone, where one has curvature 1 and another none, so that local steps drift.
        """
        if self.shape.sampled:
            yield from self._at_rest()
        if self.shape.opposed:
            yield from (self._opposed(low, rounds) for low, rounds in ((0.9, 0.24), (0.99, 0.24), (0.99, 0.4)))
        if self.shape.graph and self.shape.continued:
            yield from (self._pulled_apart(rounds, edges) for rounds, edges in ((1.0, 0.3), (0.5, 0.3), (1.0, 0.0)))
        if self.shape.saddle:
            yield from (self._turning(curved, rounds) for rounds in (0.3, 1.0) for curved in (0.0, 0.35, 0.55))
        if self.shape.noisy:
            yield from (self._walking(steps, low) for low in (_SOFT, 0.1) for steps in (0.51, 0.75, 1.0))
            return
        if not self.shape.kinks:
            return
        if self.shape.n > 1:
            yield from (self._clients_apart(rounds, steps) for rounds, steps in ((1.0, 1.0), (0.8, 0.4)))
            if self._hilly:
                yield from (self._beside_a_hill(steps) for steps in (1.0, 0.4))
            return
        # T = 2 and 5: the slope ends 2 T - 2 steps away.
        for rounds, end in ((0.16, 2.0), (0.28, 8.0)):
            yield self._one_client(rounds, (end, end + 2), (0.0, 1.0, 0.0))
        yield self._one_client(0.16, (0.5, 1.0), (1.0, 0.0, 1.0))

    def _at_rest(self) -> Iterator[Array]:
        """Points where y and v begin at their solutions, f is barely curved, and one noise alone moves them."""
        slopes = {f"slope {name} {i}": 0.5 for i in range(self.shape.n) for name in ("lower", "x", "y")}
        rest = slopes | {"curvature lower": 1.0, "curvature y": _BARELY, "slope coupling": 0.5, "spread": 0.5}
        rest |= {name: 1.0 for i in range(self.shape.n) for name in (f"slope y {i}", f"curvature lower {i}")}
        rest |= {f"curvature y {i}": _BARELY for i in range(1, self.shape.n)}
        rest |= {f"cross {i}": 0.5 for i in range(self.shape.n)}
        for steps in (0.0, 0.7):
            for name, size, sides in (("f", 0.65, (0.0, 0.4)), ("g", 0.65, (0.0,)), ("gg", 0.59, (0.0, 0.4))):
                for side in sides:
                    yield self._at(rest | {"local_steps": steps, f"sample {name}": size, f"sample {name} side": side})

    def _one_client(self, rounds: float, kinks: Sequence[float], pieces: Sequence[float]) -> Array:
        """All coordinates alike, a slope of -1 at the start."""
        own = {"rounds": rounds, "local_steps": 0.0, "spread": 0.5}
        for c in range(self.shape.d_u):
            own |= {f"kink 0 {c} {j}": _place(kink) for j, kink in enumerate(kinks)}
            own |= {f"piece 0 {c} {j}": piece for j, piece in enumerate(pieces)}
        return self._at(own)

    def _turning(self, curved: float, rounds: float) -> Array:
        """All clients have one operator, curved alike in all coordinates and turned most."""
        own = {"rounds": rounds, "local_steps": 0.0, "spread": 0.5}
        for i in range(self.shape.n):
            own |= {f"turn {i} {c}": 1.0 for c in range(self.shape.d_u // 2)}
            own |= {
                f"{name} {i} {c}": at
                for c in range(self.shape.d_u)
                for name, at in (("curvature", curved), ("slope", 1.0))
            }
        return self._at(own)

    def _clients_apart(self, rounds: float, steps: float) -> Array:
        own = {"rounds": rounds, "local_steps": steps, "spread": 0.5}
        for i, c in itertools.product(range(self.shape.n), range(self.shape.d_u)):
            own |= {f"kink {i} {c} {j}": 1 / 6 + 2 / 3 * (j > 0) for j in range(self.shape.kinks)}
            inside = range(1, self.shape.kinks)
            own |= {f"piece {i} {c} {j}": 1.0 if i == 0 else _BARELY for j in inside}
            own |= {f"piece {i} {c} {j}": 1.0 for j in (0, self.shape.kinks)}
            own[f"slope {i} {c}"] = (1.0, 0.02, 0.51)[min(i, 2)]
        return self._at(own)

    def _walking(self, steps: float, low: float) -> Array:
        """Clients at a point where f' < 0 and to which a round returns on average: a kink is as far as they walk.

        f' is ``low`` (x - 1) up to 1 and x - 1 beyond, where steps against the noise's sign are longer.
        """
        own = {"rounds": 1.0, "local_steps": steps, "spread": 0.5, "kink 0 0 0": _place(1.0)}
        own |= {"piece 0 0 0": 0.1 + 0.5 * (1 + math.log(low) / math.log(_WIDE)), "piece 0 0 1": 1.0}
        own |= {"slope 0 0": (1 - low) / 2}

        def at(sigma: float) -> Array:
            noise = 0.3 + 0.7 * min(max(_coordinate_of_factor(sigma), 0.0), 1.0)
            return self._at(own | dict.fromkeys((f"noise {symbol}" for symbol in self._noises), noise))

        try:
            instance = self.decode(at(1.0))
            values = instance.verdict(_FLOATS).values
        except InputError:
            return at(1.0)
        K, gamma = int(values.get(self.statement.vocabulary.run.get("local_steps", ""), 1)), values.get("gamma_u", 0.0)

        def moved(log_sigma: float) -> float:
            u = np.zeros(1)
            for _ in range(K):
                slope = np.where(u < 1, low, 1.0) * (u - 1)
                u = np.concatenate([u - gamma * (slope + sign * math.exp(log_sigma)) for sign in (1, -1)])
            return float(u.mean())

        ends = math.log(1 / _WIDE), math.log(_WIDE)
        if not gamma > 0 or not moved(ends[0]) > 0 > moved(ends[1]):
            return at(1.0)
        return at(math.exp(brentq(moved, *ends, xtol=1e-12)))

    @cached_property
    def _hilly(self) -> bool:
        """Whether two clients of bounded dissimilarity may stand beside a hill, and take gradient steps alone."""
        shape = self.shape
        return (shape.n, shape.d_u, shape.kinks) == (2, 1, 2) and self._common and self.bent_both_ways

    def _beside_a_hill(self, steps: float) -> Array:
        """Two clients that step into a bowl on one side and onto a hill on the other, where steps grow.

        grad f_1 = D + d and grad f_2 = D - d, where D has the slopes 1, -1 and 1. The start is where the steps of both
        cancel, so that runs stay there for a while although grad f = D is about (gamma K/2) d.
        """
        own = {"rounds": 0.0, "local_steps": steps, "spread": _coordinate_of_factor(_PULL / _APART)}
        for i in range(2):
            own |= {f"kink {i} 0 0": 0.5, **{f"piece {i} 0 {j}": float(j != 1) for j in range(3)}}

        def at(slope: float, hill: float, rounds: float) -> Array:
            places = {f"kink {i} 0 1": _place(hill) for i in range(2)}
            slopes = {"slope 0 0": (1 + slope + _APART) / 2, "slope 1 0": (1 + slope - _APART) / 2}
            return self._at(own | places | slopes | {"rounds": rounds})

        first = at(_APART, 1.0, 0.0)
        try:
            values = self.decode(first).verdict().values
        except InputError:
            return first
        K, gamma = int(values.get(self.statement.vocabulary.run.get("local_steps", ""), 1)), values.get("gamma_u", 0.0)
        # On the hill a step is 1 + gamma times the one before.
        hill = 1.1 * _PULL * max((1 + gamma) ** K - 1, _NEAREST)

        def moved(slope: float) -> float:
            total = 0.0
            for pull in (_PULL, -_PULL):
                x = 0.0
                for _ in range(K):
                    D = slope + min(x, 2 * _NEAREST - x) if x < hill else slope + 2 * _NEAREST + x - 2 * hill
                    x -= gamma * (D + pull)
                total += x
            return total

        if not moved(0.0) > 0 > moved(1 - _APART):
            return first
        return at(float(brentq(moved, 0.0, 1 - _APART, xtol=1e-15)), hill, _AWHILE)

    def _pulled_apart(self, rounds: float, edges: float) -> Array:
        own = {"rounds": rounds, "local_steps": 0.0, "spread": 0.5, "edges": edges}
        for i, c in itertools.product(range(self.shape.n), range(self.shape.d_u)):
            own[f"curvature {i} {c}"] = 1.0 if i == 0 else 0.35
            own[f"slope {i} {c}"] = (1.0, 0.01, 0.5)[min(i, 2)]
        return self._at(own)

    def _opposed(self, low: float, rounds: float) -> Array:
        """f_1 = (x - 1)^2/2 and another client that is -``low`` times that; others are next to flat."""
        own = {"rounds": rounds, "local_steps": 0.0, "spread": 0.5, "curvature 0 0": 1.0, "slope 0 0": 1.0}
        own |= {"curvature 1 0": _coordinate_of(-low), "slope 1 0": (1 - low) / 2}
        own |= {"curvature 2 0": 0.3, "slope 2 0": 0.5}
        return self._at(own)

    def _at(self, own: Mapping[str, float]) -> Array:
        """The point with these coordinates, step sizes at their edge, and 0 for all others."""
        high = ("step", "parameter")
        return np.array([own.get(name, float(name.startswith(high))) for name in self.coordinates])

    def decode(self, point: Array, fewest: int = 1) -> Instance:
        """The instance at a point of the cube, of that many rounds at least, unless their number is fixed.

        Raises `InputError` where the statement says nothing there.
        """
        coordinate = dict(zip(self.coordinates, (float(x) for x in point), strict=True))
        statement = self.statement
        problem = self._problem(coordinate)
        given = self._settings(coordinate)
        if self.shape.noisy and self.shape.n == 1:
            given = self._few_signs(given)
        rounds = statement.vocabulary.run.get("rounds", "")
        if rounds in given and rounds not in self.fixed:
            given[rounds] = max(given[rounds], float(fewest))
        start = self._start(coordinate, problem)
        if isinstance(problem, BilevelSamples):
            given = self._short(given, problem, fewest)
        pattern = self._pattern(coordinate, int(given.get(statement.vocabulary.run.get("rounds", ""), 1)))
        if pattern is not None and pattern.delta is not None and "delta" in statement.vocabulary:
            given["delta"] = pattern.delta
        most = statement.vocabulary.run.get("participants", "")
        if pattern is not None and pattern.matrix is not None and most in given:
            # Rounds of a trace differ in size: the setting is that of the largest.
            given[most] = float(pattern.matrix.sum(axis=1).max())
        claims = self._claims(coordinate, problem, given, pattern)
        if self._restricted:
            given |= self._chosen(coordinate, problem, {**given, **claims}, pattern, self._restricted, "parameter")
            # What the method's parameters decide, such as the gap, is claimed once they are known.
            claims = self._claims(coordinate, problem, given, pattern)
        given |= claims
        given |= self._chosen(coordinate, problem, given, pattern, self._free_steps, "step")
        return Instance(statement, problem, pattern, given, start)

    def _start(self, coordinate: Mapping[str, float], problem: Problem) -> dict[str, list[float]]:
        """The start of v in the ball of radius L_f/mu_g: L_f is at least the largest gradient at x = y = 0."""
        two = problem.bilevel
        if "start v" not in coordinate or two is None:
            return {}
        radius = float(np.linalg.norm(two.q, axis=1).max() / two.A.min())
        return {"v0": [_centred(coordinate["start v"]) * radius]}

    def _short(self, given: Mapping[str, float], problem: BilevelSamples, fewest: int) -> dict[str, float]:
        """With fewer rounds and local steps where the samples have too many outcomes else; those given stay."""
        run, found = self.statement.vocabulary.run, dict(given)
        steps, rounds = run.get("local_steps", ""), run.get("rounds", "")
        bits = problem.n * sum(problem.sampled)
        sets = math.log2(math.comb(problem.n, self.shape.size))
        for name, least in ((rounds, max(fewest, int(self._fewest_rounds))), (steps, 1), (rounds, 1)):
            while (
                name in found
                and name not in self.fixed
                and found[name] > least
                and found.get(rounds, 1) * (found.get(steps, 1) * bits + sets) > _OUTCOMES
            ):
                found[name] -= 1
        return found

    def _few_signs(self, given: Mapping[str, float]) -> dict[str, float]:
        """With no more rounds than have few outcomes, all of which are followed."""
        run, found = self.statement.vocabulary.run, dict(given)
        rounds, steps = run.get("rounds", ""), int(found.get(run.get("local_steps", ""), 1))
        if rounds in found:
            found[rounds] = min(found[rounds], 1.0 + FEW // steps)
        return found

    def _problem(self, coordinate: Mapping[str, float]) -> Problem:
        if self.shape.kinks:
            return self._pieces(coordinate)
        if self.shape.saddle:
            return self._saddle(coordinate)
        return self._two_levels(coordinate) if self.bilevel else self._one_level(coordinate)

    @cached_property
    def bent_both_ways(self) -> bool:
        """Whether functions with kinks may be concave between them."""
        dominated = Assumption.POLYAK_LOJASIEWICZ in self.statement.assumptions
        return any_sign(self.statement) or (dominated and not assumes_convexity(self.statement))

    def _pieces(self, coordinate: Mapping[str, float]) -> Piecewise | PiecewiseSamples:
        """Functions of curvature up to 1; where dissimilarity is bounded clients agree far away."""
        shape, assumed = self.shape, {*self.statement.assumptions}
        n, d, J = shape.groups or shape.n, shape.d_u, shape.kinks
        kinks, curvature, slope = np.zeros((n, d, J)), np.zeros((n, d, J + 1)), np.zeros((n, d))
        for i, c in itertools.product(range(n), range(d)):
            kinks[i, c] = np.sort([_reach(coordinate[f"kink {i} {c} {j}"]) for j in range(J)])
            for j in range(J + 1):
                own = 0 if self._common and j in (0, J) else i
                # Far away f has to have a minimum, as far as one is assumed.
                bent = _any_curvature if self.bent_both_ways and 0 < j < J else _curvature
                curvature[i, c, j] = bent(coordinate[f"piece {own} {c} {j}"])
            slope[i, c] = 2 * coordinate[f"slope {i} {c}"] - 1
        mean, spread = slope.mean(axis=0), _factor(coordinate["spread"])
        if Assumption.BOUNDED_GRADIENTS in assumed:
            curvature[..., [0, -1]] = 0.0
        least = _LEAST if Assumption.STRONG_CONVEXITY in assumed else 0.0
        parts = kinks, np.maximum(curvature, least) if least else curvature, mean + spread * (slope - mean)
        return PiecewiseSamples(*parts, clients=shape.n) if shape.noisy else Piecewise(*parts)

    def _two_levels(self, coordinate: Mapping[str, float]) -> Bilevel:
        """One upper and one lower variable; A_i^-1 B_i is common, without which no beta_gh exists, if not A, B, Q."""
        n, spread = self.shape.n, _factor(coordinate["spread"])
        slope = {
            name: np.array([2 * coordinate[f"slope {name} {i}"] - 1 for i in range(n)]) for name in ("lower", "x", "y")
        }
        slope = {name: each.mean() + spread * (each - each.mean()) for name, each in slope.items()}
        if self.shape.bent:
            return self._bent(coordinate, slope)
        lower = max(_curvature(coordinate["curvature lower"]), 1 / _WIDE)
        upper = np.diag([_curvature(coordinate["curvature x"]), _curvature(coordinate["curvature y"])])
        return Bilevel(
            np.full((n, 1, 1), lower),
            np.full((n, 1, 1), 2 * coordinate["slope coupling"] - 1),
            slope["lower"][:, None],
            np.broadcast_to(upper, (n, 2, 2)),
            np.column_stack([slope["x"], slope["y"]]),
        )

    def _bent(self, coordinate: Mapping[str, float], slope: Mapping[str, Array]) -> Bilevel:
        """Every client's own Hessians: A_i and B_i in proportion, Q_i as it likes while Phi is bounded below."""
        n = self.shape.n

        def of_clients(name: str, bent: Callable[[float], float]) -> Array:
            return np.array([bent(coordinate[f"curvature {name}" + f" {i}" * (i > 0)]) for i in range(n)])

        A = np.maximum(of_clients("lower", _curvature), 1 / _WIDE)
        B = A / A[0] * (2 * coordinate["slope coupling"] - 1)
        on_x, on_y = of_clients("x", _curvature), of_clients("y", _any_curvature)
        cross = np.array([_centred(coordinate[f"cross {i}"]) for i in range(n)])
        Y = float(B[0] / A[0])
        # Along (x, y*(x)) the curvature of Phi is that of the mean over the clients.
        bend = float(np.mean(on_x + 2 * Y * cross + Y**2 * on_y))
        on_x = on_x + max(-2 * bend, 0.0)
        parts = (
            A[:, None, None],
            B[:, None, None],
            slope["lower"][:, None],
            np.moveaxis(np.array([[on_x, cross], [cross, on_y]]), -1, 0),
            np.column_stack([slope["x"], slope["y"]]),
        )
        return BilevelSamples(*parts, **self._samples(coordinate, A)) if self.shape.sampled else Bilevel(*parts)

    def _samples(self, coordinate: Mapping[str, float], A: Array) -> dict[str, Array]:
        """Noise of one size for all clients, where the statement does not say that there is none."""
        statement, n = self.statement, self.shape.n
        symbols = {fact: symbol for symbol, fact in statement.vocabulary.facts.items()}

        def size(fact: str, own: float) -> float:
            symbol = symbols.get(fact, "")
            if symbol in statement.settings:
                return float(statement.settings[symbol]) if statement.settings[symbol].is_number else 0.0
            return float(self.fixed.get(symbol, own))

        # Where bounds hold for every sample each has a lower level that is strongly convex.
        every = Assumption.EVERY_SAMPLE in statement.assumptions
        rough = coordinate["sample gg"]
        own = float(A.min()) * min(_or_zero(rough), 0.999) if every else _or_zero(rough)
        f = size("sigma_f", _or_zero(coordinate["sample f"])) * _side(coordinate["sample f side"])
        gg = size("sigma_gg", own) * _side(coordinate["sample gg side"])
        return {
            "noise_f": np.tile(f, (n, 1)),
            "noise_g": np.full((n, 1), size("sigma_g", _or_zero(coordinate["sample g"]))),
            # The block of x and y stands twice in the Hessian.
            "noise_A": np.full((n, 1, 1), gg[1]),
            "noise_B": np.full((n, 1, 1), gg[0] / math.sqrt(2)),
        }

    def _one_level(self, coordinate: Mapping[str, float]) -> Quadratic:
        shape = self.shape
        n, d = shape.n, shape.d_u + shape.d_v
        curvature, slope = np.zeros((n, d)), np.zeros((n, d))
        for (i, group), c in itertools.product(enumerate(shape.group_of), range(d)):
            own = f"curvature {group} {c}"
            bent = _any_curvature if shape.continued or shape.opposed else _curvature
            curvature[i, c] = bent(coordinate[own if own in coordinate else f"curvature 0 {c}"])
            slope[i, c] = 2 * coordinate[f"slope {group} {c}"] - 1
        if shape.opposed:
            curvature += np.maximum(_LEAST / 10 - curvature.mean(axis=0), 0.0)
        if not curvature.any():
            # Statements are about functions that are not linear.
            curvature[:, 0] = 1 / _WIDE
        mean = slope[:, : shape.d_u].mean(axis=0)
        spread = _factor(coordinate["spread"])
        slope[:, : shape.d_u] = mean + spread * (slope[:, : shape.d_u] - mean)
        if Assumption.INTERPOLATION in self.statement.assumptions:
            # The common minimiser has coordinates of 1 and -1, so that products are exact.
            slope = curvature * np.where(slope[0] < 0, -1.0, 1.0)
        if not shape.continued:
            # Without curvature a slope has no minimum: as if it were not there.
            slope[curvature == 0.0] = 0.0
        H = np.zeros((n, d, d))
        H[:, np.arange(d), np.arange(d)] = curvature
        for i, group in enumerate(shape.group_of if self._coupled else ()):
            H[i, 0, 1] = H[i, 1, 0] = _coupling(coordinate[f"coupling {group}"]) * math.sqrt(curvature[i].prod())
        return Quadratic(H, slope, shape.d_u)

    def _saddle(self, coordinate: Mapping[str, float]) -> MinMax:
        """Pairs (x_c, y_c): curvatures a and c of their own, turned by b, which is largest where both are 0.

        Curvatures and turns are at most 1. What has to be definite is at least nearly so.
        """
        shape, assumed = self.shape, {*self.statement.assumptions}
        n, pairs = shape.n, shape.d_u // 2
        curvature, slope = np.zeros((n, 2 * pairs)), np.zeros((n, 2 * pairs))
        turn = np.zeros((n, pairs))
        for i in range(n):
            curvature[i] = [_curvature(coordinate[f"curvature {i} {c}"]) for c in range(2 * pairs)]
            slope[i] = [2 * coordinate[f"slope {i} {c}"] - 1 for c in range(2 * pairs)]
            turn[i] = [_turn(coordinate[f"turn {i} {c}"]) for c in range(pairs)]
        if Assumption.COCOERCIVE_OPERATOR in assumed:
            # Where a turn meets no curvature there is no such constant.
            turned = np.tile(turn != 0, 2)
            curvature = np.where(turned, np.maximum(curvature, 1 / _WIDE), curvature)
        if Assumption.STRONGLY_MONOTONE_OPERATOR in assumed:
            curvature = np.maximum(curvature, 1 / _WIDE)
        if not curvature.any() and not turn.any():
            turn[:, 0] = 1.0
        spread = _factor(coordinate["spread"])
        slope = slope.mean(axis=0) + spread * (slope - slope.mean(axis=0))
        # Without curvature and turn a slope has no zero: as if it were not there.
        flat = (curvature.mean(axis=0) == 0) & (np.tile(turn.mean(axis=0), 2) == 0)
        slope[:, flat] = 0.0

        def diagonal(values: Array) -> Array:
            return values[:, :, None] * np.eye(pairs)

        over_x, over_y = np.split(curvature, 2, axis=1)
        return MinMax(diagonal(over_x), diagonal(turn), diagonal(over_y), slope[:, :pairs], slope[:, pairs:])

    def _settings(self, coordinate: Mapping[str, float]) -> dict[str, Any]:
        statement, roles = self.statement, self.statement.vocabulary.run
        most_steps, most_rounds = self.reach
        values = {
            "participants": float(self.shape.size),
            "local_steps": _whole(coordinate["local_steps"], most_steps),
            "rounds": max(_whole(coordinate["rounds"], most_rounds), self._fewest_rounds),
        }
        given: dict[str, Any] = {roles[role]: value for role, value in values.items() if role in roles}
        given |= steps_of_method(statement)
        given = {k: v for k, v in given.items() if k not in statement.settings}
        if self._steps_of_each:
            steps = [given.pop(roles["local_steps"])]
            others = range(1, len({*self.shape.group_of}))
            # Clients that take one step have a share of the cube.
            places = (max(coordinate[f"local_steps {group}"] - _ONE_STEP, 0.0) / (1 - _ONE_STEP) for group in others)
            steps += [_whole(place, most_steps) for place in places]
            given[self._steps_of_each] = [steps[group] for group in self.shape.group_of]
        for symbol, fact in statement.vocabulary.facts.items():
            if fact in NOISE and symbol not in statement.settings:
                given[symbol] = _or_zero(coordinate[f"noise {symbol}"]) if symbol in self._noises else 0.0
        if self.shape.sampled:
            # The noise is the problem's own.
            given = {name: value for name, value in given.items() if name not in self._own_noise}
        for name in self._parameters:
            given[name] = (
                1.0 if coordinate[f"parameter {name}"] > _EDGE else 4 * _factor(coordinate[f"parameter {name}"] / _EDGE)
            )
        # A round of each client, say: the run is that many times longer.
        given |= {name: _whole(coordinate[f"count {name}"], most_rounds // self.shape.n) for name in counts(statement)}
        own = {roles.get("clients"), *(self._own_noise if self.shape.sampled else ())}
        given |= {name: value for name, value in self.fixed.items() if name not in own}
        return given

    @cached_property
    def _own_noise(self) -> set[str]:
        """Levels of noise that a problem with samples has by itself."""
        return {name for name, fact in self.statement.vocabulary.facts.items() if fact in {*NOISE, "sigma_gg"}}

    @property
    def _fewest_rounds(self) -> float:
        """2 where rounds are spoken of one by one: the first says little, and two have it as well."""
        one_by_one = {Over.EVERY_ROUND, Over.EVERY_ROUND_BUT_FIRST}
        return 1.0 + any(claim.metric.over in one_by_one for claim in self.statement.claims)

    @cached_property
    def reach(self) -> tuple[float, float]:
        """The largest number of local steps and of rounds."""
        statement = self.statement
        if (own := self._own_reach) is not None:
            return own
        means = all(claim.metric.over is Over.MEAN_OF_ROUNDS for claim in statement.claims)
        fixed_law = not self.shape.trace and not every_participation(statement)
        method = method_of(statement)
        followed = method is not None and method.algorithm.uses_delay
        drawn = Assumption.DRAWN_STEP_SIZES in statement.assumptions
        # What lemmas speak of is computed local step by local step.
        slow = method is not None and not recordable(wanted(statement))
        if slow or drawn or self.bilevel or Assumption.SKEWED_SELECTION in statement.assumptions:
            return _NEAR_OF_MANY if self.shape.groups else _NEAR
        if method is not None and method.algorithm.varying:
            return _NEAR
        if method is not None and not method.algorithm.linear:
            return _NEAR_OF_MANY if self.shape.groups else _STEP_BY_STEP
        if not means:
            return _BY_ENTRY
        # Expected delays of a random pattern are found by following it.
        far = (fixed_law and not has_delays(statement)) or (self.shape.size == self.shape.n and not self.shape.trace)
        return _FAR if far and not followed and not counts_rounds(statement) else _ROUND_BY_ROUND

    @property
    def _own_reach(self) -> tuple[float, float] | None:
        """That of shapes whose runs are followed in a way of their own."""
        if self.shape.continued or _OF_QUIET_RUNS & {*self.statement.assumptions}:
            return _PIECE_BY_PIECE if self.shape.kinks else _VISITED
        if self.shape.noisy:
            return _OF_ONE if self.shape.n == 1 else _OF_CROWD
        if self.shape.kinks:
            return _PIECE_BY_PIECE
        return _SAMPLED if self.shape.sampled else None

    @property
    def _says_who(self) -> bool:
        """Whether constants depend on the pattern of an instance, which a statement does not fix alone."""
        return bool(self.shape.trace or self.shape.graph)

    @property
    def _mixes_at_random(self) -> bool:
        """Whether a round mixes clients on a graph with a probability of the instance's own."""
        return (
            bool(self.shape.graph) and Assumption.RANDOM_MIXING in self.statement.assumptions and not self.shape.quiet
        )

    def _pattern(self, coordinate: Mapping[str, float], T: int) -> Participation | None:
        """A trace, or clients that are independent with some probability; None where the statement says who."""
        shape = self.shape
        if shape.trace:
            return Trace(_matrix(shape.trace, shape.n, shape.size, T))
        if shape.graph:
            p = coordinate["mixing"] if self._mixes_at_random else 1.0
            graph = Graph.named(shape.graph, shape.n, 1.0 if p > _EDGE else max(p / _EDGE, 0.05))
            return graph.moved(_share(coordinate["edges"], graph))
        if Assumption.INDEPENDENT_PARTICIPATION in self.statement.assumptions:
            p = 1.0 if shape.quiet else coordinate["probability"]
            return assumed(
                Assumption.INDEPENDENT_PARTICIPATION, shape.n, shape.size, 1.0 if p > _EDGE else max(p / _EDGE, 0.05)
            )
        return None

    def _claims(
        self,
        coordinate: Mapping[str, float],
        problem: Problem,
        given: Mapping[str, float],
        pattern: Participation | None,
    ) -> dict[str, float]:
        if not self._claimable or all(coordinate[f"claim {name}"] <= _HONEST for name in self._claimable):
            return {}
        found = certify(self.statement, problem, given, pattern if self._says_who else None)
        claims = {}
        for name in self._claimable:
            x = coordinate[f"claim {name}"]
            if x <= _HONEST or name not in found or found[name].certificate is Certificate.ABSENT:
                continue
            more = _WIDE ** ((x - _HONEST) / (1 - _HONEST))
            value = found[name].value
            lower = self.statement.vocabulary.facts[name] in LOWER
            claims[name] = value / more if lower else value * more if value > 0 else more - 1
        return claims

    def _chosen(
        self,
        coordinate: Mapping[str, float],
        problem: Problem,
        given: Mapping[str, float],
        pattern: Participation | None,
        wanted: Sequence[str],
        kind: str,
    ) -> dict[str, float]:
        """Values inside what the conditions admit, one after the other; those not chosen yet are open."""
        statement = self.statement
        if not wanted:
            return {}
        found = certify(statement, problem, given, pattern if self._says_who else None)
        facts = statement.vocabulary.facts
        if any(math.isinf(c.value) for name, c in found.items() if facts[name] not in MEASURES):
            raise InputError("a constant does not exist")
        names = {*statement.parameters, *statement.vocabulary.run.values()}
        values = {name: c.value for name, c in found.items() if math.isfinite(c.value)}
        values = {**{k: v for k, v in given.items() if k in names}, **values}
        # Apart, since lists decide what may be certified as well.
        values = {k: v for k, v in (statement.resolve(given) | statement.resolve(values)).items() if k in names}
        chosen: dict[str, float] = {}
        for k, name in enumerate(wanted):
            free = tuple(each for each in wanted[k:] if statement.vocabulary[each].role is not Role.STEP_SIZE)
            if name in self._unsaid_steps:
                chosen[name] = self._inside(name, Interval(), coordinate[f"{kind} {name}"])
                continue
            known = {each: value for each, value in {**values, **chosen}.items() if each not in free}
            try:
                interval = Region.of(statement, known, free).admissible()[name]
            except (InputError, KeyError):
                if statement.hypotheses or statement.vocabulary[name].role is not Role.STEP_SIZE:
                    continue
                # Nothing is said of it, so that any value will do.
                interval = Interval()
            chosen[name] = self._inside(name, interval, coordinate[f"{kind} {name}"])
        return chosen

    def _inside(self, _name: str, interval: Interval, x: float) -> float:
        """The number in an interval at a coordinate."""
        return _inside(interval.box, interval.high, x)


# What is measured in runs without randomness.
_OF_QUIET_RUNS = {Assumption.VISITED_GRADIENTS, Assumption.BOUNDED_ITERATES}
# What speaks of samples.
_OF_SAMPLES = {Assumption.BILEVEL_NOISE, Assumption.EVERY_SAMPLE}
# Coordinates that are 0 in the middle.
_CENTRED = ("slope", "cross", "start")
# A coordinate above this value is at its edge.
_EDGE = 0.6
# A coordinate of a claimed constant up to this value claims the certified one.
_HONEST = 0.8


def _curvature(x: float) -> float:
    """0, then logarithmic from 1e-3 to 1, then 1."""
    if x < 0.1:
        return 0.0
    return 1.0 if x > _EDGE else _WIDE ** ((x - _EDGE) / (_EDGE - 0.1))


def _any_curvature(x: float) -> float:
    """-1 at 0, logarithmic to -1e-3 and from 1e-3 to 1, then 1."""
    if x < 0.3:
        return -(_WIDE ** (-x / 0.3))
    return 1.0 if x > _EDGE else _WIDE ** ((x - _EDGE) / (_EDGE - 0.3))


def _coordinate_of(curvature: float) -> float:
    """Where `_any_curvature` is this negative number."""
    return -0.3 * math.log(-curvature) / math.log(_WIDE)


def _place(reach: float) -> float:
    """Where `_reach` is a positive number, or nearest to one that is smaller or larger."""
    return 0.5 + min(max(math.log10(reach / _NEAREST) / 6, 0.0), 0.5)


def _reach(x: float) -> float:
    """Both signs, logarithmic from 1e-2 to 10 away from 0."""
    size = _NEAREST * 10 ** (3 * abs(2 * x - 1))
    return math.copysign(size, 2 * x - 1)


def _centred(x: float) -> float:
    """-1 at 0, 0 in the middle, 1 at 1."""
    return max(min(3 * (x - 0.5), 1.0), -1.0) if abs(x - 0.5) > 0.1 else 0.0


def _side(x: float) -> Array:
    """How a noise of size 1 is shared between two entries: one alone, the other alone, and both with either sign."""
    angle = math.pi * min(max((x - 0.1) / 0.6, 0.0), 1.0)
    if 0.3 < x < 0.5:
        angle = math.pi / 2
    return np.array([round(math.cos(angle), 15), round(math.sin(angle), 15)])


def _share(x: float, graph: Graph) -> float:
    """How large a step of mixing is: logarithmic to 1, then 1, then to nearly the largest that there is."""
    if x < 0.5:
        return float(_SLOWEST ** (1 - 2 * x))
    largest = 1 / (1 - float(graph.mixing.diagonal().min()))
    return 1.0 + max((x - _EDGE) / (1 - _EDGE), 0.0) * max(_FASTEST * largest - 1, 0.0)


def _coupling(x: float) -> float:
    """0, then linear to nearly 1, with which a Hessian is nearly singular."""
    return 0.0 if x < 0.3 else 0.999 * (x - 0.3) / 0.7


def _turn(x: float) -> float:
    """1 from the edge on, -1 below 0.1, and in between 0 and then logarithmic from 1e-3."""
    if x < 0.1:
        return -1.0
    return 0.0 if x < 0.2 else 1.0 if x > _EDGE else _WIDE ** ((x - _EDGE) / (_EDGE - 0.2))


def _factor(x: float) -> float:
    """Logarithmic, from 1e-3 to 1e3."""
    return _WIDE ** (2 * min(max(x, 0.0), 1.0) - 1)


def _coordinate_of_factor(factor: float) -> float:
    """Where `_factor` is this number."""
    return 0.5 + math.log(factor) / (2 * math.log(_WIDE))


def _or_zero(x: float) -> float:
    """0, then logarithmic from 1e-3 to 1e3."""
    return 0.0 if x < 0.3 else _factor((x - 0.3) / 0.7)


def _whole(x: float, most: float) -> float:
    """Whole numbers from 1, logarithmic."""
    return float(math.floor(math.exp(x * math.log(most + 1)) + 1e-9)) if x < 1 else float(math.floor(most))


def _inside(box: tuple[float, float], high: float, x: float) -> float:
    """A point of an interval: its upper end where there is one, else its lower one, at the edge of the coordinate.

    Without either it is at most `_LARGE`, twice what gradient descent bears on the curvatures that are tried.
    """
    low = box[0]
    if math.isfinite(high):
        floor = max(low, box[1] / _WIDE)
        return box[1] if x > _EDGE else floor * (box[1] / floor) ** (x / _EDGE)
    if low <= TINY:
        return _LARGE * _WIDE ** (min(x / _EDGE, 1.0) - 1)
    floor = low if low > 1e-30 else 1.0
    return floor if x > _EDGE else floor * _WIDE ** (1 - x / _EDGE)
