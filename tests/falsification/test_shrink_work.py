"""Shrinking keeps its word about time: it is bounded by work and ends when told to, and what is confirmed is kept."""

from __future__ import annotations

import dataclasses
import json

import pytest
import sympy as sp

import bounds
import ratecheck as rc
from ratecheck.engines.moments import expectation
from ratecheck.falsification.falsify import Budget, falsify
from ratecheck.falsification.shrink import WORK, shrink
from ratecheck.falsification.shrinking import work
from ratecheck.problems import Quadratic
from ratecheck.verification.instance import Instance


def less_noise():
    """Theorem 3.7 with too small a noise term, and an instance on which no power of a round's map is taken.

    The dissimilarity is measured along the run, round by round, since the clients have different curvatures.
    """
    statement = bounds.get("pfl/theorem-3.7")
    (claim,) = statement.claims
    terms = {name: term / sp.Integer(30) if name == "noise" else term for name, term in claim.terms.items()}
    statement = dataclasses.replace(statement, claims=(dataclasses.replace(claim, terms=terms),))
    problem = Quadratic([[[1.0]], [[0.875]]], [[0.0], [0.37]], 1)
    given = {"m": 2.0, "K": 1.0, "T": 200.0, "sigma_u": 317.3, "sigma_v": 0.0, "b": 40000.0}
    return Instance(statement, problem, None, given)


def test_long_runs_are_not_followed_round_by_round(monkeypatch):
    """A million rounds: with every one of them followed a single evaluation would take minutes."""
    short = less_noise()
    long = dataclasses.replace(short, given={**short.given, "T": 1e6})
    rounds = []
    record = expectation.Recorder.record
    monkeypatch.setattr(expectation.Recorder, "record", lambda self, moment: rounds.append(1) or record(self, moment))
    found = shrink(long, verdict=short.verdict())
    assert len(rounds) < 50 * (WORK + work.MOST_ROUNDS / 50)
    assert found.instance.given["T"] <= 200
    assert found.instance.verdict().outcome is rc.Outcome.VIOLATED


def test_a_run_is_refused_before_its_first_round_and_one_that_is_followed_again_later():
    """Of more rounds than are followed none is counted; of fewer as many as there are, each time."""
    spent = work.WorkLimit(1000.0)
    follow = spent.evaluate(less_noise(), 1e6, 1.0)
    with pytest.raises(work.TooLong):
        follow(0.0)
    assert spent.done == 1
    follow = spent.evaluate(less_noise(), 4000.0, 1.0)
    follow(0.0)
    follow(0.5)
    follow(0.0)
    with pytest.raises(work.TooLong):
        follow(0.0)
    assert 160 <= spent.done - 2 <= 170


def test_work_bounds_what_is_evaluated_and_the_smallest_yet_is_kept():
    """More work gives something at least as simple, the same in every run, and little work gives little."""
    instance = less_noise()
    ends = [shrink(instance, amount) for amount in (1.0, 250.0, 250.0, WORK)]
    none, some, again, most = ends
    assert (none.evaluations, none.after, none.stopped) == (1, none.before, work.SPENT)
    assert some.evaluations <= 250
    assert some.stopped == work.SPENT
    assert (some.instance.fields(), some.evaluations) == (again.instance.fields(), again.evaluations)
    assert most.after < some.after < some.before
    assert most.stopped == ""


def test_a_clock_that_has_run_out_leaves_the_instance_as_it_is():
    """No second is left after the search: nothing is evaluated."""
    instance = less_noise()
    found = shrink(instance, seconds=0.0)
    assert (found.instance, found.evaluations, found.stopped) == (instance, 1, work.LATE)


def test_an_interrupt_leaves_the_simplest_instance_yet():
    """After a dozen evaluations, as many as it takes to find something simpler."""
    seen = []

    def report(share, what):
        assert what == "shrinking"
        assert 0 <= share <= 1
        seen.append(share)
        if len(seen) == 12:
            raise KeyboardInterrupt

    found = shrink(less_noise(), report=report)
    assert found.stopped == "interrupted"
    assert found.after < found.before
    assert found.instance.verdict().outcome is rc.Outcome.VIOLATED


def test_what_is_confirmed_is_there_before_it_is_shrunk(tmp_path):
    """The file has the instance of the search, then the shrunk one."""
    path = tmp_path / "violated.json"
    seen = []

    def confirmed(result):
        seen.append((result.search.shrunk, result.outcome, result.instance.fields(), json.loads(path.read_text())))

    found = rc.falsify("textbook/sgd-false", evaluations=20, out=path, confirmed=confirmed)
    ((none, outcome, shown, kept),) = seen
    assert none is None
    assert outcome is rc.Outcome.VIOLATED
    assert kept == shown == found.search.instance.fields()
    assert json.loads(path.read_text()) == found.search.shrunk.instance.fields() != kept


@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupt_among_several_statements_leaves_what_was_confirmed(workers):
    """With processes all searches end before anything is shrunk, so that both are there, unshrunk."""
    seen = []

    def confirmed(result):
        seen.append(result.search.statement.key)
        if len(seen) == 2:
            raise KeyboardInterrupt

    keys = ("textbook/sgd-false", "textbook/gradient-descent-false")
    found = rc.falsify(*keys, evaluations=20, workers=workers, confirmed=confirmed)
    assert isinstance(found.stop, KeyboardInterrupt)
    assert sorted(seen) == sorted(keys)
    assert [each.statement.key for each in found.searches] == list(keys)
    assert [each.outcome for each in found.searches] == [rc.Outcome.VIOLATED] * 2
    assert [each.shrunk is None for each in found.searches] == [workers == 2, True]


def test_every_stage_says_what_it_is():
    """Searching, then term by term, then other families, each with the share that is done."""
    seen = []
    falsify(bounds.get("pfl/theorem-3.7"), Budget(20), report=lambda share, text: seen.append((share, text)))
    assert all(0 <= share <= 1 for share, _ in seen)
    stages = list(dict.fromkeys(text.split(",")[0] for _, text in seen))
    assert stages[:3] == ["searching", "term by term", "confirming"]
    assert "piecewise quadratic functions" in stages
