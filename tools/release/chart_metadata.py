"""Writes the files of the Helm chart that are no templates of objects: Chart.yaml, values, their schema, the README and the notes."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from release import chart_templates
from release.description import Release

Object = dict[str, Any]

OLDEST_KUBERNETES = ">=1.30.0-0"  # admissionregistration.k8s.io/v1 has ValidatingAdmissionPolicies since then
DESCRIPTION = "Definitions, roles and admission rules for NVIDIA Dynamo graphs, and krm-fn's status syncer"
DEFAULTS = frozenset({"scaling", "services"})
"""The components of the syncer that are on by default, as in `platform/syncer`."""
NEEDS = {"loras": "models", "holdNamespaces": "namespaced"}
"""Components of the syncer that need another one."""

_NOTES = """\
The status syncer runs in the namespace {{ .Release.Namespace }}.

  kubectl --namespace {{ .Release.Namespace }} rollout status deployment/krm-fn-sync
{{ if .Values.definitions.install }}
The cluster serves graphs of nvidia.com/{{ .Values.definitions.version }}.
{{- if eq .Values.definitions.version "v1alpha1" }} Graphs of v1beta1, such as the examples of krm-fn, need definitions.version=v1beta1.
In a cluster without graphs, upgrade this release with it. With stored graphs, follow these steps, or the graphs lose their fields:
{{ .Chart.Home }}/blob/v{{ .Chart.Version }}/docs/upgrades.md#exchange-the-served-version
{{- end }}
{{ end }}
An uninstallation of this chart keeps the definitions, because their deletion deletes all graphs.
"""
_README = """\
# {name}

{description}. The objects are those of the folder [`platform`]({repository}/blob/{tag}/docs/platform.md), which is also a set of
kustomizations.

```sh
helm install {name} oci://{chart} --version {version} --namespace dynamo-system --create-namespace \\
  --set definitions.version=v1beta1
```

