"""The real kustomize updates the references of native pods, and of the kinds beside them, with the file of `schema --for names`.

Both halves are tested: with the file, every reference of the table follows its object; without it, exactly those follow that the file
leaves out, because kustomize knows them.
"""

from __future__ import annotations

import subprocess

import yaml

from krm_fn.base.yaml import emitter
from krm_fn.kubernetes.paths import EVERY
from krm_fn.kubernetes.references import name_fields
from krm_fn.render import dynamo_api, dynamo_references
from krm_fn.schemas.generate import kustomize_files

VERSIONS = {"autoscaling": "v2", "grove.io": "v1alpha1", "keda.sh": "v1alpha1", "networking.istio.io": "v1beta1", "nvidia.com": "v1beta1"}
DYNAMO = dynamo_api.GROUP
OTHER_FORMS = {
    # first step of a path, reason
    "subjects": "kustomize reads a subject as a whole, with its namespace",
    "webhooks": "kustomize reads the service of a webhook as a whole, with its namespace",
}


def fields():
    """Each reference of the table: the kind that has it, the path of the field, and the kind that it names."""
    for kind, templates in name_fields.WORKLOADS.items():
        for field in name_fields.OF_PODS:
            if field.path[0] != "ephemeralContainers":  # an API server accepts them in running pods only
                for template in templates:
                    yield from ((kind, (*template.spec, *field.path), target) for target in field.targets)
    for kind, listed in dynamo_references.BY_KIND.items():
        for field in listed if kind[0] != DYNAMO else ():  # tests/schemas/generate/test_kustomize_names.py has those of Dynamo's kinds
            if "ephemeralContainers" not in field.path and field.path[0] not in OTHER_FORMS:
                yield from ((kind, field.path, target) for target in field.targets)


ROWS = list(fields())


def resource(kind, name, **content):
    group, name_of_kind = kind
    version = f"{group}/{VERSIONS.get(group, 'v1')}" if group else "v1"
    return {"apiVersion": version, "kind": name_of_kind, "metadata": {"name": name}, **content}


def written(path, name):
    """The content of an object that has a name at a path."""
    for step in reversed(path):
        name = [name] if step == EVERY else {step: name}
    return name


def merged(left, right):
    """Two contents in one: their mappings, and the first entries of their lists."""
    if isinstance(left, dict) and isinstance(right, dict):
        return {
            key: merged(left[key], right[key]) if {key} <= left.keys() & right.keys() else {**left, **right}[key]
            for key in {**left, **right}
        }
    return [merged(left[0], right[0])] if isinstance(left, list) and isinstance(right, list) else right


def referrers():
    """One object for each kind and each kind that it names, with all its references. A field can name one kind at a time."""
    contents: dict[tuple[tuple[str, str], tuple[str, str]], object] = {}
    for kind, path, target in ROWS:
        contents[kind, target] = merged(contents.get((kind, target), {}), written(path, f"the-{target[1].lower()}"))
    for (kind, target), content in contents.items():
        yield resource(kind, f"user-of-{target[1].lower()}-{target[0]}"), content


def built(kustomize, folder, *, names):
    """The objects of a build with a prefix, by kind and name."""
    targets = {target: resource(target, f"the-{target[1].lower()}") for _, _, target in ROWS}
    users = [{**head, **content, "metadata": head["metadata"]} for head, content in referrers()]
    (folder / "objects.yaml").write_text(yaml.safe_dump_all([*targets.values(), *users]))
    (folder / "names.yaml").write_text(emitter.text(kustomize_files.references()))
    layer = {"namePrefix": "eu-", "resources": ["objects.yaml"], **({"configurations": ["names.yaml"]} if names else {})}
    (folder / "kustomization.yaml").write_text(yaml.safe_dump(layer))
    done = subprocess.run([kustomize, "build", folder], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {
        (item["apiVersion"].rpartition("/")[0], item["kind"], item["metadata"]["name"]): item for item in yaml.safe_load_all(done.stdout)
    }


def following(objects):
    """The rows of which the build has the new name."""
    for kind, path, target in ROWS:
        user = f"user-of-{target[1].lower()}-{target[0]}"
        value = objects.get((*kind, f"eu-{user}")) or objects[(*kind, user)]  # an APIService has no prefix
        for step in path:
            value = value[0 if step == EVERY else step]
        if value == f"eu-the-{target[1].lower()}":
            yield kind, path, target


def in_file():
    """The rows that the file has."""
    listed = {
        ((spec.get("group", ""), spec["kind"]), spec["path"], (entry.get("group", ""), entry["kind"]))
        for entry in kustomize_files.references()["nameReference"]
        for spec in entry["fieldSpecs"]
    }
    return {
        (kind, path, target) for kind, path, target in ROWS if (kind, "/".join(step for step in path if step != EVERY), target) in listed
    }


def test_every_reference_follows_its_object_with_the_file(kustomize, tmp_path):
    assert {*ROWS} - {*following(built(kustomize, tmp_path, names=True))} == set()


def test_the_file_has_what_kustomize_does_not_know(kustomize, tmp_path):
    """A field that a newer kustomize knows leaves the file with this test."""
    known = {*following(built(kustomize, tmp_path, names=False))}
    assert {*ROWS} - known == in_file()
