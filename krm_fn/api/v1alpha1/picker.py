"""The configuration of an endpoint picker, which chooses the frontend for each request that comes through a gateway.

Not its business: which components are pickers, and when they need it (`krm_fn.api.v1alpha1.component`). Follows the Gateway API inference
extension's EndpointPickerConfig, as far as the reference's schema has it.
"""

from pydantic import ConfigDict

from krm_fn.api import base, native


class Plugin(base.Model):
    """A plugin of the endpoint picker."""

    type: str
    """Which plugin."""
    name: str | None = None
    """What profiles call it; its type where no name is given."""
    parameters: base.Anything | None = None
    """The plugin's own settings."""


class ProfilePlugin(base.Model):
    """A plugin's part in a scheduling profile."""

    plugin_ref: str
    """The name of one of `plugins`."""
    weight: int | None = None
    """How much its score counts."""


class SchedulingProfile(base.Model):
    """How one kind of request is routed."""

    name: str
    """The profile's name."""
    plugins: list[ProfilePlugin]
    """The plugins that decide, in their order."""


class SaturationDetector(base.Model):
    """When an endpoint counts as full."""

    queue_depth_threshold: int | None = None
    """So many waiting requests."""
    kv_cache_util_threshold: float | None = None
    """So much of the key-value cache in use, from 0 to 1."""
    metrics_staleness_threshold: str | None = None
    """For how long an endpoint's figures are believed, for example `200ms`."""


class EndpointPickerConfig(base.Model):
    """The endpoint picker's configuration file. Fields beyond those here are kept."""

    model_config = ConfigDict(extra="allow")

    api_version: str | None = None
    """Always replaced by the version that the endpoint picker reads."""
    kind: str | None = None
    """Always replaced by `EndpointPickerConfig`."""
    feature_gates: list[str] | None = None
    """Experimental features to switch on."""
    plugins: list[Plugin]
    """The plugins that profiles may use."""
    scheduling_profiles: list[SchedulingProfile]
    """How requests are routed."""
    saturation_detector: SaturationDetector | None = None
    """When an endpoint counts as full."""


class EPPConfig(base.Model):
    """Where the endpoint picker's configuration comes from: exactly one of the two."""

    config_map_ref: native.ConfigMapKeySelector | None = None
    """A key of an existing ConfigMap."""
    config: EndpointPickerConfig | None = None
    """The configuration itself; a ConfigMap is written from it."""
