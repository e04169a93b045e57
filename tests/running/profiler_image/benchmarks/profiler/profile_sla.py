"""The command line of the profiler of Dynamo 0.9, with AI Configurator, for the profiler of 1.5.

NVIDIA publishes the profiler of 0.9 in images only. The settings become the spec of a request of v1beta1. The graphs become v1alpha1, the
version that the profiler of 0.9 writes: one for the engine, and one for the mock engine.
"""

from __future__ import annotations

import argparse
import json
import runpy
import sys
from pathlib import Path
from typing import Any

import yaml

from krm_fn.render import dynamo_api, names
from krm_fn.render.convert import versions

MODULE = "dynamo.profiler"


def main() -> None:
    """Profile, and write the files that the Job publishes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--profile-config", required=True)
    settings = yaml.safe_load(parser.parse_args().profile_config)
    folder = Path(settings["output_dir"])
    sys.argv = [MODULE, "--output-dir", str(folder), "--config", json.dumps(spec(settings))]
    runpy.run_module(MODULE, run_name="__main__")
    for source, file in (("picked_dgd_config.yaml", names.PROFILED), ("final_config.yaml", names.PROFILED_MOCKER)):
        graph = versions.to(dynamo_api.ALPHA1, yaml.safe_load((folder / source).read_text()))
        (folder / file).write_text(yaml.safe_dump(graph, sort_keys=False))


def spec(settings: dict[str, Any]) -> dict[str, Any]:
    """The spec of a request of v1beta1. The profiler of 1.5 writes the graph for the mock engine beside the other."""
    assert settings["sweep"]["useAiConfigurator"]
    sla, hardware = settings["sla"], settings["hardware"]
    return {
        "model": settings["deployment"]["model"],
        "backend": settings["engine"]["backend"],
        "image": settings["deployment"]["dgd_image"],
        "searchStrategy": "rapid",
        "features": {"mocker": {"enabled": True}},
        "hardware": {"gpuSku": settings["sweep"]["aicSystem"], "vramMb": 141_000, **hardware},
        "workload": {"isl": sla["isl"], "osl": sla["osl"]},
        "sla": {"ttft": sla["ttft"], "itl": sla["itl"]},
    }


if __name__ == "__main__":
    main()
