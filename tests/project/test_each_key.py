"""One test per paper of a check of every statement: every key is tried, and those that fail are named."""

import pytest
from each_key import each_key

KEYS = ("a/1", "a/2", "a/3", "b/1")


def parts(**options):
    """The keys of each test by its name, and which of them are left to the full length."""

    @each_key(KEYS, **options)
    def check(key):
        pass

    (mark,) = check.pytestmark
    return {part.id: part.values[0] for part in mark.args[1]}, {part.id for part in mark.args[1] if part.marks}


def test_every_key_is_in_one_part():
    """By paper; with ``every`` the first of each paper is examined every time, the others at full length."""
    assert parts() == ({"a": ["a/1", "a/2", "a/3"], "b": ["b/1"]}, set())
    some, later = parts(every=2)
    assert some == {"a": ["a/1", "a/3"], "b": ["b/1"], "a-others": ["a/2"]}
    assert later == {"a-others"}


def test_a_failure_names_its_keys_and_hides_no_other():
    """What is raised and what is not, where it has to be."""
    tried = []

    @each_key(KEYS)
    def check(key, more):
        tried.append((key, more))
        if key == "a/1":
            raise ValueError("planted")
        if key == "a/3":
            with pytest.raises(ValueError, match="x"):
                pass

    with pytest.raises(BaseExceptionGroup, match="a/1, a/3") as found:
        check(keys=KEYS[:3], more=1)
    assert tried == [(key, 1) for key in KEYS[:3]]
    assert [each.__notes__ for each in found.value.exceptions] == [["of a/1"], ["of a/3"]]
    check(keys=KEYS[3:], more=1)
