"""Which files of tests take too long: a share of the whole, whatever the machine."""

from types import SimpleNamespace

import pytest
import seconds

FILES = {"tests/a.py": 91.0, "tests/b.py": 80.0, seconds.WHOLE: 200.0, **{f"tests/{k}.py": 10.0 for k in range(82)}}


@pytest.mark.parametrize("slower", [1, 7])
def test_a_file_beyond_its_share_is_named(slower):
    """All but the file that builds the documentation."""
    assert [*seconds.beyond({file: slower * taken for file, taken in FILES.items()})] == ["tests/a.py"]


@pytest.mark.parametrize(("files", "code"), [(FILES, 1), (FILES | {"tests/a.py": 80.0}, 0)])
def test_it_fails_the_run_and_all_is_written(tmp_path, files, code):
    """Exit code 1 of a run that passed otherwise; in the file the longest come first."""
    session = SimpleNamespace(exitstatus=pytest.ExitCode.OK)
    plugin = seconds.Seconds(tmp_path / "seconds.json")
    for file, taken in files.items():
        for part in (0.25, 0.75):
            plugin.pytest_runtest_logreport(SimpleNamespace(nodeid=f"{file}::test", duration=part * taken))
    plugin.pytest_sessionfinish(session)
    assert session.exitstatus == code
    assert seconds.WHOLE in (tmp_path / "seconds.json").read_text().splitlines()[1]
