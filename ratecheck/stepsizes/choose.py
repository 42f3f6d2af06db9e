"""Step sizes for a run: those that the caller or the statement sets, and admissible ones for the rest."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from bounds.statement import Assumption, Statement, names_in, number
from bounds.symbols import Quantity, Role
from ratecheck.stepsizes.admissible import StepSizes, region, with_optimum
from ratecheck.stepsizes.interval import Interval

# Where no condition limits a local step size: this over L*K is a step that descends.
_SAFE = 1 / 8
# A lower end that is this much below the scale of the problem says nothing about a sensible value.
_FAR = 1e-6
# A bound that is larger by this factor just inside an open end, a billionth off it, grows like a root at least.
_POLE = 1e4
GIVEN, LARGEST, NEAR, BEST, FREE, TWICE, INSIDE, PINNED, UNMET = (
    "given",
    "largest admissible",
    "just below the open end of the admissible values",
    "minimises the bound",
    "unrestricted",
    "twice the smallest admissible",
    "inside the admissible values",
    "smallest admissible with the others",
    "no admissible value was found",
)
# Where a step size comes from that no rule of the statement computes from the others.
INDEPENDENT = (GIVEN, LARGEST, NEAR, BEST, TWICE, INSIDE, FREE, PINNED, UNMET)


def chosen_values(statement: Statement, values: Mapping[str, float]) -> tuple[dict[str, float], dict[str, str]]:
    """All numbers of the statement, and where each of its step sizes comes from, in words.

    In this order: given, fixed or prescribed by the statement, the largest admissible value of a product of step sizes,
    the smallest admissible outer ones, the minimiser of the bound.
    """
    values = dict(values)
    vocabulary = statement.vocabulary
    names = [name for name in statement.parameters if vocabulary[name].role is Role.STEP_SIZE]
    chosen = {name: GIVEN for name in names if name in values}
    chosen |= {name: "fixed by the statement" for name in names if name in statement.settings}
    completed, _ = statement.complete(values)
    for product in dict.fromkeys(p.product.name for p in statement.step_products):
        if product not in completed:
            # Another product may have decided the local step size of this one.
            values |= {
                p.local.name: completed[p.local.name] for p in statement.step_products if p.local.name in completed
            }
            _choose_product(statement, product, values, chosen)
            completed, _ = statement.complete(values)
    for rule in statement.step_rules:
        if rule.symbol.name in completed:
            name = rule.symbol.name
            chosen.setdefault(
                name, "default" if rule.free else "smallest admissible" if rule.at_least else "prescribed"
            )
    for name in names:
        if name not in completed:
            _choose(statement, name, completed, chosen)
    completed, _ = statement.complete(completed)
    for each in statement.step_products:
        chosen.setdefault(each.local.name, f"{each.product}/{each.outer}")
    # A step size that was to be admissible and stands in a condition that these values break.
    claimed = {name for name, why in chosen.items() if "admissible" in why}
    broken = [c.condition for c in (statement.check_conditions(completed) if claimed else ()) if c.holds is False]
    chosen |= dict.fromkeys((name for each in broken for name in each.symbols & claimed), UNMET)
    return completed, {name: chosen.get(name, "from the others") for name in names if name in completed}


def silent(statement: Statement, names: Iterable[str]) -> list[str]:
    """The step sizes among ``names``, those of a method, about which the statement says nothing: it is about all."""
    if Assumption.DRAWN_STEP_SIZES in statement.assumptions:
        return []
    vocabulary = statement.vocabulary
    known = {*statement.parameters}.union(*(product.names for product in statement.step_products))
    return [
        name
        for name in names
        if name not in known and name in vocabulary and name not in vocabulary.aliases
        and vocabulary[name].role is Role.STEP_SIZE
    ]  # fmt: skip


def any_value(quantity: Quantity, L: float, local_steps: float) -> float:
    """A value for a step size about which nothing is said, such that a run with it descends.

    That is (1/(8 L K))^p for a step size that scales like the p-th power of 1/L.
    """
    # An objective without curvature has no unit of its own.
    return float((_SAFE / ((L or 1.0) * local_steps)) ** -quantity.f_degree)


def _choose_product(statement: Statement, product: str, values: dict[str, float], chosen: dict[str, str]) -> None:
    """A value for a product of step sizes that nothing sets."""
    found = region(statement, values)
    interval = found.admissible[product]
    if found.feasible and math.isfinite(interval.high):
        values[product], chosen[product] = interval.box[1], NEAR if interval.strict[1] else LARGEST
        return
    parts = [each for each in statement.step_products if each.product.name == product]
    for each in parts:
        values.setdefault(each.outer.name, 1.0)
        chosen.setdefault(each.outer.name, FREE)
    if any(each.local.name in values for each in parts):
        return
    found = region(statement, values)
    ceiling = min((found.admissible[each.local.name].high for each in parts), default=math.inf)
    safe = _SAFE / (values.get("L", 1.0) * values.get(statement.vocabulary.run.get("local_steps", ""), 1.0))
    values[product] = ceiling / 2 if math.isfinite(ceiling) else safe
    chosen[product] = "as large as the local conditions admit"


def _choose(statement: Statement, name: str, values: dict[str, float], chosen: dict[str, str]) -> None:
    """A value for a step size that no rule sets and that is tied to no other."""
    interval, best = Interval(), None
    runs_off = False
    quantity = statement.vocabulary[name]
    # Without conditions a step that descends is taken, where it is known what that is.
    if statement.hypotheses or _scale(statement, quantity, values) is None:
        found = region(statement, values)
        interval = found.admissible[name]
        # The largest that is admissible is taken whatever minimises the bound, which takes long to find.
        if interval.strict[1] or not math.isfinite(interval.high):
            found = with_optimum(found)
            best = found.optimal.get(name)
            runs_off = interval.strict[1] and best is not None and _runs_off(found, name)
    if math.isfinite(interval.high) and not runs_off:
        # A local step size at its largest leaves an outer one only the end from which its condition bounds it.
        outer = (quantity.f_degree, quantity.x_degree) == (0, 0)
        pinned = outer and interval.low > 0 and math.isclose(interval.low, interval.high, rel_tol=1e-9)
        values[name], chosen[name] = interval.box[1], PINNED if pinned else NEAR if interval.strict[1] else LARGEST
    elif best is not None:
        values[name], chosen[name] = best, BEST
    elif (quantity.f_degree, quantity.x_degree) == (0, 0):
        # An outer step size: 1, unless that is too small.
        free = interval.low < 1.0
        values[name] = 1.0 if free else interval.box[0]
        chosen[name] = FREE if free else "smallest admissible"
    else:
        # A factor of a product may follow from what is chosen after it.
        tied = any(name in product.names for product in statement.step_products)
        scale = None if tied else _scale(statement, quantity, values)
        if scale is not None and 2 * interval.low < _FAR * scale:
            values[name], chosen[name] = interval.nearest(scale), INSIDE if interval.low > 0 else FREE
        elif interval.low > 0:
            values[name], chosen[name] = 2 * interval.low, TWICE


def _runs_off(found: StepSizes, name: str) -> bool:
    """Whether the bound is infinite at the open upper end of a step size, so that next to it the bound says nothing."""
    values = {**found.values, **found.optimal, name: found.admissible[name].box[1]}
    bound = found.statement.claims[0].bound
    if not names_in(bound) <= values.keys() or not found.optimal_bound:
        return False
    return not abs(number(bound, values)) <= _POLE * abs(found.optimal_bound)


def _scale(statement: Statement, quantity: Quantity, values: Mapping[str, float]) -> float | None:
    """The value that `any_value` takes where the smoothness is known; None where it is not."""
    smooth = next((name for name, fact in statement.vocabulary.facts.items() if fact == "L" and name in values), None)
    if smooth is None:
        return None
    return any_value(quantity, values[smooth], values.get(statement.vocabulary.run.get("local_steps", ""), 1.0))
