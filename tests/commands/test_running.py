"""How commands run and end: on a terminal, with damaged caches, interrupted, with targets that cannot be written."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import click
import pytest
import sympy as sp
from extras import needs_data
from small_study import PAIR
from terminal import busy, group, on_terminal, processor_seconds, started, wait_for

import bounds
import ratecheck as rc
import ratecheck.cli
from ratecheck import caching, ending, execution, files
from ratecheck.algebra.positivity.smt import Solver
from ratecheck.api.checks.falsify import FalsifyResult
from ratecheck.auditing import cache_key as content
from ratecheck.auditing import ledger, sources
from ratecheck.errors import InputError
from ratecheck.falsification.falsified import Falsified
from ratecheck.studies import load
from ratecheck.studies.execute import cells_of
from ratecheck.views import progress as bars

SMALL = ("n=4", "m=3", "K=3", "T=20", "d=4")
ANSI = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


class Terminal:
    """Standard error of someone who looks at it."""

    def __init__(self):
        self.text = ""

    def isatty(self):
        """Yes."""
        return True

    def write(self, text):
        """Remember."""
        self.text += text
        return len(text)

    def flush(self):
        """Nothing to do."""


# Progress.


def test_progress_from_many_threads(monkeypatch):
    """Threads that report at once, from the first moment on: the bar appears, and none of them fails."""
    screen, errors = Terminal(), []
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(bars, "_PATIENCE", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(threading, "excepthook", errors.append)
    with bars.progress("a [key].py:b") as report:
        stop = threading.Event()

        def work():
            while not stop.is_set():
                for k in range(100):
                    report(k / 100, f"part {k}")
                # Eight threads without a pause keep the one that draws from its turn.
                time.sleep(1e-3)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        shown = wait_for(lambda: "part" in screen.text, 60)
        stop.set()
        for thread in threads:
            thread.join()
    assert shown
    assert not errors
    # Brackets are no markup, and the cursor comes back.
    assert "a [key].py:b" in ANSI.sub("", screen.text)
    assert screen.text.rindex("\x1b[?25h") > screen.text.rindex("\x1b[?25l")


@pytest.mark.parametrize("fraction", [float("nan"), float("inf"), -1.0, 2.0, 0.5])
def test_progress_of_any_number(monkeypatch, fraction):
    """What is reported is never a reason to fail; nor is a terminal that goes away."""
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(bars, "_PATIENCE", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    with bars.progress("work") as report:
        report(fraction)
        wait_for(lambda: "work" in screen.text, 30)
        screen.write = None
        report(fraction)
    assert not bars._shown.locked()


def test_progress_says_how_long_it_takes():
    """Of work that takes more than ten seconds at its pace."""
    assert bars.expected(2.0, 0.05) == "up to about 40 s"
    assert bars.expected(3.0, 0.01) == "up to about 5 min"
    assert bars.expected(2.0, 0.5) == bars.expected(2.0, None) == bars.expected(2.0, 0.0) == ""
    assert bars.expected(20.0, 1.0) == bars.expected(2.0, float("nan")) == ""


def test_progress_says_that_it_compiles(monkeypatch):
    """While kernels are compiled the bar says so, and that it is once."""
    from ratecheck.kernels import machine_code

    monkeypatch.setattr(machine_code._UNDERWAY, "count", 1)
    assert bars._compiling() == "compiling, once"
    monkeypatch.setattr(machine_code._UNDERWAY, "count", 0)
    assert bars._compiling() == ""


def test_kernels_count_their_compilations():
    """A kernel that is compiled is underway meanwhile, and not any more after it."""
    from ratecheck.kernels import compile as compilation

    @compilation.kernel
    def increased(x):
        return x + 1

    increased._cache.disable()
    seen = []
    stop = threading.Event()

    def look():
        while not stop.is_set():
            seen.append(compilation.underway())

    thread = threading.Thread(target=look)
    thread.start()
    assert increased(1) == 2
    stop.set()
    thread.join()
    assert any(seen)
    assert not compilation.underway()


@pytest.mark.long
def test_on_a_terminal_under_load():
    """Monte Carlo on several threads with a progress bar, beside four busy processes."""
    words = ("verify", "pfl/theorem-3.7", "--engine", "step", "--replicates", "256", "n=20", "K=25", "T=500")
    with busy():
        code, seen = on_terminal(*words)
    assert "Traceback" not in seen
    assert code in (0, 3)
    assert "verifying pfl/theorem-3.7" in seen


FORCED = """
import multiprocessing, os, threading, time
from ratecheck import execution

