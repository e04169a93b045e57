"""vLLM with elastic expert parallelism, which needs a Ray cluster of its own, also in a single pod.

Follows the operator's `internal/dynamo/backend_vllm.go` (injectElasticEPRayLaunchFlags).
"""

from __future__ import annotations

import re

from krm_fn.kubernetes import env
from krm_fn.render.engines import _command_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from krm_fn.kubernetes.native_types import Container
    from krm_fn.render.plan import RolePlan

_PORT = 6379
"""The port of the Ray cluster.

Rule vllm.ray-port: see `krm_fn.render.engines.vllm`.
"""
_PLAIN = re.compile(r"[A-Za-z0-9_@%+=:,./-]+")
_POD_IP = env.field("POD_IP", "status.podIP")
"""The variable with the address of the pod.

Rule vllm.elastic-pod-ip: With elastic expert parallelism, the container knows the address of its pod as POD_IP. (operator:
internal/dynamo/backend_vllm.go injectElasticEPRayLaunchFlags)
"""
_MASTER_IP = env.field("VLLM_DP_MASTER_IP", "status.podIP")
"""The variable with the address of the Ray node.

Rule vllm.elastic-master: With elastic expert parallelism, vLLM finds the Ray node by VLLM_DP_MASTER_IP. (operator:
internal/dynamo/backend_vllm.go injectElasticEPRayLaunchFlags)
"""
_CONNECT = f"import socket; s=socket.create_connection(('127.0.0.1',{_PORT}),timeout=1); s.close()"
"""The program in Python that connects to the Ray cluster.

Rule vllm.elastic-wait: see `krm_fn.render.engines._vllm_elastic`.
"""
_UNTIL_RAY_ANSWERS = (
    f'i=0; until python3 -c "{_CONNECT}" 2>/dev/null; do i=$((i+1)); '
    '[ "$i" -ge 150 ] && { echo "ERROR: Ray head did not start within 300s" >&2; exit 1; }; sleep 2; done'
)
"""The shell line that waits for the Ray cluster.

Rule vllm.elastic-wait: With elastic expert parallelism, the engine starts when the Ray cluster answers, at the latest after five minutes.
(operator: internal/dynamo/backend_vllm.go injectElasticEPRayLaunchFlags)
"""


def alone(main: Container) -> Container:
    """Returns the elastic main container of a pod without followers.

    The container is unchanged without the flag that asks for Ray, or if the image chooses the command.

    vLLM looks for the Ray node at the address in VLLM_DP_MASTER_IP, so the head gets the same address.

    Rule vllm.elastic: With elastic expert parallelism, the pod starts a Ray cluster and then the engine. (operator:
    internal/dynamo/backend_vllm.go injectElasticEPRayLaunchFlags)
    """
    words = _command_lines.words(main)
    backends = (_command_lines.has_option(words, flag, "ray") for flag in ("--data-parallel-backend", "-dpb"))
    if not any(backends) or not main.get("command"):
        return main
    line = f'ray start --head --port={_PORT} --node-ip-address="$POD_IP" --block & {_UNTIL_RAY_ANSWERS} && exec {_line(main)}'
    return env.add_missing_variables(_command_lines.shell(main, line), _POD_IP, _MASTER_IP)


def spread(main: Container, role: RolePlan) -> Container:
    """Returns the main container on several nodes: the leader starts Ray and the engine; followers join when the engine is ready.

    A follower that joins earlier would get copies of the model that the leader places on its own node.
    """
    if role.role != "leader":
        return _command_lines.shell(main, _join(role.addressing.leader, role.component.release.ports.system))
    if not main.get("command"):
        return main
    return _command_lines.shell(main, f"ray start --head --port={_PORT} --block & {_UNTIL_RAY_ANSWERS} && {_line(main)}")


def _join(leader: str, port: int) -> str:
    """Returns a follower's line. It asks the leader every 15 seconds for three hours, because a large model loads that long."""
    ask = f"import urllib.request; urllib.request.urlopen('http://{leader}:{port}/live', timeout=5)"
    return (
        f'tries=0; until python3 -c "{ask}" 2>/dev/null; do tries=$((tries+1)); '
        'if [ "$tries" -ge 720 ]; then echo "The leader was not ready within three hours." >&2; exit 1; fi; '
        f'echo "The leader is not ready yet."; sleep 15; done; exec ray start --address={leader}:{_PORT} --block'
    )


def _line(main: Container) -> str:
    """Returns the user's command as a line for a shell. The program gets each word as written.

    Rule vllm.elastic-line: With elastic expert parallelism, the words of the user's command are quoted for a shell. (operator:
    internal/dynamo/backend_vllm.go shellQuotePOSIX)
    """
    return " ".join(word if _PLAIN.fullmatch(word) else _command_lines.single_quoted(word) for word in _command_lines.words(main))
