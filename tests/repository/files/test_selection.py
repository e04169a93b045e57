"""Which files of a folder hold resources: not the templates of charts, and not the parts of resources that a Kustomization names."""

from __future__ import annotations

import pytest
import yaml

from krm_fn.repository.files import reading, selection
from tests.support.cases import cases


def select(files, exclude=()):
    """Selects among names with their values."""
    return selection.select(sorted(files), lambda name: reading.parse(yaml.safe_dump(files[name]).encode(), name), exclude)


SKIPPED = [
    # reason, files with their values, the names that are left, what was skipped
    ("nothing", {"a.yaml": {}, "b/c.yaml": {}}, ["a.yaml", "b/c.yaml"], {}),
    (
        "a chart, all of it",
        {"a.yaml": {}, "x/Chart.yaml": {}, "x/values.yaml": {}, "x/templates/b/c.yaml": {}, "x-y/d.yaml": {}},
        ["a.yaml", "x-y/d.yaml"],
        {selection.IN_CHARTS: 3},
    ),
    ("a folder that is a chart", {"Chart.yaml": {}, "templates/a.yaml": {}}, [], {selection.IN_CHARTS: 2}),
    (
        "patches of every kind",
        {
            "kustomization.yaml": {
                "patches": [{"path": "a.yaml"}, {"patch": "x: 1\n"}, "nonsense"],
                "patchesStrategicMerge": ["./b.yaml", "kind: A\nmetadata: {}\n"],
                "patchesJson6902": [{"path": "c.json"}],
                "resources": ["d.yaml"],
            },
            **{name: {} for name in ("a.yaml", "b.yaml", "c.json", "d.yaml")},
        },
        ["d.yaml", "kustomization.yaml"],
        {selection.PATCHES: 3},
    ),
    (
        "patches in another folder",
        {"over/prod/kustomization.yml": {"patches": [{"path": "../patches/a.yaml"}]}, "over/patches/a.yaml": {}, "over/patches/b.yaml": {}},
        ["over/patches/b.yaml", "over/prod/kustomization.yml"],
        {selection.PATCHES: 1},
    ),
    (
        "values of a chart and data of a ConfigMap",
        {
            "Kustomization": {
                "helmCharts": [{"valuesFile": "v.yaml", "additionalValuesFiles": ["w.yaml"]}],
                "configMapGenerator": [{"files": ["c.yaml", "key=d.yaml"]}],
            },
            **{name: {} for name in ("v.yaml", "w.yaml", "c.yaml", "d.yaml")},
        },
        ["Kustomization"],
        {selection.PATCHES: 4},
    ),
    (
        "not what is a resource somewhere",
        {
            "a/kustomization.yaml": {"resources": ["x.yaml"]},
            "b/kustomization.yaml": {"patches": [{"path": "../a/x.yaml"}]},
            "a/x.yaml": {},
        },
        ["a/kustomization.yaml", "a/x.yaml", "b/kustomization.yaml"],
        {},
    ),
    (
        "nothing because of a Kustomization that is not one",
        {"kustomization.yaml": ["a.yaml"], "b/kustomization.yaml": {"patches": "a.yaml", "helmCharts": [1]}, "a.yaml": {}},
        ["a.yaml", "b/kustomization.yaml", "kustomization.yaml"],
        {},
    ),
]


@cases(("files", "kept", "skipped"), SKIPPED)
def test_what_is_skipped(files, kept, skipped):
    found = select(files)
    assert (found.names, dict(found.skipped)) == (kept, skipped)


GLOBS = [
    # glob, name, True if it is excluded
    ("a.yaml", "a.yaml", True),
    ("a.yaml", "x/y/a.yaml", True),
    ("a.yaml", "ba.yaml", False),
    ("x", "x/y/a.yaml", True),
    ("y/", "x/y/a.yaml", True),
    ("*.tmpl.yaml", "x/a.tmpl.yaml", True),
    ("x/*.yaml", "x/a.yaml", True),
    ("x/*.yaml", "x/y/a.yaml", True),
    ("x/y", "x/y/a.yaml", True),
    ("y/a.yaml", "x/y/a.yaml", False),
    ("*/a.yaml", "x/y/a.yaml", True),
    ("A.yaml", "a.yaml", False),
]


@pytest.mark.parametrize(("glob", "name", "excluded"), GLOBS)
def test_globs(glob, name, excluded):
    assert select({name: {}, "other.yaml": {}}, [glob]).names == sorted(["other.yaml"] + [name] * (not excluded))


def test_an_excluded_kustomization_names_no_patches():
    files = {"x/kustomization.yaml": {"patches": [{"path": "a.yaml"}]}, "x/a.yaml": {}}
    assert select(files, ["kustomization.yaml"]).names == ["x/a.yaml"]


SCOPES = [
    ("a.yaml", (), ""),
    ("x/a.yaml", (), "x"),
    ("x/y/a.yaml", ("x",), "x"),
    ("x/y/a.yaml", ("x", "x/y"), "x/y"),
    ("x/y/a.yaml", ("",), ""),
    ("x/y/a.yaml", ("xx",), "x/y"),
]


@pytest.mark.parametrize(("name", "roots", "scope"), SCOPES)
def test_the_scope_is_the_nearest_kustomization_or_the_folder(name, roots, scope):
    assert selection.scope(name, roots) == scope
