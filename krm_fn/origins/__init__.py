"""Finds the input that made an output, by a render with marked values, and by experiment.

Findings do not ask this wing: a render records the paths of its input in its plans (`krm_fn.render.plan.SourcePaths`).
"""
