"""Fields that the other version cannot say, and pods that v1.5 makes differently."""

from typing import Any

import pytest
import yaml

from krm_fn.base import results
from krm_fn.render.convert import conversion_findings, not_convertible, versions


def resource(kind: str, version: str, text: str) -> dict[str, Any]:
    """A resource with this specification."""
    return {"apiVersion": f"nvidia.com/{version}", "kind": kind, "metadata": {"name": "r"}, "spec": yaml.safe_load(text)}


def fields(kind: str, version: str, text: str) -> list[str]:
    """The fields of this specification that the other version does not have."""
    other = "v1beta1" if version == "v1alpha1" else "v1alpha1"
    return [results.field(path).removeprefix("spec.") for path, _ in not_convertible.fields(resource(kind, version, text), other)]


def test_fields_of_services_that_no_component_has():
    """Fields without effect are not named, nor what v1beta1 says in another form."""
    text = """
    pvcs: [{name: a}, {name: b, create: true}]
    services:
      w:
        componentType: worker
        subComponentType: decode
        serviceName: old
        autoscaling: {}
        annotations: {a: b}
        labels: {}
        ingress: {enabled: true}
        dynamoNamespace: n
        scalingAdapter: {enabled: false}
        envFromSecret: s
        volumeMounts: [{name: c, useAsCompilationCache: true}, {name: d, useAsCompilationCache: true}]
      o: {componentType: planner, subComponentType: mine}
      p: {componentType: prefill, subComponentType: prefill}
      n:
    """
    assert fields("DynamoGraphDeployment", "v1alpha1", text) == [
        "pvcs[1]",
        "services.w.dynamoNamespace",
        "services.w.ingress",
        "services.w.annotations",
        "services.w.volumeMounts[1].useAsCompilationCache",
        "services.o.subComponentType",
    ]
    assert fields("DynamoComponentDeployment", "v1alpha1", "labels: {a: b}") == ["labels"]


def test_fields_of_components_that_no_service_has():
    """A mount of a declared volume keeps its details in v1alpha1's main container."""
    text = """
    components:
    - name: w
      frontendSidecar: fe
      experimental: {grove: {forceScalingGroup: true}, failover: {}}
      podTemplate:
        metadata: {name: n}
        spec:
          containers:
          - {name: fe, volumeMounts: [{name: e, mountPath: /e, readOnly: true}]}
          - name: main
            volumeMounts: [{name: d, mountPath: /d, readOnly: true}, {name: e, mountPath: /e, subPath: s}, {name: f, mountPath: /f}]
          volumes: [{name: e, emptyDir: {}}]
    """
    assert fields("DynamoGraphDeployment", "v1beta1", text) == [
        "components[0].experimental.grove",
        "components[0].frontendSidecar",
        "components[0].podTemplate.spec.containers[1].volumeMounts[0].readOnly",
    ]
    assert fields("DynamoComponentDeployment", "v1beta1", "experimental: {grove: {}}") == ["experimental.grove"]


def test_a_sidecar_that_v1alpha1_has_is_not_lost():
    """The kept fields say that it was a `frontendSidecar` of v1alpha1."""
    graph = resource("DynamoGraphDeployment", "v1alpha1", "services: {w: {frontendSidecar: {image: i}}}")
    assert not_convertible.fields(versions.to("v1beta1", graph), "v1alpha1") == []


def test_fields_of_requests():
    """What the other version says elsewhere is not lost, and neither is a default that is written out."""
    older = """
    model: m
    useMocker: false
    enableGpuDiscovery: true
    deploymentOverrides: {workersImage: i, name: g}
    profilingConfig: {outputPVC: o, config: {sla: {ttft: 1, other: 2}}}
    """
    assert fields("DynamoGraphDeploymentRequest", "v1alpha1", older) == [
        "enableGpuDiscovery",
        "deploymentOverrides.name",
        "profilingConfig.outputPVC",
        "profilingConfig.config.sla.other",
    ]
    newer = "{model: m, image: i, hardware: {gpuSku: a}, sla: {ttft: 1, e2eLatency: 2}, features: {mocker: {enabled: false}}}"
    assert fields("DynamoGraphDeploymentRequest", "v1beta1", newer) == ["hardware", "sla.e2eLatency"]
    assert fields("DynamoGraphDeploymentScalingAdapter", "v1alpha1", "dgdRef: {name: g, serviceName: s}") == []


CHANGED = {
    "a Secret beside envFrom": ("envFromSecret: s", "envFrom: [{}]", "envFromSecret"),
    "two handlers": ("livenessProbe: {exec: {}}", "livenessProbe: {httpGet: {}}", "extraPodSpec.mainContainer.livenessProbe"),
    "two probes": ("readinessProbe: {periodSeconds: 1}", "readinessProbe: {exec: {}}", "extraPodSpec.mainContainer.readinessProbe"),
    "a probe with gaps": ("", "livenessProbe: {exec: {}, periodSeconds: 1}", "extraPodSpec.mainContainer.livenessProbe"),
    "a variable of the service": ("envs: [{name: A, value: a}]", "env: [{name: A, value: b}]", "extraPodSpec.mainContainer.env[0]"),
    "a variable of the graph": ("", "env: [{name: B, value: a}, {name: G, value: b}]", "extraPodSpec.mainContainer.env[1]"),
    "requested GPUs": ("resources: {requests: {gpu: '1'}}", "", "resources.requests.gpu"),
    "another name": ("", "name: engine", "extraPodSpec.mainContainer.name"),
}
_WHOLE = "{exec: {}, periodSeconds: 1, timeoutSeconds: 1, failureThreshold: 1}"
SAME = {
    "a Secret alone": ("envFromSecret: s", ""),
    "a probe of the service": ("livenessProbe: {exec: {}}", ""),
    "a whole probe": ("", f"livenessProbe: {_WHOLE}"),
    "the same variable": ("envs: [{name: A, value: a}]", "env: [{name: A, value: a}, {name: C}]"),
    "the same number of GPUs": ("resources: {requests: {gpu: '1'}, limits: {gpu: '1'}}", "name: main"),
}


