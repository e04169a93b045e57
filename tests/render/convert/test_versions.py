"""Conversions between v1alpha1 and v1beta1, compared with what the reference's conversion webhook gives."""

import copy
import json
from typing import Any

import yaml

from krm_fn.render import labels
from krm_fn.render.convert import versions


def graph(text: str, **metadata: Any) -> dict[str, Any]:
    """A v1alpha1 graph with this specification."""
    return {
        "apiVersion": "nvidia.com/v1alpha1",
        "kind": "DynamoGraphDeployment",
        "metadata": {"name": "g", **metadata},
        "spec": yaml.safe_load(text),
    }


def converted(service: str) -> dict[str, Any]:
    """The v1beta1 component of a service that is called `w`."""
    held = graph("services: {}")
    held["spec"]["services"]["w"] = yaml.safe_load(service)
    before = copy.deepcopy(held)
    new = versions.to("v1beta1", held)
    assert held == before
    (component,) = new["spec"]["components"]
    return dict(component)


def test_a_service_becomes_a_component():
    """Resources and probes merge; `envFrom` of the main container replaces `envFromSecret`, and two probe handlers stay together."""
    assert converted("""
        componentType: worker
        envFromSecret: dedicated
        resources: {limits: {cpu: "1", gpu: "1"}}
        livenessProbe: {exec: {command: [x]}, periodSeconds: 3}
        sharedMemory: {disabled: true}
        frontendSidecar: {image: "f:1", args: [-m, dynamo.frontend], envFromSecret: hf}
        extraPodSpec:
          mainContainer:
            image: img:1.0.0
            envFrom: [{configMapRef: {name: cm}}]
            resources: {limits: {cpu: "2"}}
            livenessProbe: {httpGet: {path: /l, port: 8}}
        """) == yaml.safe_load("""
        name: w
        type: worker
        sharedMemorySize: "0"
        frontendSidecar: sidecar-frontend
        podTemplate:
          spec:
            containers:
            - name: main
              image: img:1.0.0
              envFrom: [{configMapRef: {name: cm}}]
              resources: {limits: {cpu: "2", nvidia.com/gpu: "1"}}
              livenessProbe: {exec: {command: [x]}, httpGet: {path: /l, port: 8}, periodSeconds: 3}
            - {name: sidecar-frontend, image: "f:1", args: [-m, dynamo.frontend], envFrom: [{secretRef: {name: hf}}]}
        """)


def test_mounts_and_variables_keep_their_order():
    """Mounts of the main container come first; a variable of the main container replaces its namesake in place."""
    component = converted("""
        componentType: worker
        subComponentType: decode
        replicas: 2
        envs: [{name: B, value: "1"}, {name: A, value: "1"}]
        volumeMounts: [{name: weights, mountPoint: /w}, {name: cache, useAsCompilationCache: true}]
        extraPodSpec:
          nodeSelector: {a: b}
          containers: [{name: main, image: lost}, {name: side, image: s}]
          mainContainer:
            name: other
            image: i
            env: [{name: C, value: "2"}, {name: B, value: "2"}]
            volumeMounts: [{name: own, mountPath: /own}]
        """)
    main, side = component["podTemplate"]["spec"]["containers"]
    assert (component["type"], component["replicas"], component["compilationCache"]) == ("decode", 2, {"pvcName": "cache"})
    assert [(variable["name"], variable["value"]) for variable in main["env"]] == [("B", "2"), ("A", "1"), ("C", "2")]
    assert [(mount["name"], mount["mountPath"]) for mount in main["volumeMounts"]] == [("own", "/own"), ("weights", "/w"), ("cache", "")]
    assert (main["name"], side["name"]) == ("main", "side")
    assert component["podTemplate"]["spec"]["nodeSelector"] == {"a": "b"}


def test_amounts_become_native_resources():
    """`gpuType` names the GPU's resource, also in requests; what is no quantity is left out; a name under `custom` wins."""
    component = converted("""
        resources:
          requests: {cpu: "1", memory: much, gpu: "2", gpuType: gpu.intel.com/xe}
          limits: {gpu: "1", custom: {nvidia.com/gpu: "4", rdma/ib: "1"}}
          claims: [{name: c}]
        """)
    (main,) = component["podTemplate"]["spec"]["containers"]
    assert main["resources"] == {
        "requests": {"cpu": "1", "gpu.intel.com/xe": "2"},
        "limits": {"nvidia.com/gpu": "4", "rdma/ib": "1"},
        "claims": [{"name": "c"}],
    }