- `definitions.version` is the version of graphs that the cluster serves and stores. `v1beta1` is that of the examples, for a cluster
  without graphs. The default is `v1alpha1`, because
  [its graphs must be converted first]({repository}/blob/{tag}/docs/upgrades.md#exchange-the-served-version).
- `helm uninstall` keeps the definitions, and so all graphs.
- A cluster can have one installation of the definitions, the roles and the admission rules. Further installations with
  `syncer.components.namespaced` serve one namespace each; switch off the other parts there.
- [The page of the syncer]({repository}/blob/{tag}/docs/syncer.md) explains its components and their rights.
- The chart does not have the component `auto-apply` of the syncer; use kustomize for it.

## Values

```yaml
{values}```
"""


def name(release: Release) -> str:
    """The name of the chart, the last part of its path in the registry."""
    return release.names.chart.rpartition("/")[2]


def files(
    release: Release, source: Path, deployment: Object, comments: Mapping[str, str], definitions: Mapping[str, list[Object]]
) -> dict[str, str]:
    """The files, by their paths.

    `comments` describe the components of the syncer, `deployment` has its defaults, and `definitions` are the CustomResourceDefinitions by
    the version that they serve.
    """
    values = values_file(release, deployment, comments)
    texts = {
        "name": name(release),
        "description": DESCRIPTION,
        "repository": release.repository,
        "tag": release.tag,
        "chart": release.names.chart,
        "version": release.version,
        "values": values,
    }
    return {
        "Chart.yaml": yaml.safe_dump(chart_file(release, definitions), sort_keys=False, width=1000),
        "values.yaml": values,
        "values.schema.json": json.dumps(values_schema(list(comments)), indent=2) + "\n",
        "README.md": _README.format(**texts),
        "LICENSE": (source / "LICENSE").read_text(),
        "templates/_helpers.tpl": chart_templates.HELPERS,
        "templates/NOTES.txt": _NOTES,
    }


def chart_file(release: Release, definitions: Mapping[str, list[Object]]) -> dict[str, Any]:
    """The content of Chart.yaml. Artifact Hub reads the annotations."""
    image = f"{release.names.image}:{release.version}-sync"
    return {
        "apiVersion": "v2",
        "name": name(release),
        "description": DESCRIPTION,
        "type": "application",
        "version": release.version,
        "appVersion": release.version,
        "kubeVersion": OLDEST_KUBERNETES,
        "home": release.repository,
        "sources": [release.repository],
        "keywords": ["dynamo", "gitops", "inference", "kustomize", "llm", "nvidia"],
        "annotations": {
            "artifacthub.io/license": "Apache-2.0",
            "artifacthub.io/category": "ai-machine-learning",
            "artifacthub.io/crds": yaml.safe_dump(_kinds(definitions)),
            "artifacthub.io/images": yaml.safe_dump([{"name": "krm-fn-sync", "image": image}]),
            "artifacthub.io/links": yaml.safe_dump(
                [
                    {"name": "Documentation", "url": f"{release.repository}/blob/{release.tag}/docs/platform.md"},
                    {"name": "Changes", "url": f"{release.repository}/blob/{release.tag}/CHANGELOG.md"},
                ]
            ),
        },
    }


def _kinds(definitions: Mapping[str, list[Object]]) -> list[dict[str, str]]:
    """The entries of all kinds and versions for Artifact Hub. Both folders of definitions have the kinds with one version."""
    entries = {}
    for definition in itertools.chain(*definitions.values()):
        served = next(version for version in definition["spec"]["versions"] if version["served"])
        kind, name = definition["spec"]["names"]["kind"], served["name"]
        description = served["schema"]["openAPIV3Schema"].get("description", kind).partition("\n")[0]
        facts = {"kind": kind, "version": name, "name": definition["metadata"]["name"], "displayName": kind, "description": description}
        entries[kind, name] = facts
    return list(entries.values())


def values_file(release: Release, deployment: Mapping[str, Any], comments: Mapping[str, str]) -> str:
    """The content of values.yaml, with a comment for each value."""
    container = deployment["spec"]["template"]["spec"]["containers"][0]
    resources = yaml.safe_dump(container["resources"], sort_keys=False).replace("\n", "\n    ").rstrip()
    components = "\n".join(
        f"    {chart_templates.camel_case(component)}: {str(component in DEFAULTS).lower()} # {text}"
        for component, text in comments.items()
    )
    return f"""\
definitions: # Dynamo's kinds
  install: true
  # The version that the cluster serves and stores: v1beta1 for a cluster without graphs, as in the examples, or v1alpha1. If the
  # cluster has graphs, exchange the versions first (docs/upgrades.md): stored graphs lose fields that the other version does not have.
  version: v1alpha1
access: # rules for Dynamo's resources in the ClusterRoles view, edit and admin
  install: true
roles: # ClusterRoles of planners, endpoint pickers and profiling Jobs
  install: true
admission: # rules that the API server evaluates, in namespaces with the label dynamo.krm-fn.io/admission=enforced
  install: true
nats: # NATS with JetStream on a volume, for the pods of graphs
  install: true
syncer: # writes the status of graphs
  install: true
  replicas: {deployment["spec"]["replicas"]} # one of them writes, and the others are ready to replace it; with shards, all write
  image:
    repository: {release.names.image}
    tag: "" # if empty, the version of the chart with -sync
    digest: "" # sha256:…; it replaces the tag
    pullPolicy: "" # if empty, the default of Kubernetes
  components: # each adds the rights that it needs
{components}
  resources:
    {resources}
  extraArgs: [] # further options of krm-fn sync
  podAnnotations: {{}}
  imagePullSecrets: []
  nodeSelector: {{}}
  tolerations: []
  affinity: {{}}
  priorityClassName: ""
"""


def values_schema(components: list[str]) -> dict[str, Any]:
    """The JSON schema of the values. Helm checks values with it, and accepts no unknown key."""
    switch = _object({"install": {"type": "boolean"}})
    image = {
        "repository": {"type": "string", "minLength": 1},
        "tag": {"type": "string", "pattern": "^([A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?$"},
        "digest": {"type": "string", "pattern": "^(sha256:[0-9a-f]{64})?$"},
        "pullPolicy": {"enum": ["", "Always", "IfNotPresent", "Never"]},
    }
    names = list(map(chart_templates.camel_case, components))
    needs = [{"if": _is_on(component), "then": _is_on(needed)} for component, needed in NEEDS.items()]
    syncer = {
        "install": {"type": "boolean"},
        "replicas": {"type": "integer", "minimum": 0},
        "image": _object(image),
        "components": _object({component: {"type": "boolean"} for component in names}) | {"allOf": needs},
        "resources": _object({"limits": {"type": "object"}, "requests": {"type": "object"}}, required=()),
        "extraArgs": {"type": "array", "items": {"type": "string", "pattern": "^--"}},
        "podAnnotations": {"type": "object", "additionalProperties": {"type": "string"}},
        "imagePullSecrets": {"type": "array", "items": _object({"name": {"type": "string"}})},
        "nodeSelector": {"type": "object", "additionalProperties": {"type": "string"}},
        "tolerations": {"type": "array", "items": {"type": "object"}},
        "affinity": {"type": "object"},
        "priorityClassName": {"type": "string"},
    }
    definitions = _object({"install": {"type": "boolean"}, "version": {"enum": ["v1alpha1", "v1beta1"]}})
    parts = {"definitions": definitions, "access": switch, "roles": switch, "admission": switch, "nats": switch, "syncer": _object(syncer)}
    return {"$schema": "http://json-schema.org/draft-07/schema#", **_object(parts | {"global": {"type": "object"}}, required=tuple(parts))}


def _object(properties: dict[str, Any], required: tuple[str, ...] | None = None) -> dict[str, Any]:
    listed = list(properties if required is None else required)
    return {"type": "object", "additionalProperties": False, "properties": properties, "required": listed}


def _is_on(component: str) -> dict[str, Any]:
    return {"properties": {component: {"const": True}}, "required": [component]}
