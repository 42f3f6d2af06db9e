"""What is proved and what is printed: a step that examines less than its printed line is never called proved."""

import dataclasses
import importlib
import re
from pathlib import Path

import numpy as np
import pytest
import sympy as sp

import ratecheck as rc
from bounds.errors import InputError
from bounds.ledger.reading import assumed, read, special
from bounds.ledger.step import Enumerated, Scalar, Scope, Step, StepKind
from bounds.ledger.vectors import factors
from bounds.papers.simfbo.proofs import forms
from ratecheck.auditing import ledger
from ratecheck.auditing.errata import errata
from ratecheck.auditing.export.conclusions import ProofStanding, conclude
from ratecheck.auditing.finding import StepResult, StepVerdict, examine_step
from ratecheck.auditing.graph import Grade, _graded
from ratecheck.plain import plain
from ratecheck.plain import read as result_of
from ratecheck.views.proofs.audit import counts_text, ledger_text, step_text
from ratecheck.views.review.data import counts

PAGE = Path(__file__).parents[2] / "docs" / "own.md"
STATEMENTS = re.search(r"^cat > whole\.py <<'END'\n(.*?)^END$", PAGE.read_text(), re.MULTILINE | re.DOTALL)[1]
PAPERS = ("pfl", "fedsum", "flame", "simfbo")
x, y = sp.symbols("x y", positive=True)
TRUE = Scalar(left=2 * x * y, operator="<=", right=x**2 + y**2)
WRONG = Scalar(left=3 * x * y, operator="<=", right=x**2 + y**2)
STEP = Step(id="mine/a-1", location="line 1", claim="2 <u, v> <= |u|^2 + |v|^2", of="mine/a", check=TRUE)
NARROW = dataclasses.replace(STEP, scope=Scope.SPECIAL_CASE, narrower="one dimension")


def test_a_special_case_is_not_a_proof():
    """The same certificate, of a narrower claim: CHECKED, not certified, and in words what is special."""
    whole, narrow = examine_step(STEP), examine_step(NARROW)
    assert (whole.verdict, whole.certified, whole.label) == (StepVerdict.PROVED, True, "PROVED")
    assert (narrow.verdict, narrow.basis, narrow.certified) == (StepVerdict.CHECKED, "certificate", False)
    assert "CHECKED IN A SPECIAL CASE: one dimension" in step_text(narrow, conclude([narrow], [])["mine/a"], None)
    assert result_of(StepResult, plain(narrow)) == narrow


@pytest.mark.parametrize("scope", Scope)
def test_every_scope(scope):
    """As printed and stronger are proofs of the line, the others are not; only these say what is narrower."""
    narrower = "" if scope in (Scope.AS_PRINTED, Scope.STRONGER) else "m = 1"
    found = examine_step(dataclasses.replace(STEP, scope=scope, narrower=narrower))
    assert (found.verdict is StepVerdict.PROVED) == (not narrower)
    with pytest.raises(InputError, match="narrower is"):
        dataclasses.replace(STEP, scope=scope, narrower="" if narrower else "m = 1")


def test_a_refuted_claim():
    """An instance of a special case refutes the printed line; more than the line refuted says nothing of it."""
    wrong = dataclasses.replace(NARROW, check=WRONG)
    assert examine_step(wrong).verdict is StepVerdict.FALSE
    stronger = examine_step(dataclasses.replace(STEP, check=WRONG, scope=Scope.STRONGER))
    assert stronger.verdict is StepVerdict.UNKNOWN
    assert stronger.evidence.startswith("more than the printed claim is refuted")


def test_a_repaired_form_in_a_special_case():
    """Is CHECKED as well, and the erratum says of what."""
    found = examine_step(dataclasses.replace(NARROW, check=WRONG, repaired=TRUE, repair="2 for 3"))
    assert (found.verdict, found.repaired) == (StepVerdict.FALSE, "CHECKED")
    text = ledger_text([found], conclude([found], []), errata([found], conclude([found], [])))
    assert "2 for 3 (CHECKED IN A SPECIAL CASE: one dimension)" in text


