"""Words of Dynamo's API that came after the release that krm-fn follows: they are errors that name their release.

Follows the reference's release notes of 1.5.0 and 1.6.0.
"""

from __future__ import annotations

_LEAVE = "leave this resource to an operator of that release"

KINDS = {"LPXGraphDeployment": f"only Dynamo 1.6 and later has this kind, and krm-fn does not expand it; {_LEAVE}"}
VALUES = {"lpx": f"only Dynamo 1.6 and later has it; {_LEAVE}"}
"""Values of enums, with the end of the message."""
FIXES = {
    ("ComponentExperimentalV1beta1", "flagsInjection"): f"only Dynamo 1.6 and later has it; remove it, or {_LEAVE}",
    ("ComponentV1beta1", "roles"): f"only later releases of Dynamo have pod templates for roles; remove it, or {_LEAVE}",
    ("MultinodeV1beta1", "roles"): f"only later releases of Dynamo have pod templates for roles; remove it, or {_LEAVE}",
}
