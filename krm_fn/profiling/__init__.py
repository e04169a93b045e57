"""What the profiler of a request wrote: the generated graph, the objects beside it, and their form in a cluster. Pure.

Follows the reference's `internal/controller/dynamographdeploymentrequest_controller.go`; `docs/requests.md` names the differences.
"""
