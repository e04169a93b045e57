"""What users write: the models of our kinds, the table made from them, and the check that walks it.

The models (one file per kind) are the readable source and need pydantic; a render reads only the table, through `krm_fn.api.check`.
"""
