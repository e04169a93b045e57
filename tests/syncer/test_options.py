"""Variables that set nothing are named, with the nearest that exists."""

import os
import socket

from krm_fn.syncer import options

KNOWN = ["KUBECONFIG", "LOG_LEVEL", "WORKERS"]


def test_an_unknown_variable_is_named_with_the_nearest():
    said = options.unknown_variables(KNOWN, {"KRM_FN_SYNC_LOGLEVEL": "debug", "KRM_FN_SYNC_WORKERS": "2", "OTHER": "x"})
    assert said == ["The environment variable KRM_FN_SYNC_LOGLEVEL is unknown and sets nothing; did you mean KRM_FN_SYNC_LOG_LEVEL?"]


def test_a_variable_like_no_other_is_answered_with_all():
    (said,) = options.unknown_variables(KNOWN, {"KRM_FN_SYNC_XYZ": ""})
    assert said.endswith("sets nothing; known: KRM_FN_SYNC_KUBECONFIG, KRM_FN_SYNC_LOG_LEVEL, KRM_FN_SYNC_WORKERS")


def test_variables_of_a_service_with_our_name_are_no_mistake():
    """Kubernetes sets them in each pod of the namespace of a Service called krm-fn-sync."""
    linked = ["SERVICE_HOST", "SERVICE_PORT", "SERVICE_PORT_METRICS", "PORT", "PORT_8080_TCP", "PORT_8080_TCP_ADDR"]
    assert options.unknown_variables(KNOWN, {f"KRM_FN_SYNC_{each}": "x" for each in linked}) == []


def test_the_process_has_the_name_of_its_pod_or_of_its_host():
    """Two processes of one host are two replicas."""
    assert options.instance_name({"POD_NAME": "sync-0"}) == "sync-0"
    assert options.instance_name({}) == f"{socket.gethostname()}-{os.getpid()}"
