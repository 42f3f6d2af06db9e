"""The curves of a figure once more, at step sizes that a theorem admits where the paper's are not admissible."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from bounds.statement import Statement
from ratecheck.algorithms import METHODS
from ratecheck.errors import InputError
from ratecheck.settings.on_trace import OnTrace, step_values
from ratecheck.studies.instance import weights_of
from ratecheck.studies.study import ADMISSIBLE, Curve, Figure, Study
from ratecheck.studies.theory import on_curve, placed, statements_on


def with_admissible(study: Study) -> Study:
    """The study with a figure more for each that requests it: its curves at the largest admissible step sizes.

    Left out are curves that are admissible as they are, those of methods without a theorem in the study, those that no
    step sizes make admissible, and repetitions that differ from one before in nothing but their rounds.
    """
    figures: list[Figure] = []
    for figure in study.figures:
        figures.append(figure)
        if figure.admissible and (curves := _repeated(figure, study)):
            title = f"{figure.title}, largest admissible step sizes"
            name = figure.name + ADMISSIBLE
            more = replace(figure, name=name, title=title, curves=curves, admissible=0, repeats=figure.name)
            figures.append(more)
    return replace(study, figures=tuple(figures))


def _repeated(figure: Figure, study: Study) -> tuple[Curve, ...]:
    name = figure.name + ADMISSIBLE
    found: list[Curve] = []
    # Of curves that differ in step sizes alone, the longest stays.
    for curve in sorted(figure.curves, key=lambda curve: -curve.T):
        step_sizes = admissible_step_sizes(curve, study)
        if step_sizes is None:
            continue
        replicates = min(curve.replicates, figure.admissible)
        again = replace(curve, figure=name, runs=name, step_sizes=step_sizes, replicates=replicates)
        again = _renamed(again, figure.vary)
        if not any(_alike(again, other) for other in found):
            found.append(again)
    order = [curve.label for curve in figure.curves]
    return tuple(sorted(found, key=lambda curve: order.index(curve.label) if curve.label in order else 0))


def _renamed(curve: Curve, vary: str) -> Curve:
    """The curve named by its step size, where that is what the figure varies."""
    sizes = curve.step_sizes
    if vary not in ("gamma", *sizes):
        return curve
    value = sizes[vary] if vary in sizes else sizes["gamma_u"] * sizes["eta_u"]
    label = curve.label.partition("=")[0] + f"= {value:.3g}$"
    return replace(curve, name=f"{vary}={value:.4g}", label=label, value=value)


def _alike(curve: Curve, other: Curve) -> bool:
    """Whether only names and rounds differ, step sizes up to rounding."""
    one, two = (
        replace(each, name="", label="", value=0.0, T=1, step_sizes=dict.fromkeys(each.step_sizes, 1.0))
        for each in (curve, other)
    )
    sizes = curve.step_sizes.items()
    return one == two and all(math.isclose(size, other.step_sizes[name], rel_tol=1e-9) for name, size in sizes)


def admissible_step_sizes(curve: Curve, study: Study) -> Mapping[str, float] | None:
    """The largest step sizes that a theorem of the study admits on the curve; None where its own are admissible.

    None as well where no theorem admits any. The first theorem that admits some decides. Outer step sizes stay as they
    are where local ones can be found for them; the rest are those that `verify` takes.
    """
    statements = statements_on(curve, study)
    with np.errstate(all="ignore"):
        if any(on_curve(curve, statement, weights_of(study, curve)).admissible for statement in statements):
            return None
        for statement in statements:
            local = {each.local.name for each in statement.step_products}
            for kept in ({k: v for k, v in curve.step_sizes.items() if k not in local} if local else {}, {}):
                found = _completed(curve, statement, kept)
                if found and on_curve(replace(curve, step_sizes=found), statement, weights_of(study, curve)).admissible:
                    return found
    return None


def _completed(curve: Curve, statement: Statement, kept: Mapping[str, float]) -> dict[str, float] | None:
    """The curve's step sizes where ``kept`` are given and the statement chooses the others."""
    method = METHODS[curve.algorithm]
    try:
        on = placed(curve, statement, {**method.fixed, **kept})
        values = step_values(on).values if isinstance(on, OnTrace) else {}
    except InputError:
        return None
    wanted = {name: values.get(name, curve.step_sizes.get(name)) for name in curve.step_sizes}
    known = {name for name in method.step_sizes if name in values}
    if not known:
        return None
    return {name: float(value) for name, value in wanted.items() if value is not None}
