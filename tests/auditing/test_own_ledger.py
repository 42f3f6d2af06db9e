"""A user's own ledger, in the file with the statements: examined as the ledgers of papers are, or refused in a line."""

import json
import pickle
import re
import subprocess
import sys
from pathlib import Path

import pytest

import bounds
import ratecheck as rc
from bounds.ledger import fault, steps
from bounds.ledger.own import OwnLedger, StepError
from ratecheck import recheck
from ratecheck.auditing import cache_key, finding, ledger, selection
from ratecheck.errors import InputError

PAGE = Path(__file__).parents[2] / "docs" / "own.md"
STATEMENTS = re.search(r"^cat > whole\.py <<'END'\n(.*?)^END$", PAGE.read_text(), re.MULTILINE | re.DOTALL)[1]
LEDGER = re.search(r"^cat >> whole\.py <<'END'\n(.*?)^END$", PAGE.read_text(), re.MULTILINE | re.DOTALL)[1]

# A ledger of one or two steps, quick to examine.
SMALL = (
    STATEMENTS
    + """
import dataclasses
from fractions import Fraction
from pathlib import Path
from bounds.ledger.draw import mean, subsets
from bounds.ledger.fault import Fault, FaultKind
from bounds.ledger.step import Draws, Enumerated, Gram, Identity, Matrices, Scalar, Step, StepKind, below, positive
from bounds.ledger.vectors import dot, square, vectors

x, y = sp.symbols("x y", positive=True)
u, v = vectors("u v")
second = dataclasses.replace(descent, key="mine/second", follows_from=("descent",))

def helper(values):
    return sum(values)

def sides(draw, **constants):
    values = [draw.rational(0, 3) for _ in range(4)]
    return helper(values) ** 2, constants.get("clients", 4) * sum(value**2 for value in values)

SCALAR = Scalar(left=2 * x * y, operator="<=", right=x**2 + y**2)
FAMILY = Enumerated(kind=StepKind.EXPECTATION, sides=sides, operator="<=", instances=Draws(count=20))
NOT_EQUAL = dataclasses.replace(below(x, y), operator="!=")
A = Step(id="a", location="line 1", claim="AM-GM", of="descent", check=SCALAR)
B = Step(id="b", location="line 2", claim="Jensen", of="second", check=FAMILY)
"""
)


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """Writes a file mine.py with the small ledger and more at its end; the cache is empty at first."""
    monkeypatch.setenv("RATECHECK_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)

    def write(more="STEPS = (A, B)", text=SMALL):
        (tmp_path / "mine.py").write_text(f"{text}\n{more}\n")
        return "mine.py"

    return write


def audited(address="mine.py", **options):
    """The verdicts on a file by step."""
    return {step.id: step.verdict.value for step in rc.audit(address, workers=1, **options).steps}


# What is found.


def test_the_page_s_ledger(mine, cli, tmp_path):
    """The descent lemma, telescoping and the step size are certified, the theorem is checked on its runs."""
    mine(LEDGER, STATEMENTS)
    done = cli("audit", "mine.py", "--certificates", "proofs.json", "--workers", "1", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [(step["kind"], step["verdict"], step["basis"]) for step in found["steps"]] == [
        ("gram", "PROVED", "certificate"),
        ("identity", "PROVED", "certificate"),
        ("scalar", "PROVED", "certificate"),
        ("end-to-end", "CHECKED", "instances"),
    ]
    assert {step["paper"] for step in found["steps"]} == {"mine.py"}
    (conclusion,) = found["conclusions"]
    assert (conclusion["key"], conclusion["standing"]) == ("mine/descent", "not refuted as printed")
    # The stand-alone checker believes the proofs, and none of them with a number changed.
    script = [sys.executable, recheck.__file__, "proofs.json"]
    assert subprocess.run(script, check=False, capture_output=True).returncode == 0
    data = json.loads((tmp_path / "proofs.json").read_text())
    assert [each["id"] for each in data["steps"]] == ["mine/descent-1", "mine/descent-2", "mine/descent-3"]
    for each in data["steps"]:
        changed = json.loads(json.dumps(each))
        changed["left"] = ["+", changed["left"], "1"]
        changed["digest"] = recheck.digest(changed)
        Path("changed.json").write_text(json.dumps({**data, "steps": [changed]}))
        done = subprocess.run([*script[:2], "changed.json"], check=False, capture_output=True)
        assert done.returncode == 1, each["id"]


@pytest.mark.parametrize(
    ("right", "wrong", "step"),
    [
        ("f - gamma_u / 2 * square(g)", "f - gamma_u * square(g)", "mine/descent-1"),
        ("right=f_0 - f_3", "right=f_0 - f_2", "mine/descent-2"),
        ("below(gamma_u / 2 * total, f_0 - f)", "below(gamma_u / 3 * total, f_0 - f)", "mine/descent-3"),
        ('constants={"factor": 2}', 'constants={"factor": 1}', "mine/descent-4"),
    ],
)
def test_an_error_in_any_line_is_found(mine, cli, right, wrong, step):
    """A step of each kind, and the exit code says so; a false theorem is called that."""
    assert LEDGER.count(right) == 1
    mine(LEDGER.replace(right, wrong), STATEMENTS)
    done = cli("audit", "mine.py", "--step", step, "--json")
    assert done.returncode == 1, done.stderr
    (found,) = json.loads(done.stdout)["steps"]
    assert found["verdict"] == "FALSE"
    assert ("false as printed" in found["conclusion"]) == (step == "mine/descent-4")


def test_a_statement_with_what_it_follows_from(mine):
    """By name or key; of a file with two statements the steps of the one, or of both."""
    mine()
    assert audited() == {"a": "PROVED", "b": "CHECKED"}
    assert audited("mine.py:descent") == {"a": "PROVED"}
    found = rc.audit("mine.py:second", workers=1)
    assert [step.id for step in found.steps] == ["a", "b"]
    assert found.conclusions["mine/second"].text.startswith("not refuted as printed: 1 of its 1 steps checked")
    text = "holds as printed: if the step is all of its proof"
    assert rc.audit("mine.py:descent").conclusions["mine/descent"].text == text
    mine("STEPS = [dataclasses.replace(A, of='mine/second')]")
    assert "rests on mine/descent, of which no step" in rc.audit("mine.py").conclusions["mine/second"].text


def test_a_premise_in_the_catalogue(mine):
    """Its ledger is examined as for a statement of the catalogue, and decides with it; `mutate` is about the file."""
    key = "fedsum/corollary-e.3"
    mine(f"first = dataclasses.replace(descent, follows_from=({key!r},))\ndescent = first\nSTEPS = (A,)")
    chosen = selection.of_file("mine.py:descent")
    (module,) = chosen.premises
    wanted = [step.id for step in steps(key.partition("/")[0]) if step.of == key]
    assert set(wanted) <= set(chosen.premises[module])
    found = rc.audit("mine.py:descent", workers=1)
    assert [step.id for step in found.steps] == ["a", *chosen.premises[module]]
    assert found.steps[1:] == rc.audit(key, workers=1).steps
    assert [step.paper for step in found.steps][:2] == ["mine.py", key.partition("/")[0]]
    assert [each.steps for each in rc.audit("mine.py", mutate=True, workers=1).summaries] == [1]


def test_what_cannot_be_shown_is_not_proved(mine, cli):
    """Contradicting hypotheses, instances that are all passed over, and a division by zero: as of papers."""
    mine(
        "void = dataclasses.replace(SCALAR, hypotheses=(below(x, y), below(y + 1, x)))\n"
        "none = dataclasses.replace(FAMILY, sides=lambda draw: None)\n"
        "zero = dataclasses.replace(FAMILY, sides=lambda draw: (1 / Fraction(draw.index), 1))\n"
        "STEPS = tuple(dataclasses.replace(A, id=f's{k}', check=check) for k, check in enumerate((void, none, zero)))"
    )
    found = rc.audit("mine.py", workers=1)
    assert {step.verdict.value for step in found.steps} == {"UNKNOWN"}
    assert [step.vacuous for step in found.steps] == [True, True, False]
    assert found.steps[2].evidence == "division by zero on draw 0"
    assert found.conclusions["mine/descent"].standing.value == "undecided"
    # Nothing is refuted, and nothing is shown.
    assert cli("audit", "mine.py", "--workers", "1").returncode == 3


def test_an_expectation_that_is_enumerated(mine):
    """The variance of a sampled mean of m of n values, (n - m)/(m*(n - 1)) of theirs; with n for n - 1 it is false."""
    sampled = """
def sampled(draw, extra):
    n = draw.whole(2, 5)
    m, values = draw.whole(1, n), [draw.rational() for _ in range(n)]
    center = mean(values)
    left = mean((mean(values[i] for i in chosen) - center) ** 2 for chosen in subsets(n, m))
    return left, Fraction(n - m, m * (n - extra)) * mean((value - center) ** 2 for value in values)

check = Enumerated(
    kind=StepKind.EXPECTATION, sides=sampled, operator="==", instances=Draws(count=30), constants={"extra": 1}
)
STEPS = (dataclasses.replace(A, check=check),)
"""
    mine(sampled)
    assert audited() == {"a": "CHECKED"}
    mine(sampled.replace('"extra": 1', '"extra": 0'))
    assert audited() == {"a": "FALSE"}


def test_participation_matrices(mine):
    """A counting step: the mean delay is at most the largest one, and in some traces equal to it."""
    more = """
def delays(trace):
    return trace.tau_avg, trace.tau_max

small = Matrices(clients=(1, 2), rounds=(1, 2))
check = Enumerated(kind=StepKind.COUNTING, sides=delays, operator="OP", instances=small)
STEPS = (dataclasses.replace(A, check=check),)
"""
    mine(more.replace("OP", "<="))
    assert audited() == {"a": "CHECKED"}
    mine(more.replace("OP", "<"))
    assert audited() == {"a": "FALSE"}


def test_one_step_in_detail(mine, cli):
    """With the power of its instances, and the words that examine all of its statement."""
    mine("STEPS = (A, dataclasses.replace(B, check=dataclasses.replace(FAMILY, constants={'clients': 4})))")
    done = cli("audit", "mine.py", "--step", "b")
    assert done.returncode == 0
    assert "power" in done.stdout
    assert "'ratecheck audit mine.py:second' examines all of its proof" in done.stdout


def test_mutants(mine):
    """A changed number that makes no sense to a function is no error; what is refuted is counted under the file."""
    table = "{4: 4}"
    mine(
        f"whole = lambda draw, clients: (sides(draw)[0], {table}[int(clients)] * sides(draw.again())[1] / 4)\n"
        "STEPS = (A, dataclasses.replace(B, check=dataclasses.replace(FAMILY, sides=whole, constants={'clients': 4})))"
    )
    assert audited() == {"a": "PROVED", "b": "CHECKED"}
    (summary,) = rc.audit("mine.py", mutate=True, workers=1).summaries
    assert (summary.name, summary.steps) == ("mine.py", 2)
    assert summary.algebra.refuted


def test_faults(mine):
    """A misprint whose repaired form is proved is a TYPO; errata have what is filed."""
    typo = "dataclasses.replace(A, check=dataclasses.replace(SCALAR, right=x**2), repaired=SCALAR, repair='+ y^2')"
    filed = "FAULTS = (Fault(steps=('a',), kind=FaultKind.{}, wrong='y^2 is lost', meant='', changes=('descent',)),)"
    mine(f"STEPS = ({typo},)")
    found = rc.audit("mine.py")
    assert found.steps[0].verdict.value == "FALSE"
    assert found.errata[0].fault is None
    mine(f"STEPS = ({typo},)\n{filed.format('MISPRINT')}")
    found = rc.audit("mine.py")
    assert found.steps[0].verdict.value == "TYPO"
    assert found.errata[0].consequence == "changes mine/descent"
    assert found.errata[0].fault.wrong == "y^2 is lost"


def test_a_catalogue_s_fault_is_not_the_file_s(mine):
    """A step that bears the id of a refuted one of a paper."""
    borrowed = fault.faults("pfl")[0].id
    mine(f"STEPS = (dataclasses.replace(A, id={borrowed!r}, check=dataclasses.replace(SCALAR, right=x**2)),)")
    (found,) = rc.audit("mine.py").steps
    assert (found.verdict.value, found.fault) == ("FALSE", None)


# What is kept.


def worked_on(monkeypatch):
    """The ids of the steps that are really examined."""
    seen = []
    real = finding.examine_step

    def examined(step, **options):
        seen.append(step.id)
        return real(step, **options)

    monkeypatch.setattr(finding, "examine_step", examined)
    return seen


def test_formulas_are_kept_and_functions_are_not(mine, monkeypatch):
    """Whatever else changes in the file a claim in formulas is known; a changed one is not."""
    seen = worked_on(monkeypatch)
    mine()
    first = audited()
    assert seen == ["a", "b"]
    assert audited() == first
    assert seen == ["a", "b", "b"]
    mine("STEPS = (A, B)", SMALL.replace("right=x**2 + y**2", "right=x**2 + y**2 / 2"))
    assert audited()["a"] == "FALSE"
    assert seen[3:] == ["a", "b"]


@pytest.mark.parametrize("where", ["a function", "a global", "a data file"])
def test_an_edit_behind_a_function_changes_the_verdict(mine, tmp_path, where):
    """No verdict is kept that another content would not have."""
    scale = {"a function": "int(1)", "a global": "SCALE", "a data file": "int(Path('scale').read_text())"}[where]
    text = SMALL.replace("return sum(values)", f"return {scale} * sum(values)")
    (tmp_path / "scale").write_text("1")
    mine("SCALE = 1\nSTEPS = (B,)", text)
    assert audited() == {"b": "CHECKED"}
    (tmp_path / "scale").write_text("2")
    mine(f"SCALE = {2 if where == 'a global' else 1}\nSTEPS = (B,)", text.replace("int(1)", "int(2)"))
    assert audited() == {"b": "FALSE"}


def test_what_a_file_reads_as_it_runs_is_read_again(mine, tmp_path):
    """In one process, with the same content of the file."""
    mine(
        "right = sp.Rational(Path('factor').read_text()) * SCALAR.right\n"
        "STEPS = (dataclasses.replace(A, check=dataclasses.replace(SCALAR, right=right)),)"
    )
    (tmp_path / "factor").write_text("1")
    assert audited() == {"a": "PROVED"}
    (tmp_path / "factor").write_text("1/2")
    assert audited() == {"a": "FALSE"}


def test_formulas_with_a_class_of_the_file_are_not_kept(mine):
    """What such a class does is not in its name."""
    mine(
        "class phi(sp.Function):\n    pass\n"
        "STEPS = (A, dataclasses.replace(A, id='c', check=Identity(left=phi(x), right=phi(x))), B)"
    )
    plain, other, function = OwnLedger.read("mine.py").steps
    assert [cache_key.formulas_alone(step) for step in (plain, other, function)] == [True, False, False]


def test_other_processes_run_what_was_read(mine, tmp_path):
    """They agree with this one, and need no file: it travels."""
    mine()
    own = OwnLedger.read("mine.py")
    alone = rc.audit("mine.py", workers=1).steps
    for file in (tmp_path / "cache").rglob("*.json"):
        file.unlink()
    assert [(s.id, s.evidence) for s in rc.audit("mine.py", workers=2).steps] == [(s.id, s.evidence) for s in alone]
    (tmp_path / "mine.py").unlink()
    fields, lasting = ledger.work_on("findings", pickle.loads(pickle.dumps(own)), 1, None)  # noqa: S301  # its own
    assert (fields["verdict"], lasting) == ("CHECKED", False)


def test_a_machine_without_what_the_file_reads_is_named(mine, tmp_path):
    """One line that says where the file did not run."""
    (tmp_path / "factor").write_text("1")
    mine("factor = int(Path('factor').read_text())\nSTEPS = (A,)")
    own = pickle.dumps(OwnLedger.read("mine.py"))
    (tmp_path / "factor").unlink()
    (tmp_path / "mine.py").unlink()
    with pytest.raises(InputError, match=r"FileNotFoundError: .*; this was on .*, which has no .*mine\.py$"):
        ledger.work_on("findings", pickle.loads(own), 0, None)  # noqa: S301  # its own


# What is refused.

WRONG = {
    "does not run": ("STEPS = (1 / 0,)", r"mine.py does not run: line \d+, ZeroDivisionError"),
    "a field is left out": ("STEPS = (Step(id='a'),)", r"does not run: line \d+, TypeError: .*'location'"),
    "no steps": ("", "mine.py has no ledger of its proof: assign STEPS"),
    "empty": ("STEPS = ()", "STEPS is empty"),
    "a comma is missing": ("STEPS = (A)", r"STEPS is one Step: write STEPS = \(Step"),
    "a number": ("STEPS = 3", "STEPS is 3"),
    "no step in it": ("STEPS = (A, 'b')", r"STEPS\[1\] is 'b', no Step"),
    "an id twice": ("STEPS = (A, A)", "step 'a': another step has this id"),
    "an id with a space": ("STEPS = (dataclasses.replace(A, id='a b'),)", r"STEPS\[0\] has the id 'a b'"),
    "an id that is no text": ("STEPS = (dataclasses.replace(A, id=3),)", r"STEPS\[0\] has the id 3"),
    "a location that is no text": ("STEPS = (dataclasses.replace(A, location=3),)", "location of the step is 3"),
    "a check of no kind": ("STEPS = (dataclasses.replace(A, check=3),)", "check of the step is 3, not Identity or"),
    "of what": ("STEPS = (dataclasses.replace(A, of='descant'),)", "of is 'descant', no statement .* 'descent'"),
    "an operator": (
        "STEPS = (dataclasses.replace(A, check=dataclasses.replace(SCALAR, operator='=<')),)",
        r"line \d+, step 'a': operator of check is '=<'; known: <=, >=, ==, <, >$",
    ),
    "a strict gram": (
        "STEPS = (dataclasses.replace(A, check=Gram(left=square(u), operator='<', right=square(v))),)",
        "operator of check is '<'; known: <=, >=, ==$",
    ),
    "an operator of a hypothesis": (
        "STEPS = (dataclasses.replace(A, check=dataclasses.replace(SCALAR, hypotheses=(NOT_EQUAL,))),)",
        r"operator of hypotheses\[0\] of check is '!='",
    ),
    "hypotheses without a comma": (
        "STEPS = (dataclasses.replace(A, check=dataclasses.replace(SCALAR, hypotheses=(below(x, y)))),)",
        "hypotheses of the check is Condition.* not of the kind tuple",
    ),
    "no expression": (
        "STEPS = (dataclasses.replace(A, repaired=dataclasses.replace(SCALAR, right='one')),)",
        r"right of repaired is 'one', no SymPy expression: write sympy.sympify",
    ),
    "a relation": (
        "STEPS = (dataclasses.replace(A, check=dataclasses.replace(SCALAR, right=x <= y)),)",
        "right of check is .*, no SymPy expression",
    ),
    "a vector": ("STEPS = (dataclasses.replace(A, check=Identity(left=u, right=x)),)", "left of check is a vector"),
    "a decimal": ("STEPS = (dataclasses.replace(A, check=Identity(left=0.5 * x, right=x)),)", "the decimal 0.5"),
    "not finite": ("STEPS = (dataclasses.replace(A, check=Identity(left=sp.oo * x, right=x)),)", "not finite"),
    "vectors in a scalar": (
        "STEPS = (dataclasses.replace(A, check=dataclasses.replace(SCALAR, left=dot(u, v), right=square(u))),)",
        "a claim about vectors is a Gram",
    ),
    "two symbols of a name": (
        "STEPS = (dataclasses.replace(A, check=dataclasses.replace(SCALAR, left=2 * sp.Symbol('x') * y)),)",
        "check has two symbols 'x', of which one is .*positive.*: take one",
    ),
    "sides that are no function": (
        "STEPS = (dataclasses.replace(B, check=dataclasses.replace(FAMILY, sides=3)),)", "sides of the check is 3"
    ),
    "no draws": (
        "STEPS = (dataclasses.replace(B, check=dataclasses.replace(FAMILY, instances=Draws(count=0))),)",
        "give at least 1",
    ),
    "no clients": (
        "STEPS = (dataclasses.replace(B, check=dataclasses.replace(FAMILY, instances=Matrices(clients=(0,)))),)",
        r"clients of instances of check is \(0,\)",
    ),
    "a constant that is a float": (
        "STEPS = (dataclasses.replace(B, check=dataclasses.replace(FAMILY, constants={'c': 0.5})),)",
        r"constant 'c' of check is 0.5, no exact number: give a whole number, Fraction",
    ),
    "one key twice": ("third = dataclasses.replace(descent)\nSTEPS = (A,)", "descent and third have the key"),
    "a circle": (
        "descent = dataclasses.replace(descent, follows_from=('second',))\nSTEPS = (A,)",
        "follows_from goes in a circle",
    ),
    "a fault of no step": (
        "STEPS = (A,)\nFAULTS = (Fault(steps=('z',), kind=FaultKind.MISPRINT, wrong='', meant=''),)",
        r"FAULTS\[0\] explains 'z', no step of the file; known: a",
    ),
    "a fault of no kind": (
        "STEPS = (A,)\nFAULTS = (Fault(steps=('a',), kind='typo', wrong='', meant=''),)",
        r"FAULTS\[0\]: kind of the fault is 'typo'",
    ),
    "faults that are none": ("STEPS = (A,)\nFAULTS = ('a',)", r"FAULTS\[0\] is 'a', no Fault"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_examined_is_said_in_a_line(mine, cli, name):
    """With the file, and the field; exit code 2."""
    more, message = WRONG[name]
    mine(more)
    done = cli("audit", "mine.py")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert re.search(message, done.stderr.strip()), done.stderr


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ("{}['c']", r"draw 0: raised line \d+, KeyError: 'c'"),
        ("exit(3)", r"raised line \d+, SystemExit: 3"),
        ("(_ for _ in ()).throw(ValueError('two\\nlines'))", "ValueError: two lines"),
        ("no_name", "NameError"),
        ("(1, 2, 3)", r"returned \[1, 2, 3\]: return \(left, right\)"),
        ("[(1, 2), 3]", r"return \(left, right\)"),
        ("True", "returned True: return"),
        ("'ab'", "returned 'ab': return"),
        ("(0.5, 1)", "returned 0.5 as the left side, no exact number"),
        ("(1, float('nan'))", "returned nan as the right side"),
        ("(sp.nan, 1)", "returned nan as the left side, no real number"),
        ("(x, 1)", "returned x as the left side, an expression in x"),
        ("(sp.Float(1), 1)", "a decimal"),
        ("(None, 1)", "returned None as the left side"),
    ],
)
def test_a_function_that_fails(mine, cli, returned, message):
    """Says which step, which instance, and what was returned or raised."""
    mine(f"STEPS = (A, dataclasses.replace(B, check=dataclasses.replace(FAMILY, sides=lambda draw: {returned})))")
    done = cli("audit", "mine.py", "--workers", "1")
    assert done.returncode == 2, done.stdout
    assert done.stderr.count("\n") == 1
    assert "step 'b': sides of check, draw 0: " in done.stderr
    assert re.search(message, done.stderr), done.stderr


def test_a_function_that_fails_in_another_process(mine, cli):
    """Says the same, and so it does where changed numbers are tried."""
    mine("STEPS = (A, dataclasses.replace(B, check=dataclasses.replace(FAMILY, sides=lambda draw: {}['c'])))")
    said = [cli("audit", "mine.py", "--workers", *words) for words in (("1",), ("2",), ("1", "--mutate"))]
    assert [done.returncode for done in said] == [2, 2, 2]
    assert len({done.stderr for done in said}) == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("mine.py", "--step", "z"), "no step 'z' in the ledger of mine.py; known: a, b"),
        (("mine.py:descent", "--step", "b"), "no step 'b' in the ledger of mine.py:descent"),
        (("mine.py:descnt",), "no statement 'descnt' in mine.py"),
        (("other.py",), "no file 'other.py'"),
        (("mine.py", "--mutate", "--certificates", "a.json"), "give one of the two"),
        (("mine.py", "--certificates", "."), "."),
    ],
)
def test_what_is_asked_wrongly(mine, cli, words, message):
    """One line, before anything is examined."""
    mine()
    done = cli("audit", *words)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert message in done.stderr


def test_a_statement_without_steps(mine):
    """Says which have some."""
    mine("STEPS = (A,)")
    with pytest.raises(InputError, match=r"no step of the ledger is about mine\.py:second; known: descent"):
        rc.audit("mine.py:second")


def test_ids_and_keys_of_the_catalogue(mine):
    """Beside a ledger of the catalogue a step or a statement of the file has to be told from one of that."""
    key = "fedsum/corollary-e.3"
    step = next(step.id for step in steps(key.partition("/")[0]) if step.of == key)
    premise = f"first = dataclasses.replace(descent, key='first', follows_from=({key!r},))\n"
    mine(f"{premise}STEPS = (dataclasses.replace(A, of='first', id={step!r}),)")
    with pytest.raises(InputError, match="the catalogue has a step"):
        rc.audit("mine.py")


def test_a_step_error_is_an_input_error():
    """So that every command says it in a line."""
    assert issubclass(StepError, InputError)
    assert bounds.own.is_own("mine.py")
