"""The configuration of an endpoint picker, which chooses the frontend for each request that comes through a gateway.

Both API versions have it. Follows the EndpointPickerConfig of the Gateway API inference extension, as far as the operator's schema has it.
"""

from pydantic import ConfigDict

from krm_fn.schemas.api import base, native


class Plugin(base.Model):
    """A plugin of the endpoint picker."""

    type: str
    """The type of the plugin."""
    name: str | None = None
    """The name that profiles refer to; default the type."""
    parameters: base.Anything | None = None
    """The settings of the plugin."""


class ProfilePlugin(base.Model):
    """A plugin in a scheduling profile."""

    plugin_ref: str
    """The name of one of `plugins`."""
    weight: int | None = None
    """The weight of the plugin's score."""


class SchedulingProfile(base.Model):
    """The plugins that route one kind of request."""

    name: str
    """The profile's name."""
    plugins: list[ProfilePlugin]
    """The plugins in the order in which they run."""


class SaturationDetector(base.Model):
    """The thresholds above which an endpoint is saturated."""

    queue_depth_threshold: int | None = None
    """The number of waiting requests."""
    kv_cache_util_threshold: float | None = None
    """The used part of the key-value cache, from 0 to 1."""
    metrics_staleness_threshold: str | None = None
    """The maximum age of an endpoint's metrics, for example `200ms`."""


class EndpointPickerConfig(base.Model):
    """The configuration file of the endpoint picker. Other fields are kept."""

    model_config = ConfigDict(extra="allow")

    api_version: str | None = None
    """Ignored: the generated ConfigMap has the version that the endpoint picker reads."""
    kind: str | None = None
    """Ignored: the generated ConfigMap has `EndpointPickerConfig`."""
    feature_gates: list[str] | None = None
    """Experimental features."""
    plugins: list[Plugin]
    """The plugins that profiles refer to."""
    scheduling_profiles: list[SchedulingProfile]
    """The profiles that route requests."""
    saturation_detector: SaturationDetector | None = None
    """The thresholds above which an endpoint is saturated."""


class EPPConfig(base.Model):
    """The source of the endpoint picker's configuration. Set exactly one of the two fields."""

    config_map_ref: native.ConfigMapKeySelector | None = None
    """A key of an existing ConfigMap."""
    config: EndpointPickerConfig | None = None
    """The configuration. A ConfigMap is generated from it."""
