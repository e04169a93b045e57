"""The state of a cluster: exports of `kubectl get --output yaml` or `--output json`, without Secrets and fields that the cluster added."""
