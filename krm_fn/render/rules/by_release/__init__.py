"""Groups of rules that only some releases have: one module a group. `Release.rules` names the groups of a release.

Each module has a function `check(plan, pods)`. A group imports the module of a rare feature only where it is needed.
Follows the operator's `internal/webhook/validation/` and `config/crd/bases`, and the errors that it raises at run time.
"""
