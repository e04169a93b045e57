"""Plans read from resources in the form of `nvidia.com/v1alpha1`."""
