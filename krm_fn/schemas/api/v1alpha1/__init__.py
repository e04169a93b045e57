"""The kinds of `nvidia.com/v1alpha1`."""
