"""The points at which a run evaluates oracles: every one of every local step, with the noise of the answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ratecheck.aliases import Array
from ratecheck.engines.monte_carlo.stepwise import StepKernel
from ratecheck.engines.setup import Setup, check_law
from ratecheck.errors import InputError
from ratecheck.kernels.constants import WIDTH
from ratecheck.kernels.local.visited import visit_step
from ratecheck.kernels.oracle import AFFINE
from ratecheck.kernels.random import stream_keys


@dataclass(frozen=True)
class Visit:
    """Local step k of round t: the points (n, d, replicates) and the noise of what the oracles answer there."""

    t: int
    k: int
    points: Array
    noise: Array


@dataclass(frozen=True)
class LocalMaps:
    """The local variables of all clients: ``begin`` and ``tables`` are the coefficients of their starts and steps."""

    begin: Array
    tables: list[Array]

    @classmethod
    def of(cls, setup: Setup) -> LocalMaps:
        """The visits of a run; raises `InputError` for a method whose start of a round depends on delays."""
        n, blocks = setup.problem.n, setup.block_of
        begins = [setup.begin(i) for i in range(n)]
        if any(delayed.any() for _, delayed in begins):
            raise InputError(f"{setup.method.spoken} depends on delays, which are not followed here")
        steps = [setup.steps(i)[:, blocks] for i in range(n)]
        longest = max(len(table) for table in steps)
        # After its last entry a table goes on as it is.
        tables = [np.stack([table[min(k, len(table) - 1)] for table in steps]) for k in range(longest)]
        return cls(np.stack([first for first, _ in begins])[:, blocks], tables)

    def rows(self) -> Array:
        """The coefficients of all steps as kernels take them: a row for each coordinate of a client, the constant 0."""
        tables = np.stack(self.tables)
        rows = np.concatenate([tables, np.zeros_like(tables[..., :1])], axis=-1)
        return rows.reshape(-1, rows.shape[-2] * rows.shape[-1])

    def step(self, k: int) -> Array:
        """Coefficients (n, d, variables, variables + 1) of local step k."""
        return self.tables[min(k, len(self.tables) - 1)]


@dataclass(frozen=True)
class RoundStart:
    """The start of round t: all variables (n, slots, d, replicates) and the local ones with which clients begin."""

    t: int
    state: Array
    local: Array


def starts(setup: Setup, kernel: StepKernel, local: LocalMaps, keys: NDArray[np.uint64]) -> Iterator[RoundStart]:
    """The starts of all rounds, and after the last one of that with which the run would go on."""
    n = setup.problem.n
    server, client = kernel.start(keys)
    last = np.full((n, keys.shape[1]), -1)
    record = np.empty((1, len(kernel.plan.records), keys.shape[1]))
    for t in range(setup.T + 1):
        state = np.concatenate([np.broadcast_to(server, (n, *server.shape)), client], axis=1)
        yield RoundStart(t, state, np.einsum("idls,isdb->ildb", local.begin, state))
        if t == setup.T:
            return
        kernel.play(t, server, client, last, keys, record)


def prepared(setup: Setup, seed: int, wanted: range) -> tuple[StepKernel, LocalMaps, NDArray[np.uint64]]:
    """The kernel of the run, the coefficients of its local steps and the keys of its replicates, of a whole vector."""
    kernel = StepKernel(setup)
    if kernel.source.kind != AFFINE:
        raise InputError(f"the local steps are followed on quadratic problems only, not on a {setup.problem.kind} one")
    check_law(setup, "what follows its local steps")
    keys = stream_keys(seed, wanted)
    keys = np.ascontiguousarray(np.pad(keys, ((0, 0), (0, max(0, WIDTH - len(wanted)))), mode="edge"))
    return kernel, LocalMaps.of(setup), keys


def visits(setup: Setup, *, seed: int = 0, wanted: range = range(1)) -> Iterator[Visit]:
    """The local steps of all clients, in order, in the replicates ``wanted`` of the step engine with that seed.

    A client that is not in the round makes its steps too, from the same server state, as proofs let it. One that has
    made its last local step stays where it is. Raises `InputError` for a problem that is not quadratic.
    """
    kernel, steps, keys = prepared(setup, seed, wanted)
    source, width, (n, d) = kernel.source, keys.shape[1], setup.point.shape
    words, table = np.empty((4, width), dtype=np.uint64), steps.rows()
    for start in starts(setup, kernel, steps, keys):
        if start.t == setup.T:
            return
        local = np.ascontiguousarray(start.local)
        for k in range(setup.K):
            # Anew, as who sees them may keep them.
            points, noise = np.empty((2, n, d, width))
            first = min(k, len(steps.tables) - 1) * n * d
            visit_step(source, setup.local_steps, table, first, start.t, k, local, points, noise, words, keys)
            # Replicates that only fill a vector are not shown.
            yield Visit(start.t, k, points[..., : len(wanted)], noise[..., : len(wanted)])


def box(setup: Setup) -> Array:
    """The lower and the upper ends (2, d) of the points at which a run without randomness evaluates clients.

    Those to which their proximal steps lead are among them.

    A local iterate y that depends on nothing else that moves in a round follows y_(k+1) = a y_k + c by coordinate, and
    is at its ends among the first two steps and the last two: the cost does not grow with K, but for the run itself.
    The points at which quantities are recorded, and those after the last round, are in the box too. Raises `InputError`
    for Hessians that are not diagonal, and for methods whose local steps are of another form.
    """
    kernel, steps, keys = prepared(setup, 0, range(1))
    M, c = kernel.source.M, kernel.source.c
    if (M * (1 - np.eye(M.shape[1]))).any() or len(steps.tables) > 1 or not setup.alike:
        raise InputError("the box of a run is known where Hessians are diagonal and clients step alike")
    step = steps.step(0)
    if step.shape[3] > step.shape[2] + 1:
        raise InputError(f"{setup.method.spoken} evaluates more than one gradient in a local step")
    moving = (step[:, :, 1:] != np.eye(step.shape[2], step.shape[3])[1:]).any(axis=3)
    if step[:, :, 0, 1:-1][moving].any():
        raise InputError(f"a local iterate of {setup.method.spoken} depends on others that move in the round")
    first, others, answer = step[:, :, 0, 0], step[:, :, 0, 1:-1], step[:, :, 0, -1]
    factor = first + answer * np.diagonal(M, axis1=1, axis2=2)
    proximal = setup.algorithm.oracle == "prox"
    extremes = sorted({0, min(1, setup.K - 1), max(0, setup.K - 2), setup.K - 1})
    ends = []
    recorded = _recorded(setup)
    for start in starts(setup, kernel, steps, keys):
        local = start.local[..., 0]
        constant = np.einsum("idl,ild->id", others, local[:, 1:]) - answer * c
        last = extremes if start.t < setup.T else (0,)
        asked = [factor**k * local[:, 0] + _powers(factor, k) * constant for k in last]
        # A proximal step knows the function at the point to which it leads.
        leads = proximal and start.t < setup.T
        reached = [np.diagonal(M, axis1=1, axis2=2) * point - c for point in asked] if leads else []
        ends += asked + reached
        ends.append(np.take_along_axis(start.state[..., 0], recorded, axis=1)[:, 0])
    points = np.concatenate(ends)
    return np.array([points.min(axis=0), points.max(axis=0)])


def _recorded(setup: Setup) -> NDArray[np.int64]:
    """(n, 1, d): the slot of every coordinate of the recorded point, first the server's and then the client's."""
    servers = setup.maps.server.slots
    slots = [slot + servers * (group == "client") for group, slot in setup.maps.point()]
    if any(slot < 0 and size for slot, size in zip(slots, setup.sizes.values(), strict=True)):
        raise InputError(f"{setup.method.spoken} records nothing of some variables")
    here = np.array(slots, dtype=np.int64)[setup.block_of]
    return np.broadcast_to(here, (setup.problem.n, 1, len(here)))


def _powers(a: Array, k: int) -> Array:
    """1 + a + ... + a^(k-1)."""
    near = np.abs(a - 1) < 1e-12
    return np.where(near, float(k), (a**k - 1) / np.where(near, 1.0, a - 1))
