"""Step sizes against an oracle that shares nothing with the tool: every statement, constants from 1e-8 to 1e8.

All 2,000 settings: ``pytest -m long tests/stepsizes/test_stepsizes_brute.py``. What is wrong at the settings from FIRST
to LAST, and of which kind they are: ``python tests/stepsizes/test_stepsizes_brute.py FIRST LAST``.
"""

import collections
import json
import math
import sys
import warnings

import numpy as np
import pytest
from stepsize_oracle import FAR, UndecidedError, oracle, random_constants, step_names, value, with_step_sizes

import bounds
from ratecheck.errors import InputError
from ratecheck.stepsizes.admissible import step_sizes
from ratecheck.stepsizes.feasible_set import FeasibleSet
from ratecheck.stepsizes.minimise import inner_point
from ratecheck.stepsizes.nearest import nearest
from ratecheck.views.theory.stepsizes import step_sizes_fields, step_sizes_text

KEYS = with_step_sizes(bounds.keys(), bounds.get)
# Relative errors of ends, of the distance to the nearest point and of an optimum.
END, LEAST = 1e-6, 1e-4


def setting(number):
    """The statement, its constants and the given step sizes of a setting."""
    statement, rng = bounds.get(KEYS[number % len(KEYS)]), np.random.default_rng([7, number])
    decades = (0.5, 2.0, 4.0, 8.0)[number // len(KEYS) % 4]
    constants, given = random_constants(statement, rng, decades), {}
    names = step_names(statement)
    for name in rng.permutation(names)[: rng.choice([0, 0, 1, 2, 3])]:
        given[str(name)] = float(f"{10 ** rng.uniform(-decades, decades):.3g}")
    return statement, constants, given


def printed(answer):
    """The interval of each step size as the text has it: ends, open or closed, or the single value."""
    rows = [line for line in step_sizes_text(answer).splitlines() if line.split()[0] in answer.admissible]
    found = {}
    for row in rows:
        name, *rest = row.split()
        if rest[1] == "only":
            found[name] = [(float(rest[0]), True)] * 2
        else:
            low, high = rest[0].rstrip(","), rest[1]
            found[name] = [(float(low[1:]), low[0] == "["), (float(high[:-1]), high[-1] == "]")]
    return found


def printed_optimum(answer):
    """The optimum as the text has it."""
    lines = step_sizes_text(answer).splitlines()
    head = next((line for line in lines if line.startswith("step size")), "")
    column = head.find("minimises the bound")
    rows = {line.split()[0]: line for line in lines}
    return {name: float(rows[name][column:].split()[0]) for name in answer.optimal}


def accepted(statement, given):
    """Whether `stepsize` takes the numbers, and `bound` all step sizes that it completes them by."""
    try:
        problem = FeasibleSet.of(statement, given)
    except InputError:
        return False
    if not problem.admits({}):
        return False
    point = inner_point(problem, problem.admissible())
    return point is not None and holds(statement, {**point, **given})


def holds(statement, given):
    """Whether `bound` finds every condition met."""
    try:
        values, _ = statement.complete(given)
    except InputError:
        return False
    return all(check.holds is not False for check in statement.check_conditions(values))


def wrong(number):
    """What is wrong at a setting, and of which kind it is."""
    statement, constants, given = setting(number)
    both, faults = {**constants, **given}, []
    known = oracle(statement, constants, given)
    try:
        answer = step_sizes(statement, both)
        expected = known.feasible()
        if answer.feasible != expected:
            # By less than rounding neither is wrong.
            return "feasibility", [f"feasible {answer.feasible}, oracle {expected}"]
        if not expected:
            return "nearest", nearest_faults(statement, constants, given, answer)
        faults += interval_faults(statement, both, answer, known)
        faults += optimum_faults(statement, both, answer, known)
    except InputError as error:
        text = str(error)
        if "units" in text or "no value" in text:
            return "refused", []
        faults.append(text)
    except UndecidedError:
        return "undecided by the oracle", []
    return "feasible", faults


def interval_faults(statement, both, answer, known):
    """Ends, whether they are open, and what becomes of them when they are typed."""
    shown = printed(answer)
    for name, interval in answer.admissible.items():
        true = known.ends(name)
        for side, end in enumerate((interval.low, interval.high)):
            what = f"{name} {('low', 'high')[side]}"
            if abs(true[side]) > FAR:
                if end not in (0.0, math.inf) and abs(math.log(end)) < FAR:
                    yield f"{what}: {end:g}, oracle has none"
            elif not 0.0 < end < math.inf or abs(math.log(end) - true[side]) > END:
                yield f"{what}: {end:g}, oracle {math.exp(true[side]):g}"
            else:
                text, closed = shown[name][side]
                if closed == interval.open[side]:
                    yield f"{what}: the bracket"
                width = true[1] - true[0]
                inwards = (1 - 2 * side) * min(0.7, width / 3)
                if not interval.single and width > 1e-6 and known.attained(name, true[side], inwards) != closed:
                    yield f"{what}: closed {closed}, oracle {not closed}"
                for how, typed in (("printed", text), ("json", json.loads(json.dumps(end)))):
                    if name not in both and typing_fault(statement, both, {name: typed}, closed=closed):
                        yield f"{what}: {how} {typed!r} {'refused' if closed else 'taken, but open'}"


def typing_fault(statement, both, typed, *, closed):
    """Whether an end that is closed is refused, or an open one taken."""
    if closed:
        return not accepted(statement, {**both, **typed})
    return FeasibleSet.of(statement, {**both, **typed}).admits({})


def nearest_faults(statement, constants, given, answer):
    """Whether a point is proposed where there is one, may be typed, and whether none is nearer."""
    found = nearest(answer.problem, {**constants, **given}, answer.core)
    free = oracle(statement, constants, {})
    if not given or not free.feasible():
        return [f"{found.steps} is proposed, nothing would do"] if found.steps else []
    if not found.steps:
        return ["no nearest point, though there is one"]
    faults = []
    if found.steps.keys() != given.keys() or not accepted(statement, {**constants, **found.steps}):
        faults.append(f"nearest {found.steps} refused")
    away = {name: math.log(found.steps[name] / x) for name, x in given.items()}
    size = sum(x * x for x in away.values())
    if len(free.names) == 1:
        low, high = free.ends("")
        x = math.log(given[free.names[0]])
        best = (min(max(x, low), high) - x) ** 2
    else:
        slope = np.array([2 * away.get(name, 0.0) for name in free.names])
        at = np.array([math.log(found.steps.get(name, 1.0)) for name in free.names])
        # A square falls no more than it does along its tangent less what it curves; rounding tilts the tangent.
        best = size - (free.improvement(at, slope) / 0.2) ** 2 / 4
    if not size <= best + LEAST * max(size, 1e-3):
        faults.append(f"nearest {found.steps} is {size:.6g} away, oracle {best:.6g}")
    return faults


def optimum_faults(statement, both, answer, known):
    """Whether the optimum may be typed, and whether nothing is better."""
    bound = statement.claims[0].bound
    if answer.entangled:
        return ["entangled"]
    if not answer.optimal:
        return []
    data = json.loads(json.dumps(step_sizes_fields(answer, None)["optimal"]))
    faults = [
        f"optimum {how} {optimal} refused"
        for how, optimal in (("printed", printed_optimum(answer)), ("json", data))
        if not holds(statement, {**both, **optimal})
    ]
    best = answer.optimal_bound
    least = sampled(bound, known) if len(known.names) == 1 else least_nearby(bound, known, answer)
    if least is not None and not least >= best - LEAST * abs(best):
        faults.append(f"optimum {best:.8g}, oracle {least:.8g}")
    return faults


def right_side(bound, known, logs):
    """The bound at logarithms of step sizes, along the last axis."""
    steps = {name: np.exp(np.longdouble(1) * logs[..., k]) for k, name in enumerate(known.names)}
    return np.broadcast_to(value(bound, {**known.values, **steps}), logs.shape[:-1])


def sampled(bound, known):
    """The least of many values, close to the ends as well."""
    low, high = known.ends("")
    near = np.exp(np.linspace(-20, -0.01, 2000)) * (high - low)
    places = np.concatenate([np.linspace(low, high, 20_001)[1:-1], low + near, high - near])
    return float(np.min(right_side(bound, known, places[:, None])))


def least_nearby(bound, known, answer):
    """What the bound could fall to near the optimum at most, it being convex in the logarithms."""
    point = {name: interval.centre for name, interval in answer.admissible.items()} | answer.optimal
    for name, limit in answer.approached.items():
        point[name] = 1e-40 if limit == 0.0 else 1e40 if math.isinf(limit) else limit
    at = np.array([math.log(point[name]) for name in known.names])
    shifts = 1e-5 * np.eye(len(at))
    here = right_side(bound, known, at)
    if not here > 0:
        return None
    above, below = (np.log(right_side(bound, known, at + sign * shifts)) for sign in (1, -1))
    slope = ((above - below) / 2e-5).astype(float)
    slope[np.abs(slope) < 1e-7] = 0.0
    fall = known.improvement(at, slope)
    return float(here) * math.exp(-fall)


@pytest.mark.every(4)
@pytest.mark.parametrize("number", range(len(KEYS)))
def test_every_statement(number):
    """One setting of each statement."""
    assert wrong(number)[1] == []


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, 2000, 100))
def test_two_thousand_settings(first):
    """Intervals, open and closed ends, ends and optima typed back, nearest points and optima are all right."""
    assert {number: faults for number in range(first, first + 100) if (faults := wrong(number)[1])} == {}


def main():
    """Print what is wrong, and counts."""
    warnings.simplefilter("error")
    kinds, bad = collections.Counter(), collections.Counter()
    for number in range(int(sys.argv[1]), int(sys.argv[2])):
        try:
            kind, faults = wrong(number)
        except Exception as error:  # noqa: BLE001  # a crash is a fault as well
            kind, faults = "crash", [f"{type(error).__name__}: {error}"]
        kinds[kind] += 1
        bad[kind] += bool(faults)
        for fault in faults:
            sys.stdout.write(f"{number} {KEYS[number % len(KEYS)]} {fault}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{dict(kinds)} wrong {dict(bad)}\n")


if __name__ == "__main__":
    main()
