"""How close a statement comes to equality over random decoupled quadratics, on the exact engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bounds.statement import Statement, number
from ratecheck.algorithms import METHODS
from ratecheck.checks.admissible import step_sizes
from ratecheck.checks.verdict import Outcome
from ratecheck.checks.verify import Options, verify
from ratecheck.errors import InputError
from ratecheck.problems import Quadratic

Instance = dict[str, float]


@dataclass(frozen=True)
class Tightness:
    """The tightest of ``instances`` random instances: the largest ratio left side / right side.

    ``instance`` holds its settings and dials, ``outcomes`` how often each verdict was reached.
    """

    ratio: float
    left: float
    right: float
    instance: Instance
    instances: int
    outcomes: dict[str, int]


def tightest(
    statement: Statement,
    instances: int = 1000,
    *,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
) -> Tightness:
    """Verify the statement on random decoupled quadratics and keep the one with the least slack.

    Instance j depends on the seed and on j alone. Raises `InputError` where no instance is applicable.
    """
    outcomes: dict[str, int] = {}
    best: Tightness | None = None
    for j in range(instances):
        instance = _draw(statement, np.random.default_rng([seed, j]))
        verdict = verify(statement, _problem(instance), _given(statement, instance), Options(engine="exact"))
        outcomes[verdict.outcome.value] = outcomes.get(verdict.outcome.value, 0) + 1
        worst = verdict.worst
        if verdict.outcome in (Outcome.HOLDS, Outcome.VIOLATED) and worst is not None:
            ratio = worst.left / worst.right
            if best is None or ratio > best.ratio:
                best = Tightness(ratio, worst.left, worst.right, instance, instances, outcomes)
        if progress is not None:
            progress((j + 1) / instances)
    if best is None:
        raise InputError(f"{statement.key} applied to none of {instances} random quadratics")
    return best


_DIALS = ("n", "d", "shared", "condition", "heterogeneity", "seed")


def _draw(statement: Statement, rng: np.random.Generator) -> Instance:
    """A random instance: sizes, spectrum, heterogeneity, noise, and where in its range each step size lies."""
    method = METHODS[statement.algorithm or ""]
    n, d = int(rng.integers(1, 7)), int(rng.integers(1, 5))
    shared = 0 if not method.shared else d if not method.personal else int(rng.integers(0, d + 1))

    def sometimes_zero(low: float, high: float) -> float:
        return 0.0 if rng.random() < 0.4 else float(np.exp(rng.uniform(np.log(low), np.log(high))))

    return {
        "n": n,
        "m": int(rng.integers(1, n + 1)),
        "K": int(np.exp(rng.uniform(0, np.log(17)))),
        "T": int(np.exp(rng.uniform(np.log(2), np.log(3000)))),
        "d": d,
        "shared": shared,
        "condition": 1.0 if rng.random() < 0.4 else float(10 ** rng.uniform(0, 2)),
        "heterogeneity": sometimes_zero(1e-3, 10),
        "sigma_u": sometimes_zero(1e-3, 10) if shared else 0.0,
        "sigma_v": sometimes_zero(1e-3, 10) if shared < d else 0.0,
        "gamma": 1.0 if rng.random() < 0.5 else float(10 ** rng.uniform(-2, 0)),
        "outer": 1.0 if rng.random() < 0.5 else float(10 ** rng.uniform(0, 2)),
        "seed": int(rng.integers(2**31)),
    }


def _problem(instance: Instance) -> Quadratic:
    dials = {k: int(v) if k not in ("condition", "heterogeneity") else v for k, v in instance.items() if k in _DIALS}
    return Quadratic.synthetic(**dials)  # type: ignore[arg-type]


def _given(statement: Statement, instance: Instance) -> Instance:
    """Settings of the run; step sizes at the drawn fractions of what is admissible."""
    settings = {k: float(instance[k]) for k in ("n", "m", "K", "T", "sigma_u", "sigma_v")}
    for name, value in statement.settings.items():
        settings[name] = number(value, instance)
    found = _problem(instance).constants(sigma_u=settings["sigma_u"], sigma_v=settings["sigma_v"])
    constants = {name: c.value for name, c in found.items() if name in statement.parameters}
    if constants.get("F_0", 1.0) <= 0:
        return settings
    region = step_sizes(statement, {**constants, **settings})
    steps = {}
    if "gamma" not in region.prescribed and region.admissible["gamma"].high < np.inf:
        steps["gamma"] = instance["gamma"] * region.admissible["gamma"].high
    for rule in statement.step_rules:
        if rule.at_least:
            steps[rule.symbol.name] = instance["outer"] * region.prescribed[rule.symbol.name]
    return {**settings, **steps}
