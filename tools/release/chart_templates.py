"""Turns objects into templates of Helm: the same objects, with conditions and values where the chart has a value."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import yaml
from release.description import ReleaseError

Object = dict[str, Any]

NAMESPACE = "dynamo-system"
"""The namespace in the manifests, for which the chart writes the namespace of the installation."""

_MARK = "HELM-{}-MARK"
_MARKED_LINE = re.compile(r"^( *)(?:- )?HELM-(\w+)-MARK(?:: null)?$", re.MULTILINE)
_MARKED = re.compile(r"HELM-(\w+)-MARK")
_INLINE = {
    "namespace": "{{ .Release.Namespace }}",
    "replicas": "{{ .Values.syncer.replicas }}",
    "image": '{{ include "syncer.image" . }}',
}
_BLOCKS = {
    "resources": "{{- toYaml .Values.syncer.resources | nindent %d }}",
    "arguments": "{{- range .Values.syncer.extraArgs }}\n%s- {{ . | quote }}\n{{- end }}",
    "container": "{{- with .Values.syncer.image.pullPolicy }}\n%simagePullPolicy: {{ . }}\n{{- end }}",
    "annotations": "{{- with .Values.syncer.podAnnotations }}\n{{- toYaml . | nindent %d }}\n{{- end }}",
    "pod": (
        '{{- range $key := list "imagePullSecrets" "nodeSelector" "tolerations" "affinity" "priorityClassName" }}\n'
        "{{- with index $.Values.syncer $key }}\n{{- dict $key . | toYaml | nindent %d }}\n{{- end }}\n{{- end }}"
    ),
}
HELPERS = """\
{{- define "syncer.image" -}}
{{- with .Values.syncer.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default (printf "%s-sync" $.Chart.AppVersion) }}{{ end }}
{{- end }}
{{- end }}
"""
"""The file `templates/_helpers.tpl`."""


def definitions(version: str, objects: Iterable[Object]) -> str:
    """The template of the definitions that serve a version of Dynamo's kinds. Their annotations say that Helm never deletes them."""
    return _guarded(f'and .Values.definitions.install (eq .Values.definitions.version "{version}")', _documents(objects))


def part(name: str, objects: Iterable[Object]) -> str:
    """The template of a part of the platform, with the condition `NAME.install`."""
    return _guarded(f".Values.{name}.install", _documents(objects))


def syncer(core: list[Object], components: Mapping[str, list[Object]], scopes: tuple[list[Object], list[Object]]) -> str:
    """The template of the syncer.

    `components` has the objects of the core with one component, and `scopes` the objects with all components, for the whole cluster and for
    one namespace. An object that a component adds gets a condition, and an object that differs between the scopes is there in both forms.
    """
    owners: dict[tuple[str, str], list[str]] = {}
    for name, objects in components.items():
        for entry in objects:
            if _key(entry) not in set(map(_key, core)):
                owners.setdefault(_key(entry), []).append(name)
    cluster, namespaced = ({_key(entry): entry for entry in scope} for scope in scopes)
    documents = []
    for key, entry in cluster.items():
        if entry["kind"] == "Deployment":
            text = _deployment(entry, next(each for each in core if each["kind"] == "Deployment"), components, namespaced[key])
        elif namespaced[key] == entry:
            text = _document(entry)
        else:
            text = f"{{{{- if {value('namespaced')} }}}}\n{_document(namespaced[key])}{{{{- else }}}}\n{_document(entry)}{{{{- end }}}}\n"
        conditions = " ".join(map(value, owners.get(key, [])))
        documents.append(_guarded(f"or {conditions}", text) if conditions else text)
    return _guarded(".Values.syncer.install", "---\n".join(["", *documents]))


def value(component: str) -> str:
    """The path of the value that selects a component of the syncer.

    >>> value("device-claims")
    '.Values.syncer.components.deviceClaims'
    """
    return f".Values.syncer.components.{camel_case(component)}"


def camel_case(name: str) -> str:
    """A name with dashes as a key of the values.

    >>> camel_case("hold-namespaces")
    'holdNamespaces'
    """
    first, *others = name.split("-")
    return first + "".join(map(str.capitalize, others))