def slow(number):
    time.sleep(60)

if __name__ == "__main__":
    def end():
        while not multiprocessing.active_children():
            time.sleep(0.1)
        os._exit(130)
    threading.Thread(target=end, daemon=True).start()
    execution.share(slow, [(0,), (1,)], 2, print)
"""


def test_a_forced_end_of_shared_work_is_silent(tmp_path):
    """Semaphores that nobody had the time to close are cleaned up without a word."""
    (tmp_path / "forced.py").write_text(FORCED)
    root = str(Path(ratecheck.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "forced.py"], cwd=tmp_path, env={**os.environ, "PYTHONPATH": root}, capture_output=True,
        text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 130
    # The process that cleans up writes to the same pipe, which is read to its end.
    assert done.stderr == ""


LONG = {
    "verify": ("verify", "pfl/corollary-3.8", "pfl/corollary-4.6", "--problem", "digits", "T=100"),
    "plot": ("plot", "pfl/theorem-3.7", "--engine", "step", "--out", "a.png"),
    "rates": ("rates", "pfl/theorem-3.7"),
    "scaling": ("scaling", "pfl/corollary-3.8", "--engine", "step", "--over", "K"),
    "falsify": ("falsify", "flame/theorem-2-unbiased-repaired", "--evaluations", "300"),
    "implications": ("implications", "pfl"),
    "audit": ("audit", "fedsum"),
    "tables": ("tables",),
    "selftest": ("selftest", "pfl/theorem-3.7", "--mutants", "4", "--instances", "4", "--planted", "20"),
    "stepsize": ("stepsize", "pfl/theorem-3.7", "n=10", "m=9", "K=25", "L=1", "T=400", "F_0=1"),
}


@pytest.mark.long
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=needs_data) if "digits" in LONG[name] else name for name in LONG]
)
def test_long_commands_on_a_terminal_under_load(name, tmp_path):
    """No command fails for the terminal or for the load, with cold caches."""
    with busy():
        code, seen = on_terminal(*LONG[name], cwd=tmp_path, RATECHECK_CACHE=str(tmp_path / "cache"))
    assert "Traceback" not in seen
    assert code in (0, 1, 3), seen


# Exit codes.


class _Odd:
    def __str__(self):
        return "two\nlines"


@pytest.mark.parametrize(
    "error",
    [
        KeyError("x"), ValueError("two\nlines"), ZeroDivisionError(), RecursionError("deep"),
        EOFError("Ran out of input"),
        AssertionError(), RuntimeError(_Odd()), SystemExit(0), SystemExit(1), sp.SympifyError("x"), TypeError("t"),
        ImportError("gone", name="ratecheck.verification"), OSError("no number"), StopIteration(),
        UnicodeDecodeError("utf-8", b"", 0, 1, "x"),
    ],
)  # fmt: skip
def test_an_internal_error_has_its_own_exit_code(error, cli, monkeypatch):
    """Exit code 4 and one line that says what to do; 1 means a finding and 130 an interrupt, and nothing else."""
    from ratecheck.commands.theory import list as command

    def broken(*_args, **_kwargs):
        raise error

    monkeypatch.setattr(command.command, "callback", broken)
    done = cli("list")
    assert done.returncode == ratecheck.cli.INTERNAL == 4
    assert len(done.stderr.splitlines()) == 1
    assert "please report" in done.stderr
    assert ("wanted to exit" if isinstance(error, SystemExit) else type(error).__name__) in done.stderr
    assert "Traceback" not in done.stderr
    monkeypatch.setenv("RATECHECK_TRACEBACK", "1")
    assert "Traceback" in cli("list").stderr


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (InputError("L=x"), 2, "L=x"),
        (
            MemoryError(),
            2,
            "not enough memory for a run of this size: take smaller n, T, d or fewer replicates",
        ),
        (ImportError("install pepit"), 2, "install pepit"),
        (OSError(28, "No space left on device"), 2, "the output cannot be written: No space left on device"),
        (FileNotFoundError(2, "No such file or directory", "a.txt"), 2, "a.txt: No such file or directory"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (ending.Terminated(), 143, "terminated"),
        (click.UsageError("no such option"), 2, "no such option"),
    ],
)
def test_other_ends(error, code, text, cli, monkeypatch):
    """What the user can mend is 2, each in one line."""
    from ratecheck.commands.theory import list as command

    def broken(*_args, **_kwargs):
        raise error

    monkeypatch.setattr(command.command, "callback", broken)
    done = cli("list")
    assert (done.returncode, done.stderr) == (code, f"ratecheck: {text}\n")


def test_the_exit_code_does_not_depend_on_the_reader():
    """``| head`` ends nothing: a violation stays one. A full disk is said."""
    words = [sys.executable, "-m", "ratecheck", "verify", "pfl/lemma-a.2", *SMALL]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.close()
    assert process.wait() == 1
    assert process.stderr.read() == ""
    process.stderr.close()
    if Path("/dev/full").exists():
        with open("/dev/full", "w") as full:  # noqa: PTH123
            done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        assert (done.returncode, done.stderr) == (
            2,
            "ratecheck: the output cannot be written: No space left on device\n",
        )


@pytest.mark.parametrize("command", ["tables", "list", "implications", "audit"])
def test_an_empty_name_is_not_everything(cli, command):
    """An empty variable of a script asks for nothing that exists."""
    done = cli(command, "")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)


def test_help_names_the_exit_codes(cli):
    """The contract is where one looks for it."""
    text = " ".join(cli("--help").stdout.split())
    assert "4 an error of this program, 130 interrupted" in text


# Caches.


@pytest.mark.parametrize("damage", ["empty", "cut", "edited", "other", "folder"])
def test_a_damaged_entry_counts_as_none(tmp_path, damage):
    """Whatever happened to the file; and it is replaced."""
    path = tmp_path / "a" / "entry"
    assert caching.read(path) is None
    assert caching.write(path, b"some content")
    assert caching.read(path) == b"some content"
    whole = path.read_bytes()
    if damage == "folder":
        path.unlink()
        path.mkdir()
    else:
        path.write_bytes(
            {"empty": b"", "cut": whole[:-1], "edited": whole.replace(b"some", b"same"), "other": b"[]"}[damage]
        )
    assert caching.read(path) is None
    assert caching.write(path, b"new") == (damage != "folder")
    assert not [*path.parent.glob(".*")]


@pytest.mark.parametrize("place", ["file", "missing home", "no home"])
def test_no_cache_costs_speed_alone(tmp_path, monkeypatch, place):
    """A cache that is a file, a home that does not exist or is unknown: the verdict is there."""
    (tmp_path / "file").write_text("")
    environment = {**os.environ, "HOME": str(tmp_path / "nowhere" / "home"), "MPLCONFIGDIR": str(tmp_path)}
    environment.pop("RATECHECK_CACHE", None)
    environment.pop("XDG_CACHE_HOME", None)
    if place == "file":
        environment["RATECHECK_CACHE"] = str(tmp_path / "file")
    else:
        (tmp_path / "nowhere").write_text("")
    if place == "no home":
        monkeypatch.setattr(Path, "expanduser", _no_home)
        monkeypatch.delenv("RATECHECK_CACHE", raising=False)
        assert caching.cache_root() is None
        assert ledger.ResultStore().get("x") is None
        ledger.ResultStore().put("x", [1])
        return
    code = "from ratecheck.kernels.random import counter_tag; print(counter_tag(1, 2) > 0)"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


def _no_home(_path):
    raise RuntimeError("Could not determine home directory.")


KERNEL = """
import sys
from ratecheck.kernels.random import counter_tag
print(counter_tag(1, 2), sum(counter_tag.stats.cache_hits.values()))
"""


def test_damaged_kernels_are_compiled_again(tmp_path):
    """Cut off, emptied, edited or unreadable: dropped and recompiled, and found again after that."""
    environment = {**os.environ, "RATECHECK_CACHE": str(tmp_path / "cache")}

    def asked():
        done = subprocess.run(
            [sys.executable, "-c", KERNEL], env=environment, capture_output=True, text=True, check=True, cwd=tmp_path
        )
        assert done.stderr == ""
        number, hits = map(int, done.stdout.split())
        return number, hits

    number, hits = asked()
    assert hits == 0
    assert asked() == (number, 1)
    entries = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert entries
    for damage in (lambda b: b[: len(b) // 2], lambda b: b[:-40] + bytes(40), lambda _: b""):
        for path in entries:
            path.write_bytes(damage(path.read_bytes()))
        assert asked() == (number, 0)
    assert asked() == (number, 1)


def test_nothing_is_written_into_the_installation():
    """No kernel is kept beside its source, wherever else it can be kept."""
    folder = Path(ratecheck.cli.__file__).parent
    assert not [path for path in folder.rglob("*.nb[ic]") if path.stat().st_mtime > time.time() - 3600]


def test_what_decides_is_hashed():
    """All modules that have a say in an audit are behind its key: what is imported, directly or not, and z3's."""
    deciding = sources.behind(content._DECIDING, content._PACKAGES)
    for name in (
        "ratecheck.algebra.positivity.smt", "ratecheck.algebra.positivity.z3_process",
        "ratecheck.algebra.positivity.substitution", "ratecheck.algebra.positivity.polynomial",
        "ratecheck.algebra.counterexample",
        "ratecheck.algebra.time_limit", "bounds.statement", "bounds.ledger.step", "bounds.ledger.draw",
        "bounds.symbols",
    ):  # fmt: skip
        assert name in deciding, name
    # What is imported for annotations alone has no say.
    assert "ratecheck.engines.moments.expectation" not in deciding


