"""What a local step of every method of the catalogue costs, beside FedAvg-P, batched NumPy and another version.

    python benchmarks/methods.py [--other FOLDER] [--only dsgd simfbo] [--out FILE]
    python benchmarks/methods.py --twins [--out FILE]

Microseconds of the processor per client, run and local step, on one thread and warm: the difference of a long run and a
short one, the least of a few turns. On quadratics with 32 clients, 10 variables and noise, bilevel quadratics for
methods on two levels. ``--other`` is the folder of another version of the project. Prints a table; ``--out`` keeps it
as JSON. ``--twins`` compares the methods that have twins with batched NumPy and JAX instead: all of them take turns,
and the medians over five of these count.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"

import methods_numpy  # noqa: E402  # the thread counts have to be set first

import ratecheck  # noqa: E402
from ratecheck.algorithms import METHODS  # noqa: E402
from ratecheck.participation import Graph, Trace  # noqa: E402
from ratecheck.problems import Bilevel, Quadratic  # noqa: E402

# Turns over which twins are compared.
TURNS = 5
# Parameters that are no step sizes.
OTHER = {"q": 0.5, "alpha": 0.5, "conditioning": 0.5, "beta": 0.5, "lambda_": 3.0}


def problem_of(method: Any, arguments: argparse.Namespace) -> Any:
    """The problem of a method: all variables shared, personal, or half and half."""
    n, d = arguments.clients, arguments.variables
    if method.algorithm.bilevel:
        return Bilevel.synthetic(n=n, d_x=d // 2, d_y=d - d // 2)
    return Quadratic.synthetic(n=n, d=d, shared=d // 2 if method.shared and method.personal else d * method.shared)


def noise_of(method: Any) -> dict[str, float]:
    """The noise of a method's oracle."""
    if method.algorithm.oracle != "gradient":
        return {}
    if method.algorithm.bilevel:
        names = ["sigma_f", "sigma_g"]
    else:
        names = ["sigma_u", "sigma_v"] if method.shared and method.personal else ["sigma"]
    return dict.fromkeys(names, methods_numpy.SIGMA)


def play(name: str, arguments: argparse.Namespace) -> tuple[Callable[[int], object], int]:
    """A function that runs a method for so many rounds, and the local steps of a client in each."""
    method = METHODS[name]
    K = int(method.fixed.get("K", arguments.steps))
    problem = problem_of(method, arguments)
    trace = Graph.named("ring", problem.n) if method.algorithm.mixed else Trace.full(problem.n)
    sizes = {
        each: OTHER.get(each, methods_numpy.SIZE) for each in method.step_sizes if each not in method.algorithm.optional
    }
    given: dict[str, Any] = {**sizes, **noise_of(method)}

    def run(T: int) -> object:
        return ratecheck.simulate(
            name, problem, trace, K=K, T=T, replicates=arguments.runs, threads=1, engine="step", **given
        )

    return run, K


def microseconds(run: Callable[[int], object], steps: int, arguments: argparse.Namespace) -> float:
    """The cost of one local step of one client in one run."""
    short, long = arguments.rounds
    run(short)
    least = [float("inf")] * 2
    for _ in range(arguments.turns):
        for k, T in enumerate((short, long)):
            start = time.process_time()
            run(T)
            least[k] = min(least[k], time.process_time() - start)
    return 1e6 * (least[1] - least[0]) / ((long - short) * arguments.clients * arguments.runs * steps)


def measured(name: str, arguments: argparse.Namespace) -> dict[str, float]:
    """What a method costs, in batched NumPy too where it has a twin."""
    run, K = play(name, arguments)
    found = {"own": microseconds(run, K, arguments)}
    if name in methods_numpy.TWINS and K == 1:
        problem = problem_of(METHODS[name], arguments)
        found["NumPy"] = microseconds(lambda T: methods_numpy.TWINS[name](problem, T, arguments.runs), 1, arguments)
    return found


def beside(name: str, arguments: argparse.Namespace) -> dict[str, float]:
    """What a method and its twins cost: the medians over turns in which all of them play."""
    import methods_jax  # the extra ``benchmark``

    short, long = arguments.rounds
    own, K = play(name, arguments)
    problem = problem_of(METHODS[name], arguments)
    numpy = methods_numpy.TWINS[name]
    plays: dict[str, Callable[[int], Callable[[], object]]] = {
        "own": lambda T: lambda: own(T),
        "NumPy": lambda T: lambda: numpy(problem, T, arguments.runs),
        "JAX": lambda T: methods_jax.TWINS[name](problem, T, arguments.runs),
    }
    contestants = {which: (make(short), make(long)) for which, make in plays.items()}
    spent: dict[str, list[float]] = {which: [] for which in contestants}
    for turn in range(TURNS + 1):
        for which, pair in contestants.items():
            seconds = []
            for run in pair:
                start = time.process_time()
                run()
                seconds.append(time.process_time() - start)
            # The first turn compiles.
            if turn:
                spent[which].append(seconds[1] - seconds[0])
    scale = 1e6 / ((long - short) * arguments.clients * arguments.runs * K)
    return {which: scale * statistics.median(seconds) for which, seconds in spent.items()}