def test_everything_after_it_says_so():
    """Conclusion, graph, counts and the table: nothing downstream calls it proved."""
    found = [examine_step(NARROW), examine_step(dataclasses.replace(STEP, id="mine/a-2"))]
    conclusion = conclude(found, [])["mine/a"]
    assert conclusion.standing is ProofStanding.CHECKED
    assert conclusion.reasons == ("1 of its 2 steps checked in a special case (one dimension)",)
    node = _graded(found, repaired=False)
    assert (node.own, node.steps) == (Grade.CHECKED, ("mine/a-1",))
    assert "special case" in node.tally
    assert "one dimension" in node.why
    more = dataclasses.replace(NARROW, scope=Scope.MORE_ASSUMED)
    assert _graded([examine_step(more)], repaired=False).own is Grade.ASSUMED
    assert (counts(found)["certified"], counts(found)["special"], counts(found)["instances"]) == (1, 1, 0)
    assert "1 PROVED, 1 CHECKED IN A SPECIAL CASE; 1 certified" in counts_text(found)


def test_of_one_s_own(tmp_path, cli):
    """A ledger of one's own says it in the same two fields, and what does not fit is refused in one line."""
    more = (
        "from bounds.ledger.step import Scalar, Scope, Step\n"
        'x = sp.Symbol("x", positive=True)\n'
        'A = Step(id="a", location="line 1", claim="2x <= x^2 + 1", of="descent", scope=Scope.MORE_ASSUMED,\n'
        '    check=Scalar(left=2 * x, operator="<=", right=x**2 + 1){})\nSTEPS = (A,)\n'
    )
    path = tmp_path / "mine.py"
    path.write_text(STATEMENTS + more.format(', narrower="x > 0"'))
    done = cli("audit", path, "--workers", "1")
    assert done.returncode == 0, done.stderr
    assert re.search("CHECKED IN A SPECIAL CASE +x > 0", done.stdout)
    assert "not refuted as printed: 1 of its 1 steps checked in a special case (x > 0)" in done.stdout
    path.write_text(STATEMENTS + more.format(""))
    refused = cli("audit", path, "--workers", "1")
    assert refused.returncode == 2
    assert "say in a few words what is special or assumed" in refused.stderr


def test_readings_are_of_steps():
    """A reading of a step that is not there, or a second one of the same step, is an error of the ledger."""
    (found,) = read([STEP], [special("one dimension", "mine/a-1")])
    assert found == NARROW
    with pytest.raises(ValueError, match="readings of no step: mine/a-2"):
        read([STEP], [assumed("m = 1", "mine/a-2")])
    with pytest.raises(ValueError, match="two readings"):
        read([STEP], [special("one dimension", "mine/a-1"), assumed("m = 1", "mine/a-1")])


# The papers.


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("flame/proposition-1-5", "f convex where weakly convex is printed"),
        ("flame/proposition-1-6", "a convex quadratic"),
        ("flame/lemma-1-5", "one gradient step"),
    ],
)
def test_proved_is_about_the_printed_line(name, said):
    """What the ledger has of these lines is narrower: they are not proved, nor is what rests on them as printed."""
    found = rc.audit(step=name, workers=1)
    (step,) = found.steps
    assert step.verdict is StepVerdict.CHECKED
    assert not step.certified
    assert said in step.narrower
    assert "CHECKED IN A SPECIAL CASE: " in str(found)
    assert found.to_dict()["steps"][0]["scope"] == step.scope.value


def test_a_statement_with_a_special_case_does_not_hold_as_printed():
    """Proposition 1 of FLAME: for weakly convex f, F'' = -3 at f = -x^2/2 with lambda = 3/2."""
    conclusion = rc.audit("flame/proposition-1", workers=1).conclusions["flame/proposition-1"]
    assert "holds" not in conclusion.text
    w, lambda_, theta = sp.Symbol("w"), sp.Rational(3, 2), sp.Symbol("theta")
    inner = -(theta**2) / 2 + lambda_ / 2 * (w - theta) ** 2
    (least,) = sp.solve(sp.diff(inner, theta), theta)
    assert sp.diff(inner.subs(theta, least), w, 2) == -3


