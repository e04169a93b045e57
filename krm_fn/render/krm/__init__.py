"""The protocol of KRM functions: ResourceLists in and out, and the plugin protocol of older kustomize versions."""
