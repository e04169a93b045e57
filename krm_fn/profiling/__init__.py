"""Reads the output of a profiling Job: the generated graph, the objects beside it, and their form in a cluster. Pure.

Follows the operator's `internal/controller/dynamographdeploymentrequest_controller.go`; `docs/requests.md` names the differences.
"""
