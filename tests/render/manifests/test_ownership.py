"""Generated objects are marked with their owners, so that the next run replaces, keeps or drops the right ones and no others."""

from __future__ import annotations

import copy

from krm_fn.base import results
from krm_fn.kubernetes import identity
from krm_fn.render import labels
from krm_fn.render.manifests import ownership, workloads
from krm_fn.render.manifests.ownership import Generated
from tests.support import build_checks, faults, given, golden
from tests.support.cases import cases

CHAT, BATCH = given.graph(name="chat"), given.graph(name="batch")
PRESENT = {("DynamoGraphDeployment", name, "team") for name in ("chat", "batch")}
PATH, LEGACY, PACKAGE = labels.PATH, labels.LEGACY_PATH, labels.PACKAGE_PATH


def service(name="a", annotations=None, **spec):
    return given.item("Service", name, annotations=annotations, spec=spec)


def owned(name="a", owner="DynamoGraphDeployment/chat", annotations=None, **spec):
    """A Service as an earlier run has left it."""
    written = service(name, {labels.OWNER: owner, **(annotations or {})}, **spec)
    return {**written, "metadata": {**written["metadata"], "labels": {labels.MANAGED_BY: labels.MANAGER}}}


def place(items, *entries, present=frozenset(PRESENT), home=""):
    before = copy.deepcopy(items)
    placed, said = ownership.merge(items, [Generated(*entry) for entry in entries], set(present), home)
    assert items == before
    return placed, given.findings(said)


def test_a_new_object_comes_last_and_is_marked_outside_of_what_runs():
    pods = {"template": {"metadata": {"labels": {"x": "y"}}}}
    placed, said = place([CHAT], (CHAT, service(**pods)))
    assert said == []
    assert placed[0] is CHAT
    assert placed[1] == owned(**pods)


def test_labels_and_annotations_of_an_object_stay_beside_the_marks():
    made = service(annotations={"b": "c"})
    made["metadata"]["labels"] = {"d": "e"}
    (_, new), _ = place([CHAT], (CHAT, made))
    assert new["metadata"]["annotations"] == {"b": "c", labels.OWNER: "DynamoGraphDeployment/chat"}
    assert new["metadata"]["labels"] == {"d": "e", labels.MANAGED_BY: "krm-fn"}


def test_an_object_that_is_there_and_equal_stays_the_same_one():
    old = owned(a=1)
    placed, said = place([old, CHAT], (CHAT, service(a=1)))
    assert placed[0] is old
    assert said == []


def test_an_object_that_is_there_and_differs_is_replaced_where_it_stands():
    placed, said = place([service("other"), owned(a=1), CHAT], (CHAT, service(a=2)))
    assert placed[1] == owned(a=2)
    assert said == []


KEPT = [
    ("kpt's place", {PATH: "a/b.yaml", labels.INDEX: "3"}),
    ("older spellings", {LEGACY: "a/b.yaml", "config.k8s.io/id": "1"}),
    ("kustomize's origin", {labels.ORIGIN: "path: a.yaml"}),
]


@cases("notes", KEPT)
def test_what_the_orchestrator_noted_on_an_object_is_kept(notes):
    old = owned(annotations=notes, a=1)
    assert place([old], (CHAT, service(a=1)))[0][0] is old
    assert place([old], (CHAT, service(a=2)))[0] == [owned(annotations=notes, a=2)]


def test_other_notes_on_an_object_of_ours_go():
    assert place([owned(annotations={"by": "hand"})], (CHAT, service()))[0] == [owned()]


def test_an_object_that_nobody_wants_any_more_goes():
    assert place([owned(), CHAT, BATCH]) == ([CHAT, BATCH], [("DYN056", "")])


def without_label(item):
    return {**item, "metadata": {key: value for key, value in item["metadata"].items() if key != "labels"}}


def both_marks(item):
    marks = {"labels": {labels.MANAGED_BY: labels.MANAGER}, "annotations": {labels.OWNER: "DynamoGraphDeployment/chat"}}
    return {**item, "metadata": {**item["metadata"], **marks}}


