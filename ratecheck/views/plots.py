"""The figure and the table about one statement: measurement against theory over rounds and what is varied."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bounds.statement import Statement
from bounds.symbols import Domain, Role, Vocabulary
from ratecheck import files
from ratecheck.algorithms import METHODS
from ratecheck.checks.exponent import LEVEL
from ratecheck.checks.facts import NOISE
from ratecheck.checks.sweep import Rounds, Survey, Sweep
from ratecheck.problems import Certificate
from ratecheck.views import style
from ratecheck.views.text import number, outcome_text, table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Width and height of a single panel, and of two columns by rows.
_SINGLE, _WIDTH, _HEIGHTS = (6.4, 5.2), 11.0, {1: 6.0, 2: 9.4, 3: 13.4, 4: 17.4}
# The predicted exponent is drawn over this share of the panel's width to each side of the given setting.
_GUIDE = 0.25


def check_target(path: Path) -> None:
    """Raise `InputError` unless a figure can be written there: known before minutes of computation."""
    style.check_format(path)
    files.check_target(path)


def write_figure(found: Survey, path: Path) -> None:
    """Draw the survey and write it; raises `InputError` where the file cannot be written."""
    with style.styled() as plt:
        style.save(_draw(plt, found), path)


def survey_text(found: Survey) -> str:
    """The exponents as a table, and what was left out."""
    verdict = found.verdict
    slack = "" if verdict.slack is None else f"   slack {number(verdict.slack)}"
    lines = [f"{verdict.statement.key}   {verdict.statement.title}   {outcome_text(verdict)}{slack}"]
    lines += [f"  on      {verdict.problem}; {engine(found)}", f"  with    {settings_text(found)}"]
    rows = [("parameter", "predicted exponent", f"fitted exponent [{1 - LEVEL:.0%}]", "points")]
    rows += [(s.parameter, signed(s.predicted), interval(s), _points(s)) for s in found.sweeps]
    lines += [table(rows)] if found.sweeps else []
    for sweep in found.sweeps:
        lines += [f"  note    {remark}" for remark in (*remarks(found, sweep), *_bends(sweep))]
        lines += [f"  left out {reason}" for reason in sweep.left_out]
    lines += [f"  not varied: {name}, because {reason}" for name, reason in found.fixed.items()]
    return "\n".join(lines)


def survey_fields(found: Survey) -> dict[str, Any]:
    """The survey as JSON data."""
    verdict = found.verdict
    return {
        "key": verdict.statement.key,
        "verdict": verdict.outcome.value,
        "problem": verdict.problem,
        "engine": verdict.engine,
        "replicates": verdict.replicates,
        "level": LEVEL,
        "values": verdict.values,
        "step_sizes": verdict.chosen,
        "rounds": None if found.rounds is None else _rounds_fields(found.rounds),
        "sweeps": {sweep.parameter: sweep_fields(found, sweep) for sweep in found.sweeps},
        "not_varied": found.fixed,
    }


def _rounds_fields(rounds: Rounds) -> dict[str, Any]:
    return {
        "T": rounds.T.tolist(),
        "metric": rounds.metric.tolist(),
        "metric_error": rounds.metric_error.tolist(),
        "mean": rounds.mean.tolist(),
        "mean_error": rounds.mean_error.tolist(),
        "bound": rounds.bound.tolist(),
        "bound_has_step_sizes_of_its_own_T": rounds.own_steps,
        "trivial": rounds.trivial,
    }


def sweep_fields(found: Survey, sweep: Sweep) -> dict[str, Any]:
    """One parameter's numbers as JSON data."""
    return {
        "at": sweep.at,
        "held": list(sweep.held),
        "values": sweep.values.tolist(),
        "measured": sweep.measured.tolist(),
        "error": sweep.error.tolist(),
        "bound": sweep.bound.tolist(),
        "predicted_exponent": sweep.predicted,
        "fitted_exponent": sweep.fit.exponent,
        "interval": [sweep.fit.low, sweep.fit.high],
        "half_exponents": list(sweep.fit.ends),
        "bound_exponent": sweep.law.exponent,
        "left_out": list(sweep.left_out),
        "notes": [*remarks(found, sweep), *_bends(sweep)],
    }


