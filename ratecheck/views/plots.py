"""The figure and the table about one statement: measurement against theory over rounds, K, m and gamma."""

from __future__ import annotations

import math
import os
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bounds.symbols import quantity
from ratecheck.checks.sweep import LEVEL, Rounds, Survey, Sweep
from ratecheck.errors import InputError
from ratecheck.views import style
from ratecheck.views.text import number, table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Panels by how many there are: "T" is the one over rounds, digits are the sweeps.
_LAYOUTS = {1: "T", 2: "T0", 3: "TT;01", 4: "T0;12"}
_SIZES = {1: (6.4, 5.2), 2: (11.0, 5.0), 3: (11.0, 9.2), 4: (11.0, 9.2)}
# The predicted exponent is drawn over this factor to each side of the given setting.
_GUIDE = 1.7
_SETTINGS = ("n", "m", "K", "T", "sigma_u", "sigma_v", "L", "F_0", "b", "B_0")


def check_target(path: Path) -> None:
    """Raise `InputError` unless a figure can be written there: known before minutes of computation."""
    style.check_format(path)
    if path.is_dir():
        raise InputError(f"{path} cannot be written: it is a folder")
    folder = next(parent for parent in path.absolute().parents if parent.exists())
    if not folder.is_dir():
        raise InputError(f"{path} cannot be written: {folder} is not a folder")
    if not os.access(folder, os.W_OK):
        raise InputError(f"{path} cannot be written: no permission to write in {folder}")


def write_figure(found: Survey, path: Path) -> None:
    """Draw the survey and write it; raises `InputError` where the file cannot be written."""
    with style.styled() as plt:
        style.save(_draw(plt, found), path)


def survey_text(found: Survey) -> str:
    """The exponents as a table, and what was left out."""
    verdict = found.verdict
    slack = "" if verdict.slack is None else f"   slack {number(verdict.slack)}"
    lines = [f"{verdict.statement.key}   {verdict.statement.title}   {verdict.outcome.value}{slack}"]
    lines += [f"  on      {verdict.problem}; {_engine(found)}", f"  with    {_settings_text(found)}"]
    rows = [("parameter", "predicted exponent", f"fitted exponent [{1 - LEVEL:.0%}]", "points")]
    rows += [(s.parameter, _signed(s.predicted), _interval(s), _points(s)) for s in found.sweeps]
    lines += [table(rows)] if found.sweeps else []
    for sweep in found.sweeps:
        lines += [f"  note    {remark}" for remark in _remarks(found, sweep)]
        lines += [f"  left out {reason}" for reason in sweep.left_out]
    lines += [f"  not varied: {name}, because {reason}" for name, reason in found.fixed.items()]
    return "\n".join(lines)


def survey_fields(found: Survey) -> dict[str, Any]:
    """The survey as JSON data."""
    rounds, verdict = found.rounds, found.verdict
    return {
        "key": verdict.statement.key,
        "verdict": verdict.outcome.value,
        "problem": verdict.problem,
        "engine": verdict.engine,
        "replicates": verdict.replicates,
        "level": LEVEL,
        "values": verdict.values,
        "step_sizes": verdict.chosen,
        "rounds": {
            "T": rounds.T.tolist(),
            "metric": rounds.metric.tolist(),
            "metric_error": rounds.metric_error.tolist(),
            "mean": rounds.mean.tolist(),
            "mean_error": rounds.mean_error.tolist(),
            "bound": rounds.bound.tolist(),
            "bound_has_step_sizes_of_its_own_T": rounds.own_steps,
            "trivial": rounds.trivial,
        },
        "sweeps": {sweep.parameter: _sweep_fields(found, sweep) for sweep in found.sweeps},
        "not_varied": found.fixed,
    }


def _sweep_fields(found: Survey, sweep: Sweep) -> dict[str, Any]:
    return {
        "at": sweep.at,
        "values": sweep.values.tolist(),
        "measured": sweep.measured.tolist(),
        "error": sweep.error.tolist(),
        "bound": sweep.bound.tolist(),
        "predicted_exponent": sweep.predicted,
        "fitted_exponent": sweep.fit.exponent,
        "interval": [sweep.fit.low, sweep.fit.high],
        "half_exponents": list(sweep.fit.ends),
        "left_out": list(sweep.left_out),
        "notes": list(_remarks(found, sweep)),
    }


def _remarks(found: Survey, sweep: Sweep) -> Iterator[str]:
    """What a reader has to know before comparing the two exponents."""
    metric = found.verdict.statement.claims[0].metric
    if quantity(sweep.parameter).symbol in metric.expr.free_symbols:
        yield f"the left side {metric.expr} contains {sweep.parameter} itself"
    if sweep.fit.bent:
        low, high = (_signed(end) for end in sweep.fit.ends)
        yield f"no single power law over {sweep.parameter}: exponent {low} in the lower half, {high} in the upper one"


def _signed(value: float) -> str:
    """A number with two decimals and a typographic minus sign; never a negative zero."""
    if math.isnan(value):
        return "none"
    return f"{round(value, 2) + 0.0:.2f}".replace("-", "\N{MINUS SIGN}")


def _interval(sweep: Sweep) -> str:
    return f"{_signed(sweep.fit.exponent)} [{_signed(sweep.fit.low)}, {_signed(sweep.fit.high)}]"


def _points(sweep: Sweep) -> str:
    return f"{len(sweep.values)} from {sweep.values[0]:.4g} to {sweep.values[-1]:.4g}, around {sweep.at:.4g}"


def _engine(found: Survey) -> str:
    if found.verdict.engine == "exact":
        return "exact expectations"
    return f"{found.verdict.replicates} Monte Carlo runs"


