"""What is believed without a certificate: nothing. Own constants, settings, assumptions, participation files."""

import dataclasses
import json
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import sympy as sp

import bounds
from bounds.statement import Assumption, Claim, Condition, Metric, Over, Relation, Source, Statement
from bounds.symbols import COMMON, Domain, Role, Vocabulary
from bounds.theorem import theorem
from ratecheck.algebra.enclosure import UndecidedError
from ratecheck.certification.assumptions import CERTIFICATION
from ratecheck.certification.certified_constants import ALONE, CertifiedCase
from ratecheck.certification.exact_constants import participations
from ratecheck.certification.uncertified import lacking, required, unmet
from ratecheck.errors import InputError
from ratecheck.outcome import Outcome
from ratecheck.participation import Trace, Uniform
from ratecheck.problems import Quadratic
from ratecheck.settings import on_trace as on_trace_module
from ratecheck.settings.applicability import foreign
from ratecheck.settings.defaults import completed
from ratecheck.settings.on_trace import on_trace
from ratecheck.settings.setting import Options, resolve
from ratecheck.verification.verify import verify

QUICK = Options(vacuity=False)
A = Assumption


def vocabulary(name: str = "", role: Role = Role.CONSTANT, default: float | None = 2.0, fact: str = "") -> Vocabulary:
    """The common symbols, and one of one's own."""
    own = Vocabulary(COMMON)
    if name:
        own.define(name, name, "a number of one's own", Domain.POSITIVE, role, 0, 0, default)
    if fact:
        own.facts[name] = fact
    return own


def descent(own: Vocabulary, extra: str = "", **changes: object) -> Statement:
    """Gradient descent; with ``extra`` the right side is multiplied by that symbol."""
    L, F_0, T, n, gamma_u, G_u = (own[name].symbol for name in ("L", "F_0", "T", "n", "gamma_u", "G_u"))
    factor = own[extra].symbol if extra else 1
    metric = Metric(latex="G", weights={G_u: sp.Integer(1)}, over=Over.MEAN_OF_ROUNDS, trivial=2 * L * F_0)
    whole = {
        "key": "mine/descent", "title": "Gradient descent", "vocabulary": own, "algorithm": "fedavg",
        "source": Source(paper="mine", number="1", location="1"),
        "assumptions": (A.SMOOTHNESS, A.FULL_PARTICIPATION, A.NO_PERSONAL),
        "claims": (
            Claim(
                name="main", metric=metric, relation=Relation.AT_MOST, terms={"gap": factor * 2 * F_0 / (gamma_u * T)}
            ),
        ),
        "conditions": (Condition(name="step size", left=gamma_u, operator="<=", right=1 / L),),
        "step_rules": (), "step_products": (), "follows_from": (), "remark": "",
        "settings": {"K": sp.Integer(1), "m": n, "sigma_u": sp.Integer(0), "eta_u": sp.Integer(1)},
    }  # fmt: skip
    return Statement(**(whole | changes))


def ask(statement: Statement, **given: float):
    """The verdict on the default problem, or one with T = 10."""
    asked = completed(statement, None, {"T": 10.0, **given} if "T" not in statement.settings else given)
    return verify(statement, asked.problem, asked.values, QUICK)


@pytest.fixture(name="command")
def _command(cli):
    """Exit code, stdout and stderr of a command, notes left out."""

    def call(*words: str) -> tuple[int, str, str]:
        done = cli(*words)
        return done.returncode, done.stdout, done.stderr

    return call


# --- Constants ---


@pytest.mark.parametrize("role", [Role.CONSTANT, Role.SETTING])
@pytest.mark.parametrize("given", [{}, {"Q": 3.0}])
def test_a_default_is_no_certificate(role, given):
    """A constant of one's own is not believed, whether it has a default or is given."""
    statement = descent(vocabulary("Q", role), "Q")
    assert foreign(statement) == ("no problem certifies Q yet",)
    verdict = ask(statement, **given)
    assert (verdict.outcome, verdict.reasons) == (Outcome.NOT_APPLICABLE, ("no problem certifies Q yet",))


