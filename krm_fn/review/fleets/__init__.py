"""Compares the clusters of a fleet with each other: a matrix of what differs, for `krm-fn diff --across`.

`fleet_clusters` reads what each cluster applies, `effective_settings` what its pods run, and `resource_matrix` compares several versions of
a resource. `fleet_matrix` joins them, and `matrix_formats` writes the result.
"""
