"""What a cluster says: exports of `kubectl get --output yaml` or `--output json`, without Secrets and without what the cluster added."""