@pytest.mark.parametrize(
    "edited",
    [
        "ratecheck.algebra.positivity.smt",
        "ratecheck.algebra.positivity.z3_process",
        "ratecheck.algebra.positivity.polynomial",
        "bounds.symbols",
    ],
)
def test_an_edit_of_what_decides_changes_the_key(monkeypatch, edited):
    """One letter in any of them."""
    before = content.checker_digest()
    real = sources.behind

    def behind(*arguments):
        found = real(*arguments)
        return {**found, edited: found[edited] + b"#"}

    monkeypatch.setattr(content, "behind", behind)
    content.checker_digest.cache_clear()
    try:
        assert content.checker_digest() != before
    finally:
        content.checker_digest.cache_clear()


@pytest.mark.parametrize("library", ["z3", "sympy", "python"])
def test_another_version_changes_the_key(monkeypatch, library):
    """Of z3, of SymPy, or of Python."""
    before = content.checker_digest()
    if library == "z3":
        monkeypatch.setattr(content.importlib.metadata, "version", lambda _: "0.0.0")
    elif library == "sympy":
        monkeypatch.setattr(sp, "__version__", "0.0.0")
    else:
        monkeypatch.setattr(content.platform, "python_version", lambda: "3.99.0")
    content.checker_digest.cache_clear()
    try:
        assert content.checker_digest() != before
    finally:
        content.checker_digest.cache_clear()