def test_only_what_says_something_about_pods_makes_a_pod_template():
    """The reference makes none for a compilation cache or an empty `extraPodSpec` alone (hasPodTemplateContent)."""
    cache = {"name": "w", "compilationCache": {"pvcName": "c", "mountPath": "/c"}}
    assert converted("volumeMounts: [{name: c, mountPoint: /c, useAsCompilationCache: true}]") == cache
    assert converted("extraPodSpec: {mainContainer: {name: x}, tolerations: []}") == {"name": "w"}
    assert converted("extraPodMetadata: {}") == {"name": "w", "podTemplate": {"spec": {"containers": [{"name": "main"}]}}}
    assert converted("scalingAdapter: {}\nsharedMemory: {size: 0Gi}\nfailover: {enabled: false}") == {"name": "w"}


def test_features_that_are_on_become_experimental():
    """`enabled: true` is the presence of the settings in v1beta1; the modes begin with a capital."""
    component = converted("""
        scalingAdapter: {enabled: true}
        gpuMemoryService: {enabled: true, mode: interPod}
        failover: {enabled: true, numShadows: 1}
        checkpoint: {enabled: false}
        """)
    assert component["scalingAdapter"] == {}
    assert component["experimental"] == {
        "gpuMemoryService": {"mode": "InterPod"},
        "failover": {"numShadows": 1},
        "checkpoint": {"enabled": False},
    }


def test_a_graph_keeps_what_v1beta1_does_not_have():
    """Services become a sorted list; claims, and labels, annotations and ingress of services go into the annotation."""
    new = versions.to(
        "v1beta1",
        graph(
            """
            envs: [{name: A, value: b}]
            topologyConstraint: {topologyProfile: t, packDomain: rack}
            pvcs: [{name: weights}]
            services:
              b: {componentType: worker, subComponentType: prefill}
              Z: {labels: {a: b}, subComponentType: other}
              a:
            """,
            annotations={"mine": "stays", labels.PRESERVED_GRAPH: "{"},
        ),
    )
    annotations = new["metadata"]["annotations"]
    assert json.loads(annotations.pop(labels.PRESERVED_GRAPH)) == {
        "version": 1,
        "spec": {"pvcs": [{"name": "weights"}], "services": {"b": {}, "Z": {"subComponentType": "other", "labels": {"a": "b"}}, "a": None}},
    }
    assert new == {
        "apiVersion": "nvidia.com/v1beta1",
        "kind": "DynamoGraphDeployment",
        "metadata": {"name": "g", "annotations": {"mine": "stays"}},
        "spec": {
            "env": [{"name": "A", "value": "b"}],
            "topologyConstraint": {"clusterTopologyName": "t", "packDomain": "rack"},
            "components": [{"name": "Z"}, {"name": "b", "type": "prefill"}],
        },
    }


def test_a_resource_of_the_wanted_version_is_returned_itself():
    """So is a resource of a kind that has one version."""
    held = graph("services: {}")
    model = {"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoModel"}
    assert versions.to("v1alpha1", held) is held
    assert versions.to("v1beta1", model) is model


def there_and_back(resource: dict[str, Any]) -> dict[str, Any]:
    """Converts to the other version, checks that converting back restores every field, and returns the other version."""
    version = resource["apiVersion"].rpartition("/")[2]
    other = versions.to("v1beta1" if version == "v1alpha1" else "v1alpha1", resource)
    assert versions.to(version, other) == resource
    return other


def beta(text: str) -> dict[str, Any]:
    """A v1beta1 graph with these components."""
    held = {"apiVersion": "nvidia.com/v1beta1", "kind": "DynamoGraphDeployment", "metadata": {"name": "g"}}
    return {**held, "spec": {"components": yaml.safe_load(text)}}


def test_every_field_of_a_service_comes_back():
    """What v1beta1 says in one place, and v1alpha1 in two, goes back to where the author wrote it."""
    other = there_and_back(
        graph("""
            pvcs: [{name: weights, create: true, size: 1Gi}]
            services:
              none:
              empty: {extraPodSpec: {mainContainer: {}}, labels: {}, scalingAdapter: {}}
              w:
                serviceName: old
                componentType: worker
                subComponentType: strange
                annotations: {a: b}
                ingress: {enabled: true, host: h}
                autoscaling: {enabled: false}
                dynamoNamespace: ns
                envFromSecret: s
                envs: [{name: A, value: "1"}]
                sharedMemory: {disabled: true, size: 4Gi}
                gpuMemoryService: {enabled: false}
                resources: {limits: {gpu: "1", gpuType: nvidia.com/gpu, cpu: none}}
                volumeMounts: [{name: a, mountPoint: /a}, {name: b, useAsCompilationCache: true}, {name: c, useAsCompilationCache: true}]
                livenessProbe: {periodSeconds: 3}
                extraPodMetadata: {}
                frontendSidecar: {image: f, envFromSecret: hf}
                extraPodSpec:
                  containers: [{name: main, image: unused}, {name: side, image: i}]
                  volumes: [{name: v, emptyDir: {}}]
                  mainContainer:
                    name: engine
                    image: i
                    resources: {requests: {cpu: "1"}}
                    env: [{name: B, value: "1"}, {name: A, value: "2"}]
                    volumeMounts: [{name: v, mountPath: /v}]
                    livenessProbe: {httpGet: {path: /, port: 1}}
            """)
    )
    assert [component["name"] for component in other["spec"]["components"]] == ["empty", "w"]


