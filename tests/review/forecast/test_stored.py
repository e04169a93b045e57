"""The stored form of pod templates: it differs exactly where the pods of a Deployment restart."""

from __future__ import annotations

import copy

import pytest

from krm_fn.kubernetes import stored_templates
from krm_fn.review.forecast.native_workloads import Deployment
from tests.review.forecast import edits
from tests.support.cases import cases


@pytest.mark.parametrize("edit", edits.LISTED, ids=lambda edit: edit.reason)
def test_pods_restart_where_the_stored_form_differs(edit):
    assert bool(Deployment().causes(edits.deployment(), edits.edited(edit))) == edit.restarts


def test_there_are_sixty_edits_of_both_sorts():
    restarts = [edit.restarts for edit in edits.LISTED]
    assert len(restarts) >= 60
    assert min(restarts.count(True), restarts.count(False)) >= 25


def test_a_template_is_not_changed():
    written = edits.deployment()
    before = copy.deepcopy(written)
    assert not Deployment().causes(written, written)
    assert written == before


CAUSES = [
    ("a changed variable", ("containers", 0, "env", 0, "value"), "9", ("containers", 0, "env", 0, "value")),
    ("a new variable", ("containers", 0, "env", 3), {"name": "D", "value": "1"}, ("containers", 0, "env", 3)),
    ("a removed list", ("containers", 0, "args"), None, ("containers", 0, "args")),
]


@cases(("reason", "path", "value", "cause"), CAUSES)
def test_a_cause_is_the_path_of_the_field(reason, path, value, cause):
    new = edits.written(edits.deployment(), ("spec", "template", "spec", *path), value)
    assert Deployment().causes(edits.deployment(), new) == (("spec", "template", "spec", *cause),)


_TCP, _CPU, _SAME_CPU = {"protocol": "TCP"}, {"limits": {"cpu": "1000m"}}, {"limits": {"cpu": "1"}}
_GIB, _BYTES = ({"resources": {"limits": {"memory": text}}} for text in ("1Gi", "1073741824"))
CUSTOM = [
    ("a definition fills in the protocol", stored_templates.group, {"ports": [{}]}, {"ports": [_TCP]}, True),
    ("no definition fills in a pull policy", stored_templates.group, {}, {"imagePullPolicy": "IfNotPresent"}, False),
    ("the controller of LeaderWorkerSets prints quantities", stored_templates.group, {"resources": _CPU}, {"resources": _SAME_CPU}, True),
    ("a StatefulSet compares the texts of quantities", stored_templates.revision, _GIB, _BYTES, False),
    (
        "a StatefulSet compares the texts that a server prints",
        stored_templates.revision,
        {"resources": _CPU},
        {"resources": _SAME_CPU},
        True,
    ),
    ("a DaemonSet compares the values of quantities", stored_templates.native, _GIB, _BYTES, True),
    ("Grove hashes quantities as they are written", stored_templates.clique, {"resources": _CPU}, {"resources": _SAME_CPU}, False),
    ("LeaderWorkerSets drop empty lists", stored_templates.group, {"args": []}, {}, True),
    ("Grove hashes an empty list as a value", stored_templates.clique, {"args": []}, {}, False),
    ("a probe without a period", stored_templates.group, {"livenessProbe": {}}, {"livenessProbe": {"periodSeconds": 10}}, False),
    (
        "a zero is the same as a missing number",
        stored_templates.clique,
        {"livenessProbe": {}},
        {"livenessProbe": {"periodSeconds": 0}},
        True,
    ),
]


@cases(("reason", "form", "old", "new", "same"), CUSTOM)
def test_definitions_fill_in_less_than_a_deployment(reason, form, old, new, same):
    before, after = (form({"spec": {"containers": [{"name": "main", **fields}]}}) for fields in (old, new))
    assert (before == after) is same


def test_grove_fills_in_two_fields_of_a_pod():
    written = {"restartPolicy": "Always", "terminationGracePeriodSeconds": 30}
    assert stored_templates.clique({"spec": written}) == stored_templates.clique({"spec": {}})
    assert stored_templates.group({"spec": written}) != stored_templates.group({"spec": {}})