def test_nor_is_a_setting_or_a_derived_value():
    """Fixing the constant in the statement, or deriving it from one, does not certify it."""
    fixed = descent(vocabulary("Q"), "Q")
    fixed = dataclasses.replace(fixed, settings={**fixed.settings, "Q": sp.Integer(3)})
    assert ask(fixed).outcome is Outcome.NOT_APPLICABLE
    own = vocabulary("Q")
    own.define("R", "R", "derived", Domain.POSITIVE, Role.CONSTANT, 0, 0, 1.0)
    own.derived["R"] = 2 * own["Q"].symbol
    assert ask(descent(own, "R")).outcome is Outcome.NOT_APPLICABLE


def test_what_a_fact_certifies_is_applicable():
    """A symbol that stands for a fact of the problem is certified, and a smaller value is refused."""
    statement = descent(vocabulary("Q", fact="L"), "Q", conditions=())
    verdict = ask(statement, gamma_u=0.1)
    assert verdict.constants["Q"].value == verdict.constants["L"].value
    assert verdict.outcome in (Outcome.HOLDS, Outcome.VIOLATED)
    with pytest.raises(InputError, match=r'Q=0.1 breaks "Q >='):
        ask(statement, gamma_u=0.1, Q=0.1)


def test_a_free_parameter_needs_no_certificate():
    """The statement holds whatever it is: a choice of the analysis, such as a Young parameter."""
    assert ask(descent(vocabulary("Q", Role.FREE), "Q")).outcome is Outcome.HOLDS
    free = {q.name for paper in bounds.PAPERS for q in bounds.vocabulary(paper) if q.role is Role.FREE}
    assert free == {"k", "share"}


def test_the_catalogue_believes_no_default():
    """Every default of the catalogue is a free parameter."""
    for paper in bounds.PAPERS:
        for q in bounds.vocabulary(paper):
            assert q.default is None or q.role is Role.FREE, q.name


def test_a_step_size_that_no_run_takes():
    """The run knows nothing of it, so the bound is about another run."""
    statement = descent(vocabulary("beta", Role.STEP_SIZE), "beta")
    assert foreign(statement) == (
        "no run of FedAvg takes the step size beta yet",
        "FedAvg takes gamma_u, eta_u: step_products say what beta is made of",
    )


@pytest.mark.parametrize(("value", "outcome"), [(50, Outcome.HOLDS), ("1/50", Outcome.NOT_APPLICABLE)])
def test_a_constant_that_the_statement_fixes(value, outcome):
    """A larger constant than certified is a weaker assumption; a smaller one is not met."""
    statement = descent(vocabulary())
    verdict = ask(dataclasses.replace(statement, settings={**statement.settings, "L": sp.Rational(value)}))
    assert verdict.outcome is outcome
    assert outcome is Outcome.HOLDS or "the statement takes L=0.02, but L is" in verdict.reasons[0]


# --- Assumptions ---


@pytest.mark.parametrize(
    "assumption",
    [
        *(A.MEAN_GRADIENT_BOUND, A.QUOTED, A.LOWER_LEVEL, A.EVERY_SAMPLE, A.BALL),
        *(A.INNER_CONVEXITY, A.EXACT_INNER, A.MARTINGALE),
    ],
)
def test_assumptions_that_nothing_certifies(assumption):
    """They are about other problems or methods, or have no certificate at all."""
    verdict = ask(descent(vocabulary(), assumptions=(A.SMOOTHNESS, A.FULL_PARTICIPATION, assumption)))
    assert verdict.outcome is Outcome.NOT_APPLICABLE
    assert verdict.reasons == (f"nothing certifies its assumption: {assumption.value}",)


