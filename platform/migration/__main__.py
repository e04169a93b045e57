# ruff: noqa: INP001 - a program of its own, in no package
"""Moves one graph from the Dynamo operator to Git, or back, without restarting a pod. See docs/migration.md."""

from __future__ import annotations

import argparse
import sys

import cluster
import comparison
import settings
import to_git
import to_operator

COMMANDS = {
    "graph": (settings.graph, "print the graph as it has to stand in Git"),
    "settings": (settings.show, "print the operator's settings as a configuration of krm-fn"),
    "compare": (comparison.compare, "change nothing; exit code 1 if take-over would be refused or would change pods"),
    "take-over": (to_git.take_over, "compare, then take the objects away from the operator"),
    "give-back": (to_operator.give_back, "prepare the objects before the operator starts again"),
    "set-owners": (to_operator.set_owners, "give the objects their owners after the operator has started again"),
}


def main() -> None:
    """Exit code 0, 1 if the command cannot go on, or 2 on wrong usage."""
    parser = argparse.ArgumentParser(prog="python3 platform/migration", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command, (_, text) in COMMANDS.items():
        each = commands.add_parser(command, help=text)
        each.add_argument("namespace", help="the namespace of the graph")
        each.add_argument("graph", help="the name of the graph")
        if command not in {"graph", "settings"}:
            each.add_argument("objects", help="a file with the output of krm-fn render")
        if command in {"compare", "take-over"}:
            tool = each.add_mutually_exclusive_group()
            tool.add_argument("--argocd", action="store_true", help="Argo CD will apply the objects")
            tool.add_argument("--flux", metavar="NAMESPACE/NAME", default="", help="this Kustomization will apply the objects")
    options = parser.parse_args()
    manager = (
        "argocd-controller" if getattr(options, "argocd", False) else "kustomize-controller" if getattr(options, "flux", "") else "kubectl"
    )
    try:
        objects = cluster.read(options.objects) if "objects" in options else []
        COMMANDS[options.command][0](cluster.Move(options.namespace, options.graph, objects, manager, getattr(options, "flux", "")))
    except cluster.StopError as reason:
        sys.exit(str(reason))


if __name__ == "__main__":
    main()