def test_imports_inside_functions_count(tmp_path, monkeypatch):
    """And relative ones, and a package's own; a module that does not parse has none."""
    monkeypatch.syspath_prepend(tmp_path)
    package = tmp_path / "walked"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "a.py").write_text("def f():\n    from . import b\n")
    (package / "b.py").write_text("from walked.c import x\n")
    (package / "c.py").write_text("x = (\n")
    assert set(sources.behind(["walked.a"], ["walked"])) == {"walked", "walked.a", "walked.b", "walked.c"}


@pytest.mark.parametrize("change", ["[]", "{}", "value", "key", ""])
def test_an_edited_verdict_is_not_believed(tmp_path, change):
    """Neither an empty list nor another verdict or key."""
    store = ledger.ResultStore(tmp_path)
    store.put("key", [{"verdict": "FALSE"}])
    assert store.get("key") == [{"verdict": "FALSE"}]
    assert store.get("other") is None
    path = tmp_path / "key.json"
    head, key, text = path.read_text().split("\n", 2)
    if change == "value":
        path.write_text("\n".join((head, key, text.replace("FALSE", "PROVED"))))
    elif change == "key":
        caching.write(path, f"7\n{text}".encode())
    else:
        path.write_text(change)
    assert store.get("key") is None
    caching.write(path, b"[]")
    assert store.get("key") is None


