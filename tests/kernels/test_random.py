"""Random numbers: known answers, laws of the draws, and a compilation cache that is never stale."""

from __future__ import annotations

import itertools
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from ratecheck.kernels import compile as compilation
from ratecheck.kernels import random as kernels
from ratecheck.kernels.random import stream_keys

# Reference vectors of the Random123 library for philox4x32-10: counter, key, output.
KNOWN_ANSWERS = {
    "zeros": ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    "ones": ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    "pi": ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
}


def numbers(text):
    """Hexadecimal words as integers."""
    return [int(word, 16) for word in text.split()]


def words_of(counter, keys, lanes):
    """Philox output (4, lanes)."""
    words = np.empty((4, lanes), dtype=np.uint64)
    kernels.philox(*(np.uint64(c) for c in counter), keys, words, lanes)
    return words


def normals_of(first, second):
    """Two rows of normals from two rows of words; the words stay as they are."""
    words = np.array([first, second], dtype=np.uint64)
    lanes = words.shape[1]
    out = np.empty((2, lanes))
    kernels.normals(words, 0, 1, out[0], out[1], lanes)
    return out


def million_normals():
    """1,000,000 normals: 1,000 streams, 250 counters of 4 words each."""
    keys, lanes = stream_keys(7, range(1000)), 1000
    rows = []
    for block in range(250):
        words = words_of((block, 1, 2, 3), keys, lanes)
        rows += [*normals_of(words[0], words[1]), *normals_of(words[2], words[3])]
    return np.array(rows)


@pytest.mark.parametrize("name", KNOWN_ANSWERS)
def test_philox_gives_the_published_words(name):
    """Every lane gives the reference output, whatever the other lanes' keys are."""
    counter, key, output = (numbers(text) for text in KNOWN_ANSWERS[name])
    keys = np.array([[key[0], 1, key[0]], [key[1], 2, key[1]]], dtype=np.uint64)
    words = words_of(counter, keys, 3)
    assert words[:, 0].tolist() == output
    assert words[:, 2].tolist() == output
    assert words[:, 1].tolist() != output


def test_philox_writes_no_lane_beyond_those_asked_for():
    """Lanes that are not asked for keep their content."""
    words = np.full((4, 5), 9, dtype=np.uint64)
    kernels.philox(0, 0, 0, 0, np.zeros((2, 5), dtype=np.uint64), words, 2)
    assert (words[:, 2:] == 9).all()
    assert (words[:, :2] != 9).all()


def test_counter_tags_differ_between_purposes_and_clients():
    """No two of (purpose, client) share a tag, up to the largest client, and all fit into 32 bits."""
    purposes, clients = (kernels.NOISE, kernels.BATCH, kernels.PARTICIPATION), (0, 1, 2, 1000, 2**28 - 1)
    tags = {kernels.counter_tag(purpose, client) for purpose, client in itertools.product(purposes, clients)}
    assert len(tags) == len(purposes) * len(clients)
    assert max(tags) < 2**32


def test_normals_are_box_muller_to_twelve_digits():
    """Against NumPy's logarithm, root, sine and cosine, at the ends of the word range too."""
    ends = np.array([0, 1, 2, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 2, 2**32 - 1], dtype=np.uint64)
    drawn = np.random.default_rng(3).integers(0, 2**32, size=(2, 20_000), dtype=np.uint64)
    pairs = np.concatenate([drawn, np.array(list(itertools.product(ends, ends)), dtype=np.uint64).T], axis=1)
    uniform = (pairs.astype(float) + 0.5) / 2**32
    radius, angle = np.sqrt(-2 * np.log(uniform[0])), 2 * np.pi * (uniform[1] - 0.5)
    expected = np.array([radius * np.cos(angle), radius * np.sin(angle)])
    found = normals_of(*pairs)
    assert np.abs(found - expected).max() < 1e-12
    # The small radii come from the logarithm near 1, where an absolute error would say nothing.
    assert np.allclose(np.hypot(*found), radius, rtol=1e-12, atol=0)


def test_a_million_normals_have_the_normal_law():
    """Moments up to the fourth within 4.5 standard errors, Kolmogorov-Smirnov at level 1e-3, no correlation."""
    rows = million_normals()
    x = rows.ravel()
    for power, expected, variance in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        assert abs(np.mean(x**power) - expected) < 4.5 * math.sqrt(variance / x.size)
    assert stats.kstest(x, "norm").pvalue > 1e-3
    # Neighbours in a pair, in a block, across counters and across streams.
    for shifted in (rows[1:, :] * rows[:-1, :], rows[2:, :] * rows[:-2, :], rows[4:, :] * rows[:-4, :]):
        assert abs(shifted.mean()) < 4.5 / math.sqrt(shifted.size)
    across = rows[:, 1:] * rows[:, :-1]
    assert abs(across.mean()) < 4.5 / math.sqrt(across.size)


def test_the_law_test_notices_a_wrong_variance():
    """Planted error: normals 1% too large break the second moment and the Kolmogorov-Smirnov test."""
    x = 1.01 * million_normals().ravel()
    assert abs(np.mean(x**2) - 1) > 4.5 * math.sqrt(2 / x.size)
    assert stats.kstest(x, "norm").pvalue < 1e-3