def test_every_field_of_a_component_comes_back():
    """Their order, the containers before `main`, details of mounts and amounts, and a cache that `main` does not mount."""
    other = there_and_back(
        beta("""
            - name: worker
              type: decode
              podTemplate:
                metadata: {name: n, labels: {a: b}}
                spec:
                  containers:
                  - {name: fe, image: i}
                  - name: main
                    image: i
                    resources: {limits: {cpu: 4, nvidia.com/gpu: "1"}}
                    volumeMounts: [{name: d, mountPath: /d, readOnly: true}, {name: e, mountPath: /e}, {name: f, mountPath: /f}]
                  volumes: [{name: e, emptyDir: {}}]
              compilationCache: {pvcName: c}
              frontendSidecar: fe
              experimental: {grove: {forceScalingGroup: true}, gpuMemoryService: {mode: IntraPod}}
            - {name: frontend, scalingAdapter: {}, sharedMemorySize: "0", podTemplate: {spec: {containers: [{name: side, image: i}]}}}
            """)
    )
    worker = other["spec"]["services"]["worker"]
    assert (worker["componentType"], worker["subComponentType"]) == ("worker", "decode")
    assert worker["resources"] == {"limits": {"cpu": "4", "gpu": "1"}}
    assert worker["volumeMounts"] == [
        {"name": "c", "useAsCompilationCache": True},
        {"name": "d", "mountPoint": "/d"},
        {"name": "f", "mountPoint": "/f"},
    ]
    assert worker["extraPodSpec"]["mainContainer"] == {"image": "i", "volumeMounts": [{"name": "e", "mountPath": "/e"}]}
    assert worker["gpuMemoryService"] == {"enabled": True, "mode": "intraPod"}
    assert other["spec"]["services"]["frontend"]["sharedMemory"] == {"disabled": True}


def test_what_was_kept_never_overrides_what_was_changed_since():
    """A change in v1beta1 wins over the kept fields that it contradicts; the others come back."""
    other = versions.to(
        "v1beta1",
        graph("""
            services:
              w:
                labels: {a: b}
                envs: [{name: A, value: "1"}]
                envFromSecret: s
                scalingAdapter: {enabled: false}
                extraPodSpec: {mainContainer: {env: [{name: B, value: "1"}]}}
            """),
    )
    (component,) = other["spec"]["components"]
    component["scalingAdapter"] = {}
    component["podTemplate"]["spec"]["containers"][0]["env"].pop()
    other["spec"]["components"].append({"name": "new"})
    assert versions.to("v1alpha1", other)["spec"]["services"] == {
        "w": {"labels": {"a": "b"}, "envs": [{"name": "A", "value": "1"}], "envFromSecret": "s", "scalingAdapter": {"enabled": True}},
        "new": {},
    }


def test_a_changed_label_of_a_service_leaves_its_component_as_it_was():
    """v1beta1 says nothing about the labels of services, so that even an empty object of the component comes back."""
    other = versions.to("v1alpha1", beta("[{name: w, experimental: {}}]"))
    other["spec"]["services"]["w"]["labels"] = {"a": "b"}
    assert versions.to("v1beta1", other)["spec"]["components"] == [{"name": "w", "experimental": {}}]


def test_details_of_mounts_stay_beside_a_change():
    """A mount that was added in v1alpha1 does not take `readOnly` from another; a removed sidecar is no frontend sidecar."""
    other = versions.to(
        "v1alpha1",
        beta("""
            - name: w
              frontendSidecar: fe
              podTemplate:
                spec:
                  containers:
                  - {name: fe}
                  - {name: main, volumeMounts: [{name: d, mountPath: /d, readOnly: true}]}
            """),
    )
    service = other["spec"]["services"]["w"]
    service["volumeMounts"].insert(0, {"name": "e", "mountPoint": "/e"})
    del service["extraPodSpec"]
    (component,) = versions.to("v1beta1", other)["spec"]["components"]
    assert component["podTemplate"]["spec"]["containers"] == [
        {"name": "main", "volumeMounts": [{"name": "e", "mountPath": "/e"}, {"name": "d", "mountPath": "/d", "readOnly": True}]}
    ]
    assert "frontendSidecar" not in component