def test_z3_is_stopped_by_its_own_count():
    """The same answer however slow the machine: here the count ends a question, and no clock."""
    declared = "".join(f"(declare-const x{k} Real)" for k in range(6))
    terms = " ".join(f"(* x{k} x{(k + 1) % 6} x{k} x{k})" for k in range(6))
    hard = (
        f"{declared}(assert (< (+ {terms} (* x0 x1 x2 x3 x4 x5)) (- 1.0)))(assert (> (* x0 x0) (+ (* x1 x1 x1) 7.0)))"
    )
    solver = Solver()
    try:
        answers = {solver.check(hard, 1e-3)[0] for _ in range(3)}
        assert answers == {"unknown"}
        assert solver.killed == 0
    finally:
        solver.close()


@pytest.mark.usefixtures("tmp_path")
def test_a_killed_solver_decides_nothing(monkeypatch, tmp_path):
    """A process that does not come to an end is killed; that is no verdict, and it is not kept."""
    monkeypatch.setenv("RATECHECK_CACHE", str(tmp_path))
    silent = tmp_path / "silent.py"
    silent.write_text("import sys, time\nfor line in sys.stdin: time.sleep(600)\n")
    monkeypatch.setattr("ratecheck.algebra.positivity.smt._PROCESS", silent)
    solver = Solver()
    assert solver.check("(declare-const x Real)", 0.01, late=0.3) == ("killed", {})
    assert solver.killed == 1
    from ratecheck.algebra.positivity.smt import SOLVER
    from ratecheck.auditing import finding

    def examined(step, **options):
        SOLVER.killed += 1
        return real(step, **options)

    real = finding.examine_step
    monkeypatch.setattr(finding, "examine_step", examined)
    module = ledger.module_of("fedsum")
    _, lasting = ledger.work_on("findings", module, 0, str(tmp_path / "audit"))
    assert not lasting
    assert not [*tmp_path.rglob("findings-*")]


# Interrupts.


ENDLESS = {
    "step engine": (
        "verify", "pfl/theorem-3.7", "--engine", "step", "--replicates", "64", "n=60", "K=3000", "T=40000", "d=60"
    ),
    "exact engine": ("verify", "pfl/theorem-3.7", "n=300", "K=200", "T=1000", "d=40"),
    "workers": ("implications", "pfl", "--sharpest"),
    "self-test": ("selftest", "pfl/theorem-3.7", "--workers", "2", "--mutants", "40", "--instances", "400"),
    "plot": ("plot", "pfl/theorem-3.7", "--engine", "step", "T=20000", "--replicates", "64"),
    "search": ("selftest", "pfl/theorem-3.7", "--workers", "1", "--mutants", "40", "--instances", "400"),
    "audit": ("audit", "fedsum", "--mutate"),
    "lint": ("lint", "simfbo"),
    "twins": ("selftest", "textbook", "--workers", "1"),
    "review": ("review", "pfl/lemma-3.5", "--evaluations", "100000"),
    "card": ("rates", "fedsum/theorem-e.1", "--workers", "2"),
}  # fmt: skip
# Threads of this process are told to end, and processes are interrupted; the other pairs take as long.
QUICK = {("step engine", signal.SIGTERM), ("workers", signal.SIGINT)}
PAIRS = [(name, number) for name in ENDLESS for number in (signal.SIGINT, signal.SIGTERM)]


