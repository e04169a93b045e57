"""Rules of an API server that the security contexts of pods and of containers share."""

from __future__ import annotations

import re

from krm_fn.kubernetes.api_server import Rejection, name_formats

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

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


def validate(context: Fields) -> Iterator[Rejection]:
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
            "DYN228", ("localhostProfile",), f"the path {name!r} leaves the folder of the profiles; write a relative path without .."
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
        yield Rejection("DYN225", ("localhostProfile",), "the name of the profile is required; write it")
    elif name != name.strip():
        yield Rejection("DYN202", ("localhostProfile",), f"the name {name!r} of the profile begins or ends with a space; remove the space")
    if len(name.encode()) > _LONGEST_PROFILE:
        yield Rejection(
            "DYN235", ("localhostProfile",), f"the name of the profile is longer than {_LONGEST_PROFILE} characters; shorten it"
        )


def _localhost(profile: Fields, name: str | None) -> Iterator[Rejection]:
    """Checks that a profile of the node, and no other, has a name."""
    if profile.get("type") == _LOCALHOST and name is None:
        message = "localhostProfile is required with type: Localhost; write the profile of the node, or another type"
        yield Rejection("DYN225", ("localhostProfile",), message)
    elif profile.get("type") != _LOCALHOST and name is not None:
        message = f"localhostProfile is allowed only with type: Localhost, not with {profile.get('type')}; remove it, or write Localhost"
        yield Rejection("DYN232", ("localhostProfile",), message)


def _windows(options: Fields | None) -> Iterator[Rejection]:
    """Checks the options for Windows (validateWindowsSecurityContextOptions)."""
    if options is None:
        return
    name, credential, user = (options.get(field) for field in ("gmsaCredentialSpecName", "gmsaCredentialSpec", "runAsUserName"))
    if name is not None and not name_formats.DNS_SUBDOMAIN.fullmatch(name):
        message = f"{name!r} is not a valid name of an object; use lower-case letters, digits, dashes and dots"
        yield Rejection("DYN202", ("gmsaCredentialSpecName",), message)
    if credential == "":
        yield Rejection("DYN225", ("gmsaCredentialSpec",), "the field is empty; write the credential specification, or remove the field")
    elif credential and len(credential.encode()) > _LONGEST_CREDENTIAL:
        yield Rejection("DYN235", ("gmsaCredentialSpec",), "the credential specification is larger than 64 KiB; shorten it")
    if user is not None and not _is_windows_user(user):
        message = f"{user!r} is not a user of Windows; write user or domain\\user"
        yield Rejection("DYN202", ("runAsUserName",), message)


def _is_windows_user(name: str) -> bool:
    domain, backslash, user = name.rpartition("\\")
    if not name or _CONTROL.search(name) or "\\" in domain:
        return False
    is_domain = len(domain.encode()) <= _LONGEST_DOMAIN and (_NETBIOS.fullmatch(domain) or _DOMAIN.fullmatch(domain))
    if backslash and not is_domain:
        return False
    return 0 < len(user.encode()) <= _LONGEST_USER and not _NO_USER.fullmatch(user)
