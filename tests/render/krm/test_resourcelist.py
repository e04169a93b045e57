"""Unchanged items keep their text byte by byte, and findings about a list name the place."""

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from krm_fn.base import results
from krm_fn.base.yaml import emitter, reader
from krm_fn.render import labels
from krm_fn.render.krm import resourcelist
from tests.support.cases import cases

HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n"
A = "- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: a}\n"
B = "- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: b}\n"


def parse(text):
    return resourcelist.parse(text.encode() if isinstance(text, str) else text)


def through(text):
    received = parse(text)
    assert not received.results
    return resourcelist.render(received, received.items, []).decode()


def indented(text, pad="  "):
    return "".join(f"{pad}{line}" for line in text.splitlines(keepends=True))


VERBATIM = [
    # reason, text
    ("no items", HEAD + "items: []\n"),
    ("plain items", HEAD + "items:\n" + A + B),
    ("the older version", HEAD.replace("v1", "v1beta1") + "items:\n" + A),
    ("dashes below their key", HEAD + "items:\n" + indented(A + B)),
    ("dashes far to the right", HEAD + "items:\n" + indented(A + B, " " * 7)),
    (
        "quotes, flow style and odd numbers",
        HEAD + "items:\n" + A + "  data: {'a': \"0x1F\", b: 'y'}\n  n: 0777\n  m: 1_000\n  t: 2001-12-14\n",
    ),
    (
        "comments inside, beside and above items",
        HEAD + "items:\n# one\n" + A + "  # two\n  data: {} # three\n# four\n#\n\n# five\n" + B + "# last\n",
    ),
    ("comments with quotes", HEAD + "items:\n\n# 'one'\n\n" + A + '# don\'t "mix" these\n' + B + "# 'last'\n"),
    ("comments right of dashes", HEAD + "items:\n- # one\n  apiVersion: v1\n  kind: C\n  metadata: {name: a}\n" + B),
    (
        "values below their dash",
        HEAD + "items:\n-\n  apiVersion: v1\n  kind: C\n  metadata: {name: a}\n-\n\n" + B[2:].replace("apiV", "  apiV", 1),
    ),
    (
        "flow style below dashes",
        HEAD + "items:\n- {apiVersion: v1, kind: C, metadata: {name: a}}\n- {apiVersion: v1, kind: C,\n  metadata: {name: b}}\n",
    ),
    ("a block that looks like comments", HEAD + "items:\n" + A + "  data:\n    x: |\n      y\n      # no comment\n" + B),
    ("a block that keeps its empty lines", HEAD + "items:\n" + A + "  data:\n    x: |+\n      y\n\n\n# comment\n" + B),
    ("a quoted text over lines that look like comments", HEAD + "items:\n" + A + '  data: "x\n# y\n# z"\n' + B),
    ("a quoted text that looks like an item", HEAD + "items:\n" + A + '  data: "x\n- y\n"\n' + B),
    (
        "nested lists at the dashes' column",
        HEAD + "items:\n- apiVersion: v1\n  kind: C\n  metadata: {name: a}\n  l:\n  - - 1\n    - 2\n  -\n  - x\n" + B,
    ),
    ("anchors inside an item", HEAD + "items:\n" + A + "  x: &x {y: 1}\n  z: *x\n" + B + "  x: &x {y: 2}\n  z: {<<: *x}\n"),
    ("Windows line ends", (HEAD + "items:\n").replace("\r", "") + (A + B).replace("\n", "\r\n")),
    ("other scripts", HEAD + "items:\n# \u00e9\U0001f600\n" + A + "  data: {\u00e9: \U0001f600}\n# \u00e9\n" + B),
    (
        "a functionConfig",
        HEAD + "items:\n" + A + "# mine\nfunctionConfig: # yes\n  apiVersion: v1\n  kind: ConfigMap # no\n  data: {a: 'b'}\n",
    ),
    ("earlier results", HEAD + "items: []\nresults:\n- message: x\n  severity: info\n"),
    ("a list as an item", HEAD + "items:\n- apiVersion: v1\n  kind: ConfigMapList\n  items: []\n"),
    ("two versions of one name in two namespaces", HEAD + "items:\n" + A + A.replace("{name: a}", "{name: a, namespace: b}")),
]


@cases("text", VERBATIM)
def test_untouched_items_leave_as_they_came(text):
    assert through(text) == text