@pytest.mark.parametrize(
    ("name", "number"), [pair if pair in QUICK else pytest.param(*pair, marks=pytest.mark.long) for pair in PAIRS]
)
def test_a_signal_ends_any_command(name, number, tmp_path):
    """Within two seconds of the processor's time, with its exit code, and no process is left."""
    process = started(*ENDLESS[name], cwd=tmp_path)
    try:
        # Under way: imported, and then some.
        wait_for(
            lambda: processor_seconds(process.pid) > 3 or len(group(process.pid)) >= 4 or process.poll() is not None
        )
        time.sleep(1)
        if process.poll() is not None:
            pytest.skip(f"over before it could be interrupted: {process.communicate()}")
        begun = time.monotonic()
        (os.killpg if number is signal.SIGINT else os.kill)(process.pid, number)
        out, err = process.communicate(timeout=60)
        taken = time.monotonic() - begun
        gone = wait_for(lambda: not group(process.pid), 10)
    finally:
        for pid in group(process.pid):
            os.kill(pid, signal.SIGKILL)
    assert process.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143}[number], err
    assert "Traceback" not in err
    assert gone
    # The thread that ends the process waits for 1.5 s; what is above is a loaded machine's.
    assert taken < 2 * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    assert out == ""


def cut_off(statement, *_, **__):
    """A search that a termination ended: alone it keeps its best, as a part of something it ends the whole."""
    return Falsified(statement, None, None, None, 3, 3, 0.1, stopped="terminated")


@pytest.mark.parametrize("part", ["lint", "twin", "sharpen", "review"])
def test_an_interrupted_search_ends_what_it_is_a_part_of(part, monkeypatch):
    """No page, share or finding rests on half of a search."""
    from ratecheck.api.checks import review
    from ratecheck.falsification import falsify as module
    from ratecheck.linting.lint import lint
    from ratecheck.selftesting.textbook import twin

    monkeypatch.setattr(module, "falsify", cut_off)
    statement = bounds.get("pfl/lemma-3.5")
    answered = FalsifyResult((cut_off(statement),), stop=ending.Terminated())
    monkeypatch.setattr(review, "falsify", lambda *_, **__: answered)
    parts = {
        "lint": lambda: lint(statement, evaluations=3),
        "twin": lambda: twin(statement, module.Budget(3), 0),
        "sharpen": lambda: rc.sharpen("pfl/lemma-3.6-recursion", evaluations=3),
        "review": lambda: rc.review("pfl/lemma-3.5", evaluations=3, workers=1),
    }
    with pytest.raises(ending.Terminated):
        parts[part]()


@pytest.mark.parametrize(("stop", "code"), [(KeyboardInterrupt, 130), (ending.Terminated, 143)])
@pytest.mark.parametrize("violated", [False, True])
def test_a_search_that_is_stopped_prints_its_best(stop, code, violated, cli, monkeypatch):
    """It ends as whatever is stopped does; a violation that was confirmed before is one all the same."""
    monkeypatch.setattr(Falsified, "by_function", property(lambda _: violated))
    found = Falsified(bounds.get("pfl/lemma-3.5"), None, None, None, 3, 3, 0.1, stopped=ending.word(stop()))
    monkeypatch.setattr("ratecheck.api.checks.falsify.search", lambda *_, **__: found)
    told = cli("falsify", "pfl/lemma-3.5", "--no-shrink")
    assert f"; {found.stopped}" in told.stdout
    assert (told.returncode, told.stderr) == ((1, "") if violated else (code, f"ratecheck: {found.stopped}\n"))