def _deployment(entry: Object, core: Object, components: Mapping[str, list[Object]], namespaced: Object) -> str:
    """The Deployment of the syncer, with all values. Raises ReleaseError if a component changes more than the arguments."""
    words = _arguments(core)
    lines = dict(enumerate(words))
    additions: list[str] = []
    for name, objects in {**components, "namespaced": []}.items():
        changed = namespaced if name == "namespaced" else next(each for each in objects if each["kind"] == "Deployment")
        if _with_arguments(changed, []) != _with_arguments(core, []):
            raise ReleaseError(f"the component {name} changes more than the arguments of the syncer; the chart cannot do that")
        arguments = _arguments(changed)
        if name == "namespaced":
            arguments = [*words, *arguments[len(_arguments(entry)) :]]
        for index, word in enumerate(words):
            if arguments[index] != word:
                lines[index] = f"{{{{ if {value(name)} }}}}{arguments[index]}{{{{ else }}}}{word}{{{{ end }}}}"
        additions += [f"{{{{- if {value(name)} }}}}\n{{indent}}- {word}\n{{{{- end }}}}" for word in arguments[len(words) :]]
    marked = _with_arguments(core, [_MARK.format("words")])
    marked["spec"]["replicas"] = _MARK.format("replicas")
    template = marked["spec"]["template"]
    template["metadata"]["annotations"][_MARK.format("annotations")] = None
    template["spec"][_MARK.format("pod")] = None
    container = template["spec"]["containers"][0]
    container |= {"image": _MARK.format("image"), "resources": _MARK.format("resources"), _MARK.format("container"): None}
    text = _document(marked)
    found = re.search(r"^( *)- HELM-words-MARK$", text, re.MULTILINE)
    if not found:
        raise ReleaseError("the Deployment of the syncer has no arguments")
    indent = found[1]
    listed = [f"{indent}- {word}" for word in lines.values()] + [line.replace("{indent}", indent) for line in additions]
    listed.append(_BLOCKS["arguments"] % indent)
    return text.replace(found[0], "\n".join(listed))


def _arguments(deployment: Object) -> list[str]:
    return list(deployment["spec"]["template"]["spec"]["containers"][0]["args"])


def _with_arguments(deployment: Object, arguments: Sequence[str]) -> Object:
    copied = copy.deepcopy(deployment)
    copied["spec"]["template"]["spec"]["containers"][0]["args"] = list(arguments)
    return copied


def _key(entry: Object) -> tuple[str, str]:
    """The identity of an object, the same for a ClusterRole and a Role."""
    return entry["kind"].removeprefix("Cluster"), entry["metadata"]["name"]


def _documents(objects: Iterable[Object]) -> str:
    return "".join(f"---\n{_document(entry)}" for entry in objects)


def _document(entry: Object) -> str:
    """An object as a template. Raises ReleaseError if a text contains the namespace of the manifests."""
    dumped = yaml.dump(_in_release_namespace(entry), Dumper=yaml.CSafeDumper, sort_keys=False, width=2**31 - 1, allow_unicode=True)
    if NAMESPACE in dumped:
        raise ReleaseError(f"{entry['kind']} {entry['metadata']['name']} has {NAMESPACE} in a text; the chart cannot replace it")
    text = dumped.replace("{{", '{{ "{{" }}')
    text = _MARKED_LINE.sub(_block, text)
    text = re.sub(r"^( *)resources: HELM-resources-MARK$", _resources, text, flags=re.MULTILINE)
    return _MARKED.sub(lambda mark: _INLINE.get(mark[1], mark[0]), text)


def _in_release_namespace(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _in_release_namespace(child) for key, child in node.items()}
    if isinstance(node, list):
        return [_in_release_namespace(child) for child in node]
    return _MARK.format("namespace") if node == NAMESPACE else node


def _block(mark: re.Match[str]) -> str:
    block = _BLOCKS.get(mark[2])
    if block is None:
        return mark[0]
    return block % (len(mark[1]) if "%d" in block else mark[1])


def _resources(mark: re.Match[str]) -> str:
    return f"{mark[1]}resources: {_BLOCKS['resources'] % (len(mark[1]) + 2)}"


def _guarded(condition: str, text: str) -> str:
    return f"{{{{- if {condition} }}}}\n{text}{{{{- end }}}}\n"