@cases("text", VERBATIM)
def test_untouched_items_keep_their_text_beside_changed_ones(text):
    """For each item: if it alone is written again, all other items keep their text, and all values stay."""
    received = parse(text)
    for changed in range(len(received.items)):
        resources = [dict(item) if number == changed else item for number, item in enumerate(received.items)]
        again = parse(resourcelist.render(received, resources, []))
        assert again.items == received.items
        assert not again.results
        for number, item in enumerate(received.items):
            start, end = received.layout.spans[id(item)]
            assert number == changed or received.text[start:end] in again.text


REWRITTEN = [
    # reason, text of a list that cannot keep its text, but must keep its values
    ("flow style", "{apiVersion: config.kubernetes.io/v1, kind: ResourceList, items: [{apiVersion: v1, kind: C, metadata: {name: a}}]}"),
    ("a flow list in block style", HEAD + "items: [{apiVersion: v1, kind: C, metadata: {name: a}, x: 'y'}]\n"),
    ("an alias to another item", HEAD + "items:\n" + A + "  x: &x {y: 1}\n" + B + "  x: *x\n"),
    ("an item that is an alias in part", HEAD + "items:\n" + A + "  x: &x {y: 1}\n" + B + "  <<: *x\n"),
    ("an alias to outside of the items", HEAD + "x: &x {y: 1}\nitems:\n" + A + "  x: *x\n" + B),
    ("a functionConfig with an alias", HEAD + "items:\n" + A + "  x: &x {y: 1}\nfunctionConfig: {x: *x}\n"),
    ("tags in a short form", "%TAG !k! tag:yaml.org,2002:\n---\n" + HEAD + "items:\n" + A + "  x: !k!str 1\n"),
    ("a document that is indented", indented(HEAD + "items:\n" + A + B)),
    ("a byte order mark", "\ufeff" + HEAD + "items:\n" + A),
    (
        "an explicit key",
        HEAD + "? items\n: - {apiVersion: v1, kind: C, metadata: {name: a}}\n  - {apiVersion: v1, kind: C, metadata: {name: b}}\n",
    ),
    ("a last line without a line end", HEAD + "items:\n" + A + "  x: |\n    y"),
    ("a line end of YAML 1.1 before a dash", HEAD + "items:\n" + A + "# x\u2028" + B),
    ("a line end of YAML 1.1 before a key", HEAD + "items:\n" + A + "# x\x85functionConfig:\n  a: b\n"),
    (
        "an anchor between dash and text that looks like an item",
        HEAD + "items:\n" + A + '- x: "\n- y: z"\n  <<: {apiVersion: v1, kind: C, metadata: {name: b}}\n',
    ),
    ("lines that end with CR", (HEAD + "items:\n" + A + B).replace("\n", "\r")),
]


@cases("text", REWRITTEN)
def test_what_cannot_stay_keeps_its_values(text):
    before, after = parse(text), parse(through(text))
    assert after.fields == before.fields
    assert not after.results


def test_only_the_item_with_the_alias_is_rewritten():
    text = HEAD + "items:\n" + A + "  x: &x {y: 1}\n" + B + "  x: *x # z\n"
    assert through(text) == HEAD + "items:\n" + A + "  x: &x {y: 1}\n" + B.replace(" {name: b}", "\n    name: b") + '  x:\n    "y": 1\n'


def test_a_missing_last_line_end_is_added():
    text = HEAD + "items:\n" + A + B
    assert through(text[:-1]) == text


def test_json_becomes_block_yaml():
    value = {
        "apiVersion": "config.kubernetes.io/v1",
        "kind": "ResourceList",
        "items": [{"apiVersion": "v1", "kind": "C", "metadata": {"name": "a"}}],
        "functionConfig": {"a": "y"},
    }
    assert through(json.dumps(value)) == emitter.text(value)


def test_new_items_stand_at_the_dashes_of_the_others():
    received = parse(HEAD + "items:\n" + indented(A))
    text = resourcelist.render(received, [*received.items, {"apiVersion": "v1"}], []).decode()
    assert text == HEAD + "items:\n" + indented(A) + "  - apiVersion: v1\n"


def test_comments_above_an_item_go_with_it():
    received = parse(HEAD + "items:\n# one\n" + A + "# two\n" + B)
    assert resourcelist.render(received, received.items[1:], []).decode() == HEAD + "items:\n# two\n" + B
    assert resourcelist.render(received, [*received.items[::-1]], []).decode() == HEAD + "items:\n# two\n" + B + "# one\n" + A


