"""Facts about what exists: component types, inference engines, orchestrators, and releases of the Dynamo operator."""
