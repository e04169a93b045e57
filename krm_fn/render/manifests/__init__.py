"""Makes native Kubernetes objects from plans.

`graph_objects` lists all objects of a graph, and `profiling` those of a request. `pod_builder` builds pods from layers, `pod_template` adds
their metadata, and each file of `workloads` makes the objects of one workload kind from them. The other modules make one kind of object.
"""