def test_a_problem_that_an_assumption_excludes():
    """Personal variables, an objective without a minimum, selection by the gradients."""
    both = descent(vocabulary(), algorithm="fedavg-p", assumptions=(A.SMOOTHNESS, A.NO_PERSONAL), settings={})
    given = {"K": 1.0, "T": 5.0, "m": 2.0, "gamma_u": 0.1, "gamma_v": 0.1, "eta_u": 1.0, "eta_v": 1.0}
    coupled = Quadratic(np.tile(np.eye(2), (2, 1, 1)), np.ones((2, 2)), shared=1)
    assert "the statement is about none" in verify(both, coupled, given, QUICK).reasons[0]
    claim = descent(vocabulary()).claims[0]
    free = dataclasses.replace(claim, terms={"no gap": sp.Integer(1)})
    below = descent(vocabulary(), assumptions=(A.SMOOTHNESS, A.BOUNDED_BELOW), claims=(free,), conditions=())
    linear = Quadratic(np.zeros((2, 1, 1)), np.ones((2, 1)), shared=1)
    assert "a lower bound does not exist" in verify(below, linear, {"T": 5.0, "gamma_u": 0.1}, QUICK).reasons[0]
    oblivious = descent(
        vocabulary(), assumptions=(A.SMOOTHNESS, A.OBLIVIOUS_PARTICIPATION), settings={"K": sp.Integer(1)}
    )
    bowl = Quadratic(np.ones((3, 1, 1)), np.arange(3.0)[:, None], shared=1)
    largest = verify(
        oblivious, bowl, {"T": 5.0, "m": 1.0, "gamma_u": 0.1, "eta_u": 1.0}, QUICK, participation=Trace.largest(3, 1)
    )
    assert "the participation depends on the run" in largest.reasons[0]


def test_an_assumption_in_words_of_ones_own_is_refused(tmp_path, command):
    """No check knows it."""
    path = tmp_path / "mine.py"
    replaced = "dataclasses.replace(bounds.get('pfl/theorem-3.7'), assumptions=('convex',))"
    path.write_text(f"import dataclasses\nimport bounds\nmine = {replaced}\n")
    code, _, message = command("verify", f"{path}:mine")
    assert code == 2
    assert "a part of assumptions of the statement is 'convex'" in message
    assert len(message.splitlines()) == 1


# --- Settings and defaults ---


@pytest.mark.parametrize(
    ("settings", "given", "sizes"),
    [
        ({"n": 1}, {}, (1, 1)),
        ({"n": 4, "m": "n"}, {}, (4, 4)),
        ({"m": "n/4"}, {}, (8, 2)),
        ({}, {"m": 12.0}, (12, 12)),
        ({}, {"n": 8.0}, (8, 7)),
        ({}, {"n": 1.0}, (1, 1)),
        ({}, {"n": 100.0}, (100, 9)),
        ({"n": 30}, {}, (30, 9)),
    ],
)
def test_defaults_fit_what_is_fixed_and_given(settings, given, sizes):
    """A statement's own settings and given numbers decide the default problem."""
    own = vocabulary()
    fixed = {name: sp.sympify(value, {"n": own["n"].symbol}) for name, value in settings.items()}
    statement = descent(own, assumptions=(A.SMOOTHNESS, A.NO_PERSONAL), settings=fixed)
    more = {"T": 3.0, "K": 1.0, "gamma_u": 0.1, "eta_u": 1.0, **given}
    asked = completed(statement, None, more)
    verdict = verify(statement, asked.problem, asked.values, QUICK)
    assert (asked.problem.n, verdict.values["n"], verdict.values["m"]) == (sizes[0], *sizes)


@pytest.mark.parametrize(("condition", "value"), [("lambda_ >= 2*L", 3), ("lambda_ >= 5*L", 6), ("lambda_ <= L", 0.75)])
def test_a_parameter_of_the_method_is_inside_the_conditions(condition, value):
    """One that a condition bounded from below stayed at its default, and nothing was said of the theorem."""
    own = theorem("mean grad2 <= 100*lambda_*F_0/T", method="proximal-point", given="smooth", when=condition)
    asked = completed(own, None, {})
    assert verify(own, asked.problem, asked.values, QUICK).values["lambda_"] == value


def test_a_noise_that_the_statement_fixes_is_added():
    """It was certified as the given noise, which was 0."""
    statement = descent(vocabulary())
    loud = dataclasses.replace(statement, settings={**statement.settings, "sigma_u": sp.Integer(5)})
    assert ask(loud).comparisons[0].left > 3 * ask(statement).comparisons[0].left


