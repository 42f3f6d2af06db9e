"""Do two versions of ratecheck say the same? A fixed set of command lines, recorded with each and compared exactly.

    python benchmarks/same_verdicts.py record BEFORE.json --tree OLD --python OLD/.venv/bin/python
    python benchmarks/same_verdicts.py record AFTER.json [--renamed RULES.toml]
    python benchmarks/same_verdicts.py compare BEFORE.json AFTER.json [--renamed RULES.toml] [--words] [--libraries]

The set is `same_verdicts.txt`; the files that it names are in the folder `same_verdicts`. Every command is bounded by
work and never by seconds, and runs in a process and a folder of its own, on one thread, without verdicts that an
earlier run has kept. `compare` ends with 1 where an exit code, a number, a verdict or a key differs. Sentences may be
put differently: they are counted, and printed with ``--words``. What a clock measured, under the
key ``seconds``, is not compared, nor is the hash of code and libraries under ``checker``.

Other versions of libraries round otherwise. With ``--libraries`` numbers count as the same that differ by no more than
a billionth of them, or by no more than the rounding error that is claimed beside them; and what a solver or a search in
floats chose among equals, under the keys `_CHOSEN` and, of `falsify`, `_FOUND`, is not compared. Exit codes, keys and
verdicts are.

A file with rules says what is meant to differ; the rules that apply are counted in what `compare` prints::

    [options]                    # words of the command line: before = after
    "--anyway" = "--ignore-conditions"
    [files]                      # text in the files that the set brings along
    "from bounds.statement" = "from bounds"
    [keys]                       # keys of JSON objects, everywhere or of one command
    "verify:claims" = "sides"
    [values]                     # words that are values, such as verdicts, everywhere or of one command
    "old" = "new"
    [under]                      # a command whose bare list lies under a key
    list = "statements"
    [only]                       # keys that only one of the two has, everywhere or of one command
    after = ["schema"]
    before = ["verify:room"]
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import pkgutil
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SET = HERE / "same_verdicts.txt"
BRINGS = HERE / "same_verdicts"
# Wall-clock seconds after which a command counts as hanging; none comes near.
HANGS = 1200
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
# Keys whose values a clock measured, or that name the code and the libraries.
_PASSING = ("seconds", "checker")
# With other libraries: keys of what was chosen among equals, of bounds of rounding, and how close numbers are.
_ERRORS = ("error", "left_error", "right_error")
_CHOSEN = ("evidence", "instance", "gap", *_ERRORS)
# Where a search in floats ends, whose verdict is compared.
_FOUND = ("worst", "values")
_CLOSE = 1e-9
_ALONE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
_FIXED = {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "120", "MPLBACKEND": "Agg", "NO_COLOR": "1"}

Rules = Mapping[str, Mapping[str, Any]]


def main() -> int:
    """Parse and call."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    recording = verbs.add_parser("record")
    recording.add_argument("out", type=Path)
    recording.add_argument("--python", default=sys.executable)
    recording.add_argument("--tree", type=Path, default=HERE.parent)
    recording.add_argument("--renamed", type=Path)
    recording.add_argument("--jobs", type=int, default=1, help="processes that share the command lines")
    recording.add_argument("--set", type=Path, default=SET, help="another file with command lines")
    comparing = verbs.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    comparing.add_argument("--renamed", type=Path)
    comparing.add_argument("--words", action="store_true", help="print the sentences that differ")
    comparing.add_argument("--libraries", action="store_true", help="the records are of other versions of libraries")
    working = verbs.add_parser("work")
    working.add_argument("plan", type=Path)
    asked = parser.parse_args()
    if asked.verb == "work":
        return work(json.loads(asked.plan.read_text()))
    rules = tomllib.loads(asked.renamed.read_text()) if asked.renamed else {}
    if asked.verb == "record":
        return record(asked.out, asked.python, asked.tree.resolve(), rules, asked.set, asked.jobs)
    before, after = (json.loads(path.read_text()) for path in (asked.before, asked.after))
    if asked.libraries:
        before = {line: _as_rounded(each, after.get(line), line) for line, each in before.items()}
    return compare(before, after, rules, words=asked.words)


