"""Builds one Kustomization of a private copy, with remote bases if a user allows to fetch them, and with no other program than krm-fn.

`kustomize localize` fetches remote bases into a folder beside the copy and runs no function. What was fetched is then checked as the files
of the repository are, before anything is built.
"""

from __future__ import annotations

import os

from krm_fn.base import results
from krm_fn.repository import builds, kustomizations, private_programs
from krm_fn.repository.builds import RootBuild
from krm_fn.repository.files import commands
from krm_fn.repository.kustomizations import Closure
from krm_fn.repository.private_programs import Programs
from krm_fn.repository.roots import Root
from krm_fn.repository.tree import Tree

_LONGEST = 600  # characters of the message of a program


def build(tree: Tree, programs: Programs, *, fetches: bool) -> RootBuild:
    """Builds the Kustomization of the folder `at` of a tree. With `fetches`, remote bases are downloaded first.

    Nothing is fetched if the files of the repository already have a problem. Never raises for the content of the tree.
    """
    if tree.kustomization(tree.at) is None:
        return RootBuild([], [*kustomizations.unreadable(tree, tree.at)] or [_absent(tree)])
    closure = kustomizations.closure(tree, tree.at)
    if fetches and closure.remote and len(closure.problems) == len(closure.remote):
        fetched = _fetched(tree, closure, programs)
        if isinstance(fetched, results.Result):
            return RootBuild([], [fetched])
        tree, closure = fetched, kustomizations.closure(fetched, fetched.at)
    return builds.kustomize(tree, Root(tree.at, "kustomize", "the folder that the command names"), closure, programs)


def _absent(tree: Tree) -> results.Result:
    message = "the folder has no Kustomization; name a folder with a kustomization.yaml"
    return results.error("DYN593", message, file=tree.shown(tree.at))


def _fetched(tree: Tree, closure: Closure, programs: Programs) -> Tree | results.Result:
    """Returns a tree with the remote bases, or the finding that says why they are not fetched."""
    target, program = programs.folder.parent / "fetched", private_programs.find("kustomize")
    location = closure.folders[tree.at].location()
    if not program:
        message = "the remote bases are not fetched, because kustomize is not installed; install it"
        return results.error("DYN594", message, **location)
    command = [program, "localize", str(tree.path(tree.at)), str(target), "--scope", str(tree.top)]
    process = commands.run(command, tree.path(tree.at), programs.seconds, os.environ | {"PATH": private_programs.search_path()})
    fetched = Tree(target, tree.at, tree.shown)
    if fetched.kustomization(tree.at) is None:  # the exit code is 1 also because it tries the build, without functions
        output = " ".join(process.messages.replace(str(tree.top), ".").split())[-_LONGEST:] or process.problem
        message = f"the remote bases are not fetched: kustomize localize: {output}; correct the addresses, or copy the bases"
        return results.error("DYN710", message, **location)
    return fetched
