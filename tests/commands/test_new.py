"""``ratecheck new theorem``: from an empty folder to the verdict on a theorem, by editing a few lines."""

import difflib
import json
import random

import pytest

import bounds
import ratecheck as rc
from bounds.papers.textbook.pairs import PAIRS
from bounds.statement import number
from ratecheck.algorithms import METHODS
from ratecheck.errors import InputError

# A theorem field by field, as it may be written where a sentence does not do.
FIELDS = """from bounds.theorem import theorem

descent = theorem(
    title="Gradient descent",
    source="My paper, Theorem 1",
    algorithm="fedavg",
    assumptions=["smoothness", "full_participation", "no_personal"],
    left="G_u",
    over="mean_of_rounds",
    right={"gap": "2*F_0/(gamma_u*T)"},
    conditions=["gamma_u <= 1/L"],
    settings={"K": 1, "m": "n", "sigma_u": 0, "eta_u": 1},
    trivial="2*L*F_0",
)
"""
KNOWN = {each.key: each for each in (*bounds.statements("textbook"), *(pair.true for pair in PAIRS))}
# What of the template is edited to have another theorem, and the theorem of the catalogue's textbook that it then is.
EDITED = {
    "textbook/sgd": {
        'title="Gradient descent"': 'title="SGD"',
        '["smoothness", "full': '["smoothness", "noise", "full',
        '{"gap": "2*F_0/(gamma_u*T)"}': '{"gap": "2*F_0/(gamma_u*T)", "noise": "L*gamma_u*sigma_u**2/n"}',
        '"sigma_u": 0, ': "",
    },
    "textbook/local-sgd": {
        'title="Gradient descent"': 'title="Local SGD, clients apart"',
        '["smoothness", "full': '["smoothness", "noise", "dissimilarity", "full',
        '    right={"gap": "2*F_0/(gamma_u*T)"},': """    right={
        "gap": "11/5*F_0/(gamma_u*K*T)",
        "noise": "11/5*L*gamma_u*sigma_u**2/n",
        "drift": "(gamma_u*L*b)**2*(K - 1)*(2*K - 1)/2",
        "walk": "3/2*(gamma_u*L*sigma_u)**2*(K - 1)",
    },""",
        '"gamma_u <= 1/L"': '"gamma_u <= 1/(10*K*L)"',
        '{"K": 1, "m": "n", "sigma_u": 0, "eta_u": 1}': '{"m": "n", "eta_u": 1}',
    },
    "textbook/distance-recursion-short": {
        'title="Gradient descent"': 'title="Distances from one round to the next"',
        '["smoothness", "full': '["smoothness", "noise", "full',
        'left="G_u"': 'left="dist2"',
        '"mean_of_rounds",': '"every_round_but_first",',
        '{"gap": "2*F_0/(gamma_u*T)"}': '"dist2_prev - gamma_u*gap_prev + gamma_u**2*sigma_u**2/n"',
        '"gamma_u <= 1/L"': '"gamma_u <= 1/(2*L)"',
        '"sigma_u": 0, ': "",
        '    trivial="2*L*F_0",': '    vocabulary="textbook",',
    },
    "textbook/scaffold-step": {'algorithm="fedavg"': 'algorithm="scaffold"'},
    "textbook/personal-sgd": {
        'algorithm="fedavg"': 'algorithm="parallel-sgd"',
        '["smoothness", "full': '["smoothness", "noise", "full',
        '"no_personal"]': '"no_shared"]',
        'left="G_u"': 'left="G_v"',
        '{"gap": "2*F_0/(gamma_u*T)"}': '"2*F_0/(gamma_v*T) + L*gamma_v*sigma_v**2"',
        '"gamma_u <= 1/L"': '"gamma_v <= 1/L"',
        '"sigma_u": 0, "eta_u": 1': '"eta_v": 1',
    },
}

