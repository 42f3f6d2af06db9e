"""Rounds until a bound is small enough or not vacuous, against a walk through all T and against SciPy."""

from __future__ import annotations

import dataclasses
import json
import math
import re

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import bounds
from bounds.theorem import theorem
from ratecheck.complexity.rounds import LARGEST, horizon
from ratecheck.errors import InputError
from ratecheck.views.theory.horizon import horizon_text

PFL = {"n": 10, "m": 9, "K": 5, "L": 1.3, "F_0": 0.7, "b": 0.4, "sigma_u": 0.3, "sigma_v": 0.2}
FULL = {**{k: v for k, v in PFL.items() if k != "m"}, "B_0": 2.0}
FEDSUM = {"N": 8, "K": 5, "L": 1.1, "sigma": 0.4, "Delta_f": 0.6, "F_0": 0.3, "tau_max": 3, "tau_avg": 1.5}
FLAME = {"m": 10, "s": 5, "L": 1.0, "lambda": 3.0, "rho": 20.0, "alpha": 0.1, "gap": 1.0, "eps_max": 1e-6}


def walked(statement, given, eps, upto):
    """The first T of 1, 2, ... with an applicable bound of at most eps."""
    for T in range(1, upto):
        evaluation = statement.evaluate(**given, T=T)
        if evaluation.applicable and evaluation.value <= eps:
            return T
    return None


@pytest.mark.parametrize(
    ("key", "given", "eps"),
    [
        ("pfl/corollary-3.8", PFL, 0.3),
        ("pfl/corollary-4.6", PFL, 0.5),
        ("pfl/theorem-3.11-tuned", FULL, 0.5),
        ("fedsum/theorem-4.1-repaired", FEDSUM, 0.5),
        ("fedsum/theorem-4.1-repaired", {**FEDSUM, "tau_max": 0, "tau_avg": 0}, 0.3),
        ("flame/theorem-2-unbiased-wide-repaired", FLAME, 0.05),
        ("pfl/theorem-3.7", {**PFL, "gamma": 1e-3}, 1.5),
    ],
)
def test_rounds_are_those_of_a_walk(key, given, eps):
    """No smaller T will do, and this one does."""
    statement = bounds.get(key)
    found = horizon(statement, given, eps)
    wanted = walked(statement, given, eps, 10_000)
    assert wanted is not None
    assert found.rounds == wanted
    assert found.point.value == pytest.approx(statement.evaluate(**given, T=wanted).value, rel=1e-12)


@pytest.mark.parametrize(
    ("key", "given"),
    [("pfl/corollary-3.8", PFL), ("pfl/corollary-4.6", PFL), ("fedsum/theorem-4.1-repaired", FEDSUM)],
)
def test_vacuity_is_that_of_a_walk(key, given):
    """From the first T at which the bound is below what smoothness gives."""
    statement = bounds.get(key)
    first = next(T for T in range(1, 10_000) if not statement.evaluate(**given, T=T).vacuous)
    assert horizon(statement, given, None).vacuous_until == first > 1


def test_an_open_step_size_is_minimised_at_every_T():
    """Theorem 3.7 leaves gamma open below 1/(32LK): SciPy's minimum is below eps at T and above at T - 1."""
    statement, eps = bounds.get("pfl/theorem-3.7"), 0.2
    found = horizon(statement, PFL, eps)
    assert found.point.minimised == ("gamma",)

    def least(T):
        top = np.log(1 / (32 * PFL["L"] * PFL["K"]))
        return minimize_scalar(
            lambda x: statement.evaluate(**PFL, T=T, gamma=float(np.exp(x))).value,
            bounds=(top - 15, top),
            method="bounded",
            options={"xatol": 1e-10},
        ).fun

    assert least(found.rounds) <= eps * (1 + 1e-9)
    assert least(found.rounds - 1) > eps