def remarks(found: Survey, sweep: Sweep) -> Iterator[str]:
    """What a reader has to know before comparing the two exponents."""
    for constant in found.verdict.constants.values():
        if constant.certificate is Certificate.TRAJECTORY:
            yield f"{constant.name} is measured anew at every {sweep.parameter}; the predicted exponent holds it fixed"
    if _contained(found.verdict.statement, sweep):
        left = found.verdict.statement.claims[0].metric.expr
        yield f"the left side {left} contains {sweep.parameter} itself"


def _bends(sweep: Sweep) -> Iterator[str]:
    """Where there is no single exponent to compare with."""
    if sweep.fit.bent:
        low, high = (signed(end) for end in sweep.fit.ends)
        yield f"no single power law over {sweep.parameter}: exponent {low} in its lower half, {high} in its upper half"


def _contained(statement: Statement, sweep: Sweep) -> bool:
    """Whether the varied parameter stands on the left side as well."""
    return statement.vocabulary[sweep.parameter].symbol in statement.claims[0].metric.expr.free_symbols


def signed(value: float) -> str:
    """An exponent with three decimals, never a negative zero."""
    return "none" if math.isnan(value) else f"{round(value, 3) + 0.0:.3f}"


def interval(sweep: Sweep) -> str:
    """The fitted exponent with its interval."""
    return f"{signed(sweep.fit.exponent)} [{signed(sweep.fit.low)}, {signed(sweep.fit.high)}]"


def _points(sweep: Sweep) -> str:
    first, *_, last = sweep.values
    points = f"{len(sweep.values)} from {number(first)} to {number(last)}, around {number(sweep.at)}"
    return f"{points}, {', '.join(sweep.held)} fixed" if sweep.held else points


def engine(found: Survey) -> str:
    """Where the left sides come from."""
    if found.verdict.engine == "exact":
        return "exact expectations"
    if found.verdict.engine != "step":
        return f"means over {found.verdict.replicates} participations, each by its exact expectation"
    return f"{found.verdict.replicates} Monte Carlo runs, {1 - LEVEL:.0%} bands"


def _steps(found: Survey) -> dict[str, str]:
    """Where each step size comes from, but for the local ones, which follow from the others, and unused ones."""
    statement = found.verdict.statement
    hidden = {product.local.name for product in statement.step_products}
    hidden |= METHODS[statement.algorithm].fixed.keys() if statement.algorithm else set()
    return {name: origin for name, origin in found.verdict.chosen.items() if name not in hidden}


def _settings(found: Survey) -> list[str]:
    """Settings of the run, noise, then all other constants that went in."""
    vocabulary, values = found.verdict.statement.vocabulary, found.verdict.values
    noise = [symbol for symbol, fact in vocabulary.facts.items() if fact in NOISE]
    rest = [quantity.name for quantity in vocabulary if quantity.role in (Role.SETTING, Role.FREE, Role.CONSTANT)]
    return [name for name in dict.fromkeys([*vocabulary.run.values(), *noise, *rest]) if name in values]


def settings_text(found: Survey) -> str:
    """Every number that went in, on one line."""
    values = found.verdict.values
    return " ".join(f"{name}={values[name]:.4g}" for name in (*_settings(found), *_steps(found)) if name in values)


def _mosaic(panels: int, *, rounds: bool) -> list[list[str]]:
    """Names of the panels in two columns: "T" is the one over rounds, digits are the sweeps. An odd first is wide."""
    names = [*(["T"] if rounds else []), *map(str, range(panels - rounds))]
    if panels == 1:
        return [names]
    if panels % 2:
        names.insert(0, names[0])
    return [names[k : k + 2] for k in range(0, len(names), 2)]


