"""Rules of an API server about the security contexts of pods and of containers, and about the operating system that allows their fields."""

from __future__ import annotations

import re

from krm_fn.base import codes
from krm_fn.kubernetes.api_server import name_formats
from krm_fn.kubernetes.api_server.rejections import Rejection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from krm_fn.kubernetes.api_server.by_field import Context

    Fields = Mapping[str, Any]


_LOCALHOST = "Localhost"
_LONGEST_PROFILE = 4095  # bytes; the longest path on Linux
_LONGEST_CREDENTIAL = 64 * 1024
_LONGEST_DOMAIN, _LONGEST_USER = 255, 104
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_NETBIOS = re.compile(r'[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}')
_DOMAIN_LABEL = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_DOMAIN = re.compile(rf"{_DOMAIN_LABEL}(?:\.{_DOMAIN_LABEL})*")
_NO_USER = re.compile(r'[. ]+|.*["/\\:;|=,+*?<>@\[\]].*', re.DOTALL)


def _profiles(context: Fields) -> Iterator[Rejection]:
    """Yields the rejections of the profiles and of the options for Windows in a security context."""
    for field, rules in (("seccompProfile", _seccomp), ("appArmorProfile", _app_armor), ("windowsOptions", _windows)):
        for rejection in rules(context.get(field)):
            yield rejection.below(field)


def _seccomp(profile: Fields | None) -> Iterator[Rejection]:
    """Checks a profile (validateSeccompProfileField)."""
    if profile is None:
        return
    name = profile.get("localhostProfile")
    yield from _localhost(profile, name)
    if profile.get("type") == _LOCALHOST and name is not None and (name.startswith("/") or ".." in name.split("/")):
        yield Rejection(
            codes.PATH_OUT_OF_VOLUME,
            ("localhostProfile",),
            f"the path {name!r} leaves the folder of the profiles; write a relative path without ..",
        )


def _app_armor(profile: Fields | None) -> Iterator[Rejection]:
    """Checks a profile (ValidateAppArmorProfileField)."""
    if profile is None:
        return
    name = profile.get("localhostProfile")
    yield from _localhost(profile, name)
    if profile.get("type") != _LOCALHOST or name is None:
        return
    if not name.strip():
        yield Rejection(codes.EMPTY_REQUIRED_FIELD, ("localhostProfile",), "the name of the profile is required; write it")
    elif name != name.strip():
        yield Rejection(
            codes.INVALID_NAME_IN_POD,
            ("localhostProfile",),
            f"the name {name!r} of the profile begins or ends with a space; remove the space",
        )
    if len(name.encode()) > _LONGEST_PROFILE:
        yield Rejection(
            codes.TOO_MANY_ENTRIES,
            ("localhostProfile",),
            f"the name of the profile is longer than {_LONGEST_PROFILE} characters; shorten it",
        )


def _localhost(profile: Fields, name: str | None) -> Iterator[Rejection]:
    """Checks that a profile of the node, and no other, has a name."""
    if profile.get("type") == _LOCALHOST and name is None:
        message = "localhostProfile is required with type: Localhost; write the profile of the node, or another type"
        yield Rejection(codes.EMPTY_REQUIRED_FIELD, ("localhostProfile",), message)
    elif profile.get("type") != _LOCALHOST and name is not None:
        message = f"localhostProfile is allowed only with type: Localhost, not with {profile.get('type')}; remove it, or write Localhost"
        yield Rejection(codes.FIELDS_NOT_ALLOWED_TOGETHER, ("localhostProfile",), message)


def _windows(options: Fields | None) -> Iterator[Rejection]:
    """Checks the options for Windows (validateWindowsSecurityContextOptions)."""
    if options is None:
        return
    name, credential, user = (options.get(field) for field in ("gmsaCredentialSpecName", "gmsaCredentialSpec", "runAsUserName"))
    if name is not None and not name_formats.DNS_SUBDOMAIN.fullmatch(name):
        message = f"{name!r} is not a valid name of an object; use lower-case letters, digits, dashes and dots"
        yield Rejection(codes.INVALID_NAME_IN_POD, ("gmsaCredentialSpecName",), message)
    if credential == "":
        yield Rejection(
            codes.EMPTY_REQUIRED_FIELD,
            ("gmsaCredentialSpec",),
            "the field is empty; write the credential specification, or remove the field",
        )
    elif credential and len(credential.encode()) > _LONGEST_CREDENTIAL:
        yield Rejection(codes.TOO_MANY_ENTRIES, ("gmsaCredentialSpec",), "the credential specification is larger than 64 KiB; shorten it")
    if user is not None and not _is_windows_user(user):
        message = f"{user!r} is not a user of Windows; write user or domain\\user"
        yield Rejection(codes.INVALID_NAME_IN_POD, ("runAsUserName",), message)