def test_one_anchored_item_twice_is_two_items():
    received = parse(HEAD + "items:\n- &a\n  apiVersion: v1\n  kind: C\n  metadata: {name: a}\n- *a\n")
    assert [result.code for result in received.results] == ["DYN016"]
    assert len({id(item) for item in received.items}) == 2
    assert parse(resourcelist.render(received, received.items, [])).items == received.items


def test_findings_follow_those_of_earlier_functions():
    received = parse(HEAD + "items: []\nresults:\n- message: earlier\n  severity: info\n")
    finding = results.warning("DYN001", "later")
    once = resourcelist.render(received, [], [finding])
    assert yaml.safe_load(once)["results"] == [{"message": "earlier", "severity": "info"}, results.wire(finding)]
    assert resourcelist.render(parse(once), [], [finding]) == once


def test_results_wrapped_by_the_typescript_sdk_are_understood():
    received = parse(HEAD + "items: []\nresults:\n  items:\n  - message: earlier\n    severity: info\n")
    assert yaml.safe_load(resourcelist.render(received, [], []))["results"] == [{"message": "earlier", "severity": "info"}]


def test_other_fields_are_kept():
    assert through(HEAD + "metadata:\n  name: x\nitems: []\n") == HEAD + "metadata:\n  name: x\nitems: []\n"


WRONG = [
    # reason, text, codes, words in the message, True if the items can be returned
    ("empty input", "", ["DYN001"], "pass a ResourceList", False),
    ("only blanks", " \n\n", ["DYN001"], "pass a ResourceList", False),
    ("only a comment", "# x\n", ["DYN001"], "pass a ResourceList", False),
    ("not YAML", "a: [\n", ["DYN004"], "close the bracket", False),
    ("not UTF-8", b"a: \xff\n", ["DYN002"], "UTF-8", False),
    ("a string", "hello\n", ["DYN012"], "krm-fn render", False),
    ("a list", "- a\n", ["DYN012"], "krm-fn render", False),
    ("a resource", A[2:].replace("\n  ", "\n"), ["DYN012"], "ConfigMap of v1, not a ResourceList", False),
    ("a stream of resources", "a: 1\n---\nb: 1\n", ["DYN012"], "several documents", False),
    ("a second document after the list", HEAD + "items: []\n---\n" + HEAD + "items: []\n", ["DYN012"], "several documents", False),
    ("another version", HEAD.replace("v1", "v2") + "items: []\n", ["DYN012"], "config.kubernetes.io/v1", False),
    ("no items", HEAD, ["DYN013"], "items: []", False),
    ("null items", HEAD + "items:\n", ["DYN013"], "items: []", False),
    ("a mapping of items", HEAD + "items: {a: b}\n", ["DYN013"], "not a list", False),
    ("an item that is a string", HEAD + "items:\n- a\n" + A, ["DYN014"], "is not a mapping", True),
    ("an empty item", HEAD + "items:\n-\n" + A, ["DYN014"], "is not a mapping", True),
    ("an item without a kind", HEAD + "items:\n" + A.replace("kind: ConfigMap", "kin: ConfigMap"), ["DYN015"], "has no kind", True),
    ("an item without an apiVersion", HEAD + "items:\n" + A.replace("apiVersion", "apiversion"), ["DYN015"], "no apiVersion", True),
    ("an item without a name", HEAD + "items:\n" + A.replace("name: a", "labels: {}"), ["DYN015"], "no metadata.name", True),
    ("an item whose name is a number", HEAD + "items:\n" + A.replace("name: a", "name: 1"), ["DYN015"], "as strings", True),
    ("an item that is an empty mapping", HEAD + "items:\n- {}\n", ["DYN015"], "no apiVersion and no kind and no metadata.name", True),
    ("a kind ending in List, without items", HEAD + "items:\n- {apiVersion: v1, kind: PriceList}\n", ["DYN015"], "no metadata.name", True),
    ("an item twice", HEAD + "items:\n" + A + B + A, ["DYN016"], "is the same object as the one on line 4", True),
    ("an item in two versions", HEAD + "items:\n" + A.replace("v1", "a/v1") + A.replace("v1", "a/v2"), ["DYN016"], "line 4", True),
    ("an item three times", HEAD + "items:\n" + A + A + A, ["DYN016", "DYN016"], "line 4", True),
    ("an item twice in JSON", json.dumps(yaml.safe_load(HEAD + "items:\n" + A + A)), ["DYN016"], "items[0]", True),
    ("a functionConfig that is a string", HEAD + "items:\n" + A + "functionConfig: x\n", ["DYN018"], "is not a resource", True),
    ("a key twice in an item", HEAD + "items:\n" + A + "  kind: ConfigMap\n", ["DYN007"], "remove one", True),
    ("a key twice in flow style", HEAD + "items: [{a: 1, a: 2}]\n", ["DYN007", "DYN015"], "remove one", False),
    ("items twice", HEAD + "items:\n" + A + "items:\n" + B, ["DYN007"], "write the entries of both below one items", False),
    (
        "everything at once",
        HEAD + "items:\n" + A + A + "  x: .inf\n-\n  {}\nfunctionConfig: 1\n",
        ["DYN010", "DYN018", "DYN016", "DYN015"],
        "quotes",
        True,
    ),
]


