"""``ratecheck`` and ``python -c`` without their start: one process imports everything, and forks for each of them.

A start takes a second, nearly all of it imports; the examples of the documentation alone are some 200 of them.
`commands` has a folder for ``PATH`` with both. What they do is what the real ones do, in a process of its own with its
own folder, environment and streams.
"""

import atexit
import contextlib
import gc
import importlib
import json
import os
import pkgutil
import socket
import subprocess
import sys
import traceback
from pathlib import Path

_CLIENT = """#!{python} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    socket.send_fds(server, [b" "], [0, 1, 2])
    server.sendall(json.dumps([sys.argv, os.getcwd(), dict(os.environ)]).encode())
    server.shutdown(socket.SHUT_WR)
    code = server.recv(9)
sys.exit(int(code) if code else 70)
"""


@contextlib.contextmanager
def commands(folder, environment):
    """A folder with ``ratecheck`` and ``python``, for as long as the process behind them runs."""
    address = str(folder / "socket")
    for name in ("ratecheck", "python"):
        (folder / name).write_text(_CLIENT.format(python=sys.executable, address=address))
        (folder / name).chmod(0o755)
    with subprocess.Popen([sys.executable, __file__, address], env=environment, stdout=subprocess.PIPE) as server:
        server.stdout.readline()
        try:
            yield folder
        finally:
            server.terminate()


def serve(address):
    """Import both packages, say so, and fork for everyone who asks."""
    import bounds
    import ratecheck

    importlib.import_module("matplotlib.pyplot")
    for package in (bounds, ratecheck):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen(64)
        sys.stdout.write("\n")
        sys.stdout.flush()
        while True:
            asked, _ = server.accept()
            if os.fork() == 0:
                server.close()
                answer(asked)
            asked.close()
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass


def answer(asked):
    """Run what is asked, tell its exit code, and end."""
    _, streams, *_ = socket.recv_fds(asked, 1, 3)
    words, folder, environment = json.loads(asked.makefile("rb").read())
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.stdin, sys.stdout, sys.stderr = (
        open(number, mode, closefd=False, encoding="utf-8")  # noqa: SIM115
        for number, mode in enumerate("rww")
    )
    try:
        code = run(words)
    except BaseException:  # noqa: BLE001  # a process ends in no other way
        traceback.print_exc()
        code = 1
    # Taking down what was imported would take as long as importing it.
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    asked.send(str(code).encode())
    os._exit(code)


def run(words):
    """The exit code of a program in this process."""
    from ratecheck.cli import main

    program, module = Path(words[0]), vars(sys.modules["__main__"])
    # Processes that this one starts import no file of this name.
    del module["__file__"]
    try:
        if program.name == "python":
            # The code is the word after -c, or, after a hyphen alone, what comes in.
            code = words.pop(2) if words[1] == "-c" else sys.stdin.read()
            sys.argv, sys.path[0] = words[1:], ""
            exec(compile(code, "<string>", "exec"), module)  # noqa: S102  # an example
        else:
            sys.argv, sys.path[0] = words, str(program.parent)
            main()
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    return 0


if __name__ == "__main__":
    serve(sys.argv[1])
