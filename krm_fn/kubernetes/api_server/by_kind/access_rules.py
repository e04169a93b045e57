"""Rules of an API server about Roles and their bindings.

Follows `pkg/apis/rbac/validation/validation.go`.
"""

from __future__ import annotations

from krm_fn.kubernetes.api_server import label_selectors, object_meta, rejections

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from krm_fn.kubernetes.api_server.rejections import Rejection
    from krm_fn.kubernetes.types import Resource

    Fields = Mapping[str, Any]

_GROUP = "rbac.authorization.k8s.io"
_SUBJECTS = ("ServiceAccount", "User", "Group")


def validate(resource: Resource) -> Iterator[Rejection]:
    """Yields the rejections of a Role, a ClusterRole, or a binding of one."""
    namespaced = not resource["kind"].startswith("Cluster")
    if resource["kind"].endswith("Binding"):
        yield from _binding(resource, namespaced=namespaced)
        return
    for index, rule in enumerate(resource.get("rules") or ()):
        for rejection in _rule(rule, namespaced=namespaced):
            yield rejection.below("rules", index)
    aggregation = resource.get("aggregationRule")
    if aggregation is not None:
        yield from _aggregation(aggregation.get("clusterRoleSelectors") or ())


def _aggregation(selectors: list[Fields] | tuple[Fields, ...]) -> Iterator[Rejection]:
    """Checks the selectors of other ClusterRoles (ValidateClusterRole)."""
    path = ("aggregationRule", "clusterRoleSelectors")
    if not selectors:
        yield rejections.required_field(path, "a selector")
    for index, selector in enumerate(selectors):
        for rejection in label_selectors.validate(selector):
            yield rejection.below(*path, index)


def _rule(rule: Fields, *, namespaced: bool) -> Iterator[Rejection]:
    """Checks one rule (ValidatePolicyRule)."""
    if not rule.get("verbs"):
        yield rejections.required_field(("verbs",), "a verb")
    if rule.get("nonResourceURLs"):
        if namespaced:
            yield rejections.conflict(("nonResourceURLs",), "a Role has no URLs", "write a ClusterRole for them")
        if any(rule.get(field) for field in ("apiGroups", "resources", "resourceNames")):
            yield rejections.conflict(("nonResourceURLs",), "a rule is either about resources or about URLs", "write two rules")
        return
    for field, words in (("apiGroups", "an API group, which is empty for Kubernetes' core kinds,"), ("resources", "a resource")):
        if not rule.get(field):
            yield rejections.required_field((field,), words)


def _binding(binding: Resource, *, namespaced: bool) -> Iterator[Rejection]:
    """Checks a binding (ValidateRoleBinding, ValidateClusterRoleBinding). The role of a binding without an API group gets the right one."""
    role = binding.get("roleRef") or {}
    if (role.get("apiGroup") or _GROUP) != _GROUP:
        yield rejections.unknown(role["apiGroup"], (_GROUP,), ("roleRef", "apiGroup"))
    kinds = ("Role", "ClusterRole") if namespaced else ("ClusterRole",)
    if role.get("kind") not in kinds:
        yield rejections.unknown(role.get("kind") or "", kinds, ("roleRef", "kind"))
    name = role.get("name") or ""
    if not name:
        yield rejections.required_field(("roleRef", "name"), "the name of the role")
    elif not object_meta.is_path_segment(name):
        yield rejections.bad_name(name, ("roleRef", "name"), "a text without / and %")
    for index, subject in enumerate(binding.get("subjects") or ()):
        for rejection in _subject(subject, namespaced=namespaced):
            yield rejection.below("subjects", index)


def _subject(subject: Fields, *, namespaced: bool) -> Iterator[Rejection]:
    """Checks who gets the rights (ValidateRoleBindingSubject). Users and groups without an API group get the right one."""
    kind, name, group = subject.get("kind"), subject.get("name") or "", subject.get("apiGroup") or ""
    if not name:
        yield rejections.required_field(("name",), "the name of the subject")
    if kind not in _SUBJECTS:
        yield rejections.unknown(kind or "", _SUBJECTS, ("kind",))
    elif kind != _SUBJECTS[0]:
        if group not in ("", _GROUP):
            yield rejections.unknown(group, (_GROUP,), ("apiGroup",))
        return
    else:
        if name and not object_meta.is_subdomain(name):
            yield rejections.bad_name(name, ("name",))
        if group:
            yield rejections.conflict(("apiGroup",), "a ServiceAccount has no API group", "remove it")
        if not namespaced and not subject.get("namespace"):
            yield rejections.required_field(("namespace",), "the namespace of the ServiceAccount")
