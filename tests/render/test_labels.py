"""Labels and annotations are read without stumbling over resources that have them in a wrong form, or not at all."""

from __future__ import annotations

from krm_fn.render import labels
from tests.support.cases import cases

READ = [
    ("what is there", {"metadata": {"labels": {"a": "1"}, "annotations": {"b": "2"}}}, {"a": "1"}, {"b": "2"}),
    ("no metadata", {}, {}, {}),
    ("no labels in the metadata", {"metadata": {"name": "x"}}, {}, {}),
    ("null", {"metadata": {"labels": None, "annotations": None}}, {}, {}),
    ("a list", {"metadata": {"labels": ["a"], "annotations": ["b"]}}, {}, {}),
    ("metadata that is no object", {"metadata": "x"}, {}, {}),
]


@cases(("resource", "found", "notes"), READ)
def test_reading(resource, found, notes):
    assert labels.of(resource) == found
    assert labels.annotations(resource) == notes


def test_keys_are_valid_and_none_stands_for_two_things():
    keys = [value for name, value in vars(labels).items() if name.isupper() and isinstance(value, str) and "/" in value[:-1]]
    assert len(keys) > 30
    assert len(set(keys)) == len(keys)
    assert all(len(key.partition("/")[2]) <= 63 for key in keys)
