"""Answers to questions of reviewers: what a change of a graph does to its objects, its pods and its GPUs.

The package computes its answers from resources only. It reads no file, cluster, clock or network, and a render never imports it.
"""
