"""`krm-fn diff --live` of the roots of a repository, against a real API server: only what this render would change is shown."""

from __future__ import annotations

import pytest

from tests.cli import console
from tests.repository.clones import FUNCTION, GRAPH, Clone
from tests.testbed.place import Place

SAME = "The states are the same: no object changes.\n"
KINDS = (
    "dynamographdeployments,deployments,statefulsets,daemonsets,jobs,cronjobs,services,serviceaccounts,roles,rolebindings,configmaps,"
    "horizontalpodautoscalers,poddisruptionbudgets,networkpolicies,ingresses,persistentvolumeclaims,resourcequotas,limitranges"
)
OTHERS = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  strategy: {rollingUpdate: {maxSurge: 1}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: registry.example/web:1
        ports: [{containerPort: 80}]
        resources: {limits: {cpu: 1000m, memory: 1024Mi}}
        livenessProbe: {httpGet: {port: 80}}
        volumeMounts: [{name: settings, mountPath: /settings}]
      volumes:
      - {name: settings, configMap: {name: settings}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: store}
spec:
  serviceName: store
  selector: {matchLabels: {app: store}}
  template:
    metadata: {labels: {app: store}}
    spec: {containers: [{name: store, image: "registry.example/store:1"}]}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1024Mi}}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: agent, image: "registry.example/agent:1"}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: load}
spec:
  template:
    spec: {restartPolicy: Never, containers: [{name: load, image: "registry.example/load:1"}]}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: clean}
spec:
  schedule: "0 3 * * *"
  jobTemplate:
    spec:
      template:
        spec: {restartPolicy: Never, containers: [{name: clean, image: "registry.example/clean:1"}]}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  type: NodePort
  selector: {app: web}
  ports: [{name: http, port: 80}, {name: metrics, port: 9000, targetPort: 9000}]
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  maxReplicas: 3
  metrics:
  - {type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}
  behavior: {scaleDown: {policies: [{type: Pods, value: 1, periodSeconds: 60}]}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: web}
spec:
  podSelector: {matchLabels: {app: web}}
  ingress: [{ports: [{port: 80}], from: [{podSelector: {}}]}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web}
spec:
  rules: [{host: web.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: models}
spec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 2048Mi}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {a: "1"}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: gpus}
spec: {hard: {requests.nvidia.com/gpu: "64", requests.cpu: 2000m}}
---
apiVersion: v1
kind: LimitRange
metadata: {name: pods}
spec: {limits: [{type: Container, default: {cpu: 500m, memory: 1024Mi}}]}
"""
CHANGES = [
    # the kind of change that somebody else makes, the arguments of kubectl
    ("a label", ("label", "deployments/web", "services/web", "configmaps/settings", "persistentvolumeclaims/models", "team=search")),
    ("an annotation", ("annotate", "deployments/chat-worker", "ingresses/web", "example.com/seen=yes")),
    ("the number of replicas", ("scale", "deployments/web", "--replicas=2")),
]


@pytest.fixture(scope="module")
def cluster(dynamo, controllers, tmp_path_factory, kustomize):
    """A clone with two roots, one of them applied on the server by a tool of GitOps. Others have then changed objects."""
    patch = pytest.MonkeyPatch()
    folder = tmp_path_factory.mktemp("clone")
    clone = Clone(folder, patch)
    place = Place(dynamo, dynamo.namespace("live-builds"))
    clone.put({"graph.yaml": GRAPH, "others.yaml": OTHERS, "kustomization.yaml": "resources: [graph.yaml, others.yaml]\n"}, "base")
    for name, namespace in (("prod", "live-builds"), ("other", "elsewhere")):
        kustomization = f"namespace: {namespace}\nresources: [../base]\ntransformers: [render.yaml]\n"
        clone.put({"kustomization.yaml": kustomization, "render.yaml": FUNCTION}, name)
    clone.commit()
    place.kubectl("apply", "-f", "-", "--server-side", "--field-manager=flux", input=console.run("render", "prod").out)
    for _, arguments in CHANGES:
        place.kubectl(*arguments)
    yield clone, place
    patch.undo()


def exported(place, *arguments):
    return place.kubectl("get", KINDS, "--output", "json", *arguments)


def diff(export, *arguments):
    return console.run("diff", "--live", "-", *arguments, stdin=export)


def test_nothing_that_the_cluster_and_others_set_is_a_change(cluster):
    done = diff(exported(cluster[1], "--show-managed-fields"), "prod")
    assert (done.code, done.out) == (0, SAME)


def test_nothing_that_the_render_does_not_set_is_a_change_without_a_record(cluster):
    done = diff(exported(cluster[1]), "prod")
    assert (done.code, done.out.startswith(SAME), done.out.count("DYN")) == (0, True, 1)
    assert "note DYN522" in done.out


LEAVES = [
    # what leaves the files, its text in the file, the text without it, what is shown
    ("a peer of a network policy", ", from: [{podSelector: {}}]", "", "spec.ingress[0].from: removed"),
    ("a port that is no default", "[{port: 80}]", "[{port: 80, protocol: UDP}]", 'protocol: "TCP" -> "UDP"'),
    ("a size of a claim", "storage: 2048Mi", "storage: 3Gi", '"2Gi" -> "3Gi"'),
    ("a quota", "requests.cpu: 2000m", "requests.cpu: 3", '"2" -> 3'),
    ("a limit of another kind", ", memory: 1024Mi}}]}", "}}]}", "spec.limits[0].default.memory: removed"),
    ("a key of a ConfigMap", '{a: "1"}', '{b: "1"}', 'data.a: removed "1"'),
    ("a probe", "        livenessProbe: {httpGet: {port: 80}}\n", "", "livenessProbe: removed"),
]


def test_what_the_render_changes_is_shown(cluster):
    """What left the files is a change if the tool of GitOps applied it, also inside of lists that are owned as a whole."""
    clone, place = cluster
    export, text = exported(place, "--show-managed-fields"), (clone.folder / "base/others.yaml").read_text()
    for reason, old, new, phrase in LEAVES:
        clone.edit("base/others.yaml", old, new)
        out = diff(export, "prod").out
        (clone.folder / "base/others.yaml").write_text(text)
        changed = [line for line in out.splitlines() if line.startswith("  ")]
        assert any(phrase in line for line in changed), (reason, out)
        assert sum(line.endswith((": updated", ": restarts")) for line in out.splitlines()) == 1, (reason, out)


def test_roots_of_other_clusters_are_named_and_not_compared(cluster):
    """The export has the namespace of one root."""
    done = diff(exported(cluster[1], "--show-managed-fields"), ".")
    assert (done.code, done.out) == (0, SAME)
    assert "other: not compared, because the export has no object of its namespaces\n" in done.err
    assert diff(exported(cluster[1], "--show-managed-fields"), "other").code == 1


def test_a_folder_that_was_not_read_has_no_verdict(cluster):
    clone, place = cluster
    (clone.folder / "empty").mkdir(exist_ok=True)
    done = diff(exported(place), "empty")
    assert (done.code, done.out) == (1, "")
    assert "no resource in empty" in done.err
