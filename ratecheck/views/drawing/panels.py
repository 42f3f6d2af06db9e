"""The panels of a figure about one statement: over rounds, against what is varied, or a claim entry by entry."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from bounds.ledger.refuted import refuted
from bounds.statement import Assumption, Relation, Statement
from bounds.symbols import Domain, Role, Vocabulary
from ratecheck.algorithms import METHODS
from ratecheck.aliases import Array
from ratecheck.certification.certified_constants import NOISE
from ratecheck.exponents import parameters as varied
from ratecheck.exponents.sweep import Rounds, Sweep, SweepSurvey
from ratecheck.outcome import Outcome
from ratecheck.statistics.exponent_fit import LEVEL, Fit
from ratecheck.verification.entries import PAIR, RUN, Course
from ratecheck.views.checks.verdict import outcome_text
from ratecheck.views.drawing import style
from ratecheck.views.drawing.fitting import Window, fitted, letter, mathematics, set_title, tex, window

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# Width and height of a single panel, and of two columns by rows.
_SINGLE, _WIDTH, _HEIGHTS = (7.2, 5.6), 11.0, {1: 6.4, 2: 10.0, 3: 14.2}
_ROW = 4.2
# The predicted exponent is drawn over this share of the panel's width to each side of the given setting.
_GUIDE = 0.25
# A logarithmic axis with both signs is linear up to this quantile of the sizes.
_LINEAR = 0.1
# It is drawn where the largest number is so many times the median: on a linear axis the others would lie on each other.
_OUTLYING = 20
_TITLE, _LEGEND = 11.0, 8.5
# Rounding of a logarithm, and an axis on which numbers of three digits look alike, in decades.
_MORE, _NARROW, _APART = 1 + 1e-9, 0.3, 1.2
# Sides that agree to so much are not told apart by eye, nor here.
_HAIR = 1e-9
# Labels without mathematics stay one text in an SVG file, so that they can be searched and read aloud.
_LAST = "T\N{MINUS SIGN}1"


def draw(found: SweepSurvey) -> Figure:
    """The figure of a survey."""
    panels = len(found.sweeps) + (found.rounds is not None) + len(found.courses)
    mosaic = _mosaic(panels, rounds=found.rounds is not None)
    rows = len(mosaic)
    height = _HEIGHTS.get(rows, _ROW * rows + 1.6)
    figure = style.new_figure(*(_SINGLE if panels == 1 else (_WIDTH, height)))
    axes: dict[str, Axes] = figure.subplot_mosaic(mosaic)  # type: ignore[arg-type]  # lists are invariant
    set_title(figure, title(found), _TITLE, linespacing=1.4)
    # The room for the legends is the width of a panel.
    widest = 0.86 * figure.bbox.width / len(mosaic[0])
    claims = {claim.name: claim.metric for claim in found.verdict.statement.claims}
    lefts = {name: mathematics(metric.latex, str(metric.expr)) for name, metric in claims.items()}
    left = next(iter(lefts.values()))
    if found.rounds is not None:
        width = widest * (2 if panels % 2 and panels > 1 else 1)
        _draw_rounds(axes["T"], found.rounds, left, width, violated=_violated(found))
    for k, sweep in enumerate(found.sweeps):
        _draw_sweep(axes[str(k)], found, sweep, left, widest)
    for k, course in enumerate(found.courses):
        # A wide panel is first where their number is odd.
        wide = k == 0 and panels > 1 and panels % 2 == 1
        _draw_course(axes[str(k)], course, lefts[course.claim], found, widest * (2 if wide else 1))
    for each in axes.values():
        _fit_label(each, figure)
    return figure


def title(found: SweepSurvey) -> str:
    """The statement, what is known about it, the problem and every number that went in."""
    verdict, values = found.verdict, found.verdict.values
    vocabulary = verdict.statement.vocabulary
    settings = [f"${letter(vocabulary[name])} = {tex(values[name])}$" for name in settings_of(found)]
    steps = [
        f"${letter(vocabulary[name])} = {tex(values[name])}$ ({origin})"
        for name, origin in steps_of(found).items()
        if name in values
    ]
    false = refuted(verdict.statement)
    words = [f"{verdict.statement.key}: {verdict.statement.title}", *([false.text] if false else [])]
    words += [f"{outcome_text(verdict)}: {verdict.problem}; {engine(found)}"]
    return "\n".join([*map(_plain, words), *(", ".join(numbers) for numbers in (settings, steps) if numbers)])


def _plain(text: str) -> str:
    """Text in which a dollar is no mathematics."""
    return text.replace("$", r"\$")


def engine(found: SweepSurvey) -> str:
    """The source of the left sides."""
    if found.verdict.engine == "exact":
        return "exact expectations"
    if found.verdict.unrun:
        return "nothing was run"
    if found.verdict.replicates is None:
        return "one run, in which nothing is random"
    exact = found.verdict.engine != "step"
    runs = f"{found.verdict.replicates} Monte Carlo runs"
    if exact:
        runs = f"means over {found.verdict.replicates} participations, each by its exact expectation"
    if any(map(_has_band, _widths(found))):
        return f"{runs}, {1 - LEVEL:.0%} bands"
    return f"{runs}, too few for bands" if exact else f"{runs}, all alike"


def _has_band(width: Array) -> bool:
    """Whether a band of that half width can be drawn anywhere."""
    return bool(np.any((width > 0) & np.isfinite(width)))


def _widths(found: SweepSurvey) -> Iterator[Array]:
    """The half widths of all bands."""
    if found.rounds is not None:
        yield from (found.rounds.metric_error, found.rounds.mean_error)
    yield from (sweep.error for sweep in found.sweeps)
    yield from (width for course in found.courses for width in (course.left_error, course.right_error))


def steps_of(found: SweepSurvey) -> dict[str, str]:
    """The source of each step size, but for the local ones, which follow from the others, and unused ones."""
    statement = found.verdict.statement
    hidden = {product.local.name for product in statement.step_products}
    hidden |= METHODS[statement.algorithm].fixed.keys() if statement.algorithm else set()
    return {name: origin for name, origin in found.verdict.chosen.items() if name not in hidden}


def settings_of(found: SweepSurvey) -> list[str]:
    """Settings of the run, noise, then all other constants that went in."""
    statement, values = found.verdict.statement, found.verdict.values
    vocabulary = statement.vocabulary
    noise = [symbol for symbol, fact in vocabulary.facts.items() if fact in NOISE]
    rest = [quantity.name for quantity in vocabulary if quantity.role in (Role.SETTING, Role.FREE, Role.CONSTANT)]
    run = [symbol for role, symbol in vocabulary.run.items() if _went_in(statement, role, symbol)]
    unused = {*vocabulary.run.values()} - {*run}
    return [name for name in dict.fromkeys([*run, *noise, *rest]) if name in values and name not in unused]


def _went_in(statement: Statement, role: str, symbol: str) -> bool:
    """Whether a setting of the run was used: by the statement, by the run, or, of clients, by the problem."""
    if symbol in statement.parameters or role == varied.CLIENTS:
        return True
    if role == varied.PARTICIPANTS and Assumption.INDEPENDENT_PARTICIPATION in statement.assumptions:
        return False
    return statement.algorithm is not None


def signed(value: float) -> str:
    """An exponent with three decimals, never a negative zero."""
    return f"{round(value, 3) + 0.0:.3f}" if math.isfinite(value) else "none"


def interval(fit: Fit) -> str:
    """The fitted exponent with its interval, or why there is none."""
    if fit.constant:
        return "none: constant up to rounding"
    if math.isinf(fit.high - fit.low):
        return f"{signed(fit.exponent)} (two points: no interval)"
    return f"{signed(fit.exponent)} [{signed(fit.low)}, {signed(fit.high)}]"


def contained(statement: Statement, sweep: Sweep) -> bool:
    """Whether the varied parameter stands on the left side as well."""
    return statement.vocabulary[sweep.parameter].symbol in statement.claims[0].metric.expr.free_symbols


def own_participation(sweep: Sweep) -> bool:
    """Whether every point of the sweep has another participation than the setting."""
    return sweep.role == varied.DELAY


def _mosaic(panels: int, *, rounds: bool) -> list[list[str]]:
    """Names of the panels in two columns: "T" is the one over rounds, digits are the rest. An odd first is wide."""
    names = [*(["T"] if rounds else []), *map(str, range(panels - rounds))]
    if panels == 1:
        return [names]
    if panels % 2:
        names.insert(0, names[0])
    return [names[k : k + 2] for k in range(0, len(names), 2)]


def _in_symbols(text: str, vocabulary: Vocabulary) -> str:
    """The meaning of a quantity with ASCII names such as gamma_u*eta_u as the paper prints them."""
    names = {q.name: letter(q) for q in vocabulary if len(q.name) > 1}
    return re.sub(r"\w+", lambda word: f"${names[word[0]]}$" if word[0] in names else word[0], text).replace("$*$", "")


def _looks() -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Three looks, equal in every panel: measured mean, bound, metric of a single round."""
    looks = style.looks()
    return next(looks), next(looks), next(looks)