def _is_windows_user(name: str) -> bool:
    domain, backslash, user = name.rpartition("\\")
    if not name or _CONTROL.search(name) or "\\" in domain:
        return False
    is_domain = len(domain.encode()) <= _LONGEST_DOMAIN and (_NETBIOS.fullmatch(domain) or _DOMAIN.fullmatch(domain))
    if backslash and not is_domain:
        return False
    return 0 < len(user.encode()) <= _LONGEST_USER and not _NO_USER.fullmatch(user)


_SEGMENT = r"[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SYSCTL = re.compile(rf"(?=.{{1,253}}\Z)({_SEGMENT}[./])*{_SEGMENT}")
_OF_IPC = re.compile(r"kernel\.(sem|shm(all|max|mni|_rmid_forced)?|msg(max|mnb|mni)?)|fs\.mqueue\..*", re.DOTALL)
_LARGEST_ID = 2**31 - 1
_EMPTY = {
    "fsGroupChangePolicy": "OnRootMismatch or Always",
    "supplementalGroupsPolicy": "Merge or Strict",
}
"""Fields whose empty text is not their default, with their values."""


def validate_pod(context: Fields, pod: Context) -> Iterator[Rejection]:
    """Yields the rejections of the security context of a pod (validatePodSpecSecurityContext).

    A feature gate decides about the policy MountOption for labels of SELinux, so it is not checked.
    """
    for index, group in enumerate(context.get("supplementalGroups") or ()):
        if not 0 <= group <= _LARGEST_ID:
            message = f"the id {group} is not between 0 and {_LARGEST_ID}; write a number in that range"
            yield Rejection(codes.NUMBER_NOT_ALLOWED, ("supplementalGroups", index), message)
    yield from _sysctls(context.get("sysctls") or (), pod.spec)
    for field, values in _EMPTY.items():
        if context.get(field) == "":
            yield Rejection(codes.VALUE_NOT_ALLOWED, (field,), f"{field} is empty; write {values}, or remove it")
    policy = context.get("seLinuxChangePolicy")
    if policy not in (None, "Recursive", "MountOption"):
        yield Rejection(codes.VALUE_NOT_ALLOWED, ("seLinuxChangePolicy",), f"{policy!r} is not a policy; write Recursive, or remove it")
    yield from _profiles(context)
    if (context.get("windowsOptions") or {}).get("hostProcess") and not pod.spec.get("hostNetwork"):
        message = "a pod of processes of the node needs hostNetwork: true; write it, or remove hostProcess"
        yield Rejection(codes.FIELDS_NOT_ALLOWED_TOGETHER, ("windowsOptions", "hostProcess"), message)


def _sysctls(sysctls: Sequence[Fields], spec: Fields) -> Iterator[Rejection]:
    """Checks kernel parameters (validateSysctls, ValidateHostSysctl). Those of a namespace of the node cannot be set."""
    names = set()
    for index, sysctl in enumerate(sysctls):
        name, path = sysctl.get("name") or "", ("sysctls", index, "name")
        if not _SYSCTL.fullmatch(name):
            yield Rejection(
                codes.INVALID_NAME_IN_POD,
                path,
                f"{name!r} is not a valid kernel parameter; write it as sysctl prints it, for example net.core.somaxconn",
            )
        elif name in names:
            yield Rejection(codes.DUPLICATE_ENTRY_IN_POD, path, f"the kernel parameter {name} is listed twice; keep one entry")
        names.add(name)
        dotted = _with_dots(name)
        for field, is_shared in (("hostNetwork", dotted.startswith("net.")), ("hostIPC", bool(_OF_IPC.fullmatch(dotted)))):
            if is_shared and spec.get(field):
                yield Rejection(
                    codes.FIELDS_NOT_ALLOWED_TOGETHER,
                    path,
                    f"the kernel parameter {name} cannot be set with {field}: true; remove one of the two",
                )


def _with_dots(name: str) -> str:
    """Returns a kernel parameter with dots as its separators, as NormalizeName of component-helpers `node/util/sysctl` does."""
    separator = next((letter for letter in name if letter in "./"), ".")
    return name if separator == "." else name.translate({ord("."): "/", ord("/"): "."})


def validate_container(container: Fields, pod: Context) -> Iterator[Rejection]:
    """Yields the rejections of the security context of a container.

    The cluster decides if privileged containers are allowed, so this is not checked. Follows ValidateSecurityContext.
    """
    for rejection in _context(container["securityContext"] or {}, pod.spec):
        yield rejection.below("securityContext")


def _context(context: Fields, spec: Fields) -> Iterator[Rejection]:
    yield from _proc_mount(context.get("procMount"), spec)
    if context.get("allowPrivilegeEscalation") is False:
        if context.get("privileged"):
            message = "a privileged container can always gain privileges; remove allowPrivilegeEscalation: false, or privileged"
            yield Rejection(codes.FIELDS_NOT_ALLOWED_TOGETHER, ("allowPrivilegeEscalation",), message)
        if "CAP_SYS_ADMIN" in ((context.get("capabilities") or {}).get("add") or ()):
            message = "a container with CAP_SYS_ADMIN can always gain privileges; remove allowPrivilegeEscalation: false, or the capability"
            yield Rejection(codes.FIELDS_NOT_ALLOWED_TOGETHER, ("allowPrivilegeEscalation",), message)
    yield from _profiles(context)
    if (context.get("windowsOptions") or {}).get("hostProcess") is not None:
        yield from _host_process(context["windowsOptions"]["hostProcess"], spec)


