"""Rules about the ports on which Dynamo listens, and their paths: probes and the Service of a frontend use the port of its server.

A variable or a flag moves a server, and `ports` moves the port that probes and Services use by its name. The Dynamo operator does not
adjust one to the other (`internal/dynamo/graph.go` GenerateBasePodSpec). A render warns, because it makes the pods of the operator;
`krm_fn.review.resource_findings` makes an error of it.

`DYN_SYSTEM_PORT` is the port of the runtime's system server, which also answers `/live` and `/health`; a negative number turns it off, and
`DYN_SYSTEM_ENABLED` has no effect (ai-dynamo-runtime 1.6.1, observed). The frontend listens on `--http-port`, or else on `DYN_HTTP_PORT`
(ai-dynamo 0.9.1 and 1.6.1, `dynamo/frontend`). Both servers answer `/health` and `/live`, unless a variable such as `DYN_SYSTEM_LIVE_PATH`
or `DYN_HTTP_SVC_LIVE_PATH` moves them (Dynamo: lib/runtime/src/config.rs, lib/llm/src/http/service/service_v2.rs).
"""

from __future__ import annotations

import re

from krm_fn.base import codes, results
from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import merge
from krm_fn.kubernetes.api_server.rejections import Rejection
from krm_fn.render import engines
from krm_fn.render.rules import field_origin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from krm_fn.base.results import Path, Result
    from krm_fn.render.manifests.pod_builder import Pod, Pods
    from krm_fn.render.plan import ComponentPlan

_CODE = codes.PORT_DIFFERS_FROM_SERVER
_FIELDS = ("containers", "initContainers")
_MODULE = "dynamo."
_LAST_PORT = 65535
_DIGITS = re.compile(r"[0-9]+")
_PROGRAM = re.compile(r"-m dynamo\.(\w+)(?![\w.])(?!.*grpc)")
"""A program that may listen on the ports of `_SERVERS` alone. A frontend with gRPC has further ports."""
_WITHOUT_ENGINE = ("frontend", "mocker")
"""The programs that do, beside engines."""


_LIVE, _HEALTH = "/live", "/health"
_OTHER_PATHS = {
    **dict.fromkeys(("/livez", "/liveness", "/alive"), _LIVE),
    **dict.fromkeys(("/healthz", "/ready", "/readyz", "/readiness", "/healthcheck", "/startup", "/ping"), _HEALTH),
}
"""Paths that other servers have for their probes, with the path of Dynamo."""
_MOVES = re.compile(r"DYN_\w{1,60}_PATH")


class _Server(NamedTuple):
    """A server of Dynamo: the variable with its port, the name of that port, and the flag that overrides the variable."""

    variable: str
    port: str
    flag: str = ""


_SERVERS = (_Server("DYN_SYSTEM_PORT", "system"), _Server("DYN_HTTP_PORT", "http", "--http-port"))


class _Setting(NamedTuple):
    """The port of a server as a container sets it, the name of the variable or the flag, and its path in the container."""

    value: int
    name: str
    path: Path


def check(pods: Pods) -> Iterator[Result]:
    """Yields a finding for each container whose probes, or whose Service, use another port than that of its server."""
    for pod in pods.roles:
        for field in _FIELDS:
            listed: Any = pod.spec.get(field) or ()
            for index, container in enumerate(listed):
                for server in _SERVERS:
                    yield from _of_server(pods, pod, (field, index), container, server)
        yield from _of_numbers(pods, pod)
        yield from _of_requests(pods, pod)


def _of_requests(pods: Pods, pod: Pod) -> Iterator[Result]:
    """Yields a finding for each probe of the main container that asks a server of Dynamo for a path of other servers, or by HTTPS.

    A ConfigMap may have the variable that moves a path or turns TLS on, so containers with all variables of one are not judged.
    """
    container: Any = pod.main
    if not _is_server(container) or any(source.get("configMapRef") for source in container.get("envFrom") or ()):
        return
    plan = pods.plan.of_role(pod.role.role)
    ports = [port for _, port in _ports(container) if port.get("name") in [server.port for server in _SERVERS]]
    asked = [value for port in ports for value in (port.get("name"), port.get("containerPort"))]
    texts = [*_words(container), *(str(entry.get("name")) for entry in container.get("env") or ())]
    for probe in merge.PROBES:
        handler: Any = (container.get(probe) or {}).get("httpGet") or {}
        if handler.get("port") not in asked or handler.get("host"):
            continue
        for field, problem, right in _wrong_parts(handler, texts):
            message = f"{probe} {problem}, so the probe always fails; write {right}"
            rejection = Rejection(_CODE, ("containers", 0, probe, "httpGet", field), message)
            path = field_origin.path(pods._replace(plan=plan), pod.spec, rejection)
            if path is not None:
                yield results.warning(_CODE, message, plan.ref, path, current=handler[field], proposed=right)


