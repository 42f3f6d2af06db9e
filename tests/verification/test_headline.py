"""What a verdict's first line says: about this problem, vacuous, supposing moments; negative bounds; the audit."""

import dataclasses
import json

import far_apart
import numpy as np
import pytest
import sympy as sp

import bounds
from bounds.errors import InputError
from bounds.ledger.refuted import of_paper, refuted
from bounds.ledger.step import StepKind
from bounds.statement import Evaluation
from bounds.symbols import Domain, Role
from ratecheck.auditing.export.conclusions import ProofStanding, conclude
from ratecheck.auditing.finding import StepVerdict, examine_step
from ratecheck.auditing.ledger import audit, has_ledger, load, module_of
from ratecheck.outcome import Outcome
from ratecheck.settings.defaults import completed
from ratecheck.settings.setting import Options
from ratecheck.verification.negative_bounds import impossible, of_evaluation
from ratecheck.verification.verify import verify
from ratecheck.views.checks.verdict import outcome_text, verdict_table, verdict_text

SETTING = ("n=10", "m=9", "K=25", "T=400", "L=1", "F_0=1", "b=0.4", "sigma_u=0.3", "sigma_v=0.3")
OWN = """
import sympy as sp
from bounds.statement import Assumption, Claim, Condition, Metric, Over, Relation, Source, Statement
from bounds.symbols import COMMON, Vocabulary
own = Vocabulary(COMMON)
L, F_0, T, n, gamma_u, G_u = (own[name].symbol for name in ("L", "F_0", "T", "n", "gamma_u", "G_u"))
descent = Statement(
    key="mine/descent", title="Gradient descent", vocabulary=own, algorithm="fedavg",
    source=Source(paper="mine", number="1", location="1"),
    assumptions=(Assumption.SMOOTHNESS, Assumption.FULL_PARTICIPATION, Assumption.NO_PERSONAL),
    claims=(Claim(
        name="main", relation=Relation.AT_MOST,
        terms={"gap": 2 * F_0 / (gamma_u * T), "gain": -20 * gamma_u * L**2 * F_0},
        metric=Metric(latex="G", weights={G_u: sp.Integer(1)}, over=Over.MEAN_OF_ROUNDS, trivial=2 * L * F_0),
    ),),
    conditions=(Condition(name="step size", left=gamma_u, operator="<=", right=1 / L),),
    step_rules=(), step_products=(), follows_from=(), remark="",
    settings={"K": sp.Integer(1), "m": n, "sigma_u": sp.Integer(0), "eta_u": sp.Integer(1)},
)
"""


