"""Reads a repository as it is: finds its roots, builds each root as its pipeline does, and compares committed renders with new ones.

A root is what a pipeline applies as a whole: a Kustomization that no other one includes, a kpt package, or a folder of plain files. No
program of the repository runs: kustomize and kpt run with krm-fn as their only function, on a private copy, and without network.
"""