def _wrong_parts(handler: Any, texts: list[str]) -> Iterator[tuple[str, str, str]]:
    """Yields the fields of a request that no server of Dynamo answers, each with the problem and the right value.

    `texts` are the words of the container and the names of its variables. The system server speaks HTTP only, and the frontend without
    `--tls-cert-path` or `DYN_TLS_CERT_PATH` too (lib/runtime/src/system_status_server.rs, lib/llm/src/http/service/service_v2.rs).
    """
    right = _OTHER_PATHS.get(str(handler.get("path")).rstrip("/"))
    if right and not any(map(_MOVES.search, texts)):
        yield "path", f"asks for {handler['path']}, which the server does not have", right
    if handler.get("scheme") == "HTTPS" and not any("tls" in text.lower() for text in texts):
        yield "scheme", "uses HTTPS, and the server speaks HTTP", "HTTP"


def _of_numbers(pods: Pods, pod: Pod) -> Iterator[Result]:
    """Yields a finding for each probe of the main container that asks a number on which no server of the pod listens.

    Only pods on one node with one container are judged: another container could listen, and an engine of several nodes starts servers of
    its own. The same holds for a number that the container has in a port, in a variable or in its command line.
    """
    plan, container = pods.plan.of_role(pod.role.role), pod.main
    inits: Any = pod.spec.get("initContainers") or ()
    beside = [other for other in inits if other.get("restartPolicy") == "Always"]
    if plan.placement.nodes > 1 or len(pod.spec["containers"]) > 1 or beside or not _is_server(container):
        return
    servers = [(server, setting) for server in _SERVERS if (setting := _enabled_setting(container, server))]
    if len(servers) != sum(_is_named(container, server) for server in _SERVERS):
        return  # a server's port is not known
    listening = [f"{setting.value}, the port {server.port}" for server, setting in servers if setting.value > 0 and _serves(plan, server)]
    for probe in merge.PROBES:
        for handler in ("httpGet", "tcpSocket"):
            asked: Any = (container.get(probe) or {}).get(handler) or {}
            number = str(asked.get("port", ""))
            if listening and number.isdecimal() and not asked.get("host") and not _has_number(plan, pod, number):
                message = f"{probe} uses the port {number}, on which no server of the container listens; write {' or '.join(listening)}"
                path = field_origin.path(
                    pods._replace(plan=plan), pod.spec, Rejection(_CODE, ("containers", 0, probe, handler, "port"), message)
                )
                if path is not None:
                    proposed = servers[0][1].value if len(listening) == len(servers) == 1 else None
                    yield results.warning(_CODE, message, plan.ref, path, proposed=proposed)


def _is_server(container: Any) -> bool:
    program = _PROGRAM.search(" ".join(_words(container)))
    return program is not None and program[1] in (*engines.names(), *_WITHOUT_ENGINE)


def _enabled_setting(container: Any, server: _Server) -> _Setting | None:
    setting = _setting(container, server)
    return None if setting and setting.value == 0 else setting


def _is_named(container: Any, server: _Server) -> bool:
    """True if a container sets the port of a server in any way."""
    texts = [*_words(container), *(str(entry.get("name")) for entry in container.get("env") or ())]
    return any(server.variable in text or (server.flag and server.flag in text) for text in texts)


def _serves(plan: ComponentPlan, server: _Server) -> bool:
    return plan.type.is_frontend or server.port != "http"


def _has_number(plan: ComponentPlan, pod: Pod, number: str) -> bool:
    """True if the main container has a number in a port, in the value of a variable of its author, or in its command line.

    The default variables name servers elsewhere: `PROMETHEUS_ENDPOINT` has a port, too.
    """
    container: Any = pod.main
    entries = [entry for entry in container.get("env") or () if number in f"{entry.get('value')}"]
    values = [str(entry.get("value")) for entry in entries if _is_written(plan, pod, container, f"{entry.get('name')}")]
    ports = [str(port.get("containerPort")) for _, port in _ports(container)]
    return any(number in _DIGITS.findall(text) for text in (*values, *ports, *_words(container)))


