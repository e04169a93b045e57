"""Flags in a start script that is a key of a ConfigMap."""

from __future__ import annotations

from krm_fn.render.config import Config
from krm_fn.review import resource_findings
from tests.support import beta, given
from tests.support.cases import cases

SCRIPT = """\
#!/bin/bash
set -euo pipefail
exec python3 -m dynamo.vllm \\
  --model acme/tiny \\
  --max-model-length 4096
"""


def found(command, script=SCRIPT, key="start.sh"):
    """The code and the remedy of the findings at the ConfigMap."""
    main = {
        "image": "nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.5.1",
        "command": command,
        "resources": {"limits": {"nvidia.com/gpu": "1"}},
        "volumeMounts": [{"name": "start", "mountPath": "/scripts"}],
    }
    worker = beta.component("Worker", main=main, pod={"volumes": [{"name": "start", "configMap": {"name": "start"}}]})
    objects = [given.item("ConfigMap", "start", data={key: script}), beta.graph(worker)]
    findings = resource_findings.check(objects, Config(), is_configured=False)
    return [(finding.code, finding.message.partition("; ")[2]) for finding in findings if finding.ref and finding.ref.kind == "ConfigMap"]


RUN = ["/bin/bash", "/scripts/start.sh"]
SCRIPTS = [
    ("an unknown flag", RUN, SCRIPT, "write --max-model-len"),
    ("known flags", RUN, SCRIPT.replace("length", "len"), ""),
    ("another file", ["/bin/bash", "/scripts/run.sh"], SCRIPT, ""),
    ("a file of another folder", ["/bin/bash", "/opt/start.sh"], SCRIPT, ""),
    ("flags that a variable can add", RUN, SCRIPT.replace("--max-model-length 4096", '"$@"'), ""),
    ("no command of Dynamo", RUN, "sleep 5\n", ""),
    ("a quote without end", RUN, 'echo "\n', ""),
]


@cases(("command", "script", "remedy"), SCRIPTS)
def test_flags_in_a_start_script(command, script, remedy):
    assert found(command, script) == [("DYN600", remedy)] * bool(remedy)
