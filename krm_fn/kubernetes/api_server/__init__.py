"""Rules by which an API server rejects a pod. `krm_fn.render.schema` finds wrong types, missing and unknown fields, and unknown values.

The rules follow `pkg/apis/core/validation/validation.go` of Kubernetes 1.36 function by function, with its default feature gates, and hold
after its defaults (`pkg/apis/core/v1/defaults.go`). What depends on the state of a cluster, on admission plugins, or on a feature gate that
is off by default is not checked, and neither is what a server checks only in pods, and not in templates. Paths begin at the pod spec;
`krm_fn.render.rules.field_origin` maps them to the user's fields.

`pod_rules` and `field_rules` have the rules about fields of most pods, and the folder `by_field` all others.
"""