def test_how_a_run_ends_is_said_once(monkeypatch):
    """By the main thread or by the one that ends the process, whichever comes first; elsewhere always."""
    assert ending.first_word()
    assert ending.first_word()
    monkeypatch.setattr(ending, "_spoken", threading.Lock())
    monkeypatch.setattr(ending, "_watched", threading.Event())
    ending._watched.set()
    assert [ending.first_word(), ending.first_word()] == [True, False]


def test_threads_of_pools_say_nothing_once_the_run_is_to_end(monkeypatch, capsys):
    """Before that whatever goes wrong in a thread is shown."""
    monkeypatch.setattr(ending, "_told", threading.Event())
    about = threading.ExceptHookArgs((OSError, OSError("closed"), None, threading.current_thread()))
    ending._in_thread(about)
    assert "OSError: closed" in capsys.readouterr().err
    ending._told.set()
    ending._in_thread(about)
    assert capsys.readouterr().err == ""


def test_workers_end_with_a_parent_that_is_killed(tmp_path):
    """Also where it had no time to say so."""
    process = started(*ENDLESS["workers"], cwd=tmp_path)
    try:
        assert wait_for(lambda: len(group(process.pid)) >= 4)
        time.sleep(2)
        process.kill()
        process.communicate(timeout=60)
        assert wait_for(lambda: not group(process.pid), 30)
    finally:
        for pid in group(process.pid):
            os.kill(pid, signal.SIGKILL)


def test_shared_work_comes_in_as_it_is_done():
    """Every task once, whatever the number of processes; fresh ones after so many; an error comes through."""
    for count, renew in ((1, None), (2, None), (2, 1)):
        found = {}
        execution.share(divmod, [(k, 3) for k in range(5)], count, found.__setitem__, renew=renew)
        assert found == {k: divmod(k, 3) for k in range(5)}
    with pytest.raises(ZeroDivisionError):
        execution.share(divmod, [(1, 1), (1, 0), (2, 1)], 2, lambda *_: None)


# Targets.


