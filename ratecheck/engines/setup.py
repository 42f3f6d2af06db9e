"""A run, ready for an engine: checked arguments, the starting point, noise per coordinate."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ratecheck.algorithms import Method, method
from ratecheck.algorithms.model.algorithm import Algorithm, LinearMaps, check_alike
from ratecheck.algorithms.model.asking import MethodError, named
from ratecheck.algorithms.model.batches import ParameterBatch
from ratecheck.algorithms.model.nonlinear import Functions
from ratecheck.aliases import Array
from ratecheck.engines.request import RunRequest
from ratecheck.errors import InputError, did_you_mean
from ratecheck.inputs import floats, nonnegative, positive, whole
from ratecheck.noise import NoiseLaw
from ratecheck.noise.build import build
from ratecheck.participation import Participation
from ratecheck.participation.model.pattern import Neighbours
from ratecheck.problems import Moreau, Problem

Integers = NDArray[np.int64]


# Local steps and rounds are counted in 32 bits of the random streams.
LARGEST_RUN = 2**31
# Clients whose local steps a message names.
_SHOWN_STEPS = 6
# Largest table of local weights.
_LARGEST_TABLE = 10**7


@dataclass(frozen=True)
class Setup:
    """A run, ready for an engine.

    ``local_steps`` (n,) counts the local steps of each client and ``weights`` (n, 1) or (n, K) weighs them. ``sizes``
    maps a block to its number of coordinates, ``point`` (n, d) holds the start per client and ``noise`` (d,) the
    standard deviation per coordinate of noise that has the ``law``. ``records`` names what is recorded. ``round`` is
    the one whose coefficients are meant, None where they have to be the same in all of them; see `at`. ``coin`` is how
    the coin of a round fell, for methods with one; see `tossed`.
    """

    method: Method
    problem: Problem
    trace: Participation
    T: int
    local_steps: Integers
    weights: Array
    step_sizes: dict[str, float | Array]
    point: Array
    noise: Array
    records: tuple[str, ...]
    law: NoiseLaw
    round: int | None = None
    coin: float | None = None

    @property
    def metric(self) -> dict[str, float]:
        """The weights of records that add up to what the method's theorems bound, such as E[G_u + rate*G_v]."""
        return self.algorithm.metric(self.trace.rate, self.problem.n)

    @property
    def noisy(self) -> bool:
        """Whether something is added to gradients."""
        return bool(self.noise.any()) or self.law.relative > 0

    @property
    def algorithm(self) -> Algorithm:
        """The algorithm that runs."""
        return self.method.algorithm

    @property
    def K(self) -> int:
        """The largest number of local steps."""
        return int(self.local_steps.max())

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Number of coordinates of each block, in the order of the algorithm's blocks."""
        return {block: self.problem.layout[block] for block in self.algorithm.blocks}

    @cached_property
    def starts(self) -> Integers:
        """(blocks + 1,): where the coordinates of each block begin, and their number."""
        return np.concatenate([[0], np.cumsum(list(self.sizes.values()))]).astype(np.int64)

    @cached_property
    def block_of(self) -> Integers:
        """(d,): the number of each coordinate's block."""
        return np.repeat(np.arange(len(self.sizes)), list(self.sizes.values()))

    @cached_property
    def maps(self) -> LinearMaps:
        """Reads off the algorithm's coefficients."""
        return LinearMaps(self.algorithm, beyond=True)

    @property
    def compression(self) -> float:
        """1/q - 1, the variance that compression adds relative to what is sent; 0 without."""
        return 1 / float(self.step_sizes["q"]) - 1 if self.algorithm.compressed else 0.0

    @property
    def mixing(self) -> Array | None:
        """The matrix W (n, n) by which clients are mixed after every round; None for methods that do not mix."""
        return self.trace.mixing if self.algorithm.mixed else None

    @property
    def neighbours(self) -> Neighbours | None:
        """The entries of that matrix that are not 0; None for methods that do not mix."""
        return self.trace.neighbours if self.algorithm.mixed else None

    @property
    def mixes(self) -> float:
        """The probability with which a round mixes them; 1 for methods that do not mix."""
        return self.trace.mixes if self.algorithm.mixed else 1.0

    @cached_property
    def functions(self) -> Functions:
        """Calls the algorithm's functions, where it is not linear."""
        return Functions(self.algorithm, self.sizes)

    @property
    def alike(self) -> bool:
        """Whether all clients have the same parameters."""
        steps = self.local_steps
        values = (value for value in self.step_sizes.values() if isinstance(value, np.ndarray))
        return (
            bool((steps == steps[0]).all())
            and bool((self.weights == self.weights[0]).all())
            and bool((self.shares == self.shares[0]).all())
            and all((value == value[0]).all() for value in values)
        )

    @cached_property
    def kinds(self) -> tuple[Integers, Integers]:
        """The first client of each kind of parameters, and the kind (n,) of every client."""
        if self.alike:
            return np.zeros(1, dtype=np.int64), np.zeros(len(self.local_steps), dtype=np.int64)
        values = (value for value in self.step_sizes.values() if isinstance(value, np.ndarray))
        columns = np.column_stack([self.local_steps, self.weights, self.shares, *values])
        _, first, kind = np.unique(columns, axis=0, return_index=True, return_inverse=True)
        order = np.argsort(first)
        return first[order], np.argsort(order)[kind.ravel()]

    @cached_property
    def shares(self) -> Array:
        """The clients' weights p_i in the objective; of one client per type where clients are counted by type."""
        counts = self.problem.multiplicities
        return self.problem.shares if counts is None else np.full(len(counts), 1 / self.problem.n)

    @cached_property
    def norms(self) -> Array:
        """Sum of the weights of each client's local steps."""
        if self.weights.shape[1] == 1:
            return self.weights[:, 0] * self.local_steps
        used = np.arange(self.weights.shape[1]) < self.local_steps[:, None]
        return np.asarray(np.where(used, self.weights, 0.0).sum(axis=1))

    def at(self, t: int) -> Setup:
        """The setup with the coefficients of round t."""
        return replace(self, round=t) if self.algorithm.varying else self

    @property
    def chance(self) -> float:
        """The probability with which the coin of a round is 1; 1 for methods without one."""
        return 1.0 if self.algorithm.coin is None else float(self.step_sizes[self.algorithm.coin])

    def tossed(self, coin: float) -> Setup:
        """The setup where the coin of the round fell so, 1 or 0."""
        return replace(self, coin=coin) if self.algorithm.coin else self

    def parameters(
        self, i: int | None = None, *, participants: int = 1, delay: float = 1.0, weight: float = 1.0
    ) -> dict[str, float]:
        """The numbers that the algorithm's functions receive as ``p`` for client i, or for the server.

        Raises `InputError` where they differ from round to round and no round is named. A method whose server uses
        the local steps of one client raises it where they differ from client to client.
        """
        known = self.numbers(i, participants=participants, delay=delay, weight=weight)
        return self._in_rounds(ParameterBatch(known), None).at(0)

    def numbers(
        self, i: int | None = None, *, participants: int = 1, delay: float = 1.0, weight: float = 1.0
    ) -> dict[str, float]:
        """The `parameters` of client i, or of the server, but for the coefficients of a round."""
        server, i = i is None, i or 0
        sizes = {k: float(v[i]) if isinstance(v, np.ndarray) else v for k, v in self.step_sizes.items()}
        known: dict[str, float] = {
            "n": self.problem.n,
            "m": max(participants, 1),
            "K": int(self.local_steps[i]),
            "delay": delay,
            "weight": weight,
            "p": float(self.shares[i]),
            "norm": float(self.norms[i]),
            "mean_norm": self._mean_norm,
            "mixes": self.mixes,
            **({} if self.coin is None else {"coin": self.coin}),
            **sizes,
        }
        if server and (self.local_steps != self.local_steps[0]).any():
            return _OfServer(self.algorithm, self.local_steps, known)
        return known

    def _in_rounds(self, parameters: ParameterBatch, rounds: range | None) -> ParameterBatch:
        """The parameters in each of the rounds, one after the other; None for the round of the setup."""
        algorithm = self.algorithm
        if not algorithm.varying:
            return parameters
        if rounds is None and self.round is None:
            check_alike(algorithm, "what follows the run here")
        where = [self.round or 0] if rounds is None else rounds
        known = [parameters.at(place) for place in range(parameters.size)]
        found = [algorithm.coefficients(t, self.T, p) for t in where for p in known]
        if any(each.keys() != found[0].keys() for each in found):
            raise MethodError(f"{self.method.spoken}: coefficients has other parameters in some rounds than in others")
        return parameters.repeated(len(where)).having(found)

    def of_clients(
        self, clients: Integers, rounds: range | None = None, *, delay: float = 1.0, weight: float | Array = 1.0
    ) -> ParameterBatch:
        """The parameters of several clients, (rounds, clients) in all; ``weight`` may be one for each client.

        Without ``rounds`` they are those of the round of the setup.
        """
        weights = np.broadcast_to(np.asarray(weight, dtype=float), (len(clients),))
        known = self.numbers(int(clients[0]), delay=delay, weight=float(weights[0]))
        if len(clients) == 1:
            return self._in_rounds(ParameterBatch(known), rounds)
        arrays = {
            "K": self.local_steps[clients], "p": self.shares[clients], "norm": self.norms[clients], "weight": weights,
            **{name: value[clients] for name, value in self.step_sizes.items() if isinstance(value, np.ndarray)},
        }  # fmt: skip
        return self._in_rounds(ParameterBatch(known, arrays, len(clients)), rounds)

    def of_server(self, participants: Integers, rounds: range | None = None) -> ParameterBatch:
        """The parameters of the server with each of these numbers of participants, (rounds, numbers) in all."""
        counts = np.maximum(participants, 1)
        known = self.numbers(participants=int(counts[0]))
        arrays = {} if len(counts) == 1 else {"m": counts}
        return self._in_rounds(ParameterBatch(known, arrays, len(counts)), rounds)

    @cached_property
    def _mean_norm(self) -> float:
        counts, shares, norms = self.problem.multiplicities, self.shares, self.norms
        if counts is None and (shares == shares[0]).all():
            # Whole numbers stay whole as long as they can.
            return float(norms.mean())
        return float((shares if counts is None else counts * shares) @ norms)

    def begin(self, i: int) -> tuple[Array, Array]:
        """Coefficients of ``begin`` of client i, as `begins` has them."""
        fixed, rate = self.begins(np.array([i]))
        return fixed[0], rate[0]

    def begins(self, clients: Integers, rounds: range | None = None) -> tuple[Array, Array]:
        """Coefficients of ``begin`` (rounds x clients, ...) as (fixed, rate): at a delay they are fixed + rate/delay.

        Raises `InputError` where they are not of that form: an error of the algorithm's definition.
        """

        def read(delay: float) -> Array:
            return self.maps.many("begin", self.of_clients(clients, rounds, delay=delay))

        fixed = read(np.inf)
        if not self.algorithm.uses_delay:
            return fixed, np.zeros_like(fixed)
        rate = read(1.0) - fixed
        if not np.allclose(read(3.0), fixed + rate / 3.0, rtol=1e-12):
            raise MethodError(f"{self.method.spoken}: begin is not affine in 1/delay")
        return fixed, rate

    def steps(self, i: int) -> Array:
        """Coefficients of ``step`` for each weight of client i, (1 or K, block, ...)."""
        return self.all_steps(np.array([i]))[0]

    def all_steps(self, clients: Integers, rounds: range | None = None) -> Array:
        """Coefficients of ``step`` (rounds x clients, 1 or K, block, ...) for each weight of a client."""

        def read(weight: float | Array) -> Array:
            return self.maps.many("step", self.of_clients(clients, rounds, weight=weight))[:, None]

        weights = self.weights[clients]
        if not self.algorithm.weighs or weights.shape[1] == 1:
            return read(weights[:, 0])
        fixed, once = (read(w) for w in (0.0, 1.0))
        if not np.allclose(read(3.0), fixed + 3.0 * (once - fixed), rtol=1e-12):
            raise MethodError(f"{self.method.spoken}: step is not affine in the weight")
        each = np.tile(weights, (len(fixed) // len(clients), 1))
        return np.asarray(fixed + each[..., None, None, None] * (once - fixed))

    def finish(self, i: int) -> Array:
        """Coefficients of ``finish``."""
        return self.maps.finish(self.parameters(i))

    def start_client(self, i: int) -> Array:
        """Coefficients of ``start_client``."""
        return self.maps.start_client(self.parameters(i))

    def aggregate(self, participants: int) -> Array:
        """Coefficients of ``aggregate``; a server that averages stays as it is without participants."""
        return self.aggregates(np.array([participants]))[0]

    def aggregates(self, participants: Integers, rounds: range | None = None) -> Array:
        """Coefficients of ``aggregate`` (rounds x numbers, ...) with these numbers of participants."""
        tables = self.maps.many("aggregate", self.of_server(participants, rounds))
        if self.algorithm.averages:
            idle = np.tile(participants == 0, len(tables) // len(participants))
            slots = tables.shape[2]
            tables[idle] = 0.0
            tables[idle, :, :, :slots] = np.eye(slots)
        return tables

    @property
    def projected(self) -> tuple[int, int]:
        """Slot and block of the server variable that is projected, (-1, -1) without."""
        algorithm = self.algorithm
        if algorithm.projects is None:
            return -1, -1
        where = algorithm.server[algorithm.projects]
        names = [name for name, block in algorithm.server.items() if block == where]
        return names.index(algorithm.projects), algorithm.blocks.index(where)

    def operator(self, oracle: str) -> tuple[Array, Array]:
        """(M, c) with M_i x - c_i what that oracle returns at x, noise aside; for problems that are affine."""
        if oracle == "gradient":
            return self.problem.operator()
        return self._envelope().proximal_map()

    def operator_error(self, oracle: str) -> tuple[Array, Array]:
        """Bounds of the errors of the entries of `operator`: none where they are the problem's own numbers."""
        if oracle == "gradient":
            M, c = self.operator(oracle)
            return np.zeros_like(M), np.zeros_like(c)
        return self._envelope().proximal_map_error()

    def _envelope(self) -> Moreau:
        return Moreau(self.problem.representatives.single, float(self.step_sizes["lambda_"]))


class _OfServer(dict[str, float]):
    """Parameters of the server where clients take different numbers of local steps: none of these is the server's."""

    def __init__(self, algorithm: Algorithm, steps: Integers, known: Mapping[str, float]) -> None:
        super().__init__({name: value for name, value in known.items() if name not in ("K", "norm")})
        self._why = (
            f"its server uses the K of one client, and K={','.join(map(str, steps[:_SHOWN_STEPS]))}"
            f"{',...' if len(steps) > _SHOWN_STEPS else ''} differs by client: mean_norm is their mean"
        )
        self._name = named(algorithm)

    def __missing__(self, name: str) -> float:
        if name in ("K", "norm"):
            raise MethodError(f"{self._name}: {self._why}")
        raise KeyError(name)


def prepare(algorithm: str, problem: Problem, trace: Participation, **given: Any) -> Setup:
    """The run with what is ``given`` of a `RunRequest`, as `ready` has it."""
    return ready(RunRequest(algorithm, problem, trace, **given))


def ready(request: RunRequest) -> Setup:
    """Check every argument and put the run together; raises `InputError` with one line for anything unusable."""
    chosen, problem, trace, T = method(request.algorithm), request.problem, request.trace, request.T
    if not isinstance(problem, Problem):
        raise InputError(f"needed a problem, such as problems.Quadratic(H, g, shared), not {type(problem).__name__}")
    if not isinstance(trace, Participation):
        raise InputError(f"needed a participation pattern, such as Trace(matrix), not {type(trace).__name__}")
    if T is None and trace.matrix is not None:
        T = len(trace.matrix)
    if T is None:
        raise InputError("how many rounds? give T=...")
    T = whole("T", T, 1, LARGEST_RUN)
    if trace.n != problem.n:
        raise InputError(f"the participation pattern is about {trace.n} clients, but the problem has {problem.n}")
    trace.check_rounds(T)
    _check_method(chosen, problem, trace)
    local_steps = _local_steps(chosen, problem.by_row("K", request.K), problem.distinct)
    sigmas = {name: value for name, value in (request.noise or {}).items() if value}
    if sigmas and chosen.algorithm.oracle == "prox":
        raise InputError(f"{chosen.name} solves its inner problems exactly, so that its oracle has no noise")
    found = Setup(
        method=chosen,
        problem=problem,
        trace=trace,
        T=T,
        local_steps=local_steps,
        weights=_weights(chosen, request.weights, local_steps),
        step_sizes=_by_row(problem, chosen.resolve(request.step_sizes, problem.n)),
        point=starting_point(problem, {"x0": request.x0, "y0": request.y0, "v0": request.v0}),
        noise=_noise(problem, sigmas),
        records=chosen.algorithm.recorded if request.records is None else _names(request.records),
        law=problem.law,
    )
    _check_compression(found)
    _check_copies(found)
    _check_coin(found)
    if chosen.algorithm.own:
        # Every engine reads the functions in a way of its own; what is wrong in them is the same for all.
        check = found.maps.check if chosen.algorithm.linear else found.functions.check
        check(found.at(0).tossed(1.0).parameters(0))
    if chosen.algorithm.oracle == "prox":
        Moreau(problem.representatives.single, float(found.step_sizes["lambda_"]))
    return found


def _check_everybody(chosen: Method, problem: Problem, trace: Participation) -> None:
    """Raise `InputError` where a method for every client meets a pattern without some, or one for graphs meets none."""
    if chosen.full and trace.rate < 1:
        raise InputError(f"{chosen.name} needs every client in every round: use Trace.full({problem.n})")
    if not chosen.algorithm.mixed:
        return
    if trace.neighbours is None:
        raise InputError(
            f"{chosen.name} needs a graph of the clients: Graph.named('ring', {trace.n}), or another mixing matrix"
        )
    if problem.multiplicities is not None:
        raise InputError(f"clients on a graph are no types of clients, as a {problem.kind} has: use its full()")


def _check_method(chosen: Method, problem: Problem, trace: Participation) -> None:
    """Raise `InputError` where the method does not run on the problem with these participants."""
    _check_everybody(chosen, problem, trace)
    if chosen.algorithm.second_oracle is not None:
        raise InputError(f"{chosen.name} takes steps of a second part of f, which no problem has: use falsify --pep")
    chosen.check_problem(problem)


def _check_copies(ready: Setup) -> None:
    """Raise `InputError` where a client that is drawn several times would have to remember something."""
    algorithm = ready.algorithm
    kept = any(ready.sizes[block] for block in algorithm.client.values())
    if ready.trace.copies > 1 and (kept or algorithm.uses_delay or algorithm.asks_more or algorithm.compressed):
        raise InputError(
            f"{ready.method.spoken}: clients are drawn with replacement for methods alone whose clients keep nothing, "
            "compress nothing and take plain gradients"
        )


def _check_compression(ready: Setup) -> None:
    """Raise `InputError` where a coordinate is sent with no probability."""
    if not ready.algorithm.compressed:
        return
    q = float(ready.step_sizes["q"])
    if not 0 < q <= 1:
        raise InputError(f'q={q:g} breaks "0 < q <= 1": it is the probability with which a coordinate is sent')
    if ready.problem.multiplicities is not None:
        raise InputError(f"what clients of a type send differs, and a {ready.problem.kind} has types: use its full()")


def _check_coin(ready: Setup) -> None:
    """Raise `InputError` where the coin of a round has no probability."""
    if not 0 < ready.chance <= 1:
        name = ready.algorithm.coin
        raise InputError(f'{name}={ready.chance:g} breaks "0 < {name} <= 1": it is the probability of the coin')


def check_clients(ready: Setup) -> None:
    """Raise `InputError` where the problem counts its clients by type, so that none is followed by itself."""
    if ready.problem.multiplicities is not None:
        way = "engine=exact, or its full()" if ready.algorithm.linear else "its full()"
        raise InputError(f"this follows clients one by one, which a {ready.problem.kind} has not: use {way}")


def check_linear(ready: Setup, engine: str) -> None:
    """Raise `InputError` where the method says that it is not linear; ``engine`` is the one that was requested."""
    if not ready.algorithm.linear:
        raise InputError(f"{ready.method.spoken} is not linear: {engine} needs coefficients; use engine=step")
    check_law(ready, engine)


def check_law(ready: Setup, engine: str) -> None:
    """Raise `InputError` where second moments do not follow from the level of the noise."""
    if not ready.law.additive:
        raise InputError(
            f"{ready.law.kind} noise depends on the point, which {engine} does not follow: use engine=step"
        )
    if ready.noisy and not ready.law.followed:
        raise InputError(f"{ready.law.kind} noise of this index has no variance, which {engine} needs: use engine=step")


def check_tabled(ready: Setup, engine: str) -> None:
    """Raise as `check_linear` does, and where clients are mixed on a graph or messages are compressed."""
    check_linear(ready, engine)
    if what := ready.algorithm.beyond:
        raise InputError(f"{ready.method.spoken} {what}, which {engine} does not: use engine=exact or step")


def is_random(ready: Setup) -> bool:
    """Whether replicates may differ: by noise, samples that are drawn, participation, or what is sent."""
    batches = ready.problem.batch is not None
    coins = ready.compression > 0 or ready.mixes < 1 or ready.chance < 1
    return ready.noisy or batches or coins or not ready.trace.deterministic


def is_normal(ready: Setup) -> bool:
    """Whether the state is an affine map of the noise, hence normal: a linear method, affine gradients, no sampling."""
    projects = ready.algorithm.projects and math.isfinite(float(ready.step_sizes["r"]))
    affine = ready.algorithm.linear and ready.problem.affine and not projects
    coins = ready.compression > 0 or ready.mixes < 1 or ready.chance < 1
    return affine and ready.law.normal and not coins and ready.trace.deterministic


def _by_row(problem: Problem, sizes: Mapping[str, float | Array]) -> dict[str, float | Array]:
    """Parameters of the method, with one number per row of the problem in place of one per client."""
    return {name: problem.by_row(name, v) if isinstance(v, np.ndarray) else v for name, v in sizes.items()}


def _names(records: Sequence[str]) -> tuple[str, ...]:
    names = (records,) if isinstance(records, str) else records
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise InputError(f"records={records!r}: needed names of quantities")
    return tuple(names)


def _local_steps(chosen: Method, K: int | Sequence[int], n: int) -> Integers:
    if np.isscalar(K):
        steps = whole("K", K, 1, LARGEST_RUN)
        chosen.check_steps(steps)
        return np.full(n, steps)
    given = floats("K", K)
    if given.shape != (n,):
        has = f"{len(given)} entries" if given.ndim == 1 else f"the shape {given.shape}"
        raise InputError(f"K has {has}: give one number, or one per client, {n} in all")
    counts = [whole(f"K[{i}]", k, 1, LARGEST_RUN) for i, k in enumerate(given)]
    for k in counts:
        chosen.check_steps(k)
    return np.array(counts)


def _weights(chosen: Method, weights: ArrayLike | None, steps: Integers) -> Array:
    """Weights of the local steps as (n, 1) or (n, K)."""
    n = len(steps)
    if weights is None:
        return np.ones((n, 1))
    if not chosen.algorithm.weighs:
        raise InputError(f"{chosen.name} does not weigh its local steps: leave out weights")
    values = floats("weights", weights)
    K = int(steps.max())
    if values.shape == (n,):
        values = values[:, None]
    elif values.shape == (K,):
        values = np.repeat(values[None], n, axis=0)
    if values.shape not in ((n, 1), (n, K)):
        raise InputError(
            f"weights have the shape {np.shape(weights)}: needed are one per client (n,) = ({n},), one per local step "
            f"(K,) = ({K},), or both (n, K)"
        )
    if n * K > _LARGEST_TABLE and values.shape[1] > 1:
        raise InputError(f"n*K={n * K:g} weights are too many: give one per client")
    for i, row in enumerate(values):
        for k in range(min(int(steps[i]), len(row))):
            positive(f"weights[{i}, {k}]", row[k])
    return values


def _noise(problem: Problem, sigmas: Mapping[str, float | None]) -> Array:
    """Standard deviation per coordinate; a sigma is the total, E||noise||^2 = sigma^2, of what it is about."""
    known = problem.noises
    for name in sigmas:
        if name not in known:
            raise InputError(f"a {problem.kind} problem has no noise {name!r}; {did_you_mean(name, known)}")
    return problem.noise({name: nonnegative(name, sigmas.get(name) or 0.0) for name in known})


def with_law(ready: Setup, law: str | NoiseLaw | None) -> Setup:
    """The run with another law of its noise, or the name of one; with the problem's for None.

    Raises `InputError` for a problem whose samples have a law of their own, and for noise of a law that has none.
    """
    if law is None:
        return ready
    if ready.law.outcomes:
        raise InputError(f"the samples of a {ready.problem.kind} problem have a law of their own: leave out noise")
    found = build(law) if isinstance(law, str) else law
    if ready.noise.any() and not found.variance:
        raise InputError(f"the noise is said to be {found.kind}, and a sigma is above 0")
    if found.relative and ready.algorithm.oracle == "prox":
        raise InputError(f"{ready.method.spoken} solves its inner problems exactly, so that its oracle has no noise")
    return replace(ready, law=found)


def starting_point(problem: Problem, given: Mapping[str, ArrayLike | None]) -> Array:
    """The starting point (n, d) from x0, y0 and v0, each given or None for zeros; one row per type of a population.

    Raises `InputError` for other names, and where a shape does not fit or an entry is not finite.
    """
    n, shapes = problem.distinct, problem.starts
    parts = []
    for name, value in given.items():
        if name not in shapes:
            if value is not None:
                raise InputError(f"a {problem.kind} problem has no start {name}")
            continue
        shape = shapes[name]
        array = np.zeros(shape) if value is None else floats(name, value)
        if array.shape != shape:
            raise InputError(f"{name} has the shape {array.shape}, the problem needs {shape}")
        if not np.isfinite(array).all():
            entry = tuple(int(k) for k in np.argwhere(~np.isfinite(array))[0])
            raise InputError(f"{name}{list(entry)} is {array[entry]}: every entry has to be a finite number")
        parts.append(np.broadcast_to(array, (n, shape[-1])))
    return np.ascontiguousarray(np.concatenate(parts, axis=1))