# Methods of one's own in front of the template's theorem, what is edited in it, and how many lines they may take.
# Heavy ball with momentum 1/2: z_t = 2 x_t - x_{t-1} makes steps -2 gamma grad f(x_t), so that f(z_t) falls by at least
# gamma ((1 - 2 L gamma) ||grad f(x_t)||^2 - L^2 ||x_t - x_{t-1}||^2), and the ||x_t - x_{t-1}||^2 add up to at most
# 4 gamma^2 times the sum of the squared gradients. With gamma <= 1/(4 L) a quarter of these is left.
LINEAR = """
class HeavyBall(FedAvgP):
    server = {"u": "u", "before": "u"}

    def start_server(self, point, clients, p):
        return {"u": point["u"], "before": point["u"]}

    def aggregate(self, server, total, p):
        pull = (server["u"] - server["before"]) / 2
        return {"u": total["u"] / p["m"] + pull, "before": server["u"]}
"""
# Steps of length gamma: f falls by gamma ||g|| - L gamma^2/2 a round, so the mean of ||g|| is at most
# F_0/(gamma T) + L gamma/2; the least ||g||^2 is at most the square of that.
NORMALISED = """
class Normalised(FedAvgP):
    linear = False

    def step(self, local, gradient, p):
        norm = np.linalg.norm(gradient["u"], axis=-1, keepdims=True)
        return {**local, "u": local["u"] - p["gamma_u"] * gradient["u"] / np.maximum(norm, 1e-300)}
"""
REGISTERED = """
METHODS["own"] = Method("own", "a method of my own", {name}(), {{"gamma_v": 1, "eta_v": 1}}, personal=False)
"""
IMPORTS = """
from ratecheck.algorithms import METHODS, Method
from ratecheck.algorithms.fedavg_p import FedAvgP
"""
METHODS_OF_ONES_OWN = {
    "HeavyBall": (LINEAR, 25, {
        'algorithm="fedavg"': 'algorithm="own"',
        '{"gap": "2*F_0/(gamma_u*T)"}': '"4*F_0/(gamma_u*T)"',
        '"gamma_u <= 1/L"': '"gamma_u <= 1/(4*L)"',
    }),
    "Normalised": (NORMALISED, 30, {
        'algorithm="fedavg"': 'algorithm="own"',
        'over="mean_of_rounds"': 'over="best_round"',
        '{"gap": "2*F_0/(gamma_u*T)"}': '"(F_0/(gamma_u*T) + L*gamma_u/2)**2"',
        '    conditions=["gamma_u <= 1/L"],\n': "",
    }),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _forgotten():
    """Methods of one's own are registered in this process: others' tests look at all that there are."""
    yield
    METHODS.pop("own", None)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def mine(here, cli):
    """The template in it."""
    assert cli("new", "theorem", "mine.py").returncode == 0
    return here / "mine.py"


@pytest.fixture
def fields(here):
    """A theorem field by field in it."""
    (here / "mine.py").write_text(FIELDS)
    return here / "mine.py"


def edited(text, changes):
    """The text with each change made once in what is no comment."""
    for old, new in changes.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


@pytest.mark.usefixtures("mine")
@pytest.mark.parametrize(
    ("command", "arguments", "check"),
    [
        ("show", [], lambda f: f["key"] == "mine/descent" and f["algorithm"] == "gd"),
        # 2*F_0/(gamma*T) by hand, and what smoothness gives.
        ("bound", ["L=2", "F_0=3", "T=100", "gamma=0.5"], lambda f: f["value"] == 0.12 and f["vacuous"] is False),
        ("stepsize", ["L=2", "F_0=3", "T=100"], lambda f: f["admissible"]["gamma"] == [0.0, 0.5]),
        # The best gamma is 1/L, which leaves 2*L*F_0/T <= eps.
        ("rounds", ["L=2", "F_0=3", "eps=0.01"], lambda f: f["rounds"] == 1200),
        ("verify", [], lambda f: f["verdict"] == "HOLDS"),
        ("falsify", ["--evaluations", "8"], lambda f: f["verdict"] == "INCONCLUSIVE"),
        ("compare", ["pfl/fedavg-full", "L=1", "F_0=1", "B_0=1", "sigma_u=0", "n=1", "K=1", "T=100"],
         lambda f: f["values"]["mine/descent"] == 0.02),
        ("plot", ["T=30"], lambda f: f["file"] == "mine-descent.png"),
        ("rates", ["--over", "T"], lambda f: f["cells"]),
    ],
)  # fmt: skip
def test_the_template_is_taken_by_every_command(cli, command, arguments, check):
    """As it is written: exit code 0, and the numbers by hand."""
    done = cli(command, "mine.py:descent", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    assert check(json.loads(done.stdout)), done.stdout


def test_the_template_is_short(mine):
    """At most eight lines, and none that lists methods."""
    assert len(mine.read_text().splitlines()) <= 8


LATEX = r"\frac1T\sum_{t=0}^{T-1} \mathbb{E}\|\nabla f(x_t)\|^2 \le \frac{2(f(x_0)-f^*)}{\gamma T} + L\gamma\sigma^2"


def test_latex_is_shown_as_it_was_understood(here, cli):
    """In the answer and in the file, which holds; what has two meanings is one line, and no file."""
    words = "mean grad2 <= 2*F_0/(gamma*T) + L*gamma*sigma**2"
    done = cli("new", "theorem", "sgd.py", "--latex", LATEX, "--method", "sgd", "--when", r"\gamma \le \frac1L")
    assert (done.returncode, words in done.stdout) == (0, True), done.stderr
    assert words in (here / "sgd.py").read_text()
    assert cli("verify", "sgd.py:descent", "T=30").returncode == 0
    for sentence, part in (
        (r"mean grad2 \le \frac{2 F_0}{K\gamma(n-m)}", r"\gamma(...) may be a product or a call"),
        (r"mean grad2 \le \sigma^2_u", r"write \sigma_u^{2}"),
        ("mean grad2 <= 2*F0/(gamma*T)", "did you mean 'F_0'?"),
        ("grad2 <= 2*F_0/(gamma*T)", "does not say which rounds are meant"),
    ):
        done = cli("new", "theorem", "other.py", "--latex", sentence)
        assert (done.returncode, done.stderr.count("\n"), part in done.stderr) == (2, 1, True), done.stderr
    assert not (here / "other.py").exists()


def test_what_is_printed_is_what_to_do_next(here, cli):
    """The commands that it names are there, and end with exit code 0; the search, which takes long, is left out."""
    done = cli("new", "theorem", "mine.py", "--name", "gd")
    assert done.stdout.startswith("written to mine.py")
    commands = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("  ratecheck ")]
    assert [words[:2] for words in commands] == [
        [verb, "mine.py:gd"] for verb in ("show", "stepsize", "verify", "falsify")
    ]
    for words in commands[:3]:
        assert cli(*words).returncode == 0
    assert "ratecheck verify mine.py:gd" in (here / "mine.py").read_text().splitlines()[0]


def test_a_wrong_one_is_caught(mine, cli):
    """With a fifth of the right side the default problem shows it."""
    mine.write_text(edited(mine.read_text(), {"2*F_0/": "0.4*F_0/"}))
    assert cli("verify", "mine.py:descent", "T=30").returncode == 1


@pytest.mark.parametrize("key", EDITED)
def test_another_theorem_is_a_few_lines_away(fields, cli, key):
    """At most 20 lines of a theorem field by field are edited; it is the textbook's, number by number, and holds."""
    text = fields.read_text()
    fields.write_text(edited(text, EDITED[key]))
    lines = [line for line in difflib.ndiff(text.splitlines(), fields.read_text().splitlines()) if line[0] in "+-"]
    assert 0 < sum(line[0] == "+" for line in lines) <= 20
    assert sum(line[0] == "-" for line in lines) <= 20
    known, found = KNOWN[key], rc.get("mine.py:descent")
    assert {*found.assumptions} == {*known.assumptions}
    assert (found.algorithm, found.claims[0].metric.over) == (known.algorithm, known.claims[0].metric.over)
    assert found.settings == known.settings
    rng = random.Random(key)  # noqa: S311
    for _ in range(20):
        values = {q.name: float(rng.randint(2, 9)) for q in known.vocabulary}
        assert number(found.claims[0].bound, values) == pytest.approx(number(known.claims[0].bound, values), rel=1e-12)
        assert number(found.claims[0].metric.expr, values) == number(known.claims[0].metric.expr, values)
        [ours], [theirs] = found.conditions, known.conditions
        assert ours.operator == theirs.operator
        for side in ("left", "right"):
            assert number(getattr(ours, side), values) == pytest.approx(number(getattr(theirs, side), values))
    done = cli("verify", "mine.py:descent", "n=3", "T=12", *(["K=3"] if "K" not in found.settings else []), "--json")
    assert (done.returncode, json.loads(done.stdout)["verdict"]) == (0, "HOLDS"), done.stdout


@pytest.mark.parametrize("name", METHODS_OF_ONES_OWN)
def test_a_method_of_ones_own_is_a_few_lines_more(fields, cli, name):
    """A class and its registration in front of the theorem: 25 lines for a linear one, 30 for another, with blank ones.

    Its theorem holds; with a hundredth of the right side it is refuted.
    """
    code, most, changes = METHODS_OF_ONES_OWN[name]
    imports = IMPORTS if "np." not in code else f"\nimport numpy as np\n{IMPORTS}"
    added = f"{imports}\n{code}\n{REGISTERED.format(name=name)}"
    assert len(added.splitlines()) <= most
    text = edited(fields.read_text(), changes)
    head = "from bounds.theorem import theorem\n"
    fields.write_text(text.replace(head, head + added))
    done = cli("verify", "mine.py:descent", "n=4", "T=60", "--json")
    found = json.loads(done.stdout)
    assert (done.returncode, found["verdict"]) == (0, "HOLDS"), done.stdout + done.stderr
    assert found["engine"] == ("exact" if code == LINEAR else "step")
    (line,) = (line for line in fields.read_text().splitlines() if line.startswith("    right="))
    fields.write_text(fields.read_text().replace(line, line.replace('right="', 'right="0.01*')))
    assert cli("verify", "mine.py:descent", "n=4", "T=60").returncode == 1


def test_python_writes_it_too(here):
    """The same file, and a result with its key."""
    made = rc.new("theorem", here / "mine.py", name="gd")
    assert rc.bound(made.key, L=2, F_0=3, T=100, gamma=0.5).evaluation.value == 0.12
    assert made.to_dict()["file"] == str(here / "mine.py")
    with pytest.raises(InputError, match="is there already and is left as it is"):
        rc.new("theorem", here / "mine.py")
    for path in (3, None):
        with pytest.raises(InputError, match="is no path"):
            rc.new("theorem", path)


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["theorem", "there.py"], "there.py is there already and is left as it is"),
        (["theorem", "link.py"], "link.py is there already and is left as it is"),
        (["theorem", "folder.py"], "folder.py cannot be written: it is a folder"),
        (["theorem", "nowhere/mine.py"], "there is no folder nowhere"),
        (["theorem", "there.py/mine.py"], "is not a folder"),
        (["theorem", "mine.txt"], "'mine.txt' does not end in .py"),
        (["theorem", "mine"], "'mine' does not end in .py"),
        (["theorem", ".py"], "'.py' does not end in .py"),
        (["theorem", "a\x00.py"], "cannot be written"),
        (["theorem", f"{'a' * 300}.py"], "cannot be written"),
        (["theorem", "mine.py", "--name", "my theorem"], "'my theorem' cannot be the name of a theorem"),
        (["theorem", "mine.py", "--name", "class"], "'class' cannot be the name of a theorem"),
        (["theorem", "mine.py", "--name", ""], "'' cannot be the name of a theorem"),
        (["theorem", "mine.py", "--name", "theorem"], "'theorem' is the function"),
        (["theorm", "mine.py"], "did you mean 'theorem'"),
        (["theorem"], "Missing argument 'FILE.py'"),
        ([], "Missing argument 'theorem'"),
    ],
)
def test_what_cannot_be_written_is_one_line(here, cli, words, part):
    """Exit code 2, and the folder is as it was."""
    (here / "there.py").write_text("x = 1\n")
    (here / "link.py").symlink_to("gone.py")
    (here / "folder.py").mkdir()
    before = sorted(here.iterdir())
    done = cli("new", *words)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert part in done.stderr
    assert sorted(here.iterdir()) == before
    assert (here / "there.py").read_text() == "x = 1\n"


def test_a_folder_that_may_not_be_written_is_said(here, cli, monkeypatch):
    """Before anything is written."""
    monkeypatch.setattr("os.access", lambda *_: False)
    done = cli("new", "theorem", "mine.py")
    assert (done.returncode, "no permission to write" in done.stderr) == (2, True)
    assert not [*here.iterdir()]