def test_every_default_fits_the_number_of_clients(command):
    """An error never speaks of a number that nobody typed."""
    for key, given, expected in (
        ("fedsum/theorem-4.1", "N=8", 0),
        ("fedsum/theorem-4.1", "N=2", 0),
        ("fedsum/theorem-4.1", "N=1", 3),
        ("fedsum/corollary-g.1-case-1", "N=3", 3),
        ("pfl/lemma-3.1", "m=11", 0),
        ("pfl/theorem-3.11", "n=8", 0),
    ):
        rounds = [] if "case" not in key else ["--replicates", "8"]
        code, out, message = command("verify", key, given, "T=20", *rounds)
        assert (code, message) == (expected, ""), (key, given, out, message)


# --- Who takes part ---


@pytest.fixture(name="matrix")
def _matrix(tmp_path: Path) -> Path:
    path = tmp_path / "rounds.csv"
    path.write_text("1,0,1,0\n0,1,0,1\n1,1,1,0\n1,0,0,1\n1,1,0,1\n")
    return path


@pytest.mark.parametrize("given", ["S=3", "S=9", "N=10", "n=10", "T=400"])
def test_numbers_that_contradict_a_participation_file(matrix, command, given):
    """They are refused in one line that says what the file has."""
    code, out, message = command("verify", "fedsum/theorem-4.1", "--participation", str(matrix), given)
    assert (code, out) == (2, "")
    assert f"{given} contradicts {matrix}, which has" in message
    assert len(message.splitlines()) == 1


def test_only_what_the_run_used_is_printed(matrix, command):
    """Sizes that vary, that the pattern does not set, or of no run are no numbers of the run."""
    code, out, _ = command("verify", "fedsum/theorem-4.1", "--participation", str(matrix))
    assert code == 0
    assert "N=4 S=2..3 K=25 T=5 " in out
    code, out, _ = command("verify", "fedsum/theorem-4.1", "--participation", "bernoulli:0.5", "T=20", "--json")
    assert code == 0
    assert "S" not in json.loads(out)["values"]
    code, out, _ = command("verify", "fedsum/theorem-4.1", "--participation", "full", "T=20", "--json")
    assert json.loads(out)["values"]["S"] == 10.0
    code, out, _ = command("verify", "pfl/lemma-a.2", "--json")
    assert not {"K", "T"} & json.loads(out)["values"].keys()


def test_a_pattern_decides_what_was_not_typed(command):
    """The default probability gives way; a number of clients that was typed is refused."""
    code, _, message = command(
        "verify", "fedsum/corollary-g.1-case-2", "--participation", "bernoulli:0.4", "T=5", "--replicates", "8"
    )
    assert (code, message) in ((0, ""), (3, ""))
    code, _, message = command("verify", "fedsum/theorem-4.1", "--participation", "bernoulli:0.4", "S=4")
    assert code == 2
    assert "S=4 contradicts bernoulli:0.4" in message


def test_the_catalogue_s_assumptions_are_met_by_its_default_problems():
    """No statement loses its verdict to an assumption that its own default problem meets."""
    for statement in (each for paper in bounds.PAPERS for each in bounds.statements(paper)):
        if statement.order_only or foreign(statement):
            continue
        rounds = statement.vocabulary.run.get("rounds")
        whole = completed(statement, None, {} if rounds is None else {rounds: 4.0})
        setting = resolve(statement, whole.problem, None, whole.values, QUICK)
        assert unmet(statement.assumptions, whole.problem, setting.pattern) is None, statement.key
        case = on_trace(setting, setting.traces()[0]).case
        assert lacking(required(statement.assumptions, statement.vocabulary, case)) == (), statement.key


