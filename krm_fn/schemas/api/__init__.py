"""The resources that users write, as pydantic models, one folder per API version. A render uses `krm_fn.render.schema` instead."""
