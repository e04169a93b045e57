"""The kinds that the syncer watches, as the API server addresses them."""

from __future__ import annotations

from typing import NamedTuple


class ApiResource(NamedTuple):
    """One kind in the API. `resource` is the plural name in paths; the selectors limit what the server sends."""

    group: str
    version: str
    resource: str
    kind: str
    label_selector: str = ""
    field_selector: str = ""

    def path(self, namespace: str = "", name: str = "") -> str:
        """The path of all objects, of those in one namespace, or of one object."""
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        inside = f"/namespaces/{namespace}" if namespace else ""
        return f"{root}{inside}/{self.resource}{f'/{name}' if name else ''}"

    def selectors(self) -> dict[str, str]:
        """The selectors as query parameters."""
        parameters = {"labelSelector": self.label_selector, "fieldSelector": self.field_selector}
        return {name: value for name, value in parameters.items() if value}
