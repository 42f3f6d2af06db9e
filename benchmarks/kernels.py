"""Operations on lanes, hand-written in LLVM against plain Numba, by turns in one process on one thread.

    python benchmarks/kernels.py [--out benchmarks/kernels.json]

One row per operation, one column per shape: how many times as long the plain one takes, in seconds of the processor.
Lanes are those of a whole block of replicates, and of a client that few of them sample.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np

from ratecheck.kernels import plain
from ratecheck.kernels.constants import ADD
from ratecheck.kernels.llvm import minibatch, philox, product, sums
from ratecheck.kernels.random import stream_keys

# How many lanes count, and those of the array.
_LANES = (64, 64), (13, 64), (5, 8)
_COORDINATES = 20, 100
_SAMPLES, _BATCH = 50, 10
# How often one operation is measured, and what that lasts each time, roughly.
_TURNS, _SECONDS = range(7), 0.02

Loop = Callable[[int], None]


def operations(d: int, B: int) -> Iterator[tuple[str, Any, tuple[Any, ...]]]:
    """Names, hand-written operations and their arguments but for the lanes, at points of d coordinates."""
    rng = np.random.default_rng([d, B])
    draw, keys = rng.standard_normal, stream_keys(7, range(B))
    M, words, x, y = draw((d, d)) / d, np.zeros((4, B), np.uint64), draw((d, B)), draw((d, B))
    yield "affine", product.affine, (M, draw(d), x, y)
    yield "add_product", product.add_product, (M.T, x, y)
    yield "add_multiple", sums.add_multiple, (ADD, 0.3, x, 0, y, 0, d)
    yield "add_scaled", sums.add_scaled, (ADD, draw(B), x, 0, y, 0, d)
    yield "clear", sums.clear, (y, 0, d)
    yield "add_displacement", sums.add_displacement, (0.7, x, draw((3, d)), 1, y, 0, d)
    yield "add_inner", sums.add_inner, (0.7, x, draw((d, B)), 0, d, y, 0)
    for slots in (1, 2):
        table, local = draw((d, slots * (slots + 2))) / 8, draw((slots, d, B))
        yield f"advance {slots}", sums.advance, (slots, 10, table, 0, 1, x, 0, local, 0, 4, d)
    yield "weigh", sums.weigh, (-0.5, 0, draw((d, B)))
    yield "add_part", sums.add_part, (0.3, x, y, 0, d)
    yield "fill_words", philox.fill_words, (1, 2, 3, 4, keys, words)
    yield "fill_normals", philox.fill_normals, (rng.integers(0, 2**32, (4, B), np.uint64), 0, 1, draw(B), draw(B))
    yield "add_normals", philox.add_normals, (1, 2, 3, 4, keys, 1.0, 0.5, 2.0, 1.0, 0, y)
    yield "batch_gradient", minibatch.batch_gradient, (draw((_SAMPLES, d)), _BATCH, 2, 3, 1, keys, words, x, y)


def called(function: Any, arguments: tuple[Any, ...], lanes: int) -> Loop:
    """The compiled loop that calls an operation so many times."""
    own = [a.copy(order="K") if isinstance(a, np.ndarray) else a for a in arguments]
    names = ", ".join(f"a{k}" for k in range(len(own)))
    scope = {"function": function}
    exec(  # noqa: S102
        f"def loop(count, {names}, lanes):\n    for _ in range(count):\n        function({names}, lanes)", scope
    )
    loop: Any = numba.njit(nogil=True, error_model="numpy")(scope["loop"])
    return lambda count: loop(count, *own, lanes)


def seconds(loop: Loop, count: int) -> float:
    """Processor seconds of that many calls."""
    start = time.thread_time()
    loop(count)
    return time.thread_time() - start


def ratio(hand: Loop, twin: Loop) -> float:
    """Times as long as the first that the second takes: medians by turns, after a call of each that compiles."""
    counts = []
    for loop in (hand, twin):
        loop(1)
        counts.append(max(1, int(_SECONDS / max(seconds(loop, 100) / 100, 1e-9))))
    times = [[seconds(loop, count) / count for loop, count in zip((hand, twin), counts, strict=True)] for _ in _TURNS]
    by_hand, by_numba = (statistics.median(each) for each in zip(*times, strict=True))
    return by_numba / by_hand


def main() -> None:
    """Print and keep the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="where to write the figures as JSON")
    out = parser.parse_args().out
    shapes = [(d, lanes, B) for d in _COORDINATES for lanes, B in _LANES]
    print(f"{'d, lanes of lanes':<18}" + "".join(f"{f'{d}, {lanes}/{B}':>12}" for d, lanes, B in shapes))
    found: dict[str, list[float]] = {}
    for d, lanes, B in shapes:
        for name, hand, operands in operations(d, B):
            twin = getattr(plain, name.split()[0])
            value = ratio(called(hand, operands, lanes), called(twin, operands, lanes))
            found.setdefault(name, []).append(round(value, 2))
    for name, values in found.items():
        print(f"{name:<18}" + "".join(f"{value:12.2f}" for value in values))
    if out:
        rows = ",\n".join(f"  {json.dumps(name)}: {json.dumps(values)}" for name, values in found.items())
        out.write_text(f'{{\n "shapes": {json.dumps(shapes)},\n "ratios": {{\n{rows}\n }}\n}}\n')


if __name__ == "__main__":
    main()
