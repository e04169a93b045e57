"""The status syncer: watches workloads and writes the status of Dynamo resources. Only `krm-fn sync` imports it."""
