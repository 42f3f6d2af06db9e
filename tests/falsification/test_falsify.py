"""The search for violating instances: wrong statements are caught, sound ones are not accused, files read back."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
import math

import numpy as np
import pytest

import bounds
from bounds.assumption import Assumption
from bounds.papers.textbook.pairs import PAIRS
from bounds.papers.textbook.statements import STATEMENTS
from bounds.parsing import expression
from bounds.theorem import theorem
from ratecheck.commands.exit_codes import OF_SEARCH
from ratecheck.errors import InputError
from ratecheck.falsification import cube_search as module
from ratecheck.falsification.cube_search import Budget
from ratecheck.falsification.falsified import SEARCHED
from ratecheck.falsification.falsify import falsify
from ratecheck.families.any_curvature import ANY_CURVATURE
from ratecheck.families.cube import Cube
from ratecheck.families.family import InstanceShape
from ratecheck.families.quadratics import QUADRATICS
from ratecheck.families.registry import shapes
from ratecheck.families.who import TRACES, trace_matrix
from ratecheck.outcome import Outcome
from ratecheck.participation import Trace
from ratecheck.problems import Logistic, Quadratic
from ratecheck.verification import instance as instances
from ratecheck.verification.instance import Instance
from ratecheck.verification.verify import Options
from ratecheck.views.checks.falsify import falsified_fields, falsified_table, falsified_text

SMALL = Budget(120)


def scaled(key, factor):
    """The statement with its right side multiplied by a factor."""
    statement = bounds.get(key)
    claim = statement.claims[0]
    terms = {label: expr * factor for label, expr in claim.terms.items()}
    return dataclasses.replace(statement, claims=(dataclasses.replace(claim, terms=terms),))


@pytest.mark.every(3)
@pytest.mark.parametrize("key", ["pfl/theorem-3.7", "pfl/corollary-4.6", "fedsum/theorem-d.1"])
def test_a_bound_five_times_too_strong_is_caught(key):
    """Right sides divided by five fail on an instance that the search finds; undivided they do not."""
    found = falsify(scaled(key, 0.2), SMALL)
    assert found.outcome is Outcome.VIOLATED
    again = found.instance.verdict()
    assert again.outcome is Outcome.VIOLATED
    assert not any(check.holds is False for check in again.conditions)
    sound = falsify(bounds.get(key), Budget(40))
    assert sound.outcome is Outcome.INCONCLUSIVE
    assert 0.1 < sound.tightness < 1


def test_an_accusation_is_asked_again(monkeypatch):
    """What float64 alone calls violated, and the proof does not, is no counterexample and ranks nothing."""
    asked, verdict = [], Instance.verdict

    def wrong(instance, options=None, **more):
        if options is None:
            # A family looks for its hard points.
            return verdict(instance, **more)
        asked.append(options.rigorous)
        found = verdict(instance, options, **more)
        if options.rigorous:
            return found
        worst = dataclasses.replace(found.comparisons[0], left=9.0, right=1.0, error=0.0)
        return dataclasses.replace(found, outcome=Outcome.VIOLATED, comparisons=(worst,))

    monkeypatch.setattr(Instance, "verdict", wrong)
    found = falsify(bounds.get("pfl/theorem-3.7"), Budget(6, by_term=False, later=0))
    assert (found.outcome, found.tightness) == (Outcome.NOT_APPLICABLE, None)
    assert found.reasons == ("float64 alone calls it violated, and the interval engine does not",)
    assert asked == [False, True] * (len(asked) // 2)
    assert len(asked) >= 12


# Runs of tens of thousands of rounds, and of every participation.
_LONG = [
    pytest.param(key, marks=pytest.mark.long) for key in ("flame/theorem-2-unbiased", "fedsum/corollary-g.1-case-2")
]


@pytest.mark.parametrize("key", [*_LONG, "flame/lemma-1", "pfl/lemma-a.2"])
def test_statements_that_are_false_as_printed(key, tmp_path):
    """Printed errors of three papers are found without being told where, and their files say so again."""
    found = falsify(bounds.get(key), SMALL)
    assert found.outcome is Outcome.VIOLATED
    assert key.startswith("pfl") or math.isinf(found.tightness)
    path = tmp_path / "worst.json"
    found.instance.save(path)
    loaded = instances.load(path)
    assert loaded.fields() == found.instance.fields()
    verdict = loaded.verdict(Options())
    assert verdict.outcome is Outcome.VIOLATED
    assert verdict.worst.left == found.instance.verdict(Options()).worst.left


def test_the_search_is_a_function_of_its_seed():
    """Same seed, same instance; the budget is kept."""
    statement = bounds.get("fedsum/theorem-4.1")
    budget = Budget(60, by_term=False)
    first, again = (falsify(statement, budget, seed=3) for _ in range(2))
    assert first.instance.fields() == again.instance.fields()
    assert first.evaluations == again.evaluations == 60
    assert falsify(statement, budget, seed=4).instance.fields() != first.instance.fields()


@pytest.mark.usefixtures("no_scouts")
def test_an_instance_that_is_known_costs_nothing(monkeypatch):
    """Points beyond an edge are one instance: it is verified once, and the budget goes to those that are new."""
    verified, verdict = [], module.CubeSearch._verdict

    def counted(search, instance):
        verified.append(json.dumps(instance.fields(), sort_keys=True))
        return verdict(search, instance)

    monkeypatch.setattr(module.CubeSearch, "_verdict", counted)
    decoded, decode = [], Cube.decode
    monkeypatch.setattr(Cube, "decode", lambda *given: decoded.append(0) or decode(*given))
    statement = next(each for each in STATEMENTS if each.key == "textbook/gradient-descent")
    found = falsify(statement, Budget(120, by_term=False, functions=False), fixed={"n": 1.0})
    assert found.evaluations == 120
    assert len(decoded) > 120
    assert len(verified) == 120
    by_shape = 1 + sum(shape.n == 1 for shape in shapes(statement))
    assert max(map(verified.count, verified)) < by_shape


@pytest.mark.usefixtures("no_scouts")
def test_a_search_that_knows_all_instances_ends(monkeypatch):
    """With one instance for each shape it stops early, and does not put that down to a clock."""
    decode = Cube.decode
    monkeypatch.setattr(Cube, "decode", lambda family, *_: decode(family, np.ones(family.size)))
    statement = next(each for each in STATEMENTS if each.key == "textbook/gradient-descent")
    found = falsify(statement, Budget(60, by_term=False, functions=False), fixed={"n": 1.0})
    assert 0 < found.evaluations <= sum(shape.n == 1 for shape in shapes(statement))
    assert (found.stopped, found.clocked) == ("", False)


def test_more_budget_is_not_worse():
    """The best of a longer search is at least as tight as its own beginning."""
    seen = []
    budget = Budget(80, by_term=False)
    found = falsify(bounds.get("fedsum/theorem-4.1"), budget, report=lambda share, text: seen.append((share, text)))
    assert found.evaluations == 80
    shares = [share for share, _ in seen]
    assert shares == sorted(shares)
    tight = [float(text.rpartition("tightness ")[2]) for _, text in seen if "tightness" in text]
    assert max(tight) == pytest.approx(found.tightness, rel=1e-3)
    assert found.applicable <= 80 < found.scouted


def test_an_interrupt_keeps_the_best():
    """Ctrl-C in the middle: the best so far is returned and the search says that it was interrupted."""

    def report(share, _):
        if share > 0.4:
            raise KeyboardInterrupt

    found = falsify(bounds.get("pfl/theorem-3.7"), Budget(80), report=report)
    assert found.stopped == "interrupted"
    assert found.instance is not None
    assert found.tightness > 0
    assert found.evaluations < 80


def test_only_a_clock_that_the_user_sets_ends_a_search():
    """A machine ten thousand times slower finds the same; with a clock the answer says how far it came."""
    statement, ticks = bounds.get("pfl/theorem-3.7"), itertools.count(step=60)
    budget = Budget(20, by_term=False)
    first = falsify(statement, budget)
    budget = dataclasses.replace(budget, clock=lambda: next(ticks))
    slow = falsify(statement, budget)
    assert (slow.evaluations, slow.stopped, slow.clocked) == (20, "", False)
    assert slow.instance.fields() == first.instance.fields()
    late = falsify(statement, dataclasses.replace(budget, seconds=200.0))
    assert late.clocked
    assert 0 < late.evaluations < 20
    wanted = f"stopped by the clock of 200 s after {late.evaluations} of 20 evaluations"
    assert wanted in late.stopped
    assert "depends on this machine's speed" in late.stopped
    assert wanted in falsified_text(late).splitlines()[1]
    assert wanted in falsified_table([first, late])
    assert "clock" not in falsified_text(slow).lower()
    assert falsified_fields(late)["clocked"]


@pytest.mark.parametrize(
    "key",
    [
        "pfl/theorem-3.7",
        "fedsum/theorem-4.1",
        pytest.param("fedsum/corollary-g.1-case-3", marks=pytest.mark.long),
        _LONG[0],
    ],
)
def test_decoded_instances_meet_what_the_statement_assumes(key):
    """Random points of the cube give instances whose step sizes break no condition, as far as any are admissible."""
    statement = bounds.get(key)
    rng = np.random.default_rng(5)
    compared = 0
    for shape in shapes(statement)[::3]:
        family = Cube(statement, shape)
        try:
            verdict = family.decode(rng.random(family.size)).verdict(Options(engine="auto", traces=1, vacuity=False))
        except InputError:
            continue
        if verdict.comparisons:
            compared += 1
            assert not any(check.holds is False for check in verdict.conditions)
    assert compared >= 2


@pytest.mark.parametrize("kind", TRACES)
def test_traces(kind):
    """Every trace has one row per round, somebody in round 0, and only the rounds asked for."""
    for n, T in ((2, 1), (2, 7), (3, 5)):
        matrix = trace_matrix(kind, n, 1, T)
        assert matrix.shape == (T, n)
        assert matrix[0].any()


@pytest.mark.parametrize(
    ("power", "outcome", "evaluations"),
    [
        (1, Outcome.VIOLATED, 400),
        (2, Outcome.INCONCLUSIVE, 100),
        pytest.param(2, Outcome.INCONCLUSIVE, 400, marks=pytest.mark.long),
    ],
)
def test_clients_that_leave_for_good_are_searched(power, outcome, evaluations):
    """Steps along one old gradient: what they add up to grows as the square of the delay (FedSUM, Lemma C.4)."""
    statement = theorem(
        title="Staleness", algorithm="fedsum-b", left="stale_sum", over="whole_run", vocabulary="fedsum",
        right={
            "noise": "4*N*K*T*tau_max*tau_avg*L**2*sigma**2*eta**2",
            "gradients": f"4*K**2*tau_max**{power}*L**2*eta**2*aggregate_sum",
            "first": "2*N**2*tau_max*F_0",
        },
        assumptions=["smoothness", "total_noise", "oblivious_participation"],
        step_products="eta == eta_l*eta_g", key="own/staleness",
    )  # fmt: skip
    assert falsify(statement, Budget(evaluations, by_term=False, functions=False)).outcome is outcome


def test_shapes_of_a_statement():
    """Blocks, participants and traces follow from the method and from who takes part."""
    assert {s.d_v for s in shapes(bounds.get("fedsum/theorem-4.1"))} == {0}
    assert {s.trace for s in shapes(bounds.get("fedsum/theorem-4.1"))} == {"", *TRACES}
    assert {s.trace for s in shapes(bounds.get("pfl/theorem-3.7"))} == {""}
    assert all(s.size == s.n for s in shapes(bounds.get("pfl/theorem-3.11")))
    assert {s.n for s in shapes(bounds.get("pfl/theorem-3.7")) if s.family is ANY_CURVATURE} == {1, 2, 3}
    assert {s.size for s in shapes(bounds.get("pfl/theorem-3.7")) if s.groups} == {1, 5, 9, 10}


def test_convex_functions_where_a_statement_is_about_them():
    """It assumes so, its title says so, or it asks for a minimum."""
    textbook = {each.key.removeprefix("textbook/"): each for each in STATEMENTS}
    assert any(s.family is ANY_CURVATURE for s in shapes(textbook["gradient-descent"]))
    convex = textbook["gradients-fall"]
    assert not any(s.family is ANY_CURVATURE for s in shapes(convex))
    alone = dataclasses.replace(
        convex, assumptions=tuple(a for a in convex.assumptions if a is not Assumption.CONVEXITY)
    )
    assert not any(s.family is ANY_CURVATURE for s in shapes(alone))
    assert any(
        s.family is ANY_CURVATURE for s in shapes(dataclasses.replace(alone, title="Gradients fall, non-convex"))
    )
    assert not any(s.family is ANY_CURVATURE for s in shapes(textbook["quadratic-gap"]))


def test_numbers_that_a_statement_fixes_are_not_varied():
    """No evaluation is spent on noise where there is none."""
    (pair,) = (pair for pair in PAIRS if pair.wrong.key == "textbook/local-gd-apart-drift")
    for shape in shapes(pair.true):
        assert not any(name.startswith("noise") for name in Cube(pair.true, shape).coordinates)


def test_what_cannot_be_searched():
    """Orders have no value; what no run measures is not applicable, with the reason."""
    with pytest.raises(InputError, match="only up to a constant"):
        falsify(bounds.get("pfl/scaffold"))
    found = falsify(bounds.get("flame/proposition-2"))
    assert found.outcome is Outcome.NOT_APPLICABLE
    assert found.reasons[0].startswith("no run measures")


def test_both_sides_zero_is_no_violation_and_said():
    """One local step does not drift: 0 <= 0 wherever it is asked, as `verify` says too; the conditions are met."""
    still = theorem(
        "One local step does not drift",
        algorithm="fedavg",
        assumptions=["smoothness", "full_participation", "no_personal"],
        left="E",
        over="mean_of_rounds",
        right="0",
        conditions=["gamma_u <= 1/L"],
        settings={"K": 1, "m": "n", "eta_u": 1, "sigma_u": 0},
    )
    found = falsify(still, Budget(20))
    assert (found.applicable, found.zero, found.tightness) == (20, 20, None)
    assert OF_SEARCH[found.outcome] == 0
    assert "of which 20 meet every condition; left and right are 0 on all of them" in falsified_text(found)
    assert "left and right are 0" in falsified_table([found])
    assert falsified_fields(found)["zero"] == 20
    # What is 0 in the run and not in the bound is an ordinary answer, and so is what is never 0.
    room = theorem_with(still, "gamma_u*L*F_0")
    assert falsify(room, Budget(20, by_term=False)).zero == 0


def theorem_with(statement, right):
    """The statement with another right side."""
    claim = statement.claims[0]
    terms = {"bound": expression(right, statement.vocabulary)}
    return dataclasses.replace(statement, claims=(dataclasses.replace(claim, terms=terms),))


def test_files_that_are_no_instances(tmp_path):
    """One line each: missing, no JSON, no instance, unknown statement, unknown problem."""
    path = tmp_path / "x.json"
    with pytest.raises(InputError, match="no file"):
        instances.load(path)
    good = Instance(bounds.get("pfl/theorem-3.7"), Quadratic.synthetic(2, 2, 1), Trace([[1, 0]]), {"m": 1.0}).fields()
    cases = {
        "{": "cannot be read as JSON",
        f'{{"a": {"9" * 5000}}}': "as JSON: it has a whole number of thousands of digits",
        "[]": "no instance",
        json.dumps({**good, "statement": "pfl/theorem-9.9"}): "no statement",
        json.dumps({**good, "problem": {"kind": "cubic"}}): "cubic",
        json.dumps({**good, "participation": {"kind": "moon"}}): "moon",
        json.dumps({k: v for k, v in good.items() if k != "given"}): "given",
    }
    for text, message in cases.items():
        path.write_text(text)
        with pytest.raises(InputError, match=message):
            instances.load(path)
    logistic = Instance(bounds.get("pfl/theorem-3.7"), Logistic.synthetic(n=2, N=3, d=2), None, {})
    with pytest.raises(InputError, match="logistic"):
        logistic.save(path)


def places(data, path=()):
    """All paths into JSON data."""
    yield path
    children = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, child in children:
        yield from places(child, (*path, key))


def damaged(data, path, value):
    """The data with another value at a path."""
    if not path:
        return value
    copy = dict(data) if isinstance(data, dict) else list(data)
    copy[path[0]] = damaged(copy[path[0]], path[1:], value)
    return copy


DAMAGE = (None, 5, -1, 0, 1e308, 1e-320, math.nan, "x", [], [1.0], {}, {"zz": [1.0]}, [["a"]])


@pytest.mark.parametrize(
    "key", ["fedsum/theorem-4.1-repaired", "flame/theorem-2-unbiased-repaired", "simfbo/theorem-1"]
)
def test_every_damage_to_a_file_is_one_line_or_a_verdict(key):
    """Each value of a file in turn is replaced by what may not belong there: an `InputError`, or it is an instance."""
    statement, rng = bounds.get(key), np.random.default_rng(0)
    families = [Cube(statement, shape) for shape in shapes(statement)]
    while True:
        try:
            instance = families[0].decode(families[0].drawn(rng))
            break
        except InputError:
            continue
    good = json.loads(json.dumps(instance.fields()))
    good["start"] = {"x0": [0.5] * (instance.problem.layout.get("u") or instance.problem.layout["x"])}
    # Those that a rule makes of the start are others there.
    good["given"] = {name: value for name, value in good["given"].items() if name not in families[0].free_steps}
    assert instances.read(good).verdict().outcome is not Outcome.INCONCLUSIVE
    refused = asked = 0
    for number, path in enumerate(places(good)):
        # Others at the next place: all of them everywhere take three times as long.
        for value in DAMAGE[number % 3 :: 3]:
            with contextlib.suppress(InputError), np.errstate(all="ignore"):
                refused += 1
                instances.read(damaged(good, path, value)).verdict()
                refused -= 1
                asked += 1
    assert refused > asked > 0


def test_shape_in_words():
    """What the report prints."""
    assert str(InstanceShape(QUADRATICS, 2, 1, 0, 1, "once")) == "n=2, d=1+0, 1 per round, once"
    assert str(InstanceShape(QUADRATICS, 10, 1, 0, 9, groups=2)) == "n=10, d=1+0, 9 per round, 2 groups"
    assert str(InstanceShape(ANY_CURVATURE, 2, 1, 0, 2)) == "n=2, d=1+0, 2 per round, curvatures of any sign"


def test_an_interrupt_that_compiled_code_hides_is_one(monkeypatch):
    """A loop over rationals may go on with the exception set, of which the interpreter makes a `SystemError`."""
    calls = []

    def hidden(self, instance):
        calls.append(instance)
        if len(calls) < 5:
            return instance.verdict(self.options)
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as told:
            raise SystemError("returned a result with an exception set") from told

    monkeypatch.setattr("ratecheck.falsification.cube_search.CubeSearch._verdict", hidden)
    found = falsify(bounds.get("pfl/theorem-3.7"), Budget(50))
    assert found.stopped == "interrupted"
    assert len(calls) == 5
    assert found.instance in calls[:4]


STALE = {
    "algorithm": "fedsum-b",
    "assumptions": ["smoothness", "oblivious_participation"],
    "left": "G_u",
    "over": "mean_of_rounds",
    "settings": {"K": 1, "sigma": 0},
    "vocabulary": "fedsum",
    "step_products": ["eta == eta_g*eta_l"],
}


def test_a_bound_that_is_tight_with_everybody_there_is_searched_where_clients_stay_away():
    """Gradient descent with step 1/L reaches the first term for any T; a delay breaks the second one."""
    right = {"descent": "2*Delta_f/(eta*T)", "start": "2*tau_max*F_0/T"}
    statement = theorem(title="Stale", right=right, conditions=["eta <= 1/(L*max(1, tau_max))"], **STALE)
    search = module.CubeSearch(statement, SMALL, SEARCHED, lambda *_: None, 0.0)
    ranked = [Cube(statement, shape, {}) for shape in shapes(statement)]
    ranked.sort(key=lambda family: bool(family.shape.trace))
    assert not any(family.shape.trace for family in ranked[: module._SHAPES])
    assert any(family.shape.trace for family in search._evolvable(ranked))
    # One client, every second round: what the whole search shrinks to.
    found = falsify(statement, Budget(400, by_term=False, functions=False), fixed={"N": 1, "S": 1})
    assert found.outcome is Outcome.VIOLATED
    assert found.shape.trace == "rare"


def test_a_mean_over_rounds_that_is_tight_in_one_round_is_searched_in_longer_runs():
    """||grad f||^2 <= 2 L (f - f*), at the start, and less in the mean."""
    statement = theorem(
        title="Mean",
        algorithm="fedavg",
        assumptions=["smoothness", "full_participation", "no_personal"],
        left="G_u",
        over="mean_of_rounds",
        right="2*L*F_0",
        conditions=["gamma_u <= 1/L"],
        settings={"K": 1, "m": "n", "eta_u": 1, "sigma_u": 0},
        vocabulary="textbook",
    )
    found = falsify(statement, Budget(80, by_term=False, functions=False))
    assert found.outcome is Outcome.INCONCLUSIVE
    assert found.instance.given["T"] >= 2
    assert 0.5 < found.tightness <= 1