def _proc_mount(kind: str | None, spec: Fields) -> Iterator[Rejection]:
    """Checks the mount of /proc (ValidateProcMountType)."""
    if kind == "":
        yield Rejection(codes.VALUE_NOT_ALLOWED, ("procMount",), "procMount is empty; write Default or Unmasked, or remove it")
    if kind == "Unmasked" and spec.get("hostUsers") is not False:
        message = "procMount: Unmasked needs a user namespace; write hostUsers: false in the pod, or procMount: Default"
        yield Rejection(codes.FIELDS_NOT_ALLOWED_TOGETHER, ("procMount",), message)


def _host_process(is_host_process: bool, spec: Fields) -> Iterator[Rejection]:
    """Checks a container that runs as a process of a node with Windows (validateWindowsHostProcessPod)."""
    path = ("windowsOptions", "hostProcess")
    of_pod = _host_process_of(spec)
    if of_pod is not None and of_pod != is_host_process:
        yield Rejection(
            codes.FIELDS_NOT_ALLOWED_TOGETHER,
            path,
            f"hostProcess of the pod is {str(of_pod).lower()}; write the same value, or remove one of the two",
        )
    if not is_host_process:
        return
    containers = [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
    if not all(_host_process_of(container, of_pod) for container in containers):
        message = "the pod has other containers that are not processes of the node; write hostProcess: true in the pod, or remove it here"
        yield Rejection(codes.FIELDS_NOT_ALLOWED_TOGETHER, path, message)
    if not spec.get("hostNetwork"):
        yield Rejection(
            codes.FIELDS_NOT_ALLOWED_TOGETHER,
            path,
            "a pod of processes of the node needs hostNetwork: true; write it, or remove hostProcess",
        )


def _host_process_of(holder: Fields, inherited: bool | None = None) -> bool | None:
    """Returns hostProcess of a pod or a container."""
    options = (holder.get("securityContext") or {}).get("windowsOptions") or {}
    value: bool | None = options.get("hostProcess")
    return inherited if value is None else value


_LINUX, _WINDOWS = "linux", "windows"
_OF_BOTH = ("appArmorProfile", "seLinuxOptions", "seccompProfile", "runAsUser", "runAsGroup")
_OF_PODS = (
    *_OF_BOTH,
    *("fsGroup", "fsGroupChangePolicy", "sysctls", "supplementalGroups", "supplementalGroupsPolicy", "seLinuxChangePolicy"),
)
_OF_CONTAINERS = (*_OF_BOTH, "capabilities", "readOnlyRootFilesystem", "privileged", "allowPrivilegeEscalation", "procMount")
_SET_BY_TRUE = ("hostPID", "hostIPC")


def validate_os(spec: Fields, _context: Context) -> Iterator[Rejection]:
    """Yields the rejections of `os`, and of fields that this operating system does not have (validateOS)."""
    if spec["os"] is None:
        return
    name = spec["os"].get("name") or ""
    if name == _LINUX:
        yield from _fields(spec, _LINUX, ("windowsOptions",), ("windowsOptions",))
    elif name == _WINDOWS:
        yield from _fields_of_windows(spec)
    else:
        yield Rejection(
            codes.VALUE_NOT_ALLOWED, ("os", "name"), f"{name!r} is not an operating system that Kubernetes knows; write linux or windows"
        )


def _fields_of_windows(spec: Fields) -> Iterator[Rejection]:
    """Checks a pod for Windows (validateWindows, validatePodResources)."""
    yield from _fields(spec, _WINDOWS, _OF_PODS, _OF_CONTAINERS)
    for field in ("hostUsers", "shareProcessNamespace", "resources", *_SET_BY_TRUE):
        if spec.get(field) is not None and (field not in _SET_BY_TRUE or spec[field]):
            yield _rejection((field,), _WINDOWS)


def _fields(spec: Fields, system: str, of_pods: tuple[str, ...], of_containers: tuple[str, ...]) -> Iterator[Rejection]:
    """Checks the security contexts (validateLinux, validateWindows). Empty lists count as missing."""
    context = spec.get("securityContext") or {}
    for field in of_pods:
        if context.get(field) is not None and context[field] != []:
            yield _rejection(("securityContext", field), system)
    for kind in ("initContainers", "containers"):
        for index, container in enumerate(spec.get(kind) or ()):
            of_container = container.get("securityContext") or {}
            for field in of_containers:
                if of_container.get(field) is not None:
                    yield _rejection((kind, index, "securityContext", field), system)


def _rejection(path: tuple[str | int, ...], system: str) -> Rejection:
    return Rejection(codes.FIELDS_NOT_ALLOWED_TOGETHER, path, f"{path[-1]} is not allowed in a pod with os.name: {system}; remove it")