NOT_PRUNED = [
    ("a graph that names itself as its owner", both_marks(CHAT)),
    ("a graph that names another one", both_marks(BATCH)),
    ("a component", both_marks(given.item("DynamoComponentDeployment", "a", api="nvidia.com/v1alpha1"))),
    ("an adapter", both_marks(given.item("DynamoGraphDeploymentScalingAdapter", "a", api="nvidia.com/v1alpha1"))),
    ("a model", both_marks(given.item("DynamoModel", "a", api="nvidia.com/v1alpha1"))),
    ("a Secret, which is never generated", both_marks(given.item("Secret", "a"))),
    ("a Deployment of another group", both_marks(given.item("Deployment", "a", api="extensions/v1beta1"))),
    ("an object without the label", without_label(owned())),
    ("an object that another tool manages", {**owned(), "metadata": {**owned()["metadata"], "labels": {labels.MANAGED_BY: "Helm"}}}),
]


@cases("item", NOT_PRUNED)
def test_only_what_was_generated_goes(item):
    placed, said = place([item])
    assert placed == [item]
    assert said == [("DYN081", "")]


# objects that a namespace has once


def account(**fields):
    return given.item("ServiceAccount", "planner-serviceaccount", **fields)


def binding(**fields):
    return given.item("RoleBinding", "planner-serviceaccount-binding", api="rbac.authorization.k8s.io/v1", **fields)


def test_a_users_object_takes_the_place_of_a_shared_one():
    mine = account(annotations={"iam": "role"}, imagePullSecrets=[{"name": "own"}])
    assert place([CHAT, mine], (CHAT, account(), True)) == ([CHAT, mine], [])


def test_a_users_object_gets_the_fields_of_a_shared_one_and_keeps_its_others():
    mine = binding(annotations={"a": "b"}, subjects=[{"name": "other"}], more=1)
    placed, said = place([mine], (CHAT, binding(subjects=[{"name": "planner"}]), True))
    assert placed == [{**mine, "subjects": [{"name": "planner"}]}]
    assert said == [("DYN054", "metadata.name")]
    assert place(placed, (CHAT, binding(subjects=[{"name": "planner"}]), True)) == (placed, [])


def test_a_shared_object_of_an_earlier_run_is_replaced_as_any_other():
    earlier = place([], (CHAT, binding(subjects=[{"name": "old"}]), True))[0]
    placed, said = place(earlier, (CHAT, binding(subjects=[{"name": "new"}]), True))
    assert ([each["subjects"] for each in placed], said) == ([[{"name": "new"}]], [])


def test_the_accounts_with_fixed_names_are_shared():
    graph = given.graph({"Planner": given.service("planner"), "Picker": given.picker(), "Worker": given.service("worker")})
    objects = given.rendered(graph, faults.request())
    names = ("planner-serviceaccount", "epp-serviceaccount", "dgdr-profiling-job")
    assert {key for key, each in objects.items() if ownership.is_shared(each)} == {
        *(f"ServiceAccount/{name}" for name in names),
        *(f"RoleBinding/{name}-binding" for name in names),
    }


_SERVED_SINCE_1_37 = ("scheduling.k8s.io", "PodGroup")


def test_the_generated_kinds_are_those_of_the_examples():
    """Every kind in a recorded output that carries the owner annotation, and no other kind.

    No example has PodGroups of Kubernetes: the API server of the tests does not serve them.
    """
    files = [*golden.EXAMPLES.rglob("expected.yaml"), *golden.RENDERED.glob("*.yaml")]
    found = [each for file in files for each in build_checks.read(file.read_text())]
    written = {kind for name in workloads.names() for kind in workloads.get(name).objects} - {_SERVED_SINCE_1_37}
    assert {identity.key(each)[:2] for each in found if ownership.owners(each)} == ownership._BESIDE_WORKLOADS | written
    assert all(ownership.is_generated(each) for each in found if ownership.owners(each))


# a namespace that changes

MOVED = {("DynamoGraphDeployment", "chat", "new"), ("DynamoGraphDeployment", "batch", "team")}


