"""`make upstream-diff` finds each kind of difference between two versions of the wheels that matters for krm-fn."""

from __future__ import annotations

import textwrap

from upstream import wheel_facts

from tests.support.cases import cases

CASES = [
    (
        "a flag with its variable and default",
        "frontend/args.py",
        """add_argument(group, flag_name="--old", env_var="DYN_OLD", default=1)""",
        """add_argument(group, flag_name="--old", env_var="DYN_OLD", default=2); parser.add_argument("--new", "-n")""",
        ["+ dynamo.frontend --new", "~ dynamo.frontend --old: env_var='DYN_OLD', default=1 -> env_var='DYN_OLD', default=2"],
    ),
    (
        "a flag that moves to another file of its program is the same",
        "vllm/moved.py",
        """parser.add_argument("--dtype")""",
        """# Comments are no flags: --else\nparser.add_argument("--dtype")""",
        [],
    ),
    (
        "variables",
        "runtime/settings.py",
        """port = os.environ["DYN_SYSTEM_PORT"]; name = os.environ["DYN_NAMESPACE"]""",
        """port = os.environ["DYN_SYSTEM_PORT"]; kind = os.environ["DYN_NAMESPACE_PREFIX"]""",
        ["+ DYN_NAMESPACE_PREFIX", "- DYN_NAMESPACE"],
    ),
    (
        "keys that the planner reads",
        "planner/connectors/kubernetes.py",
        """status["replicas"]; status.get("readyReplicas")""",
        """status["replicas"]; status.get("gpusPerReplica")""",
        ["+ gpusPerReplica", "- readyReplicas"],
    ),
    (
        "rights that the planner needs",
        "planner/api.py",
        """PLURAL = "graphs"\napi.get_namespaced_custom_object(plural=PLURAL)""",
        """
        PLURAL = "graphs"
        api.get_namespaced_custom_object(plural=PLURAL)
        api.patch_namespaced_custom_object_scale(plural="adapters")
        core.list_namespaced_pod(namespace="a")
        client.call_api("/apis/{plural}/{name}", "PATCH", {"plural": PLURAL})
        """,
        ["+ list pods", "+ patch adapters/scale", "+ patch graphs"],
    ),
    (
        "fields of the API's models",
        "profiler/types.py",
        """class Spec(BaseModel):\n    model: str\n    image: str""",
        """class Spec(BaseModel):\n    model: Optional[str]\n    image: str\n    revision: str""",
        ["+ dynamo.profiler Spec.revision: str", "~ dynamo.profiler Spec.model: str -> Optional[str]"],
    ),
    (
        "templates of the profiler",
        "profiler/templates/dgd/vllm/agg.yaml",
        """spec: {components: [{name: Worker, replicas: 1}]}""",
        """spec: {components: [{name: Worker, replicas: 2}]}""",
        ["~ profiler/templates/dgd/vllm/agg: [0].spec.components[0].replicas: 1 -> 2"],
    ),
    ("tests that a wheel contains", "planner/tests/test_a.py", """x["a"]""", """x["b"]""", []),
    (
        "flags of a sidecar, whose parser is compiled",
        "vllm/sidecar.py",
        """print("Options:\\n      --grpc-endpoint <E>\\n          Not a flag: --other")""",
        """print("Options:\\n      --grpc-endpoint <E>\\n      --structural-tag")""",
        ["+ dynamo.vllm.sidecar --structural-tag"],
    ),
]


def facts(folder, path, text):
    file = folder / "dynamo" / path
    file.parent.mkdir(parents=True)
    file.write_text(textwrap.dedent(text))
    return wheel_facts.facts([folder])


@cases(("path", "before", "after", "expected"), CASES)
def test_a_difference_of_two_wheels_is_one_line(path, before, after, expected, tmp_path):
    lines = wheel_facts.differences(facts(tmp_path / "a", path, before), facts(tmp_path / "b", path, after))
    assert [line for line in lines if line and not line.startswith("#")] == expected


def library(*strings):
    return "".join(strings).encode()


LIBRARIES = [
    ("the next string differs", library("DYN_PORT", "A text"), library("DYN_PORT", "Bytes"), []),
    ("a longer name is another variable", library("DYN_PORT", " "), library("DYN_PORT_RANGE", " "), ["+ DYN_PORT_RANGE", "- DYN_PORT"]),
    ("two names beside each other", library("DYN_NAME", "DYN_PORT", "x"), library("DYN_NAME", "DYN_PORT", "DYN_HOST", "x"), ["+ DYN_HOST"]),
]


@cases(("before", "after", "expected"), LIBRARIES)
def test_variables_of_a_compiled_library_have_no_separators(before, after, expected, tmp_path):
    both = []
    for name, content in (("a", before), ("b", after)):
        folder = tmp_path / name / "dynamo"
        folder.mkdir(parents=True)
        (folder / "_core.abi3.so").write_bytes(content)
        both.append(wheel_facts.facts([folder.parent]))
    assert [line for line in wheel_facts.differences(*both) if line and not line.startswith("#")] == expected