def _shown(found: Survey) -> dict[str, float]:
    """The numbers that identify the setting: all but the local step sizes, which follow from the others."""
    values = found.verdict.values
    local = {product.local.name for product in found.verdict.statement.step_products}
    steps = [name for name in found.verdict.chosen if name not in local]
    # The command line's own parameters stay even where the bound does not contain them.
    return {name: values[name] for name in (*_SETTINGS, *steps) if name in values}


def _settings_text(found: Survey) -> str:
    return " ".join(f"{name}={value:.4g}" for name, value in _shown(found).items())


def _draw(plt: Any, found: Survey) -> Figure:
    panels = 1 + len(found.sweeps)
    figure = plt.figure(figsize=_SIZES[panels])
    axes = figure.subplot_mosaic(_LAYOUTS[panels])
    _title(figure, found)
    left = _mathematics(
        found.verdict.statement.claims[0].metric.latex, str(found.verdict.statement.claims[0].metric.expr)
    )
    _draw_rounds(axes["T"], found, found.rounds, left)
    for k, sweep in enumerate(found.sweeps):
        _draw_sweep(axes[str(k)], found, sweep, left)
    return figure


def _title(figure: Figure, found: Survey) -> None:
    verdict = found.verdict
    settings = ", ".join(f"${quantity(name).latex} = {_tex(value)}$" for name, value in _shown(found).items())
    figure.suptitle(f"{verdict.statement.key}: {verdict.statement.title}", fontsize=13, fontweight="bold")
    figure.supxlabel(
        "\n".join(textwrap.wrap(f"{verdict.problem}; {_engine(found)}", 110)) + "\n" + settings, fontsize=9
    )


def _tex(value: float) -> str:
    mantissa, _, exponent = f"{value:.3g}".partition("e")
    return rf"{mantissa}\cdot 10^{{{int(exponent)}}}" if exponent else mantissa


def _mathematics(latex: str, plain: str) -> str:
    r"""LaTeX for matplotlib, whose \frac wants braces; the plain text where it has no way to set it."""
    from matplotlib.mathtext import MathTextParser

    braced = "$" + re.sub(r"\\frac(\w)(\w)", r"\\frac{\1}{\2}", latex) + "$"
    try:
        MathTextParser("path").parse(braced)
    except ValueError:
        return plain
    return braced


def _looks() -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The same three looks in every panel: measured mean, bound, metric of a single round."""
    looks = style.looks()
    return next(looks), next(looks), next(looks)


def _band(axes: Axes, x: Any, y: Any, error: Any, colour: str) -> None:
    """A confidence band; its lower end is kept positive for the logarithm."""
    if np.any(error > 0):
        axes.fill_between(x, np.maximum(y - error, y * 1e-2), y + error, color=colour, alpha=0.25, linewidth=0)


def _draw_rounds(axes: Axes, found: Survey, rounds: Rounds, left: str) -> None:
    mean, bound, metric = _looks()
    every = max(1, len(rounds.T) // 10)
    sampled = rounds.mean_error.any()
    suffix = f", {1 - LEVEL:.0%} band" if sampled else ""
    label = (
        "bound at each $T$, with the step sizes prescribed for that $T$"
        if rounds.own_steps
        else "bound at each $T$, same step sizes"
    )
    axes.loglog(rounds.T, rounds.bound, label=label, markevery=every, **bound)
    axes.loglog(
        rounds.T, rounds.mean, label=f"measured, mean over rounds $0 \\ldots T-1${suffix}", markevery=every, **mean
    )
    axes.loglog(
        rounds.T, rounds.metric, label=f"measured, round $T-1$ alone{suffix}", markevery=(every // 2, every), **metric
    )
    _band(axes, rounds.T, rounds.mean, rounds.mean_error, mean["color"])
    _band(axes, rounds.T, rounds.metric, rounds.metric_error, metric["color"])
    if rounds.trivial is not None:
        axes.axhline(
            rounds.trivial, color="0.35", linewidth=1.0, linestyle=(0, (1, 2)), label="what smoothness alone gives"
        )
    axes.set(xlabel="rounds $T$", ylabel=left)
    _legend(axes, "over rounds")


def _draw_sweep(axes: Axes, found: Survey, sweep: Sweep, left: str) -> None:
    mean, bound, _ = _looks()
    symbol = quantity(sweep.parameter)
    axes.loglog(sweep.values, sweep.bound, label="bound", **bound)
    axes.loglog(sweep.values, sweep.measured, label=f"measured, fitted exponent {_interval(sweep)}", **mean)
    _band(axes, sweep.values, sweep.measured, sweep.error, mean["color"])
    _draw_guide(axes, sweep)
    axes.set(xlabel=f"{symbol.meaning}, ${symbol.latex}$", ylabel=left)
    _legend(axes, f"against ${symbol.latex}$")


def _draw_guide(axes: Axes, sweep: Sweep) -> None:
    """The predicted exponent as a short line through the measurement at the given setting."""
    here = int(np.argmin(np.abs(sweep.values - sweep.at)))
    x, y = sweep.values[here], sweep.measured[here]
    label = f"predicted exponent {_signed(sweep.predicted)} at ${quantity(sweep.parameter).latex} = {_tex(sweep.at)}$"
    if math.isnan(sweep.predicted):
        return
    span = np.array([x / _GUIDE, x * _GUIDE])
    axes.loglog(span, y * (span / x) ** sweep.predicted, "--", color="black", linewidth=2.2, label=label, zorder=3)


def _legend(axes: Axes, title: str) -> None:
    """Above the panel, where it can hide nothing."""
    axes.legend(
        loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.2, title=title, alignment="left",
        fontsize=9, title_fontproperties={"weight": "bold"}, handlelength=3.5,
    )  # fmt: skip
