"""Engines without a model: each joins the other nodes of its group as its flags and variables say, and then serves its probes.

An image of the test bed has this package instead of Dynamo's, so that `python3 -m dynamo.vllm` runs it. The flags are parsed and the names
are resolved as the real engines do; no weights are loaded, and no request is answered. It needs the standard library only.
"""
