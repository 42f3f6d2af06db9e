"""A check of every statement as one test per paper: a thousand items take longer to hand out than to run.

Every key is tried, and the failure names those for which the check fails, each with its traceback. ``every=k`` leaves
all but each k-th key of a paper to ``pytest -m long``.
"""

import functools
import inspect

import pytest


def each_key(keys, every=1):
    """The decorator of a test with an argument ``key``; other arguments are fixtures, shared by the keys of a paper."""
    papers = {}
    for key in keys:
        papers.setdefault(key.rpartition("/")[0] or "all", []).append(key)
    parts = [pytest.param(own[::every], id=paper) for paper, own in papers.items()]
    for paper, own in papers.items():
        if others := [key for number, key in enumerate(own) if number % every]:
            parts.append(pytest.param(others, id=f"{paper}-others", marks=pytest.mark.long))

    def one_per_paper(test):
        parameters = inspect.signature(test).parameters
        own = parameters["key"].replace(name="keys")

        @functools.wraps(test)
        def whole(keys, **fixtures):
            failed = []
            for key in keys:
                try:
                    test(key=key, **fixtures)
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001  # named below
                    error.add_note(f"of {key}")
                    failed.append((key, error))
            if failed:
                raise BaseExceptionGroup(", ".join(key for key, _ in failed), [error for _, error in failed])

        whole.__signature__ = inspect.Signature([own, *(each for each in parameters.values() if each.name != "key")])
        return pytest.mark.parametrize("keys", parts)(whole)

    return one_per_paper