def _draw(plt: Any, found: Survey) -> Figure:
    panels = len(found.sweeps) + (found.rounds is not None)
    mosaic = _mosaic(panels, rounds=found.rounds is not None)
    figure = plt.figure(figsize=_SINGLE if panels == 1 else (_WIDTH, _HEIGHTS[len(mosaic)]))
    axes: dict[str, Axes] = figure.subplot_mosaic(mosaic)
    figure.suptitle(_title(found), fontsize=11, linespacing=1.4)
    metric = found.verdict.statement.claims[0].metric
    left = _mathematics(metric.latex, str(metric.expr))
    if found.rounds is not None:
        _draw_rounds(axes["T"], found.rounds, left)
    for k, sweep in enumerate(found.sweeps):
        _draw_sweep(axes[str(k)], sweep, left, found.verdict.statement)
    return figure


def _title(found: Survey) -> str:
    verdict, values = found.verdict, found.verdict.values
    vocabulary = verdict.statement.vocabulary
    settings = [f"${vocabulary[name].latex} = {_tex(values[name])}$" for name in _settings(found)]
    steps = [
        f"${vocabulary[name].latex} = {_tex(values[name])}$ ({origin})"
        for name, origin in _steps(found).items()
        if name in values
    ]
    first = f"{verdict.statement.key}: {verdict.statement.title}"
    return "\n".join([first, f"{verdict.problem}; {engine(found)}", ", ".join(settings), ", ".join(steps)])


def _tex(value: float) -> str:
    if 1 <= value < 1e5 and float(value).is_integer():
        return f"{value:.0f}"
    mantissa, _, exponent = f"{value:.3g}".partition("e")
    if not exponent:
        return mantissa
    return (f"{mantissa}\\cdot " if mantissa != "1" else "") + f"10^{{{int(exponent)}}}"


def _mathematics(latex: str, plain: str) -> str:
    r"""LaTeX for matplotlib, whose \frac wants braces; the plain text where it has no way to set it."""
    from matplotlib.mathtext import MathTextParser

    braced = "$" + re.sub(r"\\frac(\w)(\w|\{[^{}]*\})", r"\\dfrac{\1}{\2}\\,", latex) + "$"
    try:
        MathTextParser("path").parse(braced)
    except ValueError:
        return plain
    return braced


def _in_symbols(text: str, vocabulary: Vocabulary) -> str:
    """The meaning of a quantity with ASCII names such as gamma_u*eta_u as the paper prints them."""
    names = {q.name: q.latex for q in vocabulary if len(q.name) > 1}
    return re.sub(r"\w+", lambda word: f"${names[word[0]]}$" if word[0] in names else word[0], text).replace("$*$", "")


