"""Pages with sliders: a browser's numbers are Python's, and what the page says of them."""

import json
import math
import os
import re
import subprocess

import numpy as np
import pytest

import bounds
import ratecheck as rc
from bounds.errors import InputError
from bounds.symbols import Domain
from ratecheck.views.explorer.model import chosen, model
from ratecheck.views.explorer.page import FORMULAS_JS, written

KEYS = [
    "pfl/theorem-3.7",
    "pfl/corollary-3.8",
    "pfl/theorem-4.5",
    "fedsum/theorem-4.1",
    "flame/theorem-2-biased",
    "simfbo/theorem-1",
    "classics/gradient-descent-values",
    "classics/scaffold-distances",
    "classics/dsgd-gradients",
    "classics/silver-values",
]
# A browser that is looked at, and not only its engine: the path of Chromium.
CHROMIUM = os.environ.get("RATECHECK_CHROMIUM", "")


def drawn(statement, rng):
    """Random numbers for everything that is chosen, some of them inadmissible."""
    found = {}
    for name in chosen(statement):
        domain = statement.vocabulary[name].domain
        if domain is Domain.POSITIVE_INTEGER:
            found[name] = float(rng.integers(1, 200))
        else:
            found[name] = float(10 ** rng.uniform(-3, 2)) * (domain is not Domain.NONNEGATIVE or rng.random() > 0.1)
    for smaller, larger in statement.vocabulary.ordered:
        if {smaller, larger} <= {*found}:
            found[smaller], found[larger] = sorted((found[smaller], found[larger]))
    return found


def settings(statement, count):
    """Random settings and what Python says of them; those that the statement refuses are no settings."""
    rng, found = np.random.default_rng(7), []
    for _ in range(20 * count):
        given = drawn(statement, rng)
        try:
            found.append((given, statement.evaluate(**given)))
        except InputError:
            continue
        if len(found) == count:
            break
    return found


def program(statement, given):
    """JavaScript whose value is what the page computes at these settings, as text."""
    made = written(model(statement, dict.fromkeys(chosen(statement), 1.0), {}, ""))
    said = "(_, x) => typeof x === 'number' && !Number.isFinite(x) ? String(x) : x"
    return f"const model = {made};\n{FORMULAS_JS}\nJSON.stringify({json.dumps(given)}.map(evaluate), {said})"


def agrees(here, there):
    """Whether a page's answer is Python's: values that follow, every term to 1e-12 of the bound, every condition."""
    for name, value in there["values"].items():
        assert float(value) == pytest.approx(here.values[name], rel=1e-12)
    for claim in there["claims"]:
        terms = here.terms[claim["name"]]
        size = sum(abs(term) for term in terms.values() if math.isfinite(term))
        for term in claim["terms"]:
            value, wanted = float(term["value"]), terms[term["label"]]
            if math.isfinite(wanted):
                assert abs(value - wanted) <= 1e-12 * size
            else:
                assert not math.isfinite(value)
    checks = here.conditions
    for check, condition in zip(checks, there["conditions"], strict=False):
        assert condition["text"] == check.condition.text
        assert condition["holds"] == check.holds


def in_engine(text):
    """The value of a program in V8."""
    racer = pytest.importorskip("py_mini_racer", reason="needs mini-racer")
    return json.loads(racer.MiniRacer().eval(text))


def in_chromium(text, folder):
    """The value of a program in a page of Chromium."""
    path = folder / "page.html"
    shown = text.replace("JSON.stringify", "document.getElementById('said').textContent = JSON.stringify", 1)
    path.write_text(f"<!DOCTYPE html><pre id='said'></pre><script>{shown}</script>")
    done = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", path.as_uri()],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return json.loads(
        re.search(r"<pre id=.said.>(.*?)</pre>", done.stdout, re.DOTALL)[1].replace("&lt;", "<").replace("&gt;", ">")
    )


@pytest.mark.parametrize("key", KEYS)
def test_a_browser_computes_what_python_does(key):
    """Random settings, admissible or not, in a browser's engine."""
    statement = bounds.get(key)
    given = settings(statement, 20)
    assert len(given) == 20
    found = in_engine(program(statement, [each for each, _ in given]))
    for (_, here), there in zip(given, found, strict=True):
        agrees(here, there)


@pytest.mark.skipif(not CHROMIUM, reason="needs RATECHECK_CHROMIUM, the path of a browser")
@pytest.mark.parametrize("key", KEYS)
def test_in_a_real_browser(key, tmp_path):
    """A hundred settings of each of ten statements."""
    statement = bounds.get(key)
    given = settings(statement, 100)
    found = in_chromium(program(statement, [each for each, _ in given]), tmp_path)
    for (_, here), there in zip(given, found, strict=True):
        agrees(here, there)


def test_every_statement_with_a_value_has_formulas():
    """Nothing in the catalogue is beyond JavaScript."""
    for key in bounds.keys():
        statement = bounds.get(key)
        if not statement.order_only:
            model(statement, dict.fromkeys(chosen(statement), 1.0), {}, "")


def test_the_largest_admissible_step_size():
    """The end that a scan and bisection find is that of `stepsize`, strict ends from inside."""
    noisy = {"n": 10, "m": 3, "K": 5, "T": 9, "L": 2, "sigma_u": 1, "sigma_v": 1, "b": 1, "F_0": 1}
    for key, name, given in [
        ("pfl/theorem-3.7", "gamma", noisy),
        ("classics/gradient-descent-values", "gamma_u", {"T": 5, "t": 2, "L": 3, "dist2_0": 1}),
    ]:
        statement = bounds.get(key)
        made = written(model(statement, given, {}, ""))
        last = in_engine(
            f"const model = {made};\n{FORMULAS_JS}\nJSON.stringify(intervals({json.dumps(given)}, '{name}').at(-1)[1])"
        )
        admissible = rc.stepsize(key, parameters=given).to_dict()["admissible"][name]
        assert last == pytest.approx(admissible[1], rel=1e-11)


def test_a_page(tmp_path, cli):
    """One file without network, whose model is that of Python, with measured left sides below the bound."""
    path = tmp_path / "page.html"
    done = cli("explore", "pfl/theorem-3.7", "K=3", "T=20", "--points", "2", "--out", path)
    assert done.returncode == 0
    text = path.read_text()
    assert not re.findall(r"(?:src|href)=.https?:", text)
    found = rc.explore("pfl/theorem-3.7", K=3, T=20, points=2)
    assert written(found.model) in text
    assert found.start["K"] == 3
    for name, rows in found.model["measured"].items():
        for row in rows:
            start = {**{k: v for k, v in found.start.items() if k in chosen(found.statement)}, name: row["x"]}
            start.pop("gamma")
            caps = rc.stepsize("pfl/theorem-3.7", parameters=start).to_dict()["admissible"]["gamma"][1]
            assert row["left"] <= found.statement.evaluate(**start, gamma=caps).value


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["pfl/theorem-3.7", "--out", "page.md"], "the ending has to be .html"),
        (["pfl/theorem-3.7", "k=3", "--out", "page.html"], "has no parameter 'k'"),
        (["pfl/theorem-3.7", "--points", "-1", "--out", "page.html"], "points"),
    ],
)
def test_what_has_no_page(cli, words, message, tmp_path, monkeypatch):
    """Bad input is one line."""
    monkeypatch.chdir(tmp_path)
    refused = cli("explore", *words)
    assert refused.returncode == 2
    assert message in refused.stderr