def commands(path: Path = SET) -> list[str]:
    """The command lines, without comments and blank lines."""
    lines = [line.strip() for line in path.read_text().splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


# Recording


def record(out: Path, python: str, tree: Path, rules: Rules, path: Path, jobs: int) -> int:
    """Run every command line with the package in ``tree``; the file has one entry per line."""
    with tempfile.TemporaryDirectory(prefix="same-verdicts-") as folder:
        brought = Path(folder) / "files"
        shutil.copytree(BRINGS, brought)
        for file in brought.glob("*.py"):
            file.write_text(_replaced(file.read_text(), rules.get("files", {})))
        environment = {**os.environ, **_ALONE, **_FIXED, "RATECHECK_CACHE": str(_cache(Path(folder)))}
        typed = {line: _typed(line, rules.get("options", {})) for line in commands(path)}
        running = []
        for job in range(jobs):
            # Every so many lines, since costly ones lie beside each other.
            part = dict(list(typed.items())[job::jobs])
            place = Path(folder) / str(job)
            shutil.copytree(brought, place / "files")
            plan = {"tree": str(tree), "folder": str(place), "typed": part, "out": str(place / "out.json")}
            (place / "plan.json").write_text(json.dumps(plan))
            command = [python, __file__, "work", str(place / "plan.json")]
            running.append(subprocess.Popen(command, env=environment))  # noqa: S603  # as the caller says
        if [each.wait() for each in running] != [0] * jobs:
            return 1
        answers: dict[str, Any] = {}
        for job in range(jobs):
            answers |= json.loads((Path(folder) / str(job) / "out.json").read_text())
    out.write_text(json.dumps({line: answers[line] for line in typed}, indent=1) + "\n")
    print(f"{len(answers)} commands, {sum(each['cpu'] for each in answers.values()):.0f} s of CPU: {out}")
    return 0


def _typed(line: str, options: Mapping[str, str]) -> list[str]:
    return [options.get(word, word) for word in shlex.split(line)]


def _replaced(text: str, words: Mapping[str, str]) -> str:
    for before, after in words.items():
        text = text.replace(before, after)
    return text


def _cache(folder: Path) -> Path:
    """A cache with the compiled kernels of the user's, and nothing else of it."""
    usual = os.environ.get("RATECHECK_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "ratecheck"
    kept, fresh = Path(usual).expanduser(), folder / "cache"
    fresh.mkdir()
    for kernels in kept.glob("kernels-*"):
        (fresh / kernels.name).symlink_to(kernels.resolve())
    return fresh


def work(plan: Mapping[str, Any]) -> int:
    """Import the package once and run every command line in a fork."""
    sys.path[0] = plan["tree"]
    _import_all()
    here = Path(importlib.import_module("ratecheck").__file__ or "").parent.parent
    if here != Path(plan["tree"]):
        raise SystemExit(f"{sys.executable} imports ratecheck from {here}, not from {plan['tree']}")
    entries: dict[str, Any] = {}
    for number, (line, words) in enumerate(plan["typed"].items()):
        entries[line] = _answer(words, Path(plan["folder"]), number)
        print(f"{number + 1:3d} {entries[line]['cpu']:6.1f} s  {entries[line]['code']}  {line}", flush=True)
    Path(plan["out"]).write_text(json.dumps(entries))
    return 0


def _import_all() -> None:
    """All modules, so that no command pays for it; what lacks an extra is passed over."""
    for name in ("bounds", "ratecheck"):
        package = importlib.import_module(name)
        for module in pkgutil.walk_packages(package.__path__, f"{name}.", onerror=lambda _name: None):
            if not module.name.endswith("__main__"):
                with contextlib.suppress(ImportError):
                    importlib.import_module(module.name)


def _answer(words: list[str], folder: Path, number: int) -> dict[str, Any]:
    """What one command line says: exit code, JSON or text, messages, the JSON files that it writes; CPU seconds."""
    place = folder / f"{number}"
    shutil.copytree(folder / "files", place)
    brought = {file.relative_to(place) for file in place.rglob("*")}
    texts = [folder / f"{number}.{stream}" for stream in ("out", "err")]
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        _become(words, place, *texts)
    signal.signal(signal.SIGALRM, lambda *_: os.kill(child, signal.SIGKILL))
    signal.alarm(HANGS)
    _, status, usage = os.wait4(child, 0)
    signal.alarm(0)
    out, err = (text.read_text(errors="replace") for text in texts)
    written = {
        str(file.relative_to(place)): _data(file.read_text())
        for file in sorted([*place.glob("*.json"), *place.glob("results/*/claims.json")])
        if file.relative_to(place) not in brought
    }
    shutil.rmtree(place)
    return {
        "code": os.waitstatus_to_exitcode(status),
        "out": _data(out),
        "err": err,
        "files": written,
        "cpu": round(usage.ru_utime + usage.ru_stime, 2),
    }


def _data(text: str) -> Any:
    """JSON where it is JSON, else the text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _become(words: list[str], place: Path, out: Path, err: Path) -> None:
    """Turn this fork into the command line; does not return."""
    code = 70
    try:
        os.chdir(place)
        for stream, path in ((1, out), (2, err)):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), stream)
        sys.argv = ["ratecheck", *words]
        importlib.import_module("ratecheck.cli").main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


# Comparing


def compare(before: Mapping[str, Any], after: Mapping[str, Any], rules: Rules, *, words: bool) -> int:
    """Print what differs; 1 where more than sentences do."""
    fired: Counter[str] = Counter()
    hard: list[str] = []
    soft: list[str] = []
    for line in dict.fromkeys((*before, *after)):
        if line not in before or line not in after:
            hard.append(f"{line}\n    only in the {'second' if line in after else 'first'} record")
            continue
        found = list(_entry(before[line], after[line], shlex.split(line), rules, fired))
        for place, one, other, sentence in found:
            (soft if sentence else hard).append(f"{line}\n    {place}: {_short(one)} -> {_short(other)}")
    for name, count in sorted(fired.items()):
        print(f"rule {name}: {count} times")
    print("\n".join([*hard, *(soft if words else [])]))
    print(f"{len(before)} and {len(after)} commands; {len(hard)} differences, {len(soft)} in sentences only")
    return int(bool(hard))


def _as_rounded(one: Any, other: Any, line: str, error: float = 0.0) -> Any:
    """The one with what counts as the same with other libraries put as the other has it."""
    if isinstance(one, dict) and isinstance(other, dict):
        chosen = (*_CHOSEN, *(_FOUND if line.startswith("falsify ") else ()))
        claimed = [each.get(key) or 0.0 for each in (one, other) for key in _ERRORS]
        error = max([each for each in claimed if isinstance(each, float)], default=0.0)
        return {
            key: other[key] if key in chosen and key in other else _as_rounded(value, other.get(key), line, error)
            for key, value in one.items()
        }
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return [_as_rounded(first, second, line, error) for first, second in zip(one, other, strict=True)]
    if isinstance(one, float) and isinstance(other, float):
        return other if abs(one - other) <= max(_CLOSE * max(abs(one), abs(other)), error) else one
    return one


Difference = tuple[str, object, object, bool]


def _entry(
    one: Mapping[str, Any], other: Mapping[str, Any], line: list[str], rules: Rules, fired: Counter[str]
) -> Iterator[Difference]:
    if one["code"] != other["code"]:
        yield "exit code", one["code"], other["code"], False
    for word in {*line} & {*rules.get("options", {})}:
        fired[f"options {word}"] += 1
    if one["err"] != other["err"]:
        yield "messages", one["err"], other["err"], True
    command = line[0] if line else ""
    for part in ("out", "files"):
        renamed = _renamed(one[part], command, rules, fired)
        under = rules.get("under", {}).get(command)
        if part == "out" and under and isinstance(renamed, list) and isinstance(other[part], dict):
            fired[f"under {command} = {under}"] += 1
            renamed = {under: renamed}
        yield from _differences(part, renamed, other[part], command, rules, fired)


def _renamed(data: Any, command: str, rules: Rules, fired: Counter[str]) -> Any:
    """What was said before, in the words of after."""
    if isinstance(data, dict):
        return {
            _word(key, command, "keys", rules, fired): _renamed(value, command, rules, fired)
            for key, value in data.items()
        }
    if isinstance(data, list):
        return [_renamed(value, command, rules, fired) for value in data]
    return _word(data, command, "values", rules, fired) if isinstance(data, str) else data


def _word(word: str, command: str, table: str, rules: Rules, fired: Counter[str]) -> str:
    for rule in (f"{command}:{word}", word):
        if rule in rules.get(table, {}):
            fired[f"{table} {rule} = {rules[table][rule]}"] += 1
            return str(rules[table][rule])
    return word


def _differences(
    place: str, one: Any, other: Any, command: str, rules: Rules, fired: Counter[str]
) -> Iterator[Difference]:
    """Where two pieces of JSON differ; the last entry tells whether in a sentence."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in dict.fromkeys((*one, *other)):
            if key in one and key in other and key not in _PASSING:
                yield from _differences(f"{place}.{key}", one[key], other[key], command, rules, fired)
            elif (key in one) != (key in other) and not _only(
                key, "before" if key in one else "after", command, rules, fired
            ):
                yield f"{place}.{key}", one.get(key, "absent"), other.get(key, "absent"), False
    elif isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            yield f"{place}, length", len(one), len(other), False
        for k, (first, second) in enumerate(zip(one, other, strict=False)):
            yield from _differences(f"{place}[{k}]", first, second, command, rules, fired)
    elif type(one) is not type(other) or one != other:
        yield place, one, other, isinstance(one, str) and isinstance(other, str) and _sentences(one, other)


def _only(key: str, side: str, command: str, rules: Rules, fired: Counter[str]) -> bool:
    for rule in (f"{command}:{key}", key):
        if rule in rules.get("only", {}).get(side, []):
            fired[f"only {side}: {rule}"] += 1
            return True
    return False


def _sentences(one: str, other: str) -> bool:
    """Whether both are sentences, not names or verdicts, with the same numbers in them."""
    return " " in one.strip() and " " in other.strip() and _NUMBER.findall(one) == _NUMBER.findall(other)


def _short(value: object) -> str:
    text = " ".join(value.split()) if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 160 else f"{text[:160]}..."


if __name__ == "__main__":
    sys.exit(main())
