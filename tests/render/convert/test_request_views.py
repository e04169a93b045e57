"""Conversions of requests between v1beta2 and the older versions."""

from __future__ import annotations

import copy

import hypothesis
import pytest

from krm_fn.render import dynamo_api
from krm_fn.render.convert import request_views
from tests.support import given, searches

OLD = {"model": "acme/tiny", "backend": "vllm", "image": "p:1"}


@hypothesis.settings(max_examples=30)
@hypothesis.given(
    searches.SPECS, hypothesis.strategies.none() | searches.STATUSES, hypothesis.strategies.sampled_from(["v1beta1", "v1alpha1"])
)
def test_a_native_request_comes_back_from_its_view(spec, status, version):
    """The view has the whole spec and the whole status in one field, and the metadata stays. The input is not changed."""
    native = searches.request(status, **spec)
    before = copy.deepcopy(native)
    view = request_views.to(version, native)
    assert (view["apiVersion"], view["spec"]) == (f"nvidia.com/{version}", {"v1beta2": native["spec"]})
    assert view.get("status") == (None if status is None else {"v1beta2": status})
    assert view["metadata"] == native["metadata"]
    assert request_views.to(dynamo_api.BETA2, view) == native == before


@hypothesis.settings(max_examples=30)
@hypothesis.given(searches.SPECS, hypothesis.strategies.none() | searches.STATUSES)
def test_a_view_comes_back_from_the_native_request(spec, status):
    view = {**searches.view(spec), **({} if status is None else {"status": {"v1beta2": status}})}
    assert request_views.to(dynamo_api.BETA1, request_views.to(dynamo_api.BETA2, view)) == view


def test_a_request_of_v1beta1_is_a_view_in_v1beta2():
    """Its fields are not translated."""
    old = {**given.item(dynamo_api.REQUEST, "a", api=dynamo_api.V1BETA1, spec=OLD), "status": {"phase": "Ready"}}
    view = request_views.to(dynamo_api.BETA2, old)
    assert (view["apiVersion"], view["spec"], view["status"]) == (dynamo_api.V1BETA2, {"v1beta1": OLD}, {"v1beta1": {"phase": "Ready"}})
    assert request_views.to(dynamo_api.BETA1, view) == old


def test_a_request_of_v1alpha1_goes_through_v1beta1():
    """The view has the fields of v1beta1, and a conversion back gives those of v1alpha1."""
    spec = {"model": "acme/tiny", "backend": "vllm", "autoApply": True, "profilingConfig": {"profilerImage": "p:1"}}
    view = request_views.to(dynamo_api.BETA2, given.item(dynamo_api.REQUEST, "a", api=dynamo_api.V1ALPHA1, spec=spec))
    assert view["spec"]["v1beta1"]["image"] == "p:1"
    assert request_views.to(dynamo_api.ALPHA1, view)["spec"] == spec


def test_a_view_stays_between_the_older_versions():
    view = searches.view(searches.SPEC)
    assert request_views.to(dynamo_api.ALPHA1, view) == {**view, "apiVersion": dynamo_api.V1ALPHA1}


def test_defaults_of_an_api_server_beside_a_view_are_left_out():
    view = searches.view(searches.SPEC, backend="auto", autoApply=True)
    assert request_views.to(dynamo_api.BETA2, view)["spec"] == searches.SPEC


@pytest.mark.parametrize("part", ["spec", "status"])
def test_both_forms_at_once_cannot_be_converted(part):
    request = {**searches.view(searches.SPEC), part: {"v1beta2": {}, "model": "m"}}
    with pytest.raises(request_views.BothFormsError):
        request_views.to(dynamo_api.BETA2, request)
