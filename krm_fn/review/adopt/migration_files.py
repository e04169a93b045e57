"""Writes the files of an adopted namespace: resources, configuration, a Kustomization, and the other steps of the migration as Markdown.

The page docs/migration.md explains the steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from krm_fn import function_config, report
from krm_fn.config import Config
from krm_fn.convert import versions
from krm_fn.kube import identity, labels
from krm_fn.kube.types import Resource
from krm_fn.resolve import release_choice
from krm_fn.review.adopt import exported_objects
from krm_fn.review.adopt.exported_objects import ExportedObjects

CONFIGURATION, KUSTOMIZATION, STEPS = "render.yaml", "kustomization.yaml", "MIGRATION.md"

_PROGRAM = "exec: {path: krm-fn}\n"
_STEPS = """\
# From the operator to Git: the namespace {namespace}

`krm-fn adopt` wrote this folder, and changed no cluster. This page lists the other steps of the migration; the page `docs/migration.md` of
krm-fn explains each step. Run the commands in this folder. `$KRM_FN` is a clone of the repository of krm-fn.

## 1. Record the running pods

```sh
{pods} > before.txt
```

## 2. Compare
{roles}
```sh
{compare}
```

Continue only when each `compare` reports no difference. The command also asks the API server for a dry run of the objects.

## 3. Stop the operator

```sh
kubectl delete validatingwebhookconfigurations,mutatingwebhookconfigurations --selector app.kubernetes.io/name=dynamo-operator
OPERATOR=app.kubernetes.io/name=dynamo-operator,control-plane=controller-manager
kubectl --namespace dynamo-system scale deployment --selector $OPERATOR --replicas=0
kubectl --namespace dynamo-system wait --for=delete pod --selector $OPERATOR --timeout=120s
```

Replace `dynamo-system` with the namespace of the operator.
{definitions}
## 4. Take over

Add `--argocd`, or `--flux NAMESPACE/NAME` with the name of the Kustomization, if a GitOps tool will apply the objects:

```sh
{take_over}
```
{components}
## 5. Verify

```sh
{pods} | diff before.txt - && echo 'the same pods'
```

## 6. Commit the folder to Git

Commit `{kustomization}`, `{configuration}` and the resources. Let Argo CD or Flux apply the folder, or apply it yourself:

```sh
kustomize build --enable-alpha-plugins --enable-exec . | kubectl apply --server-side --filename -
```
"""
_DEFINITIONS = """
The definitions of this operator convert between two API versions through a webhook, which has stopped. Replace them with definitions that
serve the version in which the cluster stores the resources. The graphs of this folder must have that version:

```sh
stored=$(kubectl get customresourcedefinition dynamographdeployments.nvidia.com \\
  --output jsonpath='{.spec.versions[?(@.storage==true)].name}')
krm-fn crds --served "$stored" | kubectl replace --filename -
kubectl api-resources --api-group nvidia.com
krm-fn convert --to "$stored" --write .
```

Then render and compare again:

```sh
{compare}
```
"""
_COMPONENTS = """
`take-over` does not move standalone components. These commands delete the components and keep their pods:

```sh
{commands}
```
"""
_COMPONENT = """\
kubectl --namespace {namespace} patch {kind} {name} --type merge --patch '{{"metadata": {{"finalizers": null}}}}'
kubectl --namespace {namespace} delete {kind} {name} --cascade=orphan
krm-fn render {files} --config {configuration} | kubectl apply --server-side --force-conflicts --filename -"""
_PODS = """\
kubectl --namespace {namespace} get pods --selector {label} \\
  --output custom-columns=NAME:.metadata.name,UID:.metadata.uid --sort-by .metadata.name"""
_NO_GRAPH = "# the namespace has no graph"
_ROLES = """
The bindings of this namespace name roles of the operator's Helm release, which go with the release: {roles}. Install the roles of krm-fn,
and remove `rbac` from `{configuration}`. `take-over` then makes the bindings again:

