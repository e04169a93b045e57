"""Conversions of components alone, adapters and requests, and of every status."""

import json
from typing import Any

import pytest
import yaml

from krm_fn.render import labels
from krm_fn.render.convert import versions


def resource(kind: str, version: str, text: str) -> dict[str, Any]:
    """A resource with this specification and status."""
    return {"apiVersion": f"nvidia.com/{version}", "kind": kind, "metadata": {"name": "r"}, **yaml.safe_load(text)}


def there_and_back(written: dict[str, Any]) -> dict[str, Any]:
    """Converts to the other version, checks that converting back restores every field, and returns the other version."""
    version = written["apiVersion"].rpartition("/")[2]
    other = versions.to("v1beta1" if version == "v1alpha1" else "v1alpha1", written)
    assert versions.to(version, other) == written
    return other


def kept(converted: dict[str, Any], key: str) -> Any:
    """The JSON of an annotation."""
    return json.loads(converted["metadata"]["annotations"][key])


def test_a_component_alone_has_the_name_of_its_service_or_its_own():
    """The name is `serviceName`, or that of the resource; an absent `serviceName` stays absent on the way back."""
    other = there_and_back(resource("DynamoComponentDeployment", "v1alpha1", "spec: {backendFramework: vllm, componentType: worker}"))
    assert other["spec"] == {"name": "r", "backendFramework": "vllm", "type": "worker"}
    named = there_and_back(resource("DynamoComponentDeployment", "v1alpha1", "spec: {serviceName: s, labels: {a: b}}"))
    assert named["spec"] == {"name": "s"}
    assert kept(named, labels.PRESERVED_COMPONENT)["spec"] == {"labels": {"a": "b"}}
    older = there_and_back(resource("DynamoComponentDeployment", "v1beta1", "spec: {name: n, experimental: {grove: {}}}"))
    assert older["spec"] == {"serviceName": "n"}
    nameless = there_and_back(resource("DynamoComponentDeployment", "v1beta1", "spec: {type: epp}"))
    assert nameless["spec"] == {"componentType": "epp"}
    empty = there_and_back(resource("DynamoComponentDeployment", "v1alpha1", 'spec: {serviceName: ""}'))
    assert empty["spec"] == {"name": "r"}


def test_an_adapter_names_a_component():
    """`dgdRef.serviceName` is `dgdRef.componentName` in v1beta1; nothing else differs, so that there is no annotation."""
    text = "spec: {replicas: 2, dgdRef: {name: g, serviceName: w}}\nstatus: {replicas: 1}"
    other = there_and_back(resource("DynamoGraphDeploymentScalingAdapter", "v1alpha1", text))
    assert other["spec"] == {"replicas": 2, "dgdRef": {"name": "g", "componentName": "w"}}
    assert other["metadata"] == {"name": "r"}


REQUEST = """
spec:
  model: m
  backend: vllm
  enableGpuDiscovery: true
  useMocker: true
  deploymentOverrides: {name: g, workersImage: unused:1}
  profilingConfig:
    profilerImage: p:1
    outputPVC: out
    configMapRef: {name: cm}
    resources: {limits: {cpu: 1}}
    tolerations: [{key: gpu}]
    nodeSelector: {a: b}
    config:
      sla: {ttft: 200.5, itl: 20, isl: 3000, osl: 150, other: 1, optimizationType: latency}
      deployment: {modelCache: {pvcName: c, modelPathInPvc: m, pvcMountPath: /c}, namespace: n}
      planner: {a: 1}
      hardware: {empty: null}
"""


