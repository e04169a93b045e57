"""What users write: pydantic models, one folder per API version. A render never imports them; it checks by `krm_fn.schema`."""