def test_objects_in_the_old_namespace_are_one_finding_that_names_all_of_them():
    items = [owned("a", annotations={PATH: "chat/service_a.yaml"}), owned("b")]
    placed, said = ownership.merge(items, [], MOVED, "")
    assert placed == items
    assert [found.code for found in said] == ["DYN084"]
    assert "DynamoGraphDeployment/chat is now in namespace new" in said[0].message
    assert "2 objects that it generated in namespace team" in said[0].message
    assert said[0].message.endswith("; delete chat/service_a.yaml, Service b")


def test_it_stands_before_all_other_warnings():
    other = owned("c", owner="DynamoGraphDeployment/gone", annotations={PATH: "a.yaml"})
    _, said = ownership.merge([other, owned("a")], [], MOVED, "")
    assert [found.code for found in sorted(said, key=results.order)] == ["DYN084", "DYN053"]


def test_an_object_of_two_graphs_of_which_one_is_missing_only_stays():
    both = owned(owner="DynamoGraphDeployment/chat,DynamoGraphDeployment/gone")
    assert [found.code for found in ownership.merge([both], [], MOVED, "")[1]] == ["DYN053"]


STAYS = [
    ("its graph is not among the items", owned(owner="DynamoGraphDeployment/gone"), PRESENT),
    ("a resource of another kind has the graph's name", owned(), {("DynamoComponentDeployment", "chat", "team")}),
    ("one of its two graphs is not among the items", owned(owner="DynamoGraphDeployment/chat,DynamoGraphDeployment/gone"), PRESENT),
]


@cases(("item", "present"), STAYS)
def test_an_object_whose_owner_may_still_want_it_stays_with_a_warning(item, present):
    assert place([item], present=present) == ([item], [("DYN053", "")])


FOREIGN = [
    ("no mark", service()),
    ("an empty mark", service(annotations={labels.OWNER: ""})),
    ("a mark that is no text", service(annotations={labels.OWNER: ["x"]})),
    ("annotations that are none", service(annotations="x")),
    ("another tool's mark", given.item("Service", "a", annotations={"app.kubernetes.io/managed-by": "krm-fn"}, spec={})),
]


@cases("item", FOREIGN)
def test_an_object_that_is_not_ours_is_never_touched(item):
    placed, said = place([item], (CHAT, service(a=1)))
    assert placed == [item]
    assert placed[0] is item
    assert said == [("DYN052", "metadata.name")]
    assert place([item]) == ([item], [])


def test_an_object_without_a_namespace_is_met_where_it_will_live():
    item = given.item("Service", "a", namespace="")
    assert place([item], (CHAT, service()), home="team")[1] == [("DYN052", "metadata.name")]
    assert place([item], (CHAT, service()), home="default")[1] == []


SHARED = [
    (
        "equal objects have both owners",
        (BATCH, service(a=1)),
        [owned(owner="DynamoGraphDeployment/batch,DynamoGraphDeployment/chat", a=1)],
        [],
    ),
    ("the same owner twice counts once", (CHAT, service(a=1)), [owned(a=1)], []),
    ("different objects are an error", (BATCH, service(a=2)), [owned(a=1)], [("DYN051", "metadata.name")]),
    ("different notes are too", (BATCH, service(annotations={"x": "y"}, a=1)), [owned(a=1)], [("DYN051", "metadata.name")]),
]


@cases(("second", "placed", "said"), SHARED)
def test_graphs_share_an_object_only_if_they_want_it_equal(second, placed, said):
    assert place([], (CHAT, service(a=1)), second) == (placed, said)


def test_three_graphs_share_an_object():
    third = given.graph(name="again")
    (found,), said = place([], *((graph, service()) for graph in (CHAT, BATCH, third)))
    assert (
        found["metadata"]["annotations"][labels.OWNER]
        == "DynamoGraphDeployment/again,DynamoGraphDeployment/batch,DynamoGraphDeployment/chat"
    )
    assert said == []


IDENTITIES = [
    ("the version does not count", {"apiVersion": "apps/v1"}, {"apiVersion": "apps/v1beta1"}, True),
    ("the group does", {"apiVersion": "apps/v1"}, {"apiVersion": "extensions/v1"}, False),
    ("the core group has no name", {"apiVersion": "v1"}, {"apiVersion": "v2"}, True),
    ("the kind does", {"kind": "Service"}, {"kind": "Secret"}, False),
]