@pytest.mark.parametrize("words", [
    ("falsify", "pfl/theorem-3.7", "--evaluations", "100000000", "--out"),
    ("plot", "pfl/theorem-3.7", "T=100000000", "--out"),
    ("plot", "region", "pfl/theorem-3.7", "--out"),
    ("compare", "pfl/corollary-3.8", "pfl/corollary-4.6", "n=10", "m=9", "--over", "K=1:1000:100000", "--out"),
])  # fmt: skip
@pytest.mark.parametrize("target", ["folder.png", "file/a.png", "loop.png", "x" * 300 + ".png"])
def test_a_target_is_checked_before_the_work(words, target, cli, tmp_path, monkeypatch):
    """A folder, a folder that is a file, a link to itself, a name that is too long: one line, at once."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.png").mkdir()
    (tmp_path / "loop.png").symlink_to("loop.png")
    (tmp_path / "file").write_text("")
    done = cli(*words, target)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "cannot be written" in done.stderr
    assert done.stdout == ""


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc")
def test_a_folder_that_takes_no_files_is_found_before_the_work():
    """What it permits does not say it: a file is tried."""
    with pytest.raises(InputError, match=r"^/proc/x\.html cannot be written: "):
        files.check_target(Path("/proc/x.html"))
    files.check_target(Path("/dev/null"))


def test_files_are_written_whole_or_not_at_all(tmp_path):
    """What was there stays where writing fails; nothing is left beside it; permissions and links stay."""
    path = tmp_path / "a.txt"
    path.write_text("old")
    path.chmod(0o640)

    def fails(file):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    with pytest.raises(InputError, match="No space left"):
        files.save(path, fails)
    assert path.read_text() == "old"
    assert [*tmp_path.iterdir()] == [path]
    link = tmp_path / "link"
    link.symlink_to(path)
    files.save(link, "new")
    assert link.is_symlink()
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o640
    files.save(tmp_path / "folder" / "b.txt", "deep")
    assert (tmp_path / "folder" / "b.txt").read_text() == "deep"


def test_the_result_is_printed_before_it_is_saved(cli, tmp_path, monkeypatch):
    """A file that fails at the end costs the file."""
    monkeypatch.chdir(tmp_path)

    def fails(*_args):
        raise InputError("a.png cannot be written: No space left on device")

    monkeypatch.setattr("ratecheck.views.drawing.style.save", fails)
    words = ("n=10", "m=9", "K=25", "L=1", "T=400", "F_0=1")
    done = cli("plot", "region", "pfl/theorem-3.7", *words, "--out", "a.png")
    assert (done.returncode, "cannot be written" in done.stderr) == (2, True)
    assert "pfl/theorem-3.7" in done.stdout
    assert "written to" not in done.stdout


@pytest.mark.parametrize("options", [(), ("--json",), ("--shard", "1/1")])
def test_a_cell_that_cannot_be_written_loses_no_result(options, cli, tmp_path, monkeypatch):
    """All that was computed is printed, then the line, exit code 2; the other cell is in the store."""
    monkeypatch.chdir(tmp_path)
    text = PAIR.replace("T = 400", "T = 4").replace("replicates = 32", "replicates = 2")
    Path("study.toml").write_text(text)
    key = cells_of(load(Path("study.toml")))[0].key
    (tmp_path / f"results/sweep/cells/{key[:2]}/{key}-0-2.npz").mkdir(parents=True)
    done = cli("run", "study.toml", "--threads", "1", *options)
    assert done.returncode == 2
    said = "1 of 2 cells of the study are in" if "--shard" in options else "2 cells computed"
    assert said in done.stdout + done.stderr
    assert "K=1" in done.stdout
    assert "K=2" in done.stdout
    assert done.stderr.splitlines()[-1].endswith(f"{key}-0-2.npz cannot be written: Is a directory")
    assert len([each for each in Path("results/sweep/cells").glob("??/*.npz") if each.is_file()]) == 1


# The self-test goes on.


def test_an_interrupted_self_test_goes_on(tmp_path, monkeypatch):
    """What is finished is kept with its checksum, under the arguments and the code; the result is the same."""
    import bounds
    from ratecheck.selftesting import run
    from ratecheck.selftesting.kept import Kept

    monkeypatch.setenv("RATECHECK_CACHE", str(tmp_path))
    done = []

    def square(number):
        if number == 3 and len(done) < 4:
            raise KeyboardInterrupt
        done.append(number)
        return number**2

    def finished(kept):
        return run._all(square, int, {f"part {k}": (k,) for k in range(5)}, 1, kept, lambda _: None)

    plan = run.SelfTestPlan(mutants=1)
    with pytest.raises(KeyboardInterrupt):
        finished(Kept.of(["pfl/theorem-3.7"], plan))
    assert done == [0, 1, 2]
    kept = Kept.of(["pfl/theorem-3.7"], plan)
    assert kept.found == 3
    damaged = kept._store.path("part 1")
    damaged.write_bytes(damaged.read_bytes()[:-3])
    done.append(None)
    assert [*finished(kept)] == [0, 1, 4, 9, 16]
    assert done == [0, 1, 2, None, 1, 3, 4]
    # Other arguments, another seed, other code, another file of the user's: nothing is taken up.
    assert Kept.of(["pfl/theorem-3.7"], run.SelfTestPlan(mutants=2)).found == 0
    assert Kept.of(["pfl/theorem-4.5"], plan).found == 0
    assert bounds.get("pfl/theorem-3.7").key
    kept.clear()
    assert Kept.of(["pfl/theorem-3.7"], plan).found == 0
