"""A study on a min-max problem: methods side by side, one of which takes partial gradients and fixes K."""

from __future__ import annotations

import numpy as np

import ratecheck as rc
from ratecheck.studies import RunStore, load, run_study
from ratecheck.studies.execute import cells_of
from ratecheck.studies.instance import models_per_round

STUDY = """
name = "saddles"
title = "Methods on a min-max problem"
metric = { G_u = 1 }

[problem]
name = "minmax"
n = 3
d_x = 2
d_y = 2

[run]
m = 3
K = 2
T = 40
gamma_u = 0.2
sigma_u = 0.1
replicates = 64

[[figure]]
name = "methods"
vary = "algorithm"
values = ["extragradient", "alternating-gda"]
"""


def test_its_curves_are_those_of_the_methods(tmp_path):
    """Within five standard errors of the exact engine, over the last rounds; each sends one model either way."""
    path = tmp_path / "saddles.toml"
    path.write_text(STUDY)
    study, store = load(path), RunStore(tmp_path / "cells")
    run_study(study, store)
    problem, everybody = rc.problems.MinMax.synthetic(n=3, d_x=2, d_y=2), rc.participation.Trace.full(3)
    cells = cells_of(study)
    assert [cell.curve.algorithm for cell in cells] == ["extragradient", "alternating-gda"]
    for cell in cells:
        found = store.load(cell.key, 64)["G_u"][:, -10:].mean(axis=1)
        exact = rc.exact(cell.curve.algorithm, problem, everybody, K=2, T=40, gamma_u=0.2, sigma_u=0.1).metric[-10:]
        assert abs(found.mean() - exact.mean()) <= 5 * found.std() / np.sqrt(len(found))
        assert models_per_round(cell.curve) == 6