```sh
kubectl apply --server-side --kustomize $KRM_FN/platform/roles
```
"""


def resources(written: Sequence[Resource], spec: Mapping[str, Any]) -> dict[str, Resource]:
    """Returns the resources by file name: those of users, the configuration as a KRM function, and a Kustomization."""
    files = {file_name(resource): resource for resource in written}
    return {
        **files,
        CONFIGURATION: exported_objects.annotated(configuration(spec), {labels.FUNCTION: _PROGRAM}),
        KUSTOMIZATION: {
            "apiVersion": "kustomize.config.k8s.io/v1beta1",
            "kind": "Kustomization",
            "resources": sorted(files),
            "transformers": [CONFIGURATION],
        },
    }


def configuration(spec: Mapping[str, Any]) -> Resource:
    """Returns the settings as a DynamoRender."""
    return {"apiVersion": function_config.API_VERSION, "kind": function_config.KIND, "metadata": {"name": "render"}, "spec": dict(spec)}


def settings(spec: Mapping[str, Any]) -> Config:
    """Reads settings as a render does."""
    return function_config.read(configuration(spec))[0]


def file_name(resource: Resource) -> str:
    """Returns the name of the file of a resource."""
    return f"{resource['kind']}_{resource['metadata']['name']}.yaml".lower()


def steps(exported: ExportedObjects, spec: Mapping[str, Any]) -> str:
    """Returns the other steps of the migration as Markdown, with the names of the namespace and its graphs."""
    graphs = [resource for resource in exported.written if resource["kind"] == identity.GRAPH]
    components = [resource for resource in exported.written if resource["kind"] == identity.COMPONENT]
    compare = "\n".join(_compare(resource, exported) for resource in graphs) or _NO_GRAPH
    roles = [value for key, value in (spec.get("rbac") or {}).items() if key.endswith("Role")]
    return _STEPS.format(
        namespace=exported.namespace,
        pods=_PODS.format(namespace=exported.namespace, label=labels.GRAPH),
        roles=_ROLES.format(roles=report.printable(", ".join(roles)), configuration=CONFIGURATION) if roles else "",
        definitions=_DEFINITIONS.replace("{compare}", compare) if _are_converted(exported.written, spec) else "",
        compare=compare,
        take_over="\n".join(_migration("take-over", resource) for resource in graphs) or _NO_GRAPH,
        components=_COMPONENTS.format(commands="\n".join(_component(resource, exported) for resource in components)) if components else "",
        kustomization=KUSTOMIZATION,
        configuration=CONFIGURATION,
    )


def _inputs(resource: Resource, exported: ExportedObjects) -> str:
    """The files that a render of one resource reads. The accounts decide about pods without an account of their own."""
    return " ".join(file_name(item) for item in (resource, *exported.accounts))


def _compare(graph: Resource, exported: ExportedObjects) -> str:
    objects = f"{graph['metadata']['name']}.objects.yaml"
    render = f"krm-fn render {_inputs(graph, exported)} --config {CONFIGURATION} > {objects}"
    return f"{render}\n{_migration('compare', graph)}"


def _migration(command: str, graph: Resource) -> str:
    metadata = graph["metadata"]
    return f"python3 $KRM_FN/platform/migration {command} {metadata['namespace']} {metadata['name']} {metadata['name']}.objects.yaml"


def _component(component: Resource, exported: ExportedObjects) -> str:
    name, kind = component["metadata"]["name"], identity.COMPONENT.lower()
    files, configuration = _inputs(component, exported), CONFIGURATION
    return _COMPONENT.format(namespace=exported.namespace, kind=kind, name=name, files=files, configuration=configuration)


def _are_converted(written: Sequence[Resource], spec: Mapping[str, Any]) -> bool:
    """True if the operator of the graphs has two API versions, between which the cluster converts."""
    return any(release_choice.release(resource, settings(spec)).reads != versions.V1ALPHA1 for resource in written)