def _values(check, named):
    """Both sides of a claim and of its hypotheses for given vectors and numbers."""

    def at(expr):
        known = {}
        for symbol in sp.sympify(expr).free_symbols:
            pair = factors(symbol)
            known[symbol] = named[symbol.name] if pair is None else float(named[pair[0]] @ named[pair[1]])
        return float(sp.sympify(expr).xreplace({s: sp.Float(v, 30) for s, v in known.items()}))

    return [(at(each.left), at(each.right)) for each in (check, *check.hypotheses)]


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_claims_about_matrices_hold_for_matrices(dimension):
    """Lemmas 2 to 4 of SimFBO: with random symmetric matrices the vectors of the forms are what they are called."""
    rng = np.random.default_rng(dimension)

    def symmetric():
        half = rng.normal(size=(dimension, dimension))
        return half @ half.T + np.eye(dimension)

    G, H = symmetric(), symmetric()
    v, other, F, probe, z = rng.normal(size=(5, dimension))
    u = np.linalg.solve(H, z)
    cases = (
        (forms.local_step(), {"v": v, "Gv": G @ v, "F_y": F, "probe": probe, "Gprobe": G @ probe, "eta_v*a": 0.3}),
        (
            forms.slope_of_system(),
            {"v_1": v, "v_2": other, "Gv_1": G @ v, "Gv_2": G @ other, "F_y": F, "probe": probe, "Gprobe": G @ probe},
        ),
        (
            forms.inverses(),
            {"z": z, "G1^-1*z": np.linalg.solve(G, z), "u": u, "G1*u": G @ u, "q": probe, "G1*q": G @ probe},
        ),
    )
    for check, named in cases:
        for left, right in _values(check, named):
            assert left == pytest.approx(right)
    # What the form of the inverses says of them: the two matrices whose norms Lemma 4 compares differ in sign alone.
    difference = np.linalg.inv(G) - np.linalg.inv(H)
    assert np.allclose(difference, -np.linalg.inv(G) @ (G - H) @ np.linalg.inv(H))


@pytest.mark.parametrize("total", [True, False])
def test_derivatives_of_v_star(total):
    """(14) and (16) of SimFBO in two dimensions, against differences of v* = G_yy^-1 F_y for cubics."""
    rng = np.random.default_rng(4)
    third, mixed = rng.normal(size=(2, 2, 2)) / 9, rng.normal(size=(2, 2)) / 9
    third = sum(
        np.transpose(third, order) for order in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))
    )
    mixed = mixed + mixed.T
    slope, f, fx, fyy = *rng.normal(size=(3, 2)), rng.normal(size=(2, 2))
    fyy = fyy + fyy.T

    def hessian(s, at):
        return 3 * np.eye(2) + s * mixed + third @ at

    def gradient(s, at):
        return f + s * fx + fyy @ at

    def v(s, at):
        return np.linalg.solve(hessian(s, at), gradient(s, at))

    # The curve y*(x) = slope*x through 0, or y kept at 0; x has one dimension, dx = 1.
    h, move = 1e-5, slope if total else np.zeros(2)
    dv = (v(h, h * move) - v(-h, -h * move)) / (2 * h)
    at = v(0, np.zeros(2))
    named = {
        "G_yy*dv": hessian(0, np.zeros(2)) @ dv, "G_yyx*v": mixed @ at, "G_yyy*dy*v": (third @ move) @ at,
        "dG_yy*v": (mixed + third @ move) @ at, "F_yx*dx": fx, "F_yy*dy": fyy @ move, "dF_y": fx + fyy @ move,
        "probe": rng.normal(size=2),
    }  # fmt: skip
    for left, right in _values(forms.total_derivative() if total else forms.partial_derivative(), named):
        assert left == pytest.approx(right, abs=1e-8)


@pytest.mark.parametrize("name", PAPERS)
def test_no_proved_claim_is_its_own_hypothesis(name):
    """The two sides of a claim for all values are not those of one of its hypotheses, but for citations."""
    for step in importlib.import_module(f"bounds.papers.{name}.proofs").STEPS:
        check = step.check.algebraic if isinstance(step.check, Enumerated) else step.check
        if check is None or step.repaired or not step.scope.covers or step.kind is StepKind.STANDARD:
            continue
        claim = sp.expand(check.left - check.right)
        given = [(h.name, sp.expand(h.left - h.right)) for h in getattr(check, "hypotheses", ())]
        same = [name for name, known in given if 0 in (sp.expand(known - claim), sp.expand(known + claim))]
        assert not same or step.id in CITED, (step.id, same)


# Definitions, a condition of the statement, and expectations over the sample, whose probabilities cancel in expansions.
CITED = {
    "pfl/lemma-3.6-1",
    "fedsum/lemma-b.2-2",
    "fedsum/lemma-b.2-3",
    "flame/lemma-3-5",
    "flame/theorem-2-unbiased-24",
    "simfbo/lemma-7-2",
    "simfbo/lemma-10-12",
    "simfbo/lemma-10-20",
}


def test_every_step_says_what_it_covers():
    """In JSON: the scope and what is narrower, which is empty just where the line is covered."""
    for paper in PAPERS:
        for step in ledger.load(ledger.module_of(paper)):
            assert step.scope.covers == (not step.narrower)
