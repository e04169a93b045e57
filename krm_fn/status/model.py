"""The status of a DynamoModel.

Follows the reference's `internal/controller/dynamo_model_controller.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.status import conditions, models
from krm_fn.status.conditions import READY, RECONCILING, STALLED, VALID
from krm_fn.status.models import serving

if TYPE_CHECKING:
    from krm_fn.status.base_models import BaseModels
    from krm_fn.status.children import Children
    from krm_fn.status.features import Features
    from krm_fn.status.models import Known, Model

OWNED = (VALID, models.FOUND, models.SERVES, READY, RECONCILING, STALLED)


def status(  # noqa: PLR0913, PLR0917 - what a status depends on
    model: Model,
    found: BaseModels,
    children: Children,
    now: str,
    features: Features,
    known: Known | None = None,
) -> dict[str, Any]:
    """The whole `.status` of a model. `now` is an RFC 3339 time. A model that is being deleted keeps its status.

    `known` is what the syncer knows about the adapter; None if it does not run: then an endpoint is ready if the stored status says so.
    """
    if model.deleted:
        return model.status
    judged = serving.judge(model, found, children, features, known)
    told = conditions.merge(model.status.get("conditions"), judged.conditions, OWNED, model.generation, now)
    rows = [{"address": each.url, "podName": each.pod, "ready": ready} for each, ready in judged.endpoints]
    if judged.waits and models.told(model) == model.generation and rows == model.status.get("endpoints"):
        return model.status  # after a restart of the syncer, the stored status holds until the endpoints answer
    written = {
        **model.status,
        "observedGeneration": model.generation or None,
        "endpoints": rows or None,
        "readyEndpoints": sum(ready for _, ready in judged.endpoints),
        "totalEndpoints": len(rows),
        "conditions": told,
    }
    return {key: value for key, value in written.items() if value is not None}
