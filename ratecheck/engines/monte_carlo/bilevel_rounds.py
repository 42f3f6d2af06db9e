"""Monte Carlo for what SimFBO's lemmas speak of: drifts, directions and changes within a round.

Per round and replicate, from the points that a run visits (`visits`). Averages over clients are those of the weights
w_i of the objective that the method descends, averages over a client's local steps are those of its coefficients.
Source: ``simfbo`` ("SimFBO: Towards Simple, Flexible and Communication-efficient Federated Bilevel Learning"),
Appendices B and D.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from ratecheck.aliases import Array, Progress
from ratecheck.engines.monte_carlo.played import REACH
from ratecheck.engines.monte_carlo.stepwise import Run
from ratecheck.engines.monte_carlo.visits import prepared, starts
from ratecheck.engines.setup import Setup
from ratecheck.kernels.local.visited import add_step, visit_rounds
from ratecheck.kernels.random import stream_keys
from ratecheck.problems import Bilevel

_BLOCKS = ("x", "y", "v")
NAMES = frozenset(
    [f"drift_{block}{power}" for block in _BLOCKS for power in ("", "_sq")]
    + [f"sampled_{block}2" for block in _BLOCKS]
    + ["mean_x2", "local_v", "noise_weight", "noise_weight_r", "Phi_w_change", "y_change", "v_change"]
)
# What lemmas bound in every run, not in the mean.
EVERY_RUN = frozenset({"local_v"})
# The largest ||grad f_i|| at a point where client i makes a local step, without noise and with it: no means.
STEEPEST = ("steepest", "steepest_answer")
# Rounds are followed together until the points of a step are so many numbers.
_TOGETHER = 2**15
_ERRORS = ("grad_Phi_w2", "y_error_w2", "v_error_w2")


def simulate(setup: Setup, *, seed: int = 0, wanted: range = range(1), progress: Progress | None = None) -> Run:
    """All quantities of `NAMES` and of `STEEPEST`, `REACH`, and the errors before rounds, of the replicates ``wanted``.

    Arrays (replicates, T).
    """
    sums, keys = RoundSums(setup), stream_keys(seed, wanted)
    rows: dict[str, list[Array]] = {name: [] for name in (*_ERRORS, *sorted(NAMES), *STEEPEST, REACH)}
    # An overflow is a result here: the run diverges.
    with np.errstate(over="ignore", invalid="ignore"):
        for rounds, norms2 in _steps(setup, sums, seed, wanted):
            members = setup.trace.masks(rounds[0], len(rounds), keys).transpose(1, 0, 2).reshape(len(sums.mean), -1)
            steepest = dict(zip(STEEPEST, np.sqrt(norms2), strict=True))
            for name, value in (sums.finish(members) | steepest).items():
                rows[name].append(value.reshape(len(rounds), -1))
            if progress is not None:
                progress(rounds[0] / setup.T)
    records = {name: np.concatenate(values).T for name, values in rows.items()}
    return Run(records, setup.metric, setup.trace.rate)


def steepest(setup: Setup, *, seed: int = 0, wanted: range = range(1)) -> Run:
    """`STEEPEST` of each round alone, and as `REACH` the norm of the projected variable before it.

    Arrays (replicates, T).
    """
    sums, block = RoundSums(setup), setup.projected[1]
    rows: dict[str, list[Array]] = {name: [] for name in (*STEEPEST, REACH)}
    with np.errstate(over="ignore", invalid="ignore"):
        for rounds, norms2 in _steps(setup, sums, seed, wanted, alone=True):
            # The first local steps are made at the server's variables.
            norms = np.linalg.norm(sums.start[setup.starts[block] : setup.starts[block + 1]], axis=0)
            for values, each in zip(rows.values(), (*np.sqrt(norms2), norms), strict=True):
                values.append(each.reshape(len(rounds), -1))
    return Run({name: np.concatenate(values).T for name, values in rows.items()}, setup.metric, setup.trace.rate)


def _steps(
    setup: Setup, sums: RoundSums, seed: int, wanted: range, *, alone: bool = False
) -> Iterator[tuple[range, Array]]:
    """All local steps of rounds, followed together as they differ by where they start: which, and `STEEPEST` squared.

    Arrays (2, replicates), one round after the other, as are the ``sums`` then, which are left out where the largest
    gradients are wanted ``alone``. Of all clients at every local step, as `visits` has them.
    """
    kernel, steps, keys = prepared(setup, seed, wanted)
    width, (n, d), problem = keys.shape[1], setup.point.shape, sums.problem
    shares, table = sums.shares[:, : 0 if alone else setup.K], steps.rows()
    following = islice(starts(setup, kernel, steps, keys), setup.T)
    while rounds := list(islice(following, max(1, _TOGETHER // (n * d * width)))):
        numbers = range(rounds[0].t, rounds[-1].t + 1)
        local = np.ascontiguousarray(np.concatenate([start.local for start in rounds], axis=-1))
        sums.begin(local[:, 0])
        norms2 = np.zeros((len(STEEPEST), local.shape[-1]))
        visit_rounds(
            kernel.source, setup.local_steps, table, np.array(numbers), local, shares, setup.starts, sums.start,
            problem.Q, problem.q, problem.d_x, norms2, sums.sums, keys,
        )  # fmt: skip
        # Replicates that only fill a vector are not shown.
        if len(wanted) < width:
            shown = np.flatnonzero(np.arange(len(rounds) * width) % width < len(wanted))
            norms2 = norms2[:, shown]
            sums.show(shown)
        yield numbers, norms2


class RoundSums:
    """Sums over the local steps of one round; arrays end with the replicates.

    `begin` receives the points of the first local steps, `step` those of every one with the noise of what the oracles
    answer there, all (n, d, replicates); `finish` has the quantities of `NAMES` and the errors before the round.
    """

    def __init__(self, setup: Setup) -> None:
        problem = setup.problem.seen_as(Bilevel)
        assert problem is not None
        self.setup, self.problem = setup, problem
        self.M, self.c = setup.operator("gradient")
        self.w = setup.algorithm.weights(setup.shares, setup.norms)
        used = np.arange(setup.K) < setup.local_steps[:, None]
        coefficients = np.where(used, np.broadcast_to(setup.weights, used.shape), 0.0)
        self.shares = coefficients / setup.norms[:, None]
        self.rho = float(setup.shares @ setup.norms)
        self.blocks = dict(zip(_BLOCKS, map(slice, setup.starts[:-1], setup.starts[1:]), strict=True))
        self.Y, self.y_0 = self.problem.y_map(self.w)
        self.V, self.v_0 = self.problem.v_map(self.w)
        self.P, self.p_0 = self.problem.hypergradient_map(self.w)

    def begin(self, points: Array) -> None:
        """The points of the first local steps are the server's."""
        self.start = np.ascontiguousarray(points[0])
        self.mean, self.sampled = np.zeros((2, *points.shape))
        self.largest2 = np.zeros((len(points), points.shape[-1]))
        self.drifts = np.zeros((len(_BLOCKS), *self.largest2.shape))

    @property
    def sums(self) -> tuple[Array, Array, Array, Array]:
        """What every local step adds to."""
        return self.mean, self.sampled, self.drifts, self.largest2

    def show(self, replicates: NDArray[np.intp]) -> None:
        """Leave out all other replicates."""
        self.start, self.mean, self.sampled, self.drifts, self.largest2 = (
            np.ascontiguousarray(each[..., replicates]) for each in (self.start, *self.sums)
        )

    def step(self, k: int, points: Array, noise: Array) -> None:
        """Add local step k."""
        points, noise = np.ascontiguousarray(points), np.ascontiguousarray(noise)
        shares = np.ascontiguousarray(self.shares[:, k])
        add_step(self.M, self.c, shares, self.setup.starts, self.start, points, noise, *self.sums)

    def finish(self, members: NDArray[np.bool_]) -> dict[str, Array]:
        """The quantities of the round in which ``members`` (n, replicates) take part."""
        w, n = self.w, self.problem.n
        count = np.maximum(members.sum(axis=0), 1)
        taken = n / count * np.einsum("i,ir,idr->dr", w, members, self.sampled)
        mean = np.einsum("i,idr->dr", w, self.mean)
        noise = w**2 * np.sum(self.shares**2, axis=1)
        found = {f"drift_{block}": w @ drift for block, drift in zip(_BLOCKS, self.drifts, strict=True)}
        found |= {f"drift_{block}_sq": w**2 @ drift for block, drift in zip(_BLOCKS, self.drifts, strict=True)}
        found |= {f"sampled_{block}2": np.sum(taken[rows] ** 2, axis=0) for block, rows in self.blocks.items()}
        return {
            **found,
            "mean_x2": np.sum(mean[self.blocks["x"]] ** 2, axis=0),
            "local_v": np.sqrt(self.largest2.max(axis=0)),
            "noise_weight": np.full(taken.shape[-1], noise.sum()),
            "noise_weight_r": noise @ np.sqrt(self.largest2) ** 2,
            **self._changes(taken),
        }

    def _changes(self, taken: Array) -> dict[str, Array]:
        """The change by the server's step along -rho*gamma*taken, without the cancellation of a difference."""
        x, y, v = (self.start[rows] for rows in self.blocks.values())
        gammas = (float(self.setup.step_sizes[f"gamma_{block}"]) for block in _BLOCKS)
        dx, dy, dv = (-self.rho * gamma * taken[rows] for gamma, rows in zip(gammas, self.blocks.values(), strict=True))
        radius, length = float(self.setup.step_sizes["r"]), np.sqrt(np.sum((v + dv) ** 2, axis=0))
        outside = length > radius
        dv = np.where(outside, (v + dv) * (radius / np.where(outside, length, 1.0)) - v, dv)
        gradient = self.P @ x - self.p_0[:, None]
        e_y, e_v = y - self.Y @ x - self.y_0[:, None], v - self.V @ x - self.v_0[:, None]
        return {
            "grad_Phi_w2": np.sum(gradient**2, axis=0),
            "y_error_w2": np.sum(e_y**2, axis=0),
            "v_error_w2": np.sum(e_v**2, axis=0),
            "Phi_w_change": np.sum((gradient + self.P @ dx / 2) * dx, axis=0),
            "y_change": _growth(e_y, dy - self.Y @ dx),
            "v_change": _growth(e_v, dv - self.V @ dx),
            REACH: length,
        }


def _growth(error: Array, change: Array) -> Array:
    """||error + change||^2 - ||error||^2."""
    return np.asarray(np.sum((2 * error + change) * change, axis=0))
