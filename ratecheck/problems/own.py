"""Problems of a user's own, in a Python file: ``path/to/file.py:name`` stands where the name of a problem stands."""

from __future__ import annotations

from bounds import own, run_file
from ratecheck.errors import InputError, did_you_mean
from ratecheck.problems.problem import Problem

is_own = own.is_own


def get(address: str) -> Problem:
    """The problem ``path/to/file.py:name``; the file is run, as for a statement in it.

    Raises `InputError` with the file, and the line where there is one, for a file that does not exist or does not run,
    a name that it lacks, and a name that stands for something else.
    """
    path, name = own.split(address)
    file = run_file.run(path, *own.read(path))
    defined = {each: value for each, value in vars(file.module).items() if not each.startswith("_")}
    known = [each for each, value in defined.items() if isinstance(value, Problem)]
    if name in file.broken:
        failure = file.broken[name]
        raise InputError(f"{_place(path, failure.line)}: {failure.reason}")
    if name in known:
        found: Problem = defined[name]
        return found
    if name in defined:
        kind = type(defined[name]).__name__
        what = f"the class {defined[name].__name__}" if isinstance(defined[name], type) else f"of the kind {kind}"
        wanted = "needed an object of rc.problems, or of a class of Problem"
        raise InputError(f"{_place(path, file.lines.get(name))}: {name} is {what}; {wanted}")
    if not known:
        raise InputError(f"{path} defines no problem: assign one of rc.problems, or rc.problems.from_sympy(...), there")
    if not name:
        raise InputError(f"which problem of {path}? give {path}:{known[0]}; it has {', '.join(known)}")
    raise InputError(f"no problem {name!r} in {path}; {did_you_mean(name, known)}")


def _place(path: str, line: int | None) -> str:
    return path if line is None else f"{path}, line {line}"
