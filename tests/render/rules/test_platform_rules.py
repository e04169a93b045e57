"""The platform that a release needs, and the runtimes that fit it and each other."""

from __future__ import annotations

import pytest

from krm_fn.render.config import Config, GroveSettings, KaiSchedulerSettings, PlatformSettings
from krm_fn.render.kinds import floors
from krm_fn.render.rules import runtime_windows
from tests.support import beta, given
from tests.support.cases import cases
from tests.support.role_faults import several

GROVE = {"orchestrator": "grove"}
KAI = {**GROVE, "grove": GroveSettings(kai_scheduler=KaiSchedulerSettings(enabled=True))}
NEW, OLDEST = beta.component("Worker", main={"image": "registry.example/dynamo:1.6.1"}), beta.component("Worker")

PLATFORMS = [
    # reason, component, platform, settings, findings
    ("Kubernetes below", OLDEST, {"kubernetes": "1.29"}, {}, [("DYN485", "")]),
    ("Kubernetes as needed", OLDEST, {"kubernetes": "1.30"}, {}, []),
    ("Kubernetes of a distribution", OLDEST, {"kubernetes": "v1.33.2-gke.100"}, {}, []),
    ("Kubernetes with a plus", OLDEST, {"kubernetes": "1.28+"}, {}, [("DYN485", "")]),
    ("no version", OLDEST, {"kubernetes": "latest"}, {}, [("DYN488", "")]),
    ("Grove below", OLDEST, {"grove": "v0.1.0-alpha.12"}, GROVE, [("DYN485", "")]),
    ("Grove of another release", NEW, {"grove": "v0.1.0-alpha.13"}, GROVE, [("DYN485", "")]),
    ("Grove as needed", OLDEST, {"grove": "v0.1.0-alpha.13"}, GROVE, []),
    ("Grove after its alphas", NEW, {"grove": "0.1.0"}, GROVE, []),
    ("Grove that the graph does not use", OLDEST, {"grove": "v0.1.0-alpha.3"}, {}, []),
    ("the KAI scheduler below", OLDEST, {"kai_scheduler": "v0.16.9"}, KAI, [("DYN485", "")]),
    ("the KAI scheduler that the graph does not use", OLDEST, {"kai_scheduler": "v0.16.9"}, GROVE, []),
    ("LeaderWorkerSet below", several(), {"leader_worker_set": "0.6.2"}, {}, [("DYN485", "")]),
    ("LeaderWorkerSet on one node", OLDEST, {"leader_worker_set": "0.6.2"}, {}, []),
    (
        "all parts that a graph uses",
        several(),
        {"kubernetes": "1.29", "grove": "1.0.0", "leader_worker_set": "main"},
        {},
        [("DYN485", ""), ("DYN488", "")],
    ),
]


@cases(("component", "platform", "settings", "found"), PLATFORMS)
def test_a_part_that_is_too_old_is_a_warning(component, platform, settings, found):
    results = given.expanded(beta.graph(component), platform=PlatformSettings(**platform), **settings).results
    assert given.findings(results) == found
    assert {result.severity for result in results} <= {"warning"}


def test_the_message_says_what_is_needed():
    (found,) = given.expanded(beta.graph(NEW), platform=PlatformSettings(kubernetes="1.29")).results
    assert "release v1.6 needs Kubernetes 1.30 or newer, and platform.kubernetes of the configuration is 1.29" in found.message


def test_a_new_release_is_a_new_row(monkeypatch):
    """The table is the only place that knows a floor."""
    monkeypatch.setitem(floors.FLOORS, (1, 6), floors.Floors(kubernetes="1.99"))
    found = given.expanded(beta.graph(NEW), platform=PlatformSettings(kubernetes="1.98")).results
    assert given.findings(found) == [("DYN485", "")]


def test_the_platform_changes_no_object():
    platform = PlatformSettings("1.20", "0.1.0", "0.1.0", "0.1.0")
    assert given.rendered(beta.graph(several()), platform=platform) == given.rendered(beta.graph(several()))


AT = "spec.components[{}].podTemplate.spec.containers[0].image"


