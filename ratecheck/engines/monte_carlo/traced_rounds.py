"""Compiled rounds of methods that are not linear, where all that their functions do are operations of programs.

The functions are traced once (`ratecheck.algorithms.model.tracing`), and a kernel carries out what they do for a client
in all replicates of a block at a time. Before a run the programs are tried beside the functions on arrays of numbers:
they have to agree to the last bit, so that a run has the same numbers either way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ratecheck.algorithms.model.algorithm import Group
from ratecheck.algorithms.model.batches import REFUSALS
from ratecheck.algorithms.model.tracing import NotTracedError, Writer, parameter, variables
from ratecheck.aliases import Array
from ratecheck.engines.monte_carlo.asked import compiled, record_arrays
from ratecheck.engines.monte_carlo.own_rounds import OwnRounds
from ratecheck.engines.monte_carlo.rows import Keys
from ratecheck.engines.monte_carlo.tables import variable_rows
from ratecheck.engines.setup import Setup
from ratecheck.errors import InputError
from ratecheck.kernels.programs import Programs, interpret, run_programs

# Rounds in a call of the kernel: bounds the memory of masks, and is how often progress is reported.
_CHUNK_ENTRIES = 1 << 21
# Arrays on which programs are tried beside the functions: as many rows for each of these sizes. Rounded numbers have
# zeros and ties among them, and squares stand for what is never negative.
_TRIED, _SIZES = 8, (1.0, 1e-3, 1e3)
_DELAYS = (1.0, 2.0, 3.0, 7.0)
# Parameters that differ from row to row, in the order of their rows after those that differ by client.
_BY_ROW = ("delay", "coin", "m", "weight")

Variables = Mapping[str, tuple[int, int]]


class TracedRounds:
    """Everything that the blocks of one simulation share; ``run`` simulates a block.

    Raises `NotTracedError` where the functions have to be called, with the reason.
    """

    def __init__(self, setup: Setup) -> None:
        setup = setup.at(0)
        if why := _beyond(setup):
            raise NotTracedError(why)
        self.setup, self.called = setup, OwnRounds(setup)
        self.plan, self._calls, algorithm, d = self.called.plan, self.called.calls, setup.algorithm, setup.problem.d
        groups: dict[str, Group] = {
            "server": algorithm.server, "client": algorithm.client, "local": algorithm.local,
            "answer": algorithm.answers, "message": algorithm.message,
        }  # fmt: skip
        slots = {name: max([0, *_slots(group).values()]) for name, group in groups.items()}
        parts = np.cumsum([0, *(d * count for count in slots.values())])
        self._variables: dict[str, Variables] = {}
        for (name, group), first in zip(groups.items(), parts.tolist(), strict=False):
            rows = variable_rows(setup, group, tuple(group))
            self._variables[name] = {each: (first + row, size) for each, (row, size) in zip(group, rows, strict=True)}
        self._slots = slots["server"], slots["client"]
        self._columns = self._calls.columns
        self._first = int(parts[-1]) + len(self._columns)
        writer = Writer(self._first + len(_BY_ROW))
        ends = [0]
        for function in ("begin", "step", "finish", "aggregate"):
            self._trace(writer, function)
            ends.append(len(writer.code))
        self._rows, self._constants = writer.rows, list(writer.constants.values())
        tosses = float(setup.step_sizes[algorithm.coin]) if algorithm.coin else 0.0
        self.programs = Programs(
            code=np.array(writer.code, dtype=np.int64).reshape(-1, 9),
            ends=np.array(ends),
            parts=parts,
            columns=np.ascontiguousarray(np.array(list(self._columns.values())).reshape(-1, setup.problem.n).T),
            weights=np.ascontiguousarray(np.broadcast_to(setup.weights.T, (setup.weights.shape[1], setup.problem.n)).T),
            messages=d * slots["message"],
            K=setup.local_steps,
            shared=algorithm.steps_per_sample,
            coin=tosses * 2.0**32,
            averages=algorithm.averages,
        )
        self._source, self._measured = (
            compiled(setup, name) for name in (algorithm.oracle, algorithm.record_oracle)
        )  # fmt: skip
        self._records = record_arrays(self.plan)
        for place, function in enumerate(("begin", "step", "finish", "aggregate")):
            self._try(function, ends[place], ends[place + 1])

    def run(self, keys: Keys, report: Callable[[int], None]) -> Array:
        """Simulate one block of replicates; records (T, names, replicates)."""
        setup, lanes = self.setup, keys.shape[1]
        n, d = setup.problem.n, setup.problem.d
        file = self._file(lanes)
        at_server, at_clients = self.called.start(keys)
        server: Any = np.zeros((self._slots[0] * d, lanes))
        client: Any = np.zeros((n, self._slots[1] * d, lanes))
        for name, (row, size) in self._variables["server"].items():
            server[row : row + size] = at_server[name].T
        for name, (row, size) in self._variables["client"].items():
            here = slice(row - self._slots[0] * d, row - self._slots[0] * d + size)
            client[:, here] = at_clients[name].reshape(n, lanes, size).swapaxes(1, 2)
        server, client = server.reshape(-1, d, lanes), client.reshape(n, -1, d, lanes)
        last, record = np.full((n, lanes), -1), np.empty((setup.T, len(self.plan.records), lanes))
        chunk = max(1, _CHUNK_ENTRIES // (n * lanes * setup.K * d))
        for first in range(0, setup.T, chunk):
            rounds = min(chunk, setup.T - first)
            masks = np.require(setup.trace.masks(first, rounds, keys), requirements=("C", "W"))
            there = record[first : first + rounds]
            run_programs(
                self._source, self._measured, self.programs, self._records, setup.starts, server, client, last, keys,
                masks, first, file, there,
            )  # fmt: skip
            if not (np.isfinite(there).all() and np.isfinite(server).all() and np.isfinite(client).all()):
                # What is no number may be a mistake of a function, which is found where it returns it.
                return self.called.run(keys, report)
            report(first + rounds)
        return record

    def _file(self, lanes: int) -> Array:
        """The rows of a kernel, with the numbers that stay."""
        file = np.zeros((self._rows, lanes))
        for row, values in self._constants:
            file[row : row + len(values)] = values[:, None]
        return file

    def _values(self, function: str) -> dict[str, int]:
        """Parameters that a function has by row, beside those of clients, with their rows."""
        algorithm, own = self.setup.algorithm, []
        if function == "begin" and algorithm.uses_delay:
            own.append("delay")
        if algorithm.coin is not None:
            own.append("coin")
        own.append({"aggregate": "m", "step": "weight"}.get(function, ""))
        steps = self.setup.step_sizes
        return {name: self._first + _BY_ROW.index(name) for name in own if name and name not in steps}

    def _arguments(self, function: str) -> tuple[tuple[Variables, ...], tuple[Variables, ...]]:
        """The variables that a function gets and returns."""
        v = self._variables
        return {
            "begin": ((v["server"], v["client"]), (v["local"],)),
            "step": ((v["local"], v["answer"]), (v["local"],)),
            "finish": ((v["server"], v["client"], v["local"]), (v["client"], v["message"])),
            "aggregate": ((v["server"], v["message"]), (v["server"],)),
        }[function]

    def _trace(self, writer: Writer, function: str) -> None:
        """Write the instructions of a function."""
        given, returned = self._arguments(function)
        rows = self._values(function)
        if function != "aggregate":
            rows |= {name: self._first - len(self._columns) + k for k, name in enumerate(self._columns)}
        p = self._calls.parameters({name: parameter(row) for name, row in rows.items()}, server=function == "aggregate")
        try:
            found = getattr(self.setup.algorithm, function)(*map(variables, given), p)
            groups = found if function == "finish" else (found,)
            results = [
                (group[name], *place) for group, names in zip(groups, returned, strict=True)
                for name, place in names.items()
            ]  # fmt: skip
            writer.write(results)
        except NotTracedError as error:
            raise NotTracedError(f"{function} uses {error}") from None
        except (InputError, *REFUSALS) as error:
            raise NotTracedError(f"{function} takes no arrays without numbers") from error

    def _try(self, function: str, start: int, end: int) -> None:
        """Carry out a function's instructions beside it on numbers of several sizes."""
        given, returned = self._arguments(function)
        lanes, n = _TRIED * len(_SIZES), self.setup.problem.n
        random = np.random.default_rng(0)
        clients = np.sort(np.arange(lanes) % n)
        tried = {"delay": np.array(_DELAYS), "coin": np.array([0.0, 1.0]), "m": np.arange(1, n + 1)}
        tried["weight"] = np.unique(self.setup.weights)
        rows = self._values(function)
        values = {name: np.resize(tried[name], lanes) for name in rows}
        for form in (np.array, np.round, np.abs):
            file = self._file(lanes)
            for k, column in enumerate(self._columns.values()):
                file[self._first - len(self._columns) + k] = column[clients]
            for name, row in rows.items():
                file[row] = values[name]
            arguments: list[dict[str, Array]] = []
            sizes = np.repeat(_SIZES, _TRIED)
            for group in given:
                arguments.append({})
                for name, (row, size) in group.items():
                    arguments[-1][name] = form(sizes[:, None] * random.standard_normal((lanes, size)))
                    file[row : row + size] = arguments[-1][name].T
            with np.errstate(all="ignore"):
                if function == "aggregate":
                    expected = self._calls.by_server(function, 0, tuple(arguments), values, made_up=True)
                else:
                    expected = self._calls.by_clients(function, 0, tuple(arguments), clients, values, made_up=True)
            interpret(self.programs.code, start, end, file, lanes)
            for group, found in zip(returned, expected, strict=True):
                for name, (row, size) in group.items():
                    if not np.array_equal(file[row : row + size].T, found[name], equal_nan=True):
                        raise NotTracedError(f"{function} rounds otherwise than the operations of which it seems made")


