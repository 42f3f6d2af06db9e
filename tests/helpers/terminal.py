"""A command under a pseudo-terminal, with busy processes beside it."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

RATECHECK = (sys.executable, "-m", "ratecheck")


@contextmanager
def busy(count: int = 4) -> Iterator[None]:
    """So many processes that do nothing but compute."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def on_terminal(*words: str, cwd: object = None, **environment: str) -> tuple[int, str]:
    """Exit code and everything that a terminal of 80 columns gets to see."""
    child, terminal = pty.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            signal.signal(signal.SIGINT, signal.default_int_handler)
            os.chdir(cwd or ".")
            os.environ.update({"TERM": "xterm", "COLUMNS": "80", **environment})
            os.execv(RATECHECK[0], [*RATECHECK, *words])  # noqa: S606  # as a shell would
        os._exit(99)
    seen = b""
    while True:
        ready, _, _ = select.select([terminal], [], [], 600)
        try:
            part = os.read(terminal, 65536) if ready else b""
        except OSError:  # the other end is closed
            part = b""
        if not part:
            break
        seen += part
    os.close(terminal)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), seen.decode(errors="replace")


def started(*words: str, cwd: object = None) -> subprocess.Popen[str]:
    """A command in a process group of its own that hears interrupts, whoever started the tests."""
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); from ratecheck.cli import main; "
    )
    return subprocess.Popen(
        [sys.executable, "-c", code + "main()", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        start_new_session=True,
    )


def processor_seconds(pid: int) -> float:
    """What a process has computed so far: how far it is, whatever else the machine does."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_for(condition, seconds: float = 300.0) -> bool:
    """Whether it comes about; a machine with other work may take long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


def group(pid: int) -> list[int]:
    """The living processes of a process group."""
    found = []
    for name in filter(str.isdigit, (path.name for path in Path("/proc").iterdir())):
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
            if int(fields[2]) == pid and fields[0] != "Z":
                found.append(int(name))
    return found