@cases(("text", "codes", "words", "complete"), WRONG)
def test_wrong(text, codes, words, complete):
    received = parse(text)
    assert [result.code for result in received.results] == codes
    assert {result.severity for result in received.results} == {"error"}
    assert words in received.results[0].message
    assert received.complete is complete
    if complete:
        again = parse(resourcelist.render(received, received.items, received.results))
        assert again.items == received.items


def annotated(text, **annotations):
    lines = "".join(f"      {key}: {json.dumps(value)}\n" for key, value in annotations.items())
    return text.replace("  metadata: {name: a}\n", f"  metadata:\n    name: a\n    annotations:\n{lines}")


def test_local_resources_may_share_a_name():
    local = annotated(A, **{"config.kubernetes.io/local-config": "true"})
    assert parse(HEAD + "items:\n" + local + local).results == []
    assert [result.code for result in parse(HEAD + "items:\n" + local + A + A).results] == ["DYN016"]


def test_doubles_name_their_files():
    first = annotated(A, **{"config.kubernetes.io/path": "one.yaml", "internal.config.kubernetes.io/path": "one.yaml"})
    second = annotated(A, **{"config.kubernetes.io/origin": "path: two.yaml\n"})
    (found,) = parse(HEAD + "items:\n" + first + second).results
    assert "the one in one.yaml" in found.message
    assert (found.file, found.line) == ("two.yaml", 0)


PLACES = [
    # reason, text of the list, path, place
    ("a field of an item written by hand", HEAD + "items:\n# x\n" + A, ("metadata", "name"), {"line": 7, "column": 14}),
    ("a field that is missing", HEAD + "items:\n" + A, ("metadata", "labels", "x"), {"line": 6, "column": 3}),
    (
        "an item from kpt",
        HEAD + "items:\n" + annotated(A, **{"internal.config.kubernetes.io/path": "a.yaml"}),
        (),
        {"file": "a.yaml", "document": 0},
    ),
    ("an item from kustomize", HEAD + "items:\n" + annotated(A, **{"internal.config.kubernetes.io/index": "0"}), ("kind",), {}),
    ("an item in flow style", HEAD + "items: [{apiVersion: v1, kind: C, metadata: {name: a}}]\n", ("kind",), {"line": 3}),
    ("JSON", json.dumps(yaml.safe_load(HEAD + "items:\n" + A)), ("kind",), {"line": 0}),
]


@cases(("text", "path", "place"), PLACES)
def test_place(text, path, place):
    received = parse(text)
    assert resourcelist.locations(received, received.resources[0], [path]) == {path: place}


def test_place_in_the_function_config():
    received = parse(HEAD + "items: []\n\n# mine\nfunctionConfig:\n  spec:\n    a: 1\n")
    assert resourcelist.locations(received, received.function_config, [("spec", "a")]) == {("spec", "a"): {"line": 8, "column": 5}}