def graph(frontend, *workers):
    names = ("Decode", "Prefill")
    parts = [beta.component(name, "worker", main={"image": f"a/dynamo:{tag}"}) for name, tag in zip(names, workers, strict=False)]
    return beta.graph(beta.component("Frontend", "frontend", main={"image": f"a/dynamo:{frontend}"}), *parts)


WINDOWS = [
    # reason, graph, behaviour, findings
    ("images of the release", graph("1.5.1", "1.5.0"), "v1.5", []),
    ("two minor versions before", graph("1.3.0", "1.3.0"), "v1.5", []),
    ("three before, once for each version", graph("1.2.0", "1.2.0"), "v1.5", [("DYN486", AT.format(0))]),
    ("one after", graph("1.6.1", "1.6.1"), "v1.5", []),
    ("two after", graph("1.7.0", "1.7.0"), "v1.5", [("DYN486", AT.format(0))]),
    ("1.0 comes after 0.9", graph("1.0.0", "1.0.0"), "v0.9", []),
    ("1.1 is two after 0.9", graph("1.1.0", "1.1.0"), "v0.9", [("DYN486", AT.format(0))]),
    ("the images decide", graph("1.5.0", "1.5.0"), "", []),
    ("a floor is no pin", graph("1.2.0", "1.2.0"), "v1.5+", []),
    ("two apart", graph("1.4.0", "1.6.0"), "", []),
    ("three apart", graph("1.3.0", "1.6.0"), "", [("DYN487", AT.format(0))]),
    ("one of two workers is three apart", graph("1.6.0", "1.5.0", "1.3.0"), "", [("DYN487", AT.format(0))]),
    ("an unknown version", graph("latest", "1.3.0"), "v1.5", []),
]


@cases(("resource", "behaviour", "found"), WINDOWS)
def test_runtimes_fit_the_release_and_each_other(resource, behaviour, found):
    results = list(runtime_windows.check([resource], Config(behaviour=behaviour)))
    assert given.findings(results) == found
    assert {result.severity for result in results} <= {"warning"}


def test_services_of_v1alpha1_have_windows_too():
    written = (("F", "frontend", "1.2.0"), ("W", "worker", "1.6.0"))
    services = {name: given.service(kind, main={"image": f"a/dynamo:{tag}"}) for name, kind, tag in written}
    found = runtime_windows.check([given.graph(services)], Config())
    assert given.findings(list(found)) == [("DYN487", "spec.services.F.extraPodSpec.mainContainer.image")]


@pytest.mark.parametrize(("behaviour", "tag", "expected"), [("v1.5+", "0.9.0", "v1.5"), ("v1.5+", "1.6.0", "v1.6"), ("", "0.9.0", "v0.9")])
def test_a_floor_lets_newer_images_choose(behaviour, tag, expected):
    service = given.service("worker", main={"image": f"registry.example/dynamo:{tag}"})
    mark = given.rendered(given.graph({"Worker": service}), behaviour=behaviour)["DynamoGraphDeployment/chat"]["metadata"]["annotations"]
    assert mark["dynamo.krm-fn.io/rendered-by"].split()[2] == expected


EVIDENCE = [
    # reason, image, behaviour, what the note says
    ("a release that was not compared", "1.7.0", "", "no change of pods by 1.7.0 is known, and nothing was compared"),
    ("the same by the configuration", "1.6.1", "v1.7", "the render follows v1.7"),
    ("a release that was recorded at its first version", "1.4.2", "v1.4", "recorded at 1.4.0"),
    ("a release that was compared", "1.6.2", "", ""),
    ("an older one", "1.5.1", "", ""),
]


@cases(("image", "behaviour", "text"), EVIDENCE)
def test_check_notes_once_what_was_compared(image, behaviour, text):
    """Three components have one note."""
    notes = [each for each in runtime_windows.check([graph(image, image, image)], Config(behaviour=behaviour)) if each.code == "DYN576"]
    assert [(each.code, each.severity) for each in notes] == ([("DYN576", "info")] if text else [])
    assert all(text in each.message for each in notes)