def test_a_request_gets_fields_for_the_targets_of_its_profiler():
    """Reference: convertDGDRSpecTo. What v1beta1 does not have stays in `dgdr-spec`."""
    other = there_and_back(resource("DynamoGraphDeploymentRequest", "v1alpha1", REQUEST))
    assert other["spec"] == yaml.safe_load("""
        model: m
        backend: vllm
        autoApply: false
        image: p:1
        sla: {ttft: 200.5, itl: 20, optimizationType: latency}
        workload: {isl: 3000, osl: 150}
        modelCache: {pvcName: c, pvcModelPath: m, pvcMountPath: /c}
        features: {planner: {a: 1}, mocker: {enabled: true}}
        overrides:
          profilingJob:
            template:
              spec: {containers: [{name: profiler, resources: {limits: {cpu: 1}}}], tolerations: [{key: gpu}], nodeSelector: {a: b}}
        """)
    assert kept(other, labels.PRESERVED_REQUEST)["spec"] == yaml.safe_load("""
        enableGpuDiscovery: true
        deploymentOverrides: {name: g, workersImage: "unused:1"}
        profilingConfig:
          outputPVC: out
          configMapRef: {name: cm}
          config: {sla: {other: 1}, deployment: {namespace: n}, hardware: {empty: null}}
        autoApply: null
        """)


def test_a_changed_request_keeps_its_other_fields():
    """The changed target wins; the rest of the free-form configuration, and the image of the workers, come back."""
    other = versions.to("v1beta1", resource("DynamoGraphDeploymentRequest", "v1alpha1", REQUEST))
    other["spec"]["sla"].pop("ttft")
    other["spec"]["image"] = "p:2"
    other["spec"]["autoApply"] = True
    back = versions.to("v1alpha1", other)["spec"]
    assert back["profilingConfig"]["config"]["sla"] == {"itl": 20, "isl": 3000, "osl": 150, "other": 1, "optimizationType": "latency"}
    assert (back["profilingConfig"]["profilerImage"], back["deploymentOverrides"]["workersImage"]) == ("p:2", "unused:1")
    assert (back["profilingConfig"]["outputPVC"], back["autoApply"]) == ("out", True)


def test_a_v1beta1_request_becomes_a_v1alpha1_one():
    """An absent `autoApply` is true in v1beta1; details of the profiling Job stay beside its resources."""
    other = there_and_back(
        resource(
            "DynamoGraphDeploymentRequest",
            "v1beta1",
            """
            spec:
              model: m
              searchStrategy: rapid
              hardware: {gpuSku: h100}
              sla: {e2eLatency: 1}
              workload: {concurrency: 2, isl: 1}
              features: {mocker: {enabled: false}}
              overrides:
                dgd: {spec: {}}
                profilingJob:
                  backoffLimit: 1
                  template: {spec: {containers: [{name: profiler, env: [{name: A}], resources: {limits: {cpu: 1}}}]}}
            """,
        )
    )
    assert other["spec"] == {
        "model": "m",
        "autoApply": True,
        "profilingConfig": {"config": {"sla": {"isl": 1}}, "resources": {"limits": {"cpu": 1}}},
    }
    other["spec"]["profilingConfig"]["resources"]["limits"]["cpu"] = 2
    (profiler,) = versions.to("v1beta1", other)["spec"]["overrides"]["profilingJob"]["template"]["spec"]["containers"]
    assert profiler == {"name": "profiler", "env": [{"name": "A"}], "resources": {"limits": {"cpu": 2}}}


def test_targets_of_a_wrong_type_stay_in_the_configuration():
    """The configuration of v1alpha1 is free-form; v1beta1 has numbers and texts."""
    text = "{sla: {ttft: soon, isl: true, osl: 150.0, itl: 2, optimizationType: 5}, deployment: {modelCache: {pvcName: [c]}}, planner: on}"
    other = there_and_back(
        resource("DynamoGraphDeploymentRequest", "v1alpha1", f"spec: {{model: m, profilingConfig: {{profilerImage: i, config: {text}}}}}")
    )
    assert other["spec"] == {"model": "m", "image": "i", "sla": {"itl": 2}, "workload": {"osl": 150}, "autoApply": False}