def test_the_best_step_sizes_ask_for_fewer_rounds():
    """With eta_u as large as one likes the drift term of Theorem 3.7 goes: 4*F_0/(T*K*gamma) + A*gamma remains."""
    statement, eps, given = bounds.get("pfl/theorem-3.7"), 0.2, {**PFL, "m": 10, "b": 4.0}
    K, L, noise = PFL["K"], PFL["L"], PFL["sigma_u"] ** 2 / 10 + PFL["sigma_v"] ** 2

    def least(T):
        gamma = min(np.sqrt(4 * PFL["F_0"] / (T * K * 12 * L * noise)), 1 / (32 * L * K))
        return 4 * PFL["F_0"] / (T * K * gamma) + 12 * L * noise * gamma

    first = next(T for T in range(1, 100_000) if least(T) <= eps)
    found = horizon(statement, given, eps, best=True)
    # The end eta_u = inf is approached up to 1% of the bound.
    assert first <= found.rounds <= 1.02 * first
    assert 1.1 * found.rounds < horizon(statement, given, eps).rounds


def test_a_floor_is_named():
    """A fixed step size leaves the noise term: 12*L*gamma*(...) is never passed."""
    statement = bounds.get("pfl/theorem-3.7")
    found = horizon(statement, {**PFL, "gamma": 1e-3}, 1e-4)
    floor = statement.evaluate(**PFL, gamma=1e-3, T=LARGEST).value
    assert found.rounds is None
    assert f"{floor:.4g}" in found.why
    assert floor > 1e-4


def test_a_bound_that_rises_again_has_its_least_value_named():
    """2*F_0/T + T*F_0/10^6 is least at T = 1414, far below what it is at the largest T."""
    corollary = bounds.get("pfl/corollary-3.8")
    T, F_0 = corollary.vocabulary["T"].symbol, corollary.vocabulary["F_0"].symbol
    claim = dataclasses.replace(corollary.claims[0], terms={"gap": 2 * F_0 / T, "rise": T * F_0 / 10**6})
    found = horizon(dataclasses.replace(corollary, claims=(claim,)), PFL, 1e-3)
    named = float(re.search(r"below about (\S+),", found.why)[1])
    least = 2 * math.sqrt(2e-6) * PFL["F_0"]
    assert least <= named < 1.1 * least


def test_a_broken_condition_on_a_constant_is_not_blamed_on_step_sizes():
    """The constant delta is a probability, and the lemma has no step sizes."""
    found = horizon(bounds.get("fedsum/lemma-f.2"), {"N": 5, "delta": 2}, 1e-3)
    assert found.why.startswith('the conditions cannot be met: delta=2 breaks "delta <= 1"')


def test_an_inadmissible_step_size_is_named():
    """No T will do where the step size breaks a condition."""
    found = horizon(bounds.get("pfl/theorem-3.7"), {**PFL, "gamma": 1.0}, 0.1)
    assert found.rounds is None
    assert "gamma <= 1/(32*K*L)" in found.why


@pytest.mark.parametrize(
    ("key", "given", "received", "sent", "calls"),
    [
        ("pfl/corollary-3.8", PFL, {"u": 9}, {"u": 9}, 9 * 5),
        ("pfl/parallel-sgd", {k: FULL[k] for k in ("n", "L", "F_0", "sigma_v")}, {}, {}, 10),
        ("fedsum/theorem-4.1-repaired", FEDSUM, {"u": 2}, {"u": 1}, 5),
        ("fedsum/corollary-g.1-case-1", {**FEDSUM, "S": 4}, {"u": 8}, {"u": 4}, 20),
    ],
)
def test_costs_are_per_round_costs_times_rounds(key, given, received, sent, calls):
    """Participants times vectors, and participants times local steps."""
    found = horizon(bounds.get(key), given, 0.5)
    T = found.rounds
    assert dict(found.budget.received) == {k: v * T for k, v in received.items()}
    assert dict(found.budget.sent) == {k: v * T for k, v in sent.items()}
    assert found.budget.calls == calls * T


