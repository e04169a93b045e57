"""Asks NVIDIA's planner what it reads in the status of a graph. Runs with the Python of a release of the runtime; prints JSON.

Usage: python3 planner_reader.py FILE, where FILE is a DynamoGraphDeployment of v1beta1 as JSON.

Only the modules that read graphs are imported: the `__init__` of the planner's packages also imports its models of performance.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
import types
from pathlib import Path

_PACKAGES = ("planner", "planner.monitoring", "planner.connectors", "planner.connectors.clients", "planner.config")
_WORKERS = ("worker", "prefill", "decode")


def main(file: str) -> None:
    graph = json.loads(Path(file).read_text())
    _without_init()
    services = importlib.import_module("dynamo.planner.monitoring.dgd_services")
    client = object.__new__(importlib.import_module("dynamo.planner.connectors.clients.kubernetes_api").KubernetesAPI)
    components = services.get_components_by_name(graph)
    names = [name for name, component in components.items() if component.get("type") in _WORKERS]
    answers = {
        "ready": _answer(client.is_deployment_ready, graph),
        "observed": _answer(client.is_spec_generation_observed, graph),
        "settling": _answer(client.is_rolling_update_blocking_settlement, graph),
        "workers": {name: _of_worker(services, client, graph, name, components[name]) for name in names},
    }
    sys.stdout.write(json.dumps(answers, default=vars) + "\n")


def _of_worker(services, client, graph, name, component):
    service = services.Service(name=name, service=component)
    own_name = getattr(service, "get_runtime_component_name", None) or service.get_component_name_from_endpoint_arg
    return {
        "gpus": _answer(service.get_gpu_shape, graph),
        "replicas": _answer(client.get_service_replica_status, graph, name),
        "model": _of_graph_or_pod(service.get_model_name, graph),
        "component": _of_graph_or_pod(own_name, graph),
        "watts": _of_graph_or_pod(service.get_gpu_power_limit_watts, graph),
    }


def _of_graph_or_pod(function, graph):
    """From 1.6 on, the planner reads names in the status of the graph; before, in the pod template that it has already."""
    arguments = (graph,) if function.__code__.co_argcount > 1 else ()
    return _answer(function, *arguments)


def _answer(function, *arguments):
    try:
        return function(*arguments)
    except Exception as refusal:  # noqa: BLE001 - a refusal is an answer, too
        return {"refused": f"{type(refusal).__name__}: {refusal}"}


def _without_init():
    spec = importlib.util.find_spec("dynamo")
    locations = list(spec.submodule_search_locations or ()) if spec else []
    for package in _PACKAGES:
        folders = [str(Path(location, *package.split("."))) for location in locations]
        module = types.ModuleType(f"dynamo.{package}")
        module.__path__ = [folder for folder in folders if Path(folder).is_dir()][:1]
        sys.modules[f"dynamo.{package}"] = module


if __name__ == "__main__":
    main(sys.argv[1])
