"""The order of applying: what others need comes first, and equals keep their order."""

import random

from krm_fn.render import apply_order

KINDS = (
    *("Namespace", "CustomResourceDefinition", "ServiceAccount", "Role", "RoleBinding", "ConfigMap", "Secret"),
    *("PersistentVolumeClaim", "Service", "Deployment", "LeaderWorkerSet", "Ingress", "InferencePool", "Certificate"),
    *("DynamoModel", "DynamoGraphDeployment", "DynamoComponentDeployment", "DynamoGraphDeploymentScalingAdapter"),
)


def test_kinds_come_in_the_order_in_which_they_need_each_other():
    shuffled = [{"kind": kind} for kind in KINDS]
    random.Random(7).shuffle(shuffled)  # noqa: S311 - any order will do
    assert [resource["kind"] for resource in apply_order.sort(shuffled)] == list(KINDS)


def test_equals_keep_their_order():
    resources = [{"kind": kind, "metadata": {"name": name}} for name in "bca" for kind in ("Widget", "Service")]
    assert [resource["metadata"]["name"] for resource in apply_order.sort(resources)] == ["b", "c", "a", "b", "c", "a"]