def test_compressed_vectors_say_how_much_of_them_is_sent():
    """A share q of the coordinates of each, on average."""
    given = {"n": 4, "L": 1, "F_0": 1, "B_0": 0, "q": 0.5}
    statement = bounds.get("classics/ef21-gradients")
    found = horizon(statement, {k: v for k, v in given.items() if k in statement.parameters}, 0.5)
    assert (found.budget.sent, found.budget.sent_share) == ({"u": 4.0 * found.rounds}, 0.5)
    assert "of their coordinates the share q=0.5 on average" in horizon_text(found)


def test_scaffold_takes_gradients_of_all_clients_first():
    """n*K gradients at the start, then m*K in every round."""
    found = horizon(bounds.get("pfl/corollary-4.6"), PFL, 0.5)
    assert found.budget.calls == 10 * 5 + found.rounds * 9 * 5


@pytest.mark.parametrize(
    ("key", "given", "eps", "part"),
    [
        ("pfl/lemma-3.5", PFL, 0.1, "does not depend on the number of rounds"),
        ("simfbo/stepsizes", {}, 0.1, "bounds no quantity of a run"),
        ("pfl/corollary-3.8", {**PFL, "T": 10}, 0.1, "T=10: the number of rounds is the unknown"),
        ("pfl/corollary-3.8", PFL, 0.0, 'eps=0 breaks "0 < eps < inf"'),
        ("pfl/corollary-3.8", {k: v for k, v in PFL.items() if k != "b"}, 0.1, "needs a value for b"),
    ],
)
def test_bad_input_is_named_in_one_line(key, given, eps, part):
    """One line that names the value."""
    with pytest.raises(InputError, match=part.replace("(", r"\(")) as caught:
        horizon(bounds.get(key), given, eps)
    assert "\n" not in str(caught.value)


def test_the_command_prints_what_the_check_found(cli):
    """JSON and text, and exit code 3 where no T will do."""
    words = [f"{k}={v}" for k, v in PFL.items()]
    done = cli("rounds", "pfl/corollary-3.8", *words, "eps=0.3", "--json")
    fields = json.loads(done.stdout)
    assert done.returncode == 0
    assert fields["rounds"] == horizon(bounds.get("pfl/corollary-3.8"), PFL, 0.3).rounds
    assert fields["cost"]["participants"] == 9
    plain = cli("rounds", "pfl/corollary-3.8", *words, "eps=0.3")
    assert f"{fields['rounds']} " in plain.stdout
    assert cli("rounds", "pfl/theorem-3.7", *words, "gamma=1", "eps=0.3").returncode == 3
    refused = cli("rounds", "pfl/scaffold-prior", *words, "eps=0.3")
    assert refused.returncode == 2
    assert "only up to a constant" in refused.stderr


def test_a_minimiser_next_to_one_is_no_end():
    """In 2^53 rounds 1 - beta is best at 1e-8, which is far from 0: F_0 L/T + 2/sqrt(T) is what is left."""
    both = theorem(
        "mean grad2 <= F_0/(gamma*T) + sigma**2/((1 - beta)*T) + sigma**2*(1 - beta)",
        method="heavy-ball", given="smooth, noise", when="gamma <= 1/L, beta < 1",
    )  # fmt: skip
    found = horizon(both, {"L": 1, "F_0": 1, "sigma": 1}, eps=0.1)
    assert found.rounds == math.ceil((math.sqrt(1.1) - 1) ** -2)


def test_what_has_no_minimum_is_said_in_a_sentence():
    """With the step size that takes the bound there."""
    falling = theorem("mean grad2 <= F_0/(gamma*T)", method="gd", given="smooth", when="gamma*L >= 1")
    with pytest.raises(InputError, match=r"the bound of .* falls to 0 towards .* as a function of gamma: give gamma="):
        horizon(falling, {"L": 1, "F_0": 1}, eps=0.1)