@pytest.fixture(name="own")
def _own(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(OWN)
    return f"{path}:descent"


def ask(key: str, problem: str | None = None, options: Options | None = None, **given: float):
    """The verdict on the default problem."""
    statement = bounds.get(key)
    asked = completed(statement, problem, given)
    return verify(statement, asked.problem, asked.values, options or Options())


def test_holds_reads_as_on_this_problem_and_vacuous_is_in_the_headline():
    """Both in the text and in the table."""
    vacuous, tight = ask("pfl/theorem-3.7", T=5.0), ask("pfl/theorem-3.7")
    assert (
        verdict_text(vacuous).splitlines()[0].endswith(f"HOLDS (vacuous) on this problem   slack {vacuous.slack:.4g}")
    )
    assert "   HOLDS on this problem   slack" in verdict_text(tight).splitlines()[0]
    rows = verdict_table([vacuous, tight]).splitlines()
    assert ["HOLDS (vacuous)" in row for row in rows] == [False, True, False]


def test_a_supposition_about_moments_is_in_the_headline(cli):
    """And in JSON, as a field of its own."""
    words = ("fedsum/corollary-g.1-case-2", "T=4", "N=3", "K=2", "--replicates", "64")
    text = cli("verify", *words).stdout.splitlines()[0]
    assert "on this problem, if E X^2 <= 10 (E X)^2 for the left side X" in text
    found = json.loads(cli("verify", *words, "--json").stdout)
    assert found["supposes"] == ["E X^2 <= 10 (E X)^2 for the left side X"]
    assert found["verdict"] == "HOLDS"
    exact = json.loads(cli("verify", "pfl/theorem-3.7", "T=10", "--json").stdout)
    assert exact["supposes"] == []
    assert exact["headline"] == "HOLDS (vacuous) on this problem"


# --- Bounds below 0 ---


def test_a_negative_bound_refutes_in_bound_stepsize_and_verify_alike(own, cli):
    """One sentence, exit code 1, and a field in JSON."""
    sentence = "but G_u >= 0: at these admissible values the statement is false, whatever the run"
    values = ("L=1", "F_0=1", "T=100", "n=3")
    done = cli("bound", own, *values, "gamma_u=1")
    assert (done.returncode, "refuted    the bound is -19.98, " + sentence in done.stdout) == (1, True)
    found = json.loads(cli("bound", own, *values, "gamma_u=1", "--json").stdout)
    assert (found["impossible"][0]["claim"], found["impossible"][0]["right"]) == ("main", -19.98)
    done = cli("stepsize", own, *values)
    assert done.returncode == 1
    assert sentence in done.stdout
    assert json.loads(cli("stepsize", own, *values, "--json").stdout)["impossible"]
    done = cli("verify", own, "n=3", "T=100", "gamma_u=1")
    assert done.returncode == 1
    assert sentence in done.stdout
    assert "VIOLATED" in done.stdout.splitlines()[0]


def test_what_is_no_refutation(own, cli):
    """A broken condition, an undecided one, a positive bound, a left side of either sign, and rounding."""
    assert cli("bound", own, "L=1", "F_0=1", "T=100", "n=3", "gamma_u=2").returncode == 2
    assert cli("bound", own, "L=1", "F_0=1", "T=100", "n=3", "gamma_u=0.01").returncode == 0
    lemma = bounds.get("pfl/lemma-3.1")
    assert not lemma.claims[0].metric.expr.is_nonnegative
    statement = bounds.get(own)
    claim = dataclasses.replace(statement.claims[0], terms={"gap": 1 - sp.Symbol("L", positive=True) ** 2})
    equal = dataclasses.replace(statement, claims=(claim,))
    assert impossible(equal.claims, equal.vocabulary, {"L": 1 + 1e-13}) == ()
    assert impossible(equal.claims, equal.vocabulary, {"L": 1 + 1e-9})


def test_no_sound_statement_is_called_impossible():
    """At random admissible numbers with constants from 1e-3 to 1e3, none of the catalogue but those that are false."""
    rng, asked, wrong = np.random.default_rng(5), 0, set()
    for statement in (each for paper in bounds.PAPERS for each in bounds.statements(paper) if not each.order_only):
        for _ in range(15):
            given = {}
            for name in statement.parameters:
                q = statement.vocabulary[name]
                if name in statement.settings or q.role is Role.MEASURED or q.role is Role.STEP_SIZE:
                    continue
                whole = q.domain is Domain.POSITIVE_INTEGER
                given[name] = float(rng.choice([1, 2, 8, 300])) if whole else float(10 ** rng.uniform(-3, 3))
            try:
                evaluation: Evaluation = statement.evaluate(**given)
            except InputError:
                continue
            asked += evaluation.applicable
            wrong |= {statement.key for _ in of_evaluation(statement.claims, statement.vocabulary, evaluation)}
    assert asked > 100
    assert wrong <= FALSE.keys()


# --- The audit ---

REFUTED = [each for paper in bounds.PAPERS for each in of_paper(paper)]
FALSE = {each.key: each.step for each in REFUTED if not each.form_of}
FORMS = {each.key: each.form_of for each in REFUTED if each.form_of}

QUICK = ("pfl/lemma-a.2", "fedsum/theorem-4.1", "flame/lemma-1", "simfbo/lemma-2", "simfbo/lemma-4")


def test_a_form_of_a_false_statement_is_false_with_it():
    """Lemma 8's simplified form has its defects: a run with n = 1 and eta_v = 4 violates it."""
    for form, source in FORMS.items():
        against = refuted(bounds.get(form))
        assert against is not None
        assert (against.step, against.repaired) == (FALSE[source], f"{source}-repaired")
        assert source in against.text
        assert not {form, source} & {*far_apart.statements()}


@pytest.mark.parametrize("key", QUICK)
def test_kept_refutations_are_those_of_the_audit(key):
    """The step named is an end-to-end one, false, and mended."""
    steps = {step.id: step for step in load(module_of(key.partition("/")[0]))}
    step = steps[FALSE[key]]
    finding = examine_step(step)
    assert (step.kind, finding.of, finding.verdict, finding.mended) == (
        StepKind.END_TO_END, key, StepVerdict.FALSE, True,
    )  # fmt: skip


@pytest.mark.long
def test_the_kept_list_is_the_audit_s():
    """All statements that the audit calls false as printed, and no other."""
    papers = [paper for paper in bounds.PAPERS if has_ledger(paper)]
    statements = [statement for paper in papers for statement in bounds.statements(paper)]
    findings = audit([module_of(paper) for paper in papers])
    concluded = conclude(findings, statements)
    false = {each.key for each in REFUTED if not each.form_of and each.fields()["false_as_printed"]}
    assert {k for k, c in concluded.items() if c.standing is ProofStanding.FALSE} == false
    assert {concluded[key].standing for key in FALSE.keys() - false} == {ProofStanding.REPAIR}
    assert all(FALSE[key] in concluded[key].steps for key in FALSE)


def test_every_repaired_key_exists():
    """It is in the catalogue."""
    for key in FALSE:
        found = refuted(bounds.get(key))
        assert found is not None
        assert found.repaired is not None
        assert bounds.get(found.repaired)
    for key in ("pfl/theorem-3.7", "flame/lemma-2"):
        assert refuted(bounds.get(key)) is None


def test_who_meets_a_false_statement_is_told(cli, tmp_path):
    """By verify, bound, stepsize and plot, with the repaired key, in text and in JSON."""
    told = "pfl/lemma-a.2 has a misprint ('ratecheck audit --step pfl/lemma-a.2-1'); repaired: pfl/lemma-a.2-repaired"
    assert f"  audit   {told}" in cli("verify", "pfl/lemma-a.2").stdout
    assert json.loads(cli("verify", "pfl/lemma-a.2", "--json").stdout)["audit"]["repaired"] == "pfl/lemma-a.2-repaired"
    key = "flame/theorem-2-unbiased"
    values = ("alpha=0.1", "L=1", "lambda=3", "m=10", "s=9", "T=10", "gap=1", "eps_max=0")
    for command, more in (("bound", ("rho=0.7",)), ("stepsize", ())):
        done = cli(command, key, *values, *more)
        assert f"note: {key} is false as printed" in done.stderr
        assert f"repaired: {key}-repaired" in done.stderr
        found = json.loads(cli(command, key, *values, *more, "--json").stdout)
        assert found["audit"]["repaired"] == f"{key}-repaired"
    assert json.loads(cli("bound", "pfl/theorem-3.7", *SETTING, "gamma=1e-4", "--json").stdout)["audit"] is None
    done = cli("plot", "fedsum/theorem-4.1", "T=4", "K=2", "--vary", "T", "--out", tmp_path / "a.png", "--json")
    assert "note: fedsum/theorem-4.1 needs an assumption that is not printed" in done.stderr
    assert json.loads(done.stdout)["audit"]["repaired"] == "fedsum/theorem-4.1-repaired"


@pytest.mark.every(2)
@pytest.mark.parametrize(
    "words",
    [
        ("rounds", "fedsum/theorem-4.1", "N=20", "K=5", "L=1", "sigma=1", "Delta_f=1", "F_0=1", "tau_max=20",
         "tau_avg=8", "eps=0.1"),
        ("compare", "fedsum/theorem-4.1", "fedsum/theorem-4.1-repaired", "N=20", "K=5", "T=100", "L=1", "sigma=1",
         "Delta_f=1", "F_0=1", "tau_max=20", "tau_avg=8"),
        ("falsify", "fedsum/theorem-4.1", "--evaluations", "3"),
        ("scaling", "fedsum/theorem-4.1", "N=4", "K=2", "T=8", "--over", "T"),
    ],
    ids=lambda words: words[0],
)  # fmt: skip
def test_other_commands_tell_it_as_well(cli, words, tmp_path, monkeypatch):
    """Rounds, comparisons, searches and scalings of a statement that is false as printed."""
    monkeypatch.chdir(tmp_path)
    assert "note: fedsum/theorem-4.1 needs an assumption that is not printed" in cli(*words).stderr


def test_each_claim_is_printed_once():
    """Where several participations are checks of the same claims, the tightest stands for all."""
    found = ask("fedsum/theorem-4.1", T=5.0)
    assert len(found.comparisons) == 3
    lines = verdict_text(found).splitlines()
    assert sum(line.startswith("  left ") for line in lines) == 1
    assert f"{found.worst.left:.4g}" in next(line for line in lines if line.startswith("  left "))
    assert found.outcome is Outcome.HOLDS
    assert outcome_text(found).startswith("HOLDS")
