"""A real API server: what becomes of the replicas of a running Deployment that leave the file, and how they stay."""

from __future__ import annotations

import re

import yaml

from krm_fn.kubernetes import identity
from krm_fn.render.schema import object_changes
from krm_fn.review import forecast
from tests.support.cases import cases
from tests.testbed import programs

WEB = """\
apiVersion: apps/v1
kind: KIND
metadata: {name: chat-worker, namespace: SPACE}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "web:1"}]}
"""
WITHOUT = WEB.replace("  replicas: 4\n", "")
SERVER_SIDE = ("--server-side", "--field-manager=kustomize-controller", "--force-conflicts")
PAGE = (programs.ROOT / "docs" / "scaling.md").read_text()
COMMAND, MANIFEST = re.findall("```sh\n(kubectl apply --server-side .*?)-f - <<'EOF'\n(.*?)EOF", PAGE, re.DOTALL)[0]
"""The command of the page that gives the number to a second owner."""

ROWS = [
    ("Git loses the number, applied by a server", "Deployment", SERVER_SIDE, "", 1),
    ("Git loses the number, applied by a client", "Deployment", (), "", 1),
    ("a StatefulSet drops too", "StatefulSet", SERVER_SIDE, "", 1),
    ("a second owner has the number, as the page about scaling says", "Deployment", SERVER_SIDE, "handover", 4),
    ("an autoscaler has written the number", "Deployment", SERVER_SIDE, "scale", 6),
]


@cases(("kind", "options", "owner", "replicas"), ROWS)
def test_the_forecast_knows_what_becomes_of_replicas_that_leave_the_file(kind, options, owner, replicas, control_plane, request):
    """The forecast reads the state of the cluster, and says how many replicas stop; the server then has as many."""
    number = request.node.callspec.indices["kind"]
    space = control_plane.namespace(f"replicas-{number}")
    old, new = (text.replace("KIND", kind).replace("SPACE", space) for text in (WEB, WITHOUT))
    control_plane.kubectl("apply", *options, "-f", "-", input=old)
    if owner == "handover":
        applied = MANIFEST.replace("namespace: inference", f"namespace: {space}").replace("replicas: 3", "replicas: 4")
        control_plane.kubectl(*COMMAND.split()[1:], "-f", "-", input=applied)
    elif owner == "scale":
        control_plane.kubectl("scale", f"{kind.lower()}/chat-worker", "--replicas=6", "-n", space)
    live = yaml.safe_load(control_plane.kubectl("get", kind, "chat-worker", "-n", space, "--show-managed-fields", "-o", "yaml"))
    rendered = yaml.safe_load(new)
    key = identity.key(rendered)
    change = object_changes.ObjectChange(key, live, rendered, object_changes.between(live, rendered))
    (outcome,) = forecast.forecast([change]).outcomes
    control_plane.kubectl("apply", *options, "-f", "-", input=new)
    assert int(control_plane.kubectl("get", kind, "chat-worker", "-n", space, "-o", "jsonpath={.spec.replicas}")) == replicas
    assert outcome.dropped == live["spec"]["replicas"] - replicas
