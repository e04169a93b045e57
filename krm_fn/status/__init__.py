"""The status of Dynamo resources, computed from the resource and its workloads. Pure: the time is an argument.

Follows the reference's `internal/controller/dynamographdeployment_controller.go` and neighbours; `docs/status.md` names the differences.
"""