@cases(("one", "other", "same"), IDENTITIES)
def test_identity(one, other, same):
    assert (identity.key({**service(), **one}) == identity.key({**service(), **other})) is same


# files, under kpt


def located(notes, *items, name="a", namespace="team"):
    owner = given.graph(annotations=notes)
    placed, said = place([*items], (owner, given.item("Service", name, namespace=namespace)))
    assert said == []
    found = placed[-1]["metadata"]["annotations"]
    return {key: found[key] for key in (PATH, LEGACY, PACKAGE) if key in found}


FILES = [
    ("kustomize writes no files", {}, {}),
    ("beside the graph", {PATH: "apps/chat.yaml"}, {PATH: "apps/service_a.yaml", LEGACY: "apps/service_a.yaml"}),
    ("at the root", {PATH: "chat.yaml"}, {PATH: "service_a.yaml", LEGACY: "service_a.yaml"}),
    ("where only the older spelling is known", {LEGACY: "apps/chat.yaml"}, {PATH: "apps/service_a.yaml", LEGACY: "apps/service_a.yaml"}),
    ("in a package", {PATH: "chat.yaml", PACKAGE: "base"}, {PATH: "service_a.yaml", LEGACY: "service_a.yaml", PACKAGE: "base"}),
]


@cases(("notes", "found"), FILES)
def test_a_new_object_gets_a_file_beside_its_graphs(notes, found):
    assert located(notes) == found


def test_a_file_that_is_taken_is_not_overwritten():
    taken = service("other", annotations={PATH: "service_a.yaml"})
    assert located({PATH: "chat.yaml"}, taken)[PATH] == "service_team_a.yaml"


def test_an_annotation_of_a_wrong_type_does_no_harm():
    assert located({}, service("other", annotations={PATH: ["x"]})) == {}


def test_two_new_objects_of_one_name_in_two_namespaces_get_two_files():
    owner = given.graph(annotations={PATH: "chat.yaml"})
    placed, _ = place([], *((owner, given.item("Service", "a", namespace=namespace)) for namespace in ("team", "other")))
    assert {found["metadata"]["annotations"][PATH] for found in placed} == {"service_a.yaml", "service_other_a.yaml"}


# the Dynamo resource itself

NOTE = {labels.SUMMARY: "1 service"}
LOCAL = {labels.LOCAL_CONFIG: "true"}
GENERATOR = {labels.FUNCTION: "exec: {path: krm-fn}", labels.LOCAL_CONFIG: "true"}
SOURCES = [
    ("kept with its notes", {"a": "b"}, "keep", {"a": "b", **NOTE}),
    ("kept although it was a generator's entry", {**GENERATOR, "a": "b"}, "keep", {"a": "b", **NOTE}),
    ("kept for the build only, as the user marked it", LOCAL, "keep", {**LOCAL, **NOTE}),
    ("kept for the build only", {}, "local", {**LOCAL, **NOTE}),
    ("kept for the build only, a generator's entry too", GENERATOR, "local", {**LOCAL, **NOTE}),
    ("dropped", {}, "drop", None),
    ("under kpt never dropped", {PATH: "a.yaml"}, "drop", {PATH: "a.yaml", **LOCAL, **NOTE}),
    ("under an older kpt neither", {LEGACY: "a.yaml"}, "drop", {LEGACY: "a.yaml", **LOCAL, **NOTE}),
]


@cases(("written", "mode", "left"), SOURCES)
def test_what_becomes_of_the_graph(written, mode, left):
    graph = given.graph(annotations=written)
    before = copy.deepcopy(graph)
    found = list(ownership.source(graph, NOTE, mode))
    assert graph == before
    assert [resource["metadata"]["annotations"] for resource in found] == ([] if left is None else [left])


def test_a_graph_with_its_notes_already_is_the_same_one():
    graph = given.graph(annotations={**NOTE, "a": "b"})
    assert next(ownership.source(graph, NOTE, "keep")) is graph
