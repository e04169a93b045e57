"""What the last check of a document knows about its resources, for the next check after an edit: most of them are the same."""

from __future__ import annotations

from krm_fn.base.results import Result
from krm_fn.render.expand import KnownItems, PlannedResource
from krm_fn.review.arguments import argument_findings


class KnownChecks:
    """The expansions of resources, and the findings about the command lines of graphs. Both depend on nothing but their key.

    `items` has an expansion for each text of a resource, of the configuration and of the facts about other resources. The same expansion
    has the same plans, so the findings about a plan are found by the plan itself.
    """

    def __init__(self) -> None:
        self.items = KnownItems()
        self._arguments: dict[int, tuple[PlannedResource, list[Result]]] = {}
        self._used: dict[int, tuple[PlannedResource, list[Result]]] = {}

    def arguments(self, planned: PlannedResource) -> list[Result]:
        """Returns the findings about the command lines of a graph or a component."""
        entry = self._arguments.get(id(planned)) or (planned, argument_findings.check_plan(planned))
        self._arguments[id(planned)] = self._used[id(planned)] = entry
        return entry[1]

    def forget_unused(self) -> None:
        """Forgets what no check has used since the last call: the texts between two edits are not needed again."""
        self.items.forget_unused()
        self._arguments, self._used = self._used, {}