def _looks() -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The same three looks in every panel: measured mean, bound, metric of a single round."""
    looks = style.looks()
    return next(looks), next(looks), next(looks)


def _draw_rounds(axes: Axes, rounds: Rounds, left: str) -> None:
    mean, bound, metric = _looks()
    every = max(1, len(rounds.T) // 10)
    label = "bound for a run of T rounds, with the same step sizes"
    if rounds.own_steps:
        label = (
            "bound for a run of T rounds, with the step sizes prescribed\n"
            f"for that T (measured has those for T = {rounds.T[-1]})"
        )
    # Labels without mathematics stay one text in an SVG file, so that they can be searched and read aloud.
    last = "T\N{MINUS SIGN}1"
    axes.loglog(rounds.T, rounds.bound, label=label, markevery=every, **bound)
    axes.loglog(rounds.T, rounds.mean, label=f"measured, mean over rounds 0 ... {last}", markevery=every, **mean)
    axes.loglog(rounds.T, rounds.metric, label=f"measured, round {last} alone", markevery=(every // 2, every), **metric)
    _band(axes, rounds.T, rounds.mean, rounds.mean_error, mean["color"])
    _band(axes, rounds.T, rounds.metric, rounds.metric_error, metric["color"])
    if rounds.trivial is not None:
        label = "smoothness alone (a bound above this says nothing new)"
        axes.axhline(rounds.trivial, color="0.35", linewidth=1.2, linestyle=(0, (1, 2)), label=label)
    axes.set(xlabel="rounds $T$", ylabel=left)
    _ticks(axes)
    _legend(axes, "over rounds")


def _draw_sweep(axes: Axes, sweep: Sweep, left: str, statement: Statement) -> None:
    mean, bound, _ = _looks()
    vocabulary = statement.vocabulary
    symbol = vocabulary[sweep.parameter]
    label = f"measured, fitted exponent {interval(sweep)} at {1 - LEVEL:.0%}"
    if sweep.fit.bent:
        low, high = (signed(end) for end in sweep.fit.ends)
        label += f"\n(it bends: {low} in the lower half, {high} in the upper)"
    axes.loglog(sweep.values, sweep.bound, label="bound", **bound)
    axes.loglog(sweep.values, sweep.measured, label=_typeset(label), **mean)
    _band(axes, sweep.values, sweep.measured, sweep.error, mean["color"])
    _draw_guide(axes, sweep)
    axes.set(xlabel=f"${symbol.latex}$, {_in_symbols(symbol.meaning, vocabulary)}", ylabel=left)
    _ticks(axes, sweep.values if symbol.domain is Domain.POSITIVE_INTEGER else None)
    title = f"against ${symbol.latex}$; {_fixed(sweep, vocabulary)}"
    contained = f"\nmind that the left side itself contains ${symbol.latex}$" if _contained(statement, sweep) else ""
    _legend(axes, title + contained)


def _fixed(sweep: Sweep, vocabulary: Vocabulary) -> str:
    if not sweep.held:
        return "step sizes prescribed anew"
    return ", ".join(f"${vocabulary[name].latex}$" for name in sweep.held) + " fixed"


def _draw_guide(axes: Axes, sweep: Sweep) -> None:
    """The predicted exponent as a short line through the measurement at the given setting, a ring marking the point."""
    if math.isnan(sweep.predicted):
        return
    here = int(np.argmin(np.abs(sweep.values - sweep.at)))
    x, y = sweep.values[here], sweep.measured[here]
    reach = (sweep.values[-1] / sweep.values[0]) ** _GUIDE
    span = np.array([max(x / reach, sweep.values[0]), x, min(x * reach, sweep.values[-1])])
    label = f"predicted exponent {_typeset(signed(sweep.predicted))}, the bound's at the ringed setting"
    ring = {"marker": "o", "markersize": 10, "markerfacecolor": "none", "markevery": [1]}
    axes.loglog(span, y * (span / x) ** sweep.predicted, "--", color="black", label=label, zorder=3, **ring)


def _typeset(text: str) -> str:
    return text.replace("-", "\N{MINUS SIGN}")


def _band(axes: Axes, x: Any, y: Any, error: Any, colour: str) -> None:
    """A confidence band; its lower end is kept positive for the logarithm."""
    if np.any(error > 0):
        axes.fill_between(x, np.maximum(y - error, y * 1e-2), y + error, color=colour, alpha=0.25, linewidth=0)


def _ticks(axes: Axes, values: NDArray[np.float64] | None = None) -> None:
    """Plain numbers along both axes; ``values`` are marked one by one, as far as there is room."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter

    for axis, limits in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
        decades = math.log10(limits[1] / limits[0])
        axis.set_major_locator(LogLocator(subs=(1.0,) if decades > 2.5 else (1.0, 2.0, 5.0)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"${_tex(value)}$"))
        axis.set_minor_formatter(NullFormatter())
    if values is not None:
        apart = 0.05 * math.log(values[-1] / values[0])
        kept = [value for k, value in enumerate(values) if k == 0 or math.log(value / values[k - 1]) > apart]
        axes.xaxis.set_major_locator(FixedLocator(kept))


def _legend(axes: Axes, title: str) -> None:
    """Above the panel, where it can hide nothing."""
    axes.legend(
        loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.2, title=title, alignment="left",
        fontsize=8.5, title_fontproperties={"weight": "bold"}, handlelength=3.5,
    )  # fmt: skip