def _slots(group: Group) -> dict[str, int]:
    """How many variables of a group each block has."""
    found: dict[str, int] = {}
    for block in group.values():
        found[block] = found.get(block, 0) + 1
    return found


def _beyond(setup: Setup) -> str:
    """Why rounds call functions whatever these do; empty if that is not so."""
    reasons = {
        "the method is linear": setup.algorithm.linear,
        "the oracle or the noise is called": not (setup.problem.compiled and setup.law.compiled),
        "clients are selected": setup.trace.selected,
        "clients are mixed on a graph": setup.algorithm.mixed,
        "several points are evaluated in a step": setup.algorithm.also,
        "messages are compressed at random": setup.algorithm.compressed,
        "coefficients vary by round": setup.algorithm.varying,
        "the server's point is projected": setup.algorithm.projects,
        "the method measures quantities of its own": setup.algorithm.measures,
    }
    return next((why for why, there in reasons.items() if there), "")


def rounds(setup: Setup) -> TracedRounds | OwnRounds:
    """Compiled rounds where the functions are programs, else rounds that call them."""
    try:
        return TracedRounds(setup)
    except NotTracedError:
        return OwnRounds(setup)


def way(setup: Setup) -> str:
    """In words, whether the functions of a method that is not linear are compiled or called, and why."""
    try:
        TracedRounds(setup)
    except NotTracedError as error:
        return f"its functions are called in Python, as {error}"
    return "its functions are compiled"