TEXT = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=8)
NAMES = st.lists(st.sampled_from(["one", "two", "three", "four"]), unique=True)
DATA = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | TEXT | st.text(alphabet="# -:\n'\"|>a", max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@st.composite
def item_texts(draw):
    """Items in the styles of different YAML writers, with comments between them."""
    texts = []
    pad = draw(st.sampled_from(["", "  "]))
    for name in draw(NAMES):
        resource = {"apiVersion": "v1", "kind": "C", "metadata": {"name": name}, "data": draw(DATA)}
        flow = draw(st.sampled_from([True, False, None]))
        written = yaml.safe_dump([resource], allow_unicode=draw(st.booleans()), default_flow_style=flow, width=draw(st.integers(5, 90)))
        block = flow is True or draw(st.booleans())
        text = emitter.text([resource]) if block else written
        comment = draw(st.sampled_from(["", "# x\n", "\n# don't\n", "# 'a'\n\n# b\n"]))
        texts.append(comment + text)
    return "".join(f"{pad}{line}\n" for line in "".join(texts).split("\n")[:-1]) if texts else ""


@given(item_texts())
def test_whatever_nobody_touched_is_byte_identical(items):
    text = HEAD + ("items:\n" + items if items else "items: []\n")
    documents, found = reader.read(text)
    received = parse(text)
    assert received.results == found == []
    assert received.items == documents[0].value["items"]
    rendered = resourcelist.render(received, received.items, []).decode()
    assert rendered == text or set(text) & set("\x85\u2028\u2029")  # line ends in YAML 1.1 only
    assert parse(rendered).items == received.items


@given(item_texts(), st.randoms())
def test_a_new_order_changes_no_value(items, random):
    text = HEAD + ("items:\n" + items if items else "items: []\n")
    received = parse(text)
    shuffled = random.sample(received.items, len(received.items))
    assert parse(resourcelist.render(received, shuffled, [])).items == shuffled


def test_a_blank_line_above_the_first_item_is_no_part_of_a_text_above_it():
    """The text of `two` keeps all its line ends, so a blank line below it would be one more."""
    first, second = "\n# a comment\n- name: one\n", "- name: two\n  data: |+\n    text\n\n"
    received = parse(f"{HEAD}items:\n{first}{second}")
    one, two = received.items
    assert parse(resourcelist.render(received, [two, one], [])).items == [two, one]


@given(st.binary() | st.text().map(lambda text: (HEAD + text).encode(errors="replace")))
def test_no_input_raises(data):
    received = resourcelist.parse(data)
    assert received.complete or results.has_errors(received.results)
    if received.complete:
        resourcelist.render(received, received.items, received.results)


LIST = "- apiVersion: v1\n  kind: List\n  items:\n"
INNER = "  - apiVersion: nvidia.com/v1alpha1\n    kind: DynamoGraphDeployment\n    metadata: {name: chat}\n"
LISTED = [
    # reason, text of the item, number of findings
    ("a graph", LIST + INNER, 1),
    ("two graphs", LIST + INNER + INNER.replace("chat", "batch"), 2),
    ("a list with a name", LIST.replace("  items", "  metadata: {name: a}\n  items") + INNER, 1),
    ("a list in a list", LIST + "  - {apiVersion: v1, kind: List, items: [{apiVersion: nvidia.com/v1, kind: DynamoModel}]}\n", 1),
    ("native resources", LIST + "  - {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n", 0),
    ("entries that are not resources", LIST + "  - x\n  - [{apiVersion: nvidia.com/v1alpha1}]\n", 0),
    (
        "a kind with another field items",
        "- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, items: [{apiVersion: nvidia.com/v1}]}\n",
        0,
    ),
]


@cases(("text", "count"), LISTED)
def test_a_dynamo_resource_inside_a_list_is_an_error(text, count):
    assert [found.code for found in parse(HEAD + "items:\n" + text).results] == ["DYN082"] * count


PATHS = [
    # reason, path, True if it is outside the package
    ("above the package", "../x.yaml", True),
    ("further above", "../../x", True),
    ("absolute", "/etc/x.yaml", True),
    ("down and up again", "a/../../x.yaml", True),
    ("with backslashes", "..\\x.yaml", True),
    ("up and down within the package", "a/../x.yaml", False),
    ("in a folder", "a/b.yaml", False),
    ("a name that begins with dots", "..a/x.yaml", False),
]


@cases(("path", "outside"), PATHS)
@pytest.mark.parametrize("key", [labels.PATH, labels.LEGACY_PATH])
def test_a_path_outside_the_package_is_an_error(path, outside, key):
    graph = f"- apiVersion: nvidia.com/v1alpha1\n  kind: DynamoGraphDeployment\n  metadata: {{name: a, annotations: {{{key}: '{path}'}}}}\n"
    assert [found.code for found in parse(HEAD + "items:\n" + graph).results] == ["DYN083"] * outside
    native = graph.replace("nvidia.com/v1alpha1", "v1")
    assert parse(HEAD + "items:\n" + native).results == []