def test_stream_keys_depend_on_seed_and_replicate_alone():
    """A replicate has the key of its own number in whatever range it is asked for, and no two share one."""
    together = stream_keys(5, range(50))
    assert np.array_equal(together[:, 20:30], stream_keys(5, range(20, 30)))
    both = np.concatenate([together, stream_keys(6, range(50))], axis=1)
    assert len({tuple(column) for column in both.T.tolist()}) == 100
    assert both.max() < 2**32


@pytest.mark.parametrize(("n", "m"), [(1, 1), (4, 1), (5, 2), (6, 5), (9, 4), (7, 7)])
def test_uniform_subsets_have_the_size_and_inclusion_probabilities(n, m):
    """Always m clients; pi_1 = m/n for every client and pi_2 = m(m-1)/(n(n-1)) for every pair, within 4.5 errors."""
    rounds, replicates = 40, 1000
    masks = np.zeros((rounds, n, replicates), dtype=np.bool_)
    kernels.uniform_subsets(stream_keys(11, range(replicates)), 3, n, m, masks)
    assert (masks.sum(axis=1) == m).all()
    draws = masks.transpose(0, 2, 1).reshape(-1, n).astype(float)
    frequency = draws.T @ draws / len(draws)
    one, two = m / n, m * (m - 1) / max(n * (n - 1), 1)
    expected = np.full((n, n), two) + (one - two) * np.eye(n)
    band = 4.5 * np.sqrt(expected * (1 - expected) / len(draws))
    assert (np.abs(frequency - expected) <= band + 1e-12).all()


def test_uniform_subsets_are_uniform_over_all_subsets_and_independent_between_rounds():
    """Chi-square of the 6 subsets of 2 of 4, and of the 36 pairs of subsets in consecutive rounds."""
    rounds, replicates = 60, 500
    masks = np.zeros((rounds, 4, replicates), dtype=np.bool_)
    kernels.uniform_subsets(stream_keys(2, range(replicates)), 0, 4, 2, masks)
    code = np.tensordot(1 << np.arange(4), masks, axes=(0, 1))
    values, counts = np.unique(code, return_counts=True)
    assert len(values) == 6
    assert stats.chisquare(counts).pvalue > 1e-3
    pairs = np.unique(code[:-1:2] * 16 + code[1::2], return_counts=True)[1]
    assert len(pairs) == 36
    assert stats.chisquare(pairs).pvalue > 1e-3


def test_uniform_subsets_of_a_round_do_not_depend_on_where_the_call_starts():
    """Rounds 5 ... 9 drawn alone are rounds 5 ... 9 of a longer call."""
    keys = stream_keys(1, range(3))
    whole, part = np.zeros((10, 6, 3), dtype=np.bool_), np.zeros((5, 6, 3), dtype=np.bool_)
    kernels.uniform_subsets(keys, 0, 6, 3, whole)
    kernels.uniform_subsets(keys, 5, 6, 3, part)
    assert np.array_equal(whole[5:], part)


CALLER = """
import ratecheck.kernels.compile as compilation
from ratecheck.kernels.random import counter_tag

@compilation.kernel
def tagged(client):
    return counter_tag(1, client) + 1
"""
ASK = (
    "from ratecheck.kernels.caller import tagged; import ratecheck.kernels.compile as c; "
    "n = tagged(5); print(c.cache_folder().name, n, sum(tagged.stats.cache_hits.values()))"
)


def ask(folder):
    """Name of the cache folder, the number that the copied kernels compute, and cache hits, in a fresh process."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "RATECHECK_CACHE": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", ASK], env=environment, cwd=folder, capture_output=True, text=True, check=True
    )
    name, number, hits = done.stdout.split()
    return name, int(number), int(hits)


def test_an_edited_callee_in_another_file_is_never_served_from_the_cache(tmp_path):
    """The cache is used while sources stand, and an edit of random.py changes folder and numbers of its callers."""
    package = tmp_path / "ratecheck"
    kernels_folder = Path(compilation.__file__).parent
    shutil.copytree(kernels_folder, package / "kernels", ignore=shutil.ignore_patterns("__pycache__"))
    (package / "__init__.py").write_text("")
    for needed in ("caching.py", "errors.py"):
        shutil.copy(kernels_folder.parent / needed, package)
    (package / "kernels" / "caller.py").write_text(CALLER)
    first, number, hits = ask(tmp_path)
    assert (number, hits) == ((1 << 28 | 5) + 1, 0)
    assert ask(tmp_path) == (first, number, 1)
    source = package / "kernels" / "random.py"
    text = source.read_text()
    assert text.count("_PURPOSE_BIT = 28") == 1
    source.write_text(text.replace("_PURPOSE_BIT = 28", "_PURPOSE_BIT = 27"))
    second, edited, hits = ask(tmp_path)
    assert second != first
    assert (edited, hits) == ((1 << 27 | 5) + 1, 0)