def _graph(service: str, main: str) -> dict[str, Any]:
    graph = resource("DynamoGraphDeployment", "v1alpha1", "{envs: [{name: G, value: a}], services: {}}")
    container = yaml.safe_load(f"{{{main}}}")
    graph["spec"]["services"]["w"] = {**yaml.safe_load(f"{{{service}}}"), "extraPodSpec": {"mainContainer": container}}
    return graph


@pytest.mark.parametrize(("service", "main", "field"), CHANGED.values(), ids=CHANGED)
def test_what_v1_5_makes_of_the_same_words(service, main, field):
    """Each is named, with the field that the author has to look at."""
    (found,) = conversion_findings.of_release_change(_graph(service, main))
    assert (found.severity, found.code, results.field(found.path)) == ("warning", "DYN413", f"spec.services.w.{field}")


@pytest.mark.parametrize(("service", "main"), SAME.values(), ids=SAME)
def test_what_v1_5_makes_of_other_words_is_the_same(service, main):
    """No finding without a change."""
    assert conversion_findings.of_release_change(_graph(service, main)) == []


def test_findings_of_a_render_and_of_a_conversion():
    """A render under 0.9 cannot go on without the field; a conversion keeps it. A render reports other pods of v1.5 if v1.5 is pinned."""
    newer = resource("DynamoGraphDeployment", "v1beta1", "components: [{name: w, experimental: {grove: {}}}]")
    assert [(found.severity, found.code) for found in conversion_findings.of_render(newer, "v1alpha1", is_pinned=True)] == [
        ("error", "DYN411")
    ]
    assert conversion_findings.of_render(newer, "v1beta1", is_pinned=True) == []
    assert [(found.severity, found.code) for found in conversion_findings.of_conversion(newer, "v1alpha1", {})] == [("warning", "DYN410")]
    older = _graph("envFromSecret: s, labels: {a: b}", "envFrom: [{}]")
    assert [found.code for found in conversion_findings.of_render(older, "v1beta1", is_pinned=True)] == ["DYN413"]
    assert [found.code for found in conversion_findings.of_render(older, "v1beta1", is_pinned=False)] == ["DYN413"]
    merged = _graph("livenessProbe: {periodSeconds: 5}", "livenessProbe: {httpGet: {port: 1}}")
    assert conversion_findings.of_release_change(merged) != []
    assert conversion_findings.of_render(merged, "v1beta1", is_pinned=False) == []
    assert [found.code for found in conversion_findings.of_conversion(older, "v1beta1", {})] == ["DYN413", "DYN410"]


def test_what_the_other_version_refuses_is_said_at_the_component():
    """A free word as type, and a name with an underscore, are only allowed in v1alpha1."""
    older = resource("DynamoGraphDeployment", "v1alpha1", "services: {a_b: {}, w: {componentType: main}}")
    found = conversion_findings.of_conversion(older, "v1beta1", versions.to("v1beta1", older))
    assert [(each.code, results.field(each.path)) for each in found] == [("DYN027", "spec.services.a_b"), ("DYN024", "spec.services.w")]
    newer = resource("DynamoGraphDeployment", "v1beta1", "components: [{name: a}, {name: w, globalDynamoNamespace: 5}]")
    (wrong,) = conversion_findings.of_conversion(newer, "v1alpha1", versions.to("v1alpha1", newer))
    assert results.field(wrong.path) == "spec.components[1]"


def test_fields_that_the_other_version_requires_are_named():
    """v1alpha1 requires an engine and an image of a request. A patch that lacks required fields itself is a patch afterwards."""
    newer = resource("DynamoGraphDeploymentRequest", "v1beta1", "model: m")
    found = conversion_findings.of_conversion(newer, "v1alpha1", versions.to("v1alpha1", newer))
    assert [each.code for each in found] == ["DYN022", "DYN022"]
    patch = resource("DynamoGraphDeploymentRequest", "v1beta1", "image: i")
    assert conversion_findings.of_conversion(patch, "v1alpha1", versions.to("v1alpha1", patch)) == []


def test_a_claim_can_be_mounted_twice():
    """A service mounts it once, and its main container again, also with details."""
    mounts = "[{name: d, mountPath: /a}, {name: d, mountPath: /b, subPath: s}, {name: c, mountPath: /c, readOnly: true}]"
    pod = f"{{spec: {{containers: [{{name: main, volumeMounts: {mounts}}}]}}}}"
    text = f"components: [{{name: w, compilationCache: {{pvcName: c}}, podTemplate: {pod}}}]"
    newer = resource("DynamoGraphDeployment", "v1beta1", text)
    older = versions.to("v1alpha1", newer)
    assert older["spec"]["services"]["w"] == {
        "volumeMounts": [{"name": "c", "useAsCompilationCache": True}, {"name": "d", "mountPoint": "/a"}],
        "extraPodSpec": {
            "mainContainer": {
                "volumeMounts": [{"name": "d", "mountPath": "/b", "subPath": "s"}, {"name": "c", "mountPath": "/c", "readOnly": True}]
            }
        },
    }
    assert conversion_findings.of_conversion(newer, "v1alpha1", older) == []
    assert versions.to("v1beta1", older) == newer
