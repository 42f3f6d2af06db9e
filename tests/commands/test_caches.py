"""What is kept between runs is believed, and in part run: from a folder that others can write nothing is taken."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import ratecheck as rc
from ratecheck import caching
from ratecheck.auditing import cache_key, ledger
from ratecheck.auditing.ledger import ResultStore

STEPS = """
import sympy as sp
from bounds.ledger.step import Scalar, Step

x, y = sp.symbols("x y", positive=True)
STEPS = (
    Step(id="pfl/wrong", location="eq. (1)", claim="x <= y", of="pfl/lemma-3.2",
         check=Scalar(left=x, operator="<=", right=y)),
)
"""
KERNEL = "from ratecheck.kernels.random import counter_tag; print(counter_tag(1, 2))"
ROOT = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
POSIX = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="permissions of POSIX")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache, two folders below the test's, and a ledger of one false step."""
    monkeypatch.setenv("RATECHECK_CACHE", str(tmp_path / "above" / "cache"))
    monkeypatch.delenv(caching._SAID, raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "wrong_ledger", raising=False)
    (tmp_path / "wrong_ledger.py").write_text(STEPS)
    cache_key.module_digest.cache_clear()
    return tmp_path / "above" / "cache"


def forge(folder: Path) -> None:
    """FALSE becomes PROVED in every entry, under a checksum that is right."""
    entries = [*folder.glob("audit/*.json")]
    assert entries
    for path in entries:
        _, _, content = path.read_bytes().partition(b"\n")
        caching.write(path, content.replace(b'"FALSE"', b'"PROVED"'))


def verdict() -> str:
    """Of the false step."""
    (found,) = ledger.audit(["wrong_ledger"], workers=1)
    return found.verdict.value


class Payload:
    """What leaves a mark when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self):
        return Path.touch, (self.mark,)


def give_away(path: Path) -> None:
    """To somebody else."""
    os.chown(path, 12345, 12345)


def to_a_group(path: Path) -> None:
    """To a group that is not the user's own."""
    os.chown(path, -1, 12345)
    path.chmod(0o775)


@POSIX
@pytest.mark.parametrize(
    ("of", "change"),
    [
        ("", lambda path: path.chmod(0o777)),
        ("", lambda path: path.chmod(0o1777)),
        ("", lambda path: path.chmod(0o770)),
        ("", lambda path: path.chmod(0o702)),
        ("audit", lambda path: path.chmod(0o777)),
        ("..", lambda path: path.chmod(0o777)),
        pytest.param("..", to_a_group, marks=ROOT),
        pytest.param("", give_away, marks=ROOT),
        pytest.param("audit", give_away, marks=ROOT),
        pytest.param("..", give_away, marks=ROOT),
    ],
)
def test_a_folder_that_others_can_write_is_not_used(cache, capsys, of, change):
    """The cache, a part of it, or a folder above it: a forged verdict is not believed, and that is said once."""
    assert verdict() == "FALSE"
    forge(cache)
    assert verdict() == "PROVED"  # the folder is trusted, as the documentation says
    change(cache / of)
    before = {path: path.read_bytes() for path in cache.rglob("*.json")}
    assert [verdict(), verdict()] == ["FALSE", "FALSE"]
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert said[0].startswith(f"note: others may write to {(cache / of).resolve()}, so that nothing")
    assert {path: path.read_bytes() for path in cache.rglob("*.json")} == before


@POSIX
@pytest.mark.parametrize("change", [lambda path: path.chmod(0o666), pytest.param(give_away, marks=ROOT)])
def test_an_entry_that_others_can_write_is_computed_again(cache, capsys, change):
    """And replaced by one that they cannot."""
    assert verdict() == "FALSE"
    forge(cache)
    for path in cache.glob("audit/*.json"):
        change(path)
    assert verdict() == "FALSE"
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in cache.glob("audit/*.json"))
    assert capsys.readouterr().err == ""


@POSIX
@pytest.mark.parametrize("mask", [0o000, 0o002, 0o022, 0o077])
def test_what_is_made_is_the_user_s_alone(cache, capsys, mask):
    """Whatever is usual for new files; and it is found again."""
    usual = os.umask(mask)
    try:
        store = ResultStore()
        store.put("key", [1])
        assert ResultStore().get("key") == [1]
    finally:
        os.umask(usual)
    assert [path.stat().st_mode & 0o022 for path in (cache, *cache.rglob("*"))] == [0, 0, 0]
    assert capsys.readouterr().err == ""


@POSIX
def test_usual_homes_do(cache, capsys):
    """A folder above that is of the user's own group, or whose entries only their owners replace."""
    for mode in (0o755, 0o700, 0o1777):
        cache.parent.mkdir(exist_ok=True)
        cache.parent.chmod(mode)
        assert caching.cache_root() == cache
    assert capsys.readouterr().err == ""


@POSIX
def test_a_forged_kernel_is_not_run(tmp_path):
    """An entry is a pickle: whoever can write it runs code. The first run shows that the payload would."""
    folder, mark = tmp_path / "cache", tmp_path / "mark"
    environment = {**os.environ, "RATECHECK_CACHE": str(folder)}

    def asked() -> tuple[str, str]:
        done = subprocess.run(
            [sys.executable, "-c", KERNEL], env=environment, capture_output=True, text=True, check=True, cwd=tmp_path
        )
        return done.stdout, done.stderr

    number, _ = asked()
    entries = [path for path in folder.rglob("*") if path.is_file()]
    assert entries
    for path in entries:
        key = path.read_bytes().split(b"\n")[1]
        caching.write(path, key + b"\n" + pickle.dumps(Payload(mark)))
    assert asked() == (number, "")
    assert mark.exists()
    for path in entries:
        caching.write(
            path, path.read_bytes().partition(b"\n")[2].partition(b"\n")[0] + b"\n" + pickle.dumps(Payload(mark))
        )
    mark.unlink()
    folder.chmod(0o777)
    found, said = asked()
    assert (found, said.count("others may write")) == (number, 1)
    assert not mark.exists()


@pytest.mark.usefixtures("cache")
def test_verdicts_carry_what_they_were_computed_from():
    """The hashes of the step and of the checker, kept or not; of another step they are others."""
    found = [rc.audit(step="pfl/lemma-3.2-1").to_dict()["steps"][0]["computed_from"] for _ in range(2)]
    steps = {step.id: step for step in ledger.load(ledger.module_of("pfl"))}
    first, second = ({"input": cache_key.step_digest(steps[f"pfl/lemma-3.2-{k}"])} for k in (1, 2))
    assert found == [{**first, "checker": cache_key.checker_digest()}] * 2
    assert first != second