# --- Numbers beyond what is handled ---


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("verify", "pfl/theorem-3.7", "n=1e300"), "n=1e+300, d=10: the problem has"),
        (("verify", "pfl/theorem-3.7", "n=1e9"), "the problem has 1e+11 numbers"),
        (("verify", "pfl/theorem-3.7", "d=1e6"), "the problem has"),
        (("verify", "pfl/theorem-3.7", "--problem", "logistic", "n=1e8"), "the problem has"),
        (("verify", "simfbo/theorem-1", "n=1e300"), "the problem has"),
        (("verify", "pfl/lemma-3.5", "T=2147483648"), "this run is followed by rounds"),
        (("verify", "pfl/theorem-3.7", "T=1e300"), "breaks"),
        (("verify", "fedsum/theorem-4.1", "T=1e9"), "Largest T here: 10000000"),
        (("scaling", "pfl/theorem-3.7", "n=1e300"), "the problem has"),
    ],
)
def test_huge_sizes_are_one_line(command, words, expected):
    """They are refused before anything is allocated."""
    code, out, message = command(*words)
    assert (code, out, len(message.splitlines())) == (2, "", 1)
    assert expected in message


@pytest.mark.parametrize("depth", [900, 100_000])
def test_lists_in_lists_are_one_line(tmp_path, command, depth):
    """A file nested too deep to be read, and one that can be read and is no instance."""
    path = tmp_path / "deep.json"
    entry = "[" * depth + "1" + "]" * depth
    path.write_text(
        '{"ratecheck instance": 1, "statement": "pfl/theorem-3.7", "participation": null, "given": {}, "start": {}, '
        f'"problem": {{"kind": "quadratic", "g": [[1]], "shared": 1, "H": {entry}}}}}'
    )
    study = tmp_path / "deep.toml"
    study.write_text(f"a = {entry}\n")
    for words in (("verify", "--instance", str(path)), ("run", str(study))):
        code, out, message = command(*words)
        assert (code, out, len(message.splitlines())) == (2, "", 1), message


@pytest.mark.parametrize("curvature", [1e-320, 5e-324])
def test_a_curvature_that_is_almost_no_number(tmp_path, command, curvature):
    """One line, or a verdict; the proof gives up where a number leaves the range of floats."""
    path = tmp_path / "flat.json"
    data = {
        "ratecheck instance": 1, "statement": "fedsum/theorem-4.1", "start": {},
        "problem": {"kind": "quadratic", "H": [[[curvature]], [[curvature]]], "g": [[1], [0]], "shared": 1},
        "participation": {"kind": "cyclic", "n": 2, "S": 1}, "given": {"K": 2, "T": 3, "S": 1, "sigma": 0},
    }  # fmt: skip
    path.write_text(json.dumps(data))
    code, _, message = command("verify", "--instance", str(path))
    assert code in (2, 3)
    assert len(message.splitlines()) <= 1


def test_every_assumption_has_its_entry():
    """Text, how it is certified, and facts for constants that it defines alone."""
    assert [*CERTIFICATION] == [*Assumption]
    for assumption, entry in CERTIFICATION.items():
        assert entry.how
        assert {*entry.facts, *entry.met} <= {*assumption.constants}


@pytest.mark.parametrize(("n", "m", "T"), [(40, 20, 21), (13, 6, 4096), (4096, 1, 4096)])
def test_participations_are_counted_before_they_are_listed(n, m, T):
    """C(40, 20) subsets are more than fit into memory: that is said, and none is listed."""
    tracemalloc.start()
    try:
        with pytest.raises(UndecidedError, match="more than 4096 participations"):
            participations(Uniform(n, m), T)
        assert tracemalloc.get_traced_memory()[1] < 10**8
    finally:
        tracemalloc.stop()


def test_what_decides_a_constant_is_said_of_all_that_cannot_be_claimed_otherwise():
    """A refusal says what to change in place of the constant."""
    assert on_trace_module._DECIDED.keys() == ALONE


def test_what_the_problem_knows_is_found_once_for_all_participations():
    """And anew for another problem, whatever participation the case was made on."""
    first, second = (Quadratic(np.full((2, 1, 1), curvature), np.ones((2, 1)), 1) for curvature in (1.0, 3.0))
    case = CertifiedCase(first, None, 5)
    one, other = (case.on(Uniform(2, m)) for m in (1, 2))
    assert one.known is other.known
    assert one.fact("tau_max") != other.fact("tau_max")
    assert dataclasses.replace(one, problem=second).fact("L").value == pytest.approx(3.0)
