"""The finding about a host of an ingress that is not a valid name: it names the field to change, and the value to write.

The host is `<hostPrefix><host>.<hostSuffix>` (operator: internal/dynamo/graph.go getIngressHost).
"""

from __future__ import annotations

import re

from krm_fn.base import codes, results
from krm_fn.kubernetes.api_server import name_formats
from krm_fn.render.manifests import ingress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from krm_fn.base.results import Result
    from krm_fn.render.plan import ComponentPlan

_ADDRESS = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*://)?(?P<name>[^/:?#]*)(?P<port>:[0-9]*)?(?P<path>[/?#].*)?", re.DOTALL)
_OTHER = re.compile(r"[^a-z0-9.*-]+")
_ANY_FIELD = "use lower-case letters, digits, dashes and dots"


def is_valid(host: str) -> bool:
    """Returns true for the name of a host, which may begin with `*.`."""
    return bool(name_formats.DNS_SUBDOMAIN.fullmatch(host.removeprefix("*.")))


def invalid(plan: ComponentPlan) -> Result:
    """Returns the finding about the invalid host of a component."""
    exposure, host = plan.exposure.ingress, ingress.host(plan)
    start, field, end = plan.at("ingress", "hostPrefix"), plan.at("ingress", "host"), plan.at("ingress", "hostSuffix")
    written = {start: exposure.prefix, field: exposure.host, end: exposure.suffix}
    mended = {path: text and _fix_host(text, is_start=path == start) for path, text in written.items()}
    changed = {path: text for path, text in mended.items() if text is not None and text != written[path]}
    at, fix = end if host.endswith(".") else field, _ANY_FIELD
    if exposure.suffix == "":
        at, fix = end, f"write a domain such as example.com, or remove {end[-1]}, which is {ingress.DEFAULT_SUFFIX} then"
    elif changed and is_valid(f"{mended[start]}{mended[field]}.{mended[end] or ingress.DEFAULT_SUFFIX}"):
        at = next(iter(changed))
        removed = [part for path in changed for part in _removed_parts(written[path] or "")]
        name, dot, domain = changed.get(field, "").partition(".")
        if dot and name != "*" and exposure.suffix is None:
            changed |= {field: name, end: domain}  # the operator would add its own suffix
        values = " and ".join(f"{path[-1]}: {text}" for path, text in changed.items())
        fix = f"write {values}{', without ' if removed else ''}{' and '.join(removed)}"
    message = f"the host would be {host!r}, which is not a valid host name; {fix}"
    proposed = changed[at] if fix.startswith("write") and [*changed] == [at] else None
    return results.error(codes.INVALID_HOST, message, plan.ref, at, current=written[at], proposed=proposed)


def _fix_host(text: str, *, is_start: bool) -> str:
    """Returns a valid text that is nearest to one: without scheme, port and path, in lower case, with dashes in place of other letters."""
    address = _ADDRESS.fullmatch(text.strip())
    name = _OTHER.sub("-", (address["name"] if address else text.strip()).lower())
    if is_start:
        return name.lstrip("-.")
    return ".".join(filter(None, (part.strip("-") for part in name.split("."))))


def _removed_parts(text: str) -> list[str]:
    address = _ADDRESS.fullmatch(text.strip())
    return [part for part in address.group("scheme", "port", "path") if part] if address else []
