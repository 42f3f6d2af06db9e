"""Numbers with few digits that are as admissible as those that they stand for, so that what is printed can be typed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from bounds.statement import Statement, StepProduct
from ratecheck.errors import InputError
from ratecheck.stepsizes.interval import Interval

# So many digits where they will do, so many at most where several numbers are rounded together (one more digit is no
# shorter, and comes close to what counts as equal), and so many tell every float from the next.
FEWEST, _MOST, _ALL = 6, 10, 17
# Texts whose number differs by less than this from a float stand for it.
_SAME = 1e-15


def shortest(value: float) -> str:
    """The value with six digits if that is the value, else with all that it takes."""
    text = f"{value:.{FEWEST}g}"
    return text if math.isclose(float(text), value, rel_tol=_SAME) or not math.isfinite(value) else repr(value)


def end_text(interval: Interval, side: int) -> str:
    """The low (0) or high (1) end: admissible as printed where it is closed, inadmissible where it is open."""
    end, is_open = (interval.low, interval.high)[side], interval.open[side]
    if end == 0.0 or math.isinf(end):
        return f"{end:g}"
    # To the right goes a low end that is closed, and a high end that is open.
    upwards = (side == 0) != is_open
    for digits in range(FEWEST, _ALL):
        for text in _roundings(end, digits):
            x = float(text)
            same = math.isclose(x, end, rel_tol=_SAME)
            beyond_other_end = not is_open and not same and not interval.low <= x <= interval.high
            if same or (not beyond_other_end and (x > end) == upwards):
                return text
    return repr(end)


def value_text(value: float, interval: Interval) -> str:
    """An admissible value with six digits, rounded such that it stays one; in full where no such number is left."""
    for text in _roundings(value, FEWEST):
        if interval.low <= float(text) <= interval.high and not interval.single:
            return text
    return shortest(value)


def _roundings(value: float, digits: int) -> list[str]:
    """The number next to a positive value with so many digits, then its neighbours on both sides."""
    nearest = f"{value:.{digits}g}"
    unit = 10.0 ** (math.floor(math.log10(value)) - digits + 1)
    texts = [f"{float(nearest) + k * unit:.{digits}g}" for k in (-1, 1)]
    return [nearest, *sorted(texts, key=lambda text: abs(float(text) - value))]


def _candidates(value: float) -> Iterator[float]:
    for digits in range(FEWEST, _MOST + 1):
        yield from map(float, _roundings(value, digits))


def rounded(
    values: Mapping[str, float],
    products: Sequence[tuple[str, str, str]],
    kept: Iterable[str],
    accepts: Callable[[Mapping[str, float]], bool],
) -> dict[str, float]:
    """The values with few digits each, one after the other, as long as all of them together are accepted.

    Those of ``kept`` stay. Of each product (whole, factor, factor) one follows from the other two, the first factor
    where it may.
    """
    found, done = dict(values), set(kept)
    inside = [product for product in products if {*product} <= found.keys()]
    # Second factors first and first ones last: they are what follows from the others.
    rank = {name: k for product in inside for k, name in zip((1, 2, 0), product, strict=True)}
    for name in sorted(values, key=lambda name: rank.get(name, 0)):
        if name in done:
            continue
        done.add(name)
        for candidate in _candidates(found[name]):
            trial = _multiplied({**found, name: candidate}, inside, done)
            if accepts(trial):
                found = trial
                break
        for product in inside:
            if len({*product} - done) == 1:
                done |= {*product}
    return found


def _multiplied(
    values: dict[str, float], products: Sequence[tuple[str, str, str]], done: Iterable[str]
) -> dict[str, float]:
    """The values with one number of each product, if it is not decided, from the other two."""
    decided = {*done}
    for whole, one, other in products:
        # Of those that are left one follows from all others as they are, the first factor if it may.
        name = next((name for name in (one, whole, other) if name not in decided), None)
        if name is None:
            continue
        if name == whole:
            values[whole] = values[one] * values[other]
        else:
            values[name] = values[whole] / values[other if name == one else one]
        decided |= {whole, one, other}
    return values


def triples(products: Iterable[StepProduct]) -> list[tuple[str, str, str]]:
    """The names in products of step sizes: the whole, then its factors."""
    return [(p.product.name, p.local.name, p.outer.name) for p in products]


def steps_text(statement: Statement, constants: Mapping[str, float], steps: Mapping[str, float]) -> dict[str, str]:
    """Step sizes with few digits, such that all of them typed together meet every condition if the exact ones do."""

    def accepts(point: Mapping[str, float]) -> bool:
        try:
            values, _ = statement.complete({**constants, **point})
        except InputError:
            return False
        return all(check.holds is not False for check in statement.check_conditions(values))

    if not accepts(steps):
        return {name: f"{value:.{FEWEST}g}" for name, value in steps.items()}
    kept = [name for name in steps if name in constants]
    found = rounded(steps, triples(statement.step_products), kept, accepts)
    return {name: shortest(value) for name, value in found.items()}