def _draw_rounds(axes: Axes, rounds: Rounds, left: str, widest: float, *, violated: bool) -> None:
    mean, bound, metric = _looks()
    every = max(1, len(rounds.T) // 10)
    label = "bound for a run of T rounds, with the same step sizes"
    if rounds.own_steps:
        label = (
            "bound for a run of T rounds, with the step sizes prescribed\n"
            f"for that T (measured has those for T = {rounds.T[-1]})"
        )
    curves = ((rounds.bound, 0), (rounds.mean, 0), (rounds.metric, every // 2))
    labels = (label, f"measured, mean over rounds 0 ... {_LAST}", f"measured, round {_LAST} alone")
    # A bound that is no positive number has no place on a logarithmic axis; what has none beside it is 0 there.
    signed = bool(np.any(rounds.bound <= 0))
    seen = None if signed else window(*(values for values, _ in curves))
    for (values, offset), text, look in zip(curves, labels, (bound, mean, metric), strict=True):
        missing = int(np.sum(~np.isfinite(values)))
        of_bound = values is rounds.bound
        lacks = "a condition fails, or no number" if of_bound else "no positive number beyond rounding"
        said = f"0 to within rounding at {missing}" if signed and not of_bound else f"none at {missing}"
        note = f"\n({said} of {len(values)} points{'' if signed else f': {lacks}'})" if missing else ""
        shown = values if of_bound or not signed else np.nan_to_num(values)
        axes.plot(rounds.T, shown, label=text + note, markevery=(offset, every), **look)
    axes.set_xscale("log")
    axes.set_yscale("linear" if signed else "log")
    if len(rounds.T) == 1:
        axes.set_xlim(rounds.T[0] / 2, 2 * rounds.T[0])
    # With step sizes of its own for every T the bound is about this run at the last alone.
    about = slice(-1, None) if rounds.own_steps else slice(None)
    if violated:
        mean_left = np.nan_to_num(rounds.mean) if signed else rounds.mean
        _mark(axes, rounds.T[about], mean_left[about], rounds.bound[about], rounds.mean_error[about])
    _band(axes, rounds.T, rounds.mean, rounds.mean_error, mean["color"])
    _band(axes, rounds.T, rounds.metric, rounds.metric_error, metric["color"])
    if rounds.trivial is not None and 0 < rounds.trivial < math.inf:
        text = "smoothness alone (a bound above this says nothing new)"
        axes.axhline(rounds.trivial, color="0.35", linewidth=1.2, linestyle=(0, (1, 2)), label=text)
    axes.set(xlabel="rounds $T$", ylabel=left)
    _limit(axes, seen, {"bound": (rounds.T, rounds.bound, bound), "round alone": (rounds.T, rounds.metric, metric)})
    _ticks(axes, along_y=not signed)
    _legend(axes, "over rounds", widest)


def _draw_sweep(axes: Axes, found: SweepSurvey, sweep: Sweep, left: str, widest: float) -> None:
    mean, bound, _ = _looks()
    statement = found.verdict.statement
    vocabulary = statement.vocabulary
    symbol = vocabulary[sweep.parameter]
    label = "measured, " + (
        "constant up to rounding" if sweep.fit.constant else f"fitted exponent {interval(sweep.fit)}"
    )
    if not sweep.fit.constant and math.isfinite(sweep.fit.high - sweep.fit.low):
        label += f" at {1 - LEVEL:.0%}"
    if sweep.fit.bent:
        low, high = (signed(end) for end in sweep.fit.ends)
        label += f"\n(it bends: {low} in the lower half, {high} in the upper)"
    seen = window(sweep.bound, sweep.measured)
    axes.loglog(sweep.values, sweep.bound, label="bound", **bound)
    axes.loglog(sweep.values, sweep.measured, label=_typeset(label), **mean)
    # A band of Monte Carlo runs is left by one of many points now and then: only a verdict says more.
    if found.verdict.replicates is None:
        _mark(axes, sweep.values, sweep.measured, sweep.bound, sweep.error)
    # Of exact numbers the error is their rounding, and no band.
    if found.verdict.replicates is not None:
        _band(axes, sweep.values, sweep.measured, sweep.error, mean["color"])
    _draw_guide(axes, sweep, letter(symbol), at=found.verdict.values.get(sweep.parameter, math.nan))
    axes.set(xlabel=f"${letter(symbol)}$, {_in_symbols(symbol.meaning, vocabulary)}", ylabel=left)
    curves = {"bound": (sweep.values, sweep.bound, bound), "measured": (sweep.values, sweep.measured, mean)}
    _limit(axes, seen, curves)
    _ticks(axes, sweep.values if symbol.domain is Domain.POSITIVE_INTEGER else None)
    heading = f"against ${letter(symbol)}$; {_fixed(sweep, vocabulary)}"
    if own_participation(sweep):
        heading += (
            f"\nanother participation: one client in every (${letter(symbol)}$+1)-th round, all others in every one"
        )
    if contained(statement, sweep):
        heading += f"\nmind that the left side itself contains ${letter(symbol)}$"
    _legend(axes, heading, widest)


def _fixed(sweep: Sweep, vocabulary: Vocabulary) -> str:
    if not sweep.held:
        return "step sizes prescribed anew" if sweep.role != varied.STEP_SIZE else "all else fixed"
    return ", ".join(f"${letter(vocabulary[name])}$" for name in sweep.held) + " fixed"


def _draw_guide(axes: Axes, sweep: Sweep, latex: str, at: float) -> None:
    """The predicted exponent as a short line through the measurement at the given setting, a ring marking the point."""
    if not math.isfinite(sweep.predicted):
        return
    here = int(np.argmin(np.abs(sweep.values - sweep.at)))
    x, y = sweep.values[here], sweep.measured[here]
    reach = (sweep.values[-1] / sweep.values[0]) ** _GUIDE
    span = np.array([max(x / reach, sweep.values[0]), x, min(x * reach, sweep.values[-1])])
    same = math.isclose(x, at, rel_tol=1e-9) and not own_participation(sweep)
    where = "the ringed setting" if same else f"${latex} = {tex(x)}$, ringed"
    label = f"predicted exponent {_typeset(signed(sweep.predicted))}, the bound's at {where}"
    ring = {"marker": "o", "markersize": 10, "markerfacecolor": "none", "markevery": [1]}
    axes.loglog(span, y * (span / x) ** sweep.predicted, "--", color="black", label=label, zorder=3, **ring)


# --- Claims entry by entry ---

_ALONG = {PAIR: "pairs of points, by the size of the right side", RUN: "participations that were drawn"}


def _draw_course(axes: Axes, course: Course, left: str, found: SweepSurvey, widest: float) -> None:
    mean, bound, _ = _looks()
    values = np.concatenate([course.left, course.right])
    values = values[np.isfinite(values)]
    # Sides that are all but equal have no decades to show.
    logarithmic = bool(len(values)) and bool(np.all(values > 0)) and np.max(values) > _APART * np.min(values)
    points = {"linestyle": "none"} if course.along in (PAIR, RUN) else {}
    every = max(1, len(course.x) // 10) if course.along not in (PAIR, RUN) else 1
    sides = (
        ("right side", course.right, course.right_error, bound),
        ("left side", course.left, course.left_error, mean),
    )
    for label, side, error, look in sides:
        missing = int(np.sum(~np.isfinite(side)))
        text = label + (f" (no number beyond rounding at {missing} of {len(side)} points)" if missing else "")
        axes.plot(
            course.x, np.where(np.isfinite(side), side, math.nan), label=text, markevery=every, **{**look, **points}
        )
        if np.any(error > 0):
            low = np.maximum(side - error, side * 1e-2) if logarithmic else side - error
            # Of what is computed exactly it is the rounding.
            band = f"{1 - LEVEL:.0%} band of the {label}" if found.verdict.replicates else None
            axes.fill_between(course.x, low, side + error, color=look["color"], alpha=0.25, linewidth=0, label=band)
    if _violated(found):
        relation = next(claim.relation for claim in found.verdict.statement.claims if claim.name == course.claim)
        error = course.left_error + course.right_error
        _mark(axes, course.x, course.left, course.right, error, both=relation is Relation.EQUAL)
    axes.set(xlabel=_ALONG.get(course.along, "rounds $t$"), ylabel=left)
    if logarithmic:
        axes.set_yscale("log")
        seen = window(course.right, course.left)
        names = {"right side": (course.x, course.right, bound), "left side": (course.x, course.left, mean)}
        _limit(axes, seen, names)
        _ticks(axes, along_x=False)
    elif len(values) and np.max(np.abs(values)) > _OUTLYING * max(float(np.median(np.abs(values))), 1e-300):
        size = float(np.quantile(np.abs(values[values != 0]), _LINEAR))
        # A power of ten, so that no mark falls between it and zero.
        axes.set_yscale("symlog", linthresh=10.0 ** math.ceil(math.log10(size)))
    if course.along == RUN:
        axes.set_xticks(course.x)
        axes.set_xlim(0.5, course.x[-1] + 0.5)
    heading = f"claim {course.claim}" if len(found.verdict.statement.claims) > 1 else "both sides"
    heading += {PAIR: " at random pairs of points", RUN: " of the whole run"}.get(course.along, " over rounds")
    if not np.any(values):
        heading += "\nall numbers are 0"
    if course.crowd > 1:
        heading += f"\nof each round the client with the least slack, of up to {course.crowd}"
    _legend(axes, heading, widest)


# --- What all panels share ---


def _typeset(text: str) -> str:
    return text.replace("-", "\N{MINUS SIGN}")


def _limit(axes: Axes, seen: Window | None, curves: dict[str, tuple[Any, Array, dict[str, Any]]]) -> None:
    """Cut a logarithmic axis at its outliers, which are marked at the edge, with their values in the legend."""
    if seen is None or not (seen.below or seen.above):
        return
    bottom, top = axes.get_ylim()
    margin = (seen.high / seen.low) ** 0.1 * 1.1
    # The marks stand inside the axis, those of what differs by more than the rounding of a logarithm.
    inside = margin**0.4
    bottom, top = (seen.low / margin if seen.below else bottom), (seen.high * margin if seen.above else top)
    axes.set_ylim(bottom, top)
    for name, (x, y, look) in curves.items():
        above, below = (y > seen.high * _MORE) & seen.above, (y > 0) & (y < seen.low / _MORE) & seen.below
        for edge, outside, marker in ((top / inside, above, "^"), (bottom * inside, below, "v")):
            if np.any(outside):
                values = np.asarray(y)[outside]
                listed = ", ".join(f"${tex(float(value))}$" for value in values[:3]) + (
                    ", ..." if len(values) > 3 else ""
                )
                mark = {"marker": marker, "linestyle": "none", "color": look["color"], "markersize": 9, "zorder": 5}
                edges = np.full(len(values), edge)
                axes.plot(np.asarray(x)[outside], edges, label=f"{name} beyond the axis: {listed}", **mark)


def _violated(found: SweepSurvey) -> bool:
    return found.verdict.outcome is Outcome.VIOLATED


def _mark(axes: Axes, x: Any, left: Array, right: Array, error: Array, *, both: bool = False) -> None:
    """Crosses where the left side exceeds the right side, or with ``both`` differs from it, by more than the error."""
    gap = np.abs(left - right) if both else left - right
    violated = gap > error + _HAIR * np.abs(right)
    if np.any(violated):
        look: dict[str, Any] = {
            "linestyle": "none",
            "marker": "x",
            "color": style.WRONG,
            "markersize": 8,
            "markeredgewidth": 2,
        }
        axes.plot(x[violated], left[violated], label=f"violated at {np.sum(violated)} of {len(x)}", zorder=4, **look)


def _band(axes: Axes, x: Any, y: Any, error: Any, colour: str) -> None:
    """A confidence band; its lower end is kept positive for the logarithm."""
    if _has_band(error):
        error = np.where(np.isfinite(error), error, 0.0)
        label = f"{1 - LEVEL:.0%} band"
        axes.fill_between(
            x, np.maximum(y - error, y * 1e-2), y + error, color=colour, alpha=0.25, linewidth=0, label=label
        )


def _ticks(axes: Axes, values: Array | None = None, *, along_x: bool = True, along_y: bool = True) -> None:
    """Plain numbers along logarithmic axes; ``values`` are marked one by one, as far as there is room."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    both = ((axes.xaxis, axes.get_xlim(), along_x), (axes.yaxis, axes.get_ylim(), along_y))
    for axis, limits in [each[:2] for each in both if each[2]]:
        decades = math.log10(limits[1] / limits[0])
        digits = 3
        if decades < _NARROW:
            axis.set_major_locator(MaxNLocator(4))
            digits = max(3, math.ceil(-math.log10(decades)) + 2)
        else:
            axis.set_major_locator(LogLocator(subs=(1.0,) if decades > 2.5 else (1.0, 2.0, 5.0)))
        axis.set_major_formatter(FuncFormatter(lambda value, _, digits=digits: f"${tex(value, digits)}$"))
        axis.set_minor_formatter(NullFormatter())
    if values is not None:
        apart = 0.05 * math.log(values[-1] / values[0])
        kept = [value for k, value in enumerate(values) if k == 0 or math.log(value / values[k - 1]) > apart]
        axes.xaxis.set_major_locator(FixedLocator(kept))


def _legend(axes: Axes, heading: str, widest: float) -> None:
    """Above the panel, where it can hide nothing, and no wider than the panel."""
    figure = axes.figure
    handles, labels = axes.get_legend_handles_labels()
    texts = [fitted(figure, label.split("\n"), 0.84 * widest, _LEGEND)[0] for label in labels]  # type: ignore[arg-type]
    above, _ = fitted(figure, heading.split("\n"), widest, _LEGEND, bold=True)  # type: ignore[arg-type]
    axes.legend(
        handles, texts, loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.2, title=above, alignment="left",
        fontsize=_LEGEND, title_fontproperties={"weight": "bold", "size": _LEGEND}, handlelength=3.5,
    )  # fmt: skip


def _fit_label(axes: Axes, figure: Figure) -> None:
    """Shrink a left side that is longer than its axis."""
    room = 0.62 * figure.bbox.height / max(1, len({ax.get_subplotspec().rowspan.start for ax in figure.axes}))  # type: ignore[union-attr]
    for label in (axes.yaxis.label, axes.xaxis.label):
        limit = room if label is axes.yaxis.label else 0.9 * figure.bbox.width
        box = label.get_window_extent()
        if max(box.width, box.height) > limit:
            label.set_fontsize(float(label.get_fontsize()) * limit / max(box.width, box.height))
