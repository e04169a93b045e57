"""The resources that users write, as pydantic models, one folder per API version. A render never imports them; it uses `krm_fn.schema`."""
