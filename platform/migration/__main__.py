# ruff: noqa: INP001 - a program of its own, in no package
"""Moves graphs from the Dynamo operator to Git, or back, without restarting a pod. See docs/migration.md."""

from __future__ import annotations

import argparse
import sys

import cluster
import comparison
import definitions
import owners
import settings
import to_git
import to_operator

COMMANDS = {
    "graph": (settings.graph, "print the graph as it has to stand in Git"),
    "settings": (settings.show, "print the operator's settings as a configuration of krm-fn"),
    "compare": (comparison.compare, "change nothing; exit code 1 if take-over would be refused or would change pods"),
    "take-over": (to_git.take_over, "compare, then take the objects away from the operator"),
    "give-back": (to_operator.give_back, "prepare the objects before the operator starts again"),
    "can-start": (to_operator.can_start, "change nothing; exit code 1 if the operator cannot start, or would change pods"),
    "set-owners": (owners.set_owners, "give the objects their owners after the operator has started again"),
}
OF_CLUSTER = {
    "definitions": (definitions.save, "print the definitions of the operator's kinds, to put them back before it starts again"),
    "let-go": (definitions.let_go, "remove owner references in versions that the cluster will not serve, from all objects"),
}


def main() -> None:
    """Exit code 0, 1 if the command cannot go on, or 2 on wrong usage."""
    parser = argparse.ArgumentParser(prog="python3 platform/migration", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command, (_, description) in COMMANDS.items():
        arguments = commands.add_parser(command, help=description)
        arguments.add_argument("namespace", help="the namespace of the graphs")
        if command in {"graph", "settings"}:
            arguments.add_argument("graphs", nargs=1, metavar="GRAPH", help="the name of the graph")
        else:
            text = "the name of a graph, and a file with the output of krm-fn render for it; repeat both for more graphs"
            arguments.add_argument("graphs", nargs="+", metavar="GRAPH FILE", help=text)
        if command in {"compare", "take-over"}:
            tool = arguments.add_mutually_exclusive_group()
            tool.add_argument("--argocd", action="store_true", help="Argo CD will apply the objects")
            tool.add_argument("--flux", metavar="NAMESPACE/NAME", default="", help="this Kustomization will apply the objects")
    for command, (_, description) in OF_CLUSTER.items():
        commands.add_parser(command, help=description)
    options = parser.parse_args()
    if options.command not in {"graph", "settings", *OF_CLUSTER} and len(options.graphs) % 2:
        parser.error(f"{options.graphs[-1]} has no file; write the name of each graph and its file")
    try:
        run(options)
    except cluster.StopError as reason:
        sys.exit(str(reason))


def run(options: argparse.Namespace) -> None:
    """Run the command for each graph. Raises StopError; a comparison compares all graphs first."""
    if options.command in OF_CLUSTER:
        OF_CLUSTER[options.command][0]()
        return
    reasons = []
    for move in moves(options):
        try:
            COMMANDS[options.command][0](move)
        except cluster.StopError as reason:
            if options.command != "compare":
                raise
            reasons.append(str(reason))
    if reasons:
        raise cluster.StopError("\n".join(reasons))


def moves(options: argparse.Namespace) -> list[cluster.Move]:
    """The graphs of the command line. Raises StopError for a file that cannot be read."""
    manager = (
        "argocd-controller" if getattr(options, "argocd", False) else "kustomize-controller" if getattr(options, "flux", "") else "kubectl"
    )
    names, files = (options.graphs, [""]) if len(options.graphs) == 1 else (options.graphs[::2], options.graphs[1::2])
    snapshot, flux = cluster.Snapshot(options.namespace), getattr(options, "flux", "")
    return [
        cluster.Move(options.namespace, graph, cluster.read(file) if file else [], manager, flux, snapshot)
        for graph, file in zip(names, files, strict=True)
    ]


if __name__ == "__main__":
    main()
