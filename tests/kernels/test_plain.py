"""Kernels in plain Numba against the hand-written ones: random words bit for bit, all else to rounding."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from ratecheck.kernels import compile as compilation
from ratecheck.kernels import plain
from ratecheck.kernels.constants import ADD, SET
from ratecheck.kernels.llvm import minibatch, philox, product, sums
from ratecheck.kernels.random import stream_keys

B, LANES, D, N = 13, 11, 9, 6
KEYS = stream_keys(7, range(B))


def drawn(number, *shape):
    """Standard normal entries."""
    return np.random.default_rng([number, *shape]).standard_normal(shape)


# Name -> (hand-written, its arguments, which of them it changes).
CASES = {
    "affine": (product.affine, (drawn(1, 5, D), drawn(2, 5), drawn(3, D, B), drawn(4, 5, B)), 3),
    "add_product": (product.add_product, (drawn(1, 5, D).T, drawn(3, 5, B), drawn(4, D, B)), 2),
    "add_multiple": (sums.add_multiple, (ADD, 0.3, drawn(1, 2, D, B), 3, drawn(2, D, B), 1, 4), 4),
    "add_scaled": (sums.add_scaled, (SET, drawn(5, B), drawn(1, 2, D, B), 3, drawn(2, D, B), 1, 4), 4),
    "clear": (sums.clear, (drawn(1, D, B), 2, 3), 0),
    "add_displacement": (sums.add_displacement, (0.7, drawn(1, D, B), drawn(2, 3, D), 1, drawn(3, D, B), 2, 4), 4),
    "add_inner": (sums.add_inner, (0.7, drawn(1, D, B), drawn(2, D, B), 1, 7, drawn(3, 4, B), 2), 5),
    "weigh": (sums.weigh, (-0.5, 1, 300 * drawn(1, 3, B)), 2),
    "add_part": (sums.add_part, (0.3, drawn(1, D, B), drawn(2, D, B), 2, 8), 2),
    "fill_words": (philox.fill_words, (1, 2, 3, 4, KEYS, np.zeros((4, B), np.uint64)), 5),
    "add_normals": (philox.add_normals, (1, 2, 3, 4, KEYS, 1.0, 0.5, 2.0, 1.0, D - 3, drawn(1, D, B)), 10),
    **{
        f"advance {slots}": (
            sums.advance,
            (slots, 5, drawn(1, 18, slots * (slots + 2)) / 4, 3, 1, drawn(2, 4, B), 0, drawn(3, slots, D, B), 2, 4, D),
            7,
        )
        for slots in (1, 2, 4)
    },
    **{
        f"batch_gradient {d}": (
            minibatch.batch_gradient,
            (drawn(1, N, d), 7, 2, 3, 1, KEYS, np.zeros((4, B), np.uint64), drawn(2, d, B), drawn(3, d, B)),
            8,
        )
        for d in (3, 8, 19)
    },
}  # fmt: skip


@pytest.mark.every(2)
@pytest.mark.parametrize("case", CASES)
def test_both_kinds_agree(case):
    """The first lanes to 1e-13, the others untouched; words and zeros to the bit."""
    function, arguments, changed = CASES[case]
    found = []
    for each in (function, getattr(plain, case.split()[0])):
        own = [np.copy(a, order="K") if isinstance(a, np.ndarray) else a for a in arguments]
        _called(each, own)
        found.append(own[changed])
    hand, twin = found
    if case in ("fill_words", "clear"):
        np.testing.assert_array_equal(twin, hand)
    np.testing.assert_allclose(twin[..., :LANES], hand[..., :LANES], rtol=1e-13, atol=1e-13)
    np.testing.assert_array_equal(twin[..., LANES:], arguments[changed][..., LANES:])
    np.testing.assert_array_equal(hand[..., LANES:], arguments[changed][..., LANES:])


def _called(function, arguments):
    """Call a kernel, or an operation that only kernels can call."""
    names = ", ".join(f"a{k}" for k in range(len(arguments)))
    scope = {"function": function}
    exec(f"def call({names}):\n    function({names}, {LANES})", scope)  # noqa: S102
    import numba

    numba.njit(scope["call"])(*arguments)


RUN = """
import json, sys
import numpy as np
from ratecheck.engines.monte_carlo import stepwise
from ratecheck.engines.setup import prepare
from ratecheck.kernels.compile import by_hand
from ratecheck.participation import Trace
from ratecheck.problems.build import build
found = {}
for name, options in (("quadratic", {"n": 4, "d": 10}), ("logistic", {"n": 4, "d": 10})):
    problem = build(name, options)
    setup = prepare("fedavg-p", problem, Trace.uniform(problem.n, 2), K=3, T=6, noise={"sigma_u": 0.3, "sigma_v": 0.2},
                    step_sizes={"gamma_u": 0.01, "gamma_v": 0.01, "eta_u": 1.0, "eta_v": 1.0})
    records = stepwise.simulate(setup, seed=3, replicates=5, threads=1).records
    found[name] = {key: np.asarray(value).tolist() for key, value in records.items()}
json.dump([by_hand(), found], sys.stdout)
"""


@pytest.mark.long
def test_runs_agree(tmp_path):
    """Whole runs with noise give the same records to 1e-13, by either kind."""
    results = []
    for choice in ("llvm", "plain"):
        environment = {**os.environ, "RATECHECK_KERNELS": choice}
        done = subprocess.run(
            [sys.executable, "-c", RUN], env=environment, capture_output=True, text=True, check=True, cwd=tmp_path
        )
        results.append(json.loads(done.stdout))
    (one, hand), (other, twin) = results
    assert (one, other) == (True, False)
    for problem, records in hand.items():
        for name, values in records.items():
            np.testing.assert_allclose(twin[problem][name], values, rtol=1e-13, atol=1e-13, err_msg=f"{problem} {name}")


def test_an_unknown_numba_gets_the_plain_kind(monkeypatch):
    """So does a choice; the two have caches of their own."""
    monkeypatch.delenv("RATECHECK_KERNELS", raising=False)
    assert compilation.by_hand()
    folder = compilation.cache_folder()
    monkeypatch.setenv("RATECHECK_KERNELS", "plain")
    assert not compilation.by_hand()
    assert compilation.cache_folder() != folder
    monkeypatch.delenv("RATECHECK_KERNELS")
    monkeypatch.setattr(compilation.numba, "__version__", "1.2.0dev0")
    assert not compilation.known()
    assert not compilation.by_hand()
