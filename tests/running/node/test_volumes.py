"""Volumes on the node that runs pods."""

from __future__ import annotations

import base64

from tests.running.node import pods

SHM = "/dev/shm"  # noqa: S108 - in a container
VOLUMES = [
    {"name": "scratch", "emptyDir": {}},
    {"name": "memory", "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}},
    {"name": "settings", "configMap": {"name": "settings", "items": [{"key": "a", "path": "deep/a.txt", "mode": 0o400}]}},
    {"name": "keys", "secret": {"secretName": "keys", "defaultMode": 0o440}},
    {"name": "claim", "persistentVolumeClaim": {"claimName": "models"}},
    {
        "name": "about",
        "projected": {
            "sources": [
                {"downwardAPI": {"items": [{"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}}]}},
                {"configMap": {"name": "not-there", "optional": True}},
            ]
        },
    },
]
CLAIM = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": "models"},
    "spec": {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}},
}


def settings():
    """The objects that the volumes are made from."""
    data = base64.b64encode(b"s3cret").decode()
    return (
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"a": "A", "b": "B"}},
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keys"}, "data": {"token": data}},
        CLAIM,
    )


def mount(name, path, **more):
    """A volume mount."""
    return {"name": name, "mountPath": path, **more}


def test_volumes_hold_what_they_are_made_from(running):
    """ConfigMap items with a path and a mode, a Secret, the downward API, a claim with files, memory of a size."""
    here = pods.here(running, "volumes")
    (here.node.claim("volumes", "models") / "config.json").write_text("{}")
    mounts = [
        mount("scratch", "/scratch/sub", subPath="below"),
        mount("memory", SHM),
        mount("settings", "/settings"),
        mount("keys", "/var/run/keys"),
        mount("claim", "/models", readOnly=True),
        mount("about", "/about"),
    ]
    script = """
        stat -c '%a %n' /settings/deep/a.txt /var/run/keys/token; ls /settings; cat /settings/deep/a.txt /var/run/keys/token; echo
        cat /about/labels /models/config.json; echo
        touch /models/new 2>/dev/null || echo claim is read-only; touch /settings/new 2>/dev/null || echo settings are read-only
        df -k --output=size /dev/shm | tail -n 1; touch /scratch/sub/mine && echo done
    """
    here.apply(*settings(), pods.pod("all", pods.shell(script, volumeMounts=mounts), restartPolicy="Never", volumes=VOLUMES))
    here.node.eventually(lambda: here.pod("all")["status"].get("phase") in ("Succeeded", "Failed"), "volumes", 60)
    assert [line.strip() for line in here.node.log("volumes", "all").splitlines()] == [
        "400 /settings/deep/a.txt",
        "440 /var/run/keys/token",
        "deep",
        "As3cret",
        "{}",
        "claim is read-only",
        "settings are read-only",
        "1024",
        "done",
    ]


def test_containers_share_volumes_across_restarts(running):
    """An emptyDir, in memory too, lasts as long as its pod; another container of the pod sees it."""
    here = pods.here(running, "shared")
    mounts = [mount("scratch", "/scratch"), mount("memory", SHM)]
    first = pods.shell("echo x >> /scratch/lives; echo x >> /dev/shm/lives; exit 1", volumeMounts=mounts)
    second = {**pods.sleeper(volumeMounts=mounts), "name": "second"}
    here.apply(pods.pod("both", first, second, volumes=VOLUMES[:2]))
    here.node.eventually(lambda: here.container("both").get("restartCount", 0) >= 2, "shared", 60)
    here.node.eventually(lambda: here.node.pids("shared", "both").get("second", 0) > 0, "shared", 60)
    for file in ("/scratch/lives", f"{SHM}/lives"):
        assert here.node.execute("shared", "both", ["cat", file], "second").stdout.startswith("x\nx\n")


def test_a_pod_waits_for_its_config_map(running):
    """A missing ConfigMap is the message of the waiting container; the pod starts when it is there."""
    here = pods.here(running, "late-volume")
    volumes = [{"name": "settings", "configMap": {"name": "settings"}}]
    here.apply(pods.pod("waits", pods.sleeper(volumeMounts=[mount("settings", "/settings")]), volumes=volumes))
    told = {"reason": "ContainerCreating", "message": 'MountVolume.SetUp failed: configmap "settings" not found'}
    here.node.eventually(lambda: here.container("waits").get("state", {}).get("waiting") == told, "late-volume", 60)
    here.apply(settings()[0])
    here.node.eventually(lambda: here.container("waits")["ready"], "late-volume", 60)


def test_a_claim_outlives_its_pods(running):
    """What one pod writes into a claim, the next one reads. The claim is bound."""
    here = pods.here(running, "claims")
    volumes, mounts = [VOLUMES[4]], [mount("claim", "/models")]
    here.apply(
        CLAIM, pods.pod("writes", pods.shell("echo kept > /models/file", volumeMounts=mounts), restartPolicy="Never", volumes=volumes)
    )
    here.node.eventually(lambda: here.pod("writes")["status"].get("phase") == "Succeeded", "claims", 60)
    here.apply(pods.pod("reads", pods.shell("cat /models/file", volumeMounts=mounts), restartPolicy="Never", volumes=volumes))
    here.node.eventually(lambda: here.pod("reads")["status"].get("phase") == "Succeeded", "claims", 60)
    assert here.node.log("claims", "reads") == "kept\n"
    claim = running.plane.client.get("/api/v1/namespaces/claims/persistentvolumeclaims/models")
    assert claim["status"]["phase"] == "Bound"
