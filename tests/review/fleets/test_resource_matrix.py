"""The rows of several versions of one resource: each field that differs, with the value of every version."""

from __future__ import annotations

from krm_fn.kubernetes.secret_values import HIDDEN
from krm_fn.review.fleets import resource_matrix


def deployment(**spec):
    """A Deployment with one container, whose fields are `container`."""
    container = {"name": "main", "image": "a:1", **spec.pop("container", {})}
    pod = {"containers": [*spec.pop("before", ()), container]}
    metadata = {"name": "web", "namespace": "team"}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": {**spec, "template": {"spec": pod}}}


def rows(*versions):
    return {"/".join(map(str, row.names)): row.values for row in resource_matrix.compare(versions)}


def test_equal_versions_have_no_rows():
    assert rows(deployment(replicas=1), deployment(replicas=1)) == {}


def test_a_row_has_the_value_of_every_version():
    assert rows(deployment(replicas=1), deployment(), deployment(replicas=3)) == {"spec/replicas": (1, None, 3)}


def test_a_version_without_the_resource_is_absent():
    found = rows(None, deployment(replicas=1), deployment(replicas=2))
    assert found == {"": (None, "present", "present"), "spec/replicas": (None, 1, 2)}


def test_a_field_that_differs_as_a_whole_has_no_rows_of_its_parts():
    """In one version the field is absent, in another a part of it differs."""
    base, other = {"limits": {"cpu": "1", "memory": "1Gi"}}, {"limits": {"cpu": "2", "memory": "1Gi"}}
    found = rows(deployment(container={"resources": base}), deployment(), deployment(container={"resources": other}))
    assert found == {"spec/template/spec/containers/main/resources": (base, None, other)}


def test_entries_of_lists_have_the_same_row_at_different_indexes():
    """The third version has another container before the one that differs in the second."""
    first = {"name": "first", "image": "b:1"}
    found = rows(deployment(), deployment(container={"image": "a:2"}), deployment(before=[first]))
    assert found == {
        "spec/template/spec/containers/main/image": ("a:1", "a:2", "a:1"),
        "spec/template/spec/containers/first": (None, None, first),
    }


def test_secret_values_are_hidden_and_still_differ():
    """The other values of the same list are shown."""
    secret, other, open_value = ({"env": [{"name": "HF_TOKEN", "value": value}]} for value in ("hf_a", "hf_b", "hf_a"))
    (row,) = resource_matrix.compare([deployment(container=container) for container in (secret, other, open_value)])
    assert (row.values, row.alike) == ((HIDDEN, HIDDEN, HIDDEN), (0, 1, 0))
    (row,) = resource_matrix.compare([deployment(), deployment(container=secret)])
    assert row.values == (None, [{"name": "HF_TOKEN", "value": HIDDEN}])


def test_the_order_of_a_list_is_a_row():
    first, second = {"name": "A", "value": "1"}, {"name": "B", "value": "2"}
    versions = [deployment(container={"env": entries}) for entries in ([first, second], [second, first], [first, second])]
    (row,) = resource_matrix.compare(versions)
    assert row.values == (["A", "B"], ["B", "A"], ["A", "B"])
