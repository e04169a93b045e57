"""Makes plans from resources of `nvidia.com/v1beta1`."""
