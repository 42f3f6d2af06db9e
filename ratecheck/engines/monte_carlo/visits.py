"""Where clients ask their oracles in a run: every point of every local step, with the noise of the answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ratecheck.aliases import Array
from ratecheck.engines.monte_carlo.step import StepKernel
from ratecheck.engines.setup import Setup
from ratecheck.errors import InputError
from ratecheck.kernels.constants import WIDTH
from ratecheck.kernels.oracle import AFFINE, add_gaussian
from ratecheck.kernels.random import stream_keys
from ratecheck.kernels.rounds import run_rounds


@dataclass(frozen=True)
class Visit:
    """Local step k of round t: the points (n, d, replicates) and the noise of what the oracles answer there."""

    t: int
    k: int
    points: Array
    noise: Array


def visits(setup: Setup, *, seed: int = 0, wanted: range = range(1)) -> Iterator[Visit]:
    """The local steps of all clients, in order, in the replicates ``wanted`` of the step engine with that seed.

    A client that is not in the round makes its steps too, from the same server state, as proofs let it. One that has
    made its last local step stays where it is. Raises `InputError` for a problem that is not quadratic.
    """
    kernel = StepKernel(setup)
    if kernel.source.kind != AFFINE:
        raise InputError(f"the local steps are followed on quadratic problems only, not on a {setup.problem.kind} one")
    source, blocks, n = kernel.source, setup.block_of, setup.problem.n
    keys, replicates = stream_keys(seed, wanted), len(wanted)
    keys = np.ascontiguousarray(np.pad(keys, ((0, 0), (0, max(0, WIDTH - replicates))), mode="edge"))
    server, client = kernel.start(keys)
    last = np.full((n, keys.shape[1]), -1)
    record = np.empty((1, len(kernel.plan.records), keys.shape[1]))
    begins = [setup.begin(i)[0] for i in range(n)]
    if any(setup.begin(i)[1].any() for i in range(n)):
        raise InputError(f"{setup.method.name} depends on delays, which are not followed here")
    begin = np.stack(begins)[:, blocks]
    steps = [setup.steps(i)[:, blocks] for i in range(n)]
    # After its last entry a table goes on as it is.
    tables = [
        np.stack([table[min(k, len(table) - 1)] for table in steps]) for k in range(max(len(table) for table in steps))
    ]
    shortest = int(np.min(setup.local_steps))
    for t in range(setup.T):
        state = np.concatenate([np.broadcast_to(server, (n, *server.shape)), client], axis=1)
        local = np.einsum("idls,isdb->ildb", begin, state)
        for k in range(setup.K):
            points = local[:, 0]
            noise = np.zeros_like(points)
            for i in range(n if setup.noise.any() else 0):
                add_gaussian(source.noise, i, t, k, noise[i], keys, keys.shape[1])
            yield Visit(t, k, points[..., :replicates], noise[..., :replicates])
            answer = source.M @ points - source.c[..., None] + noise
            step = tables[min(k, len(tables) - 1)]
            moved = np.einsum("idlm,imdb->ildb", step, np.concatenate([local, answer[:, None]], axis=1))
            local = moved if k < shortest else np.where((k < setup.local_steps)[:, None, None, None], moved, local)
        masks = np.require(setup.trace.masks(t, 1, keys), requirements=("C", "W"))
        run_rounds(source, kernel.measured, kernel.method, kernel.records, server, client, last, keys, masks, t, record)