def _of_server(pods: Pods, pod: Pod, at: Path, container: Any, server: _Server) -> Iterator[Result]:
    """Yields the finding about one server of a container, at the variable or the flag of the author, or else at the port."""
    index, number = next(((i, port.get("containerPort")) for i, port in _ports(container) if port.get("name") == server.port), (0, None))
    setting = None if number is None else _setting(container, server)
    if setting is None or number == setting.value:
        return
    plan = pods.plan.of_role(pod.role.role)
    is_written = setting.path[0] != "env" or _is_written(plan, pod, container, server.variable)
    if not is_written and _MODULE not in " ".join(_words(container)):
        return  # another program, which need not read the default variable
    users = [*_users(plan, container, server, number)]
    if users:
        listed = f"{', '.join(users[:-1])} and {users[-1]} use" if len(users) > 1 else f"{users[0]} uses"
        problem = f"{listed} the port {server.port}, {number}, and {_listens(setting)}"
        message = f"{problem}; {_fix(setting, server, number, is_written=is_written)}"
        rejected = setting.path if is_written else ("ports", index, "containerPort")
        path = field_origin.path(pods._replace(plan=plan), pod.spec, Rejection(_CODE, (*at, *rejected), message))
        if path is not None:
            yield results.warning(_CODE, message, plan.ref, path)


def _ports(container: Any) -> Iterator[tuple[int, Any]]:
    return enumerate(container.get("ports") or ())


def _users(plan: ComponentPlan, container: Any, server: _Server, number: Any) -> Iterator[str]:
    """Yields the probes that ask a port, by its name or its number, and the Service of a frontend."""
    for probe in merge.PROBES:
        handlers = [(container.get(probe) or {}).get(handler) or {} for handler in ("httpGet", "tcpSocket")]
        if any(handler.get("port") in (server.port, number) for handler in handlers):
            yield probe
    if plan.type.is_frontend and plan.type.service_port == server.port:
        yield f"the Service {plan.service_name}"


def _listens(setting: _Setting) -> str:
    if setting.value < 0:
        return f"{setting.name} turns the server off"
    return f"the server listens on {setting.value or 'a random port'}, as {setting.name} says"


def _fix(setting: _Setting, server: _Server, number: Any, *, is_written: bool) -> str:
    """Returns the fix. A flag gets the number of the port, because a command that has no argument without it may start another program."""
    removal = f"remove {setting.name}" if setting.path[0] == "env" else f"write {setting.name} {number}"
    if setting.value <= 0 or setting.value > _LAST_PORT:
        return removal
    if not is_written:
        removal = f"remove the port from ports, which then has {setting.value}"
    return f"write a port with name: {server.port} and containerPort: {setting.value}, or {removal}"


def _setting(container: Any, server: _Server) -> _Setting | None:
    """Returns the port of a server; None if the container does not say it, or says it in a way that only the running container knows."""
    words = _words(container)
    if any(server.variable in word for word in words):
        return None  # a shell sets the variable, or the flag repeats it
    if server.flag and any(server.flag in word for word in words):
        return _of_flag(container, server.flag)
    for index, entry in reversed([*enumerate(container.get("env") or ())]):
        if entry.get("name") == server.variable:
            value = (entry.get("value") or "").strip() if "valueFrom" not in entry else "?"
            number = _number(value or "-1")
            return None if number is None else _Setting(number, server.variable, ("env", index))
    return None


def _of_flag(container: Any, flag: str) -> _Setting | None:
    """Returns the value of a flag of the command line of `dynamo.frontend`; None if it stands twice, or in another program."""
    settings: list[_Setting] = []
    for field in ("command", "args"):
        for index, word in enumerate(container.get(field) or ()):
            following = (container[field][index + 1 : index + 2] or ("",))[0]
            parts = [*word.split(), *(following.split() if word.split()[-1:] == [flag] else ())]
            for position, part in enumerate(parts):
                name, is_joined, value = part.partition("=")
                number = _number(value if is_joined else (parts[position + 1 : position + 2] or ("",))[0])
                if name == flag and number is not None:
                    settings.append(_Setting(number, flag, (field, index)))
    is_frontend = f"{_MODULE}frontend" in " ".join(_words(container))
    return settings[0] if len(settings) == 1 and is_frontend else None


def _number(text: str) -> int | None:
    return int(text) if text.lstrip("-").isdecimal() and text.isascii() and len(text) <= len("-65535") else None


def _words(container: Any) -> list[str]:
    return [*(container.get("command") or ()), *(container.get("args") or ())]


def _is_written(plan: ComponentPlan, pod: Pod, container: Any, variable: str) -> bool:
    """True if the author of the resource wrote a variable of a container, and false for one of the defaults."""
    spec: Any = plan.pod.spec
    name = container.get("name")
    same = [other for field in _FIELDS for other in spec.get(field) or () if other.get("name") == name]
    main: Any = [plan.pod.container] if name == pod.main.get("name") else []
    written = [*plan.pod.envs, *(entry for other in (*same, *main) for entry in other.get("env") or ())]
    return any(entry.get("name") == variable for entry in written)
