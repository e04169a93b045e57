"""LoRA adapters: loads them into the workers of a model, and unloads them.

It is a client of workers and writes no status. Only `krm-fn sync --loras` starts it.
"""