class Elsewhere:
    """The other version in a process of its own, which measures one method whenever it is asked."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        command = [
            sys.executable, __file__, "--steps", str(arguments.steps), "--turns", str(arguments.turns),
            "--clients", str(arguments.clients), "--variables", str(arguments.variables), "--runs", str(arguments.runs),
            "--rounds", *map(str, arguments.rounds), "--bare",
        ]  # fmt: skip
        environment = {**os.environ, "PYTHONPATH": str(arguments.other.resolve())}
        self._process = subprocess.Popen(  # noqa: S603  # the folder is the caller's
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def cost(self, name: str) -> float | None:
        """What the method costs there; None where it is not known."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(name, file=self._process.stdin, flush=True)
        found: float | None = json.loads(self._process.stdout.readline())
        return found


def answer(arguments: argparse.Namespace) -> None:
    """Print what each method costs whose name is a line of the input."""
    for name in map(str.strip, sys.stdin):
        known = name in METHODS
        print(json.dumps(microseconds(*play(name, arguments), arguments) if known else None), flush=True)


def parsed() -> argparse.Namespace:
    """The arguments."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--other", type=Path, help="the folder of another version of the project")
    parser.add_argument("--only", nargs="+", help="these methods alone")
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--variables", type=int, default=10)
    parser.add_argument("--runs", type=int, default=32)
    parser.add_argument("--steps", type=int, default=1, help="local steps of methods that may take several")
    parser.add_argument("--rounds", type=int, nargs=2, default=[40, 240], metavar=("SHORT", "LONG"))
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--out", type=Path, help="where to write the figures as JSON")
    parser.add_argument("--twins", action="store_true", help="beside batched NumPy and JAX")
    parser.add_argument("--bare", action="store_true", help="print the cost of each method that the input names")
    return parser.parse_args()


def line(name: str, row: dict[str, float], base: float) -> str:
    """A row of the table."""
    cells = [f"{name:<36}{row['own']:>10.3f}{row['own'] / base:>10.2f}"]
    cells += [
        f"{row[other]:>10.3f}{row[other] / row['own']:>9.1f}" if other in row else " " * 19
        for other in ("NumPy", "other")
    ]
    return "".join(cells).rstrip()


def main() -> None:
    """Print and keep the table."""
    arguments = parsed()
    runnable = [name for name, method in METHODS.items() if method.algorithm.second_oracle is None]
    names: list[str] = arguments.only or ["fedavg-p", *(name for name in runnable if name != "fedavg-p")]
    if arguments.bare:
        answer(arguments)
        return
    if arguments.twins:
        print("microseconds per client, run and local step; ratios: of NumPy and of JAX to this")
        rows = {}
        for name in arguments.only or methods_numpy.TWINS:
            row = rows[name] = beside(name, arguments)
            cells = [f"{row[which]:>10.4f}{row[which] / row['own']:>9.1f}" for which in ("NumPy", "JAX")]
            print(f"{name:<36}{row['own']:>10.4f}", *cells)
        keep(rows, arguments.out)
        return
    rows = {}
    other = Elsewhere(arguments) if arguments.other else None
    for name in dict.fromkeys(["fedavg-p", *names]):
        try:
            rows[name] = measured(name, arguments)
        except ratecheck.InputError as error:
            print(f"{name} is left out: {error}")
            continue
        # Side by side: the versions take turns, so that what else the machine does meets both.
        if other is not None and (spent := other.cost(name)) is not None:
            rows[name]["own"] = min(rows[name]["own"], measured(name, arguments)["own"])
            again = other.cost(name)
            assert again is not None
            rows[name]["other"] = min(spent, again)
    print("microseconds per client, run and local step; ratios: to FedAvg-P, of NumPy and of the other version to this")
    print(f"{'':<36}{'this':>10}{'ratio':>10}{'NumPy':>10}{'ratio':>9}{'other':>10}{'ratio':>9}")
    for name, row in rows.items():
        print(line(name, row, rows["fedavg-p"]["own"]))
    keep(rows, arguments.out)


def keep(rows: dict[str, dict[str, float]], path: Path | None) -> None:
    """Write the table as JSON where a path is given."""
    if path:
        path.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
