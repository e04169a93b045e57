"""Changes of native objects that an API server refuses; `test_live_updates` asks a real one about the same changes."""

from __future__ import annotations

import pytest

from krm_fn.kubernetes import identity
from krm_fn.review import forecast
from krm_fn.review.forecast import native_kinds, object_rules
from tests.review.forecast import given, native_objects, refusals

NOTHING = object_rules.ClusterState({}, {}, {})


@pytest.mark.parametrize("refusal", refusals.ALL, ids=lambda refusal: refusal.reason)
def test_a_refused_change_is_refused_for_its_field(refusal):
    part = forecast.kind_forecast(given.change(refusal.old, refusals.changed(refusal)), NOTHING)
    assert (part.effect == "refused") == bool(refusal.cause)
    if refusal.cause:
        assert part.causes[0] == refusal.cause


def test_every_kind_with_rules_has_an_object_to_change():
    """Rows without an object to change: nobody writes these objects into files."""
    kinds = {identity.key(resource)[:2] for resource in native_objects.ALL}
    rare = {"Endpoints", "Namespace", "Node", "APIService", "ControllerRevision", "CertificateSigningRequest", "PriorityLevelConfiguration"}
    rare |= {"IPAddress", "ServiceCIDR", "ResourceSlice", "CSINode", "VolumeAttachment", "MutatingAdmissionPolicy"}
    rare |= {"MutatingAdmissionPolicyBinding"}
    assert {kind for _, kind in native_kinds.KINDS.keys() - kinds} == rare
