"""The files of an adopted namespace: resources, the configuration, a Kustomization, and the steps of the migration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn import config, report, results
from krm_fn.convert import versions
from krm_fn.kube import identity, labels
from krm_fn.resolve import context
from krm_fn.review.adopt import edits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from krm_fn.config import Config
    from krm_fn.kube.types import Resource

CONFIGURATION, KUSTOMIZATION, STEPS = "render.yaml", "kustomization.yaml", "MIGRATION.md"

_PROGRAM = "exec: {path: krm-fn}\n"
_STEPS = """\
# From the operator to Git: the namespace {namespace}

`krm-fn adopt` wrote this folder. No cluster was changed. These are the other steps of the migration; the page `docs/migration.md` of
krm-fn explains each of them. Run the commands in this folder. `$KRM_FN` is a clone of the repository of krm-fn.

## 1. Note the pods that run

```sh
{pods} > before.txt
```

## 2. Compare
{roles}
```sh
{compare}
```

Go on when each `compare` reports no difference.

## 3. Stop the operator

```sh
kubectl delete validatingwebhookconfigurations,mutatingwebhookconfigurations --selector app.kubernetes.io/name=dynamo-operator
OPERATOR=app.kubernetes.io/name=dynamo-operator,control-plane=controller-manager
kubectl --namespace dynamo-system scale deployment --selector $OPERATOR --replicas=0
kubectl --namespace dynamo-system wait --for=delete pod --selector $OPERATOR --timeout=120s
```

`dynamo-system` stands for the namespace of the operator.
{definitions}
## 4. Take over

Add `--argocd`, or `--flux NAMESPACE/NAME` with the name of the Kustomization, if a GitOps tool will apply the objects:

```sh
{take_over}
```

## 5. Look

```sh
{pods} | diff before.txt - && echo 'the same pods'
```

## 6. Give the folder to Git

Commit `{kustomization}`, `{configuration}` and the resources, and give the folder to Argo CD or Flux. Or apply it:

```sh
kustomize build --enable-alpha-plugins --enable-exec . | kubectl apply --server-side --filename -
```
"""
_DEFINITIONS = """
The definitions of this operator convert between two API versions through a webhook, which has stopped. Replace them by definitions that
serve the version in which the cluster stores the resources. The graphs of this folder must have that version:

```sh
stored=$(kubectl get customresourcedefinition dynamographdeployments.nvidia.com \\
  --output jsonpath='{.spec.versions[?(@.storage==true)].name}')
krm-fn crds --served "$stored" | kubectl replace --filename -
kubectl api-resources --api-group nvidia.com
krm-fn convert --to "$stored" --write .
```
"""
_PODS = """\
kubectl --namespace {namespace} get pods --selector {label} \\
  --output custom-columns=NAME:.metadata.name,UID:.metadata.uid --sort-by .metadata.name"""
_ROLES = """
The bindings of this namespace name roles of the operator's Helm release, which go with the release: {roles}. Install the roles of krm-fn,
and remove `rbac` from `{configuration}`. `take-over` then makes the bindings again:

```sh
kubectl apply --server-side --kustomize $KRM_FN/platform/roles
```
"""


def resources(written: Sequence[Resource], spec: Mapping[str, Any]) -> dict[str, Resource]:
    """The resources by file name: those of users, the configuration as a KRM function, and a Kustomization."""
    files = {f"{each['kind']}_{each['metadata']['name']}.yaml".lower(): each for each in written}
    return {
        **files,
        CONFIGURATION: edits.annotated(configuration(spec), {labels.FUNCTION: _PROGRAM}),
        KUSTOMIZATION: {
            "apiVersion": "kustomize.config.k8s.io/v1beta1",
            "kind": "Kustomization",
            "resources": sorted(files),
            "transformers": [CONFIGURATION],
        },
    }


def configuration(spec: Mapping[str, Any]) -> Resource:
    """The settings as a DynamoRender."""
    return {"apiVersion": config.API_VERSION, "kind": config.KIND, "metadata": {"name": "render"}, "spec": dict(spec)}


def settings(spec: Mapping[str, Any]) -> Config:
    """The settings as a render reads them."""
    return config.read(configuration(spec))[0]


def _are_converted(written: Sequence[Resource], spec: Mapping[str, Any]) -> bool:
    """True if the operator of the graphs has two API versions, between which the cluster converts."""
    return any(context.behaviour(each, settings(spec)).reads != versions.V1ALPHA1 for each in written)


def steps(written: Sequence[Resource], namespace: str, spec: Mapping[str, Any]) -> str:
    """The other steps of the migration as Markdown, with the names of the namespace and its graphs."""
    graphs = [results.ref(each).name for each in written if results.ref(each).kind == identity.GRAPH]
    migration = f"python3 $KRM_FN/platform/migration {{}} {namespace}"
    file = f"{identity.GRAPH.lower()}_{{0}}.yaml"
    compare = f"krm-fn render {file} --config {CONFIGURATION} > {{0}}.objects.yaml\n{migration.format('compare')} {{0}} {{0}}.objects.yaml"
    take_over = f"{migration.format('take-over')} {{0}} {{0}}.objects.yaml"
    roles = [value for key, value in (spec.get("rbac") or {}).items() if key.endswith("Role")]
    return _STEPS.format(
        namespace=namespace,
        pods=_PODS.format(namespace=namespace, label=labels.GRAPH),
        roles=_ROLES.format(roles=report.printable(", ".join(roles)), configuration=CONFIGURATION) if roles else "",
        definitions=_DEFINITIONS if _are_converted(written, spec) else "",
        compare="\n".join(compare.format(graph) for graph in graphs),
        take_over="\n".join(take_over.format(graph) for graph in graphs),
        kustomization=KUSTOMIZATION,
        configuration=CONFIGURATION,
    )