STATES = [("Pending", "Pending"), ("Profiling", "Profiling"), ("Deploying", "Deploying"), ("Failed", "Failed"), ("Ready", "Ready")]


@pytest.mark.parametrize(("state", "phase"), [*STATES, ("DeploymentDeleted", "Ready"), ("Initializing", "Pending")])
def test_the_state_of_a_request_is_its_phase(state, phase):
    """Reference: dgdrStateToPhase. States without a phase of their own come back."""
    other = there_and_back(resource("DynamoGraphDeploymentRequest", "v1alpha1", f"status: {{state: {state}, backend: vllm}}"))
    assert other["status"] == {"phase": phase}


def test_a_deployed_request_is_ready_in_v1alpha1():
    """`Ready` with a deployment that was created is `Deployed`; the generated graph is the selected configuration."""
    text = "status: {state: Ready, deployment: {name: g, created: true}, generatedDeployment: {kind: G}, profilingResults: configmap/x}"
    other = there_and_back(resource("DynamoGraphDeploymentRequest", "v1alpha1", text))
    assert other["status"] == {"phase": "Deployed", "dgdName": "g", "profilingResults": {"selectedConfig": {"kind": "G"}}}
    text = "status: {phase: Deployed, dgdName: g, profilingJobName: j, deploymentInfo: {replicas: 1}}"
    other = there_and_back(resource("DynamoGraphDeploymentRequest", "v1beta1", text))
    assert other["status"] == {"state": "Ready", "deployment": {"name": "g"}}


def test_the_status_of_a_graph_names_components():
    """`componentName` is the last of `componentNames`; v1alpha1's spelling comes back."""
    text = "status: {state: successful, services: {w: {componentName: g-w, replicas: 1}}, rollingUpdate: {updatedServices: [w]}}"
    other = there_and_back(resource("DynamoGraphDeployment", "v1alpha1", text))
    assert other["status"] == {
        "state": "successful",
        "components": {"w": {"componentNames": ["g-w"], "replicas": 1}},
        "rollingUpdate": {"updatedComponents": ["w"]},
    }
    assert kept(other, labels.PRESERVED_GRAPH_STATUS) == {"services": {"w": {"componentNames": None}}}
    text = "status: {components: {w: {componentNames: [a, b], replicas: 1}}}"
    older = there_and_back(resource("DynamoGraphDeployment", "v1beta1", text))
    assert older["status"] == {"services": {"w": {"componentName": "b", "componentNames": ["a", "b"], "replicas": 1}}}
    assert older["metadata"] == {"name": "r"}


def test_the_facts_of_pods_have_the_same_names_in_both_versions():
    facts = "gpusPerEngine: 8, gpusPerReplica: 9, servedModelName: m, runtimeComponentName: c, gpuPowerLimitWatts: 300"
    older = there_and_back(resource("DynamoGraphDeployment", "v1beta1", f"status: {{components: {{w: {{componentNames: [a], {facts}}}}}}}"))
    newer = there_and_back(resource("DynamoGraphDeployment", "v1alpha1", f"status: {{services: {{w: {{componentName: a, {facts}}}}}}}"))
    shared = {"gpusPerEngine": 8, "gpusPerReplica": 9, "servedModelName": "m", "runtimeComponentName": "c", "gpuPowerLimitWatts": 300}
    assert shared.items() <= older["status"]["services"]["w"].items()
    assert shared.items() <= newer["status"]["components"]["w"].items()


def test_the_status_of_a_component_loses_nothing():
    """`podSelector` is v1alpha1's alone."""
    text = "status: {service: {componentName: d, componentNames: [d]}, podSelector: {a: b}, conditions: []}"
    other = there_and_back(resource("DynamoComponentDeployment", "v1alpha1", text))
    assert other["status"] == {"component": {"componentNames": ["d"]}, "conditions": []}
    assert kept(other, labels.PRESERVED_COMPONENT_STATUS) == {"podSelector": {"a": "b"}}
