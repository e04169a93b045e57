"""Gives a model folder random weights, so that a real engine can load it: a Llama model with two small layers.

Runs in the environment of a runtime, which alone has numpy and safetensors: python3 weights.py FOLDER
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

LAYERS = 2


def main(folder: Path) -> None:
    """Write `model.safetensors` for the sizes in `config.json`, and the number of layers into that. The weights are always the same."""
    import numpy  # noqa: ICN001, PLC0415 - this file is read without it, for doctests
    from safetensors.numpy import save_file  # noqa: PLC0415

    file = folder / "config.json"
    config = json.loads(file.read_text()) | {"num_hidden_layers": LAYERS, "torch_dtype": "float32"}
    file.write_text(json.dumps(config, indent=2) + "\n")
    generator = numpy.random.default_rng(0)
    weights = {name: generator.normal(scale=0.2, size=shape).astype(numpy.float32) for name, shape in matrices(config).items()}
    norms = ["model.norm", *(f"model.layers.{layer}.{name}_layernorm" for layer in range(LAYERS) for name in ("input", "post_attention"))]
    ones = {f"{name}.weight": numpy.ones(config["hidden_size"], numpy.float32) for name in norms}
    save_file(weights | ones, folder / "model.safetensors", {"format": "pt"})


def matrices(config: dict[str, int]) -> dict[str, tuple[int, int]]:
    """The name and the shape of each matrix of a Llama model without grouped heads, as `transformers` names them."""
    hidden, inner, words = config["hidden_size"], config["intermediate_size"], config["vocab_size"]
    shapes = {"model.embed_tokens.weight": (words, hidden), "lm_head.weight": (words, hidden)}
    for layer in range(config["num_hidden_layers"]):
        prefix = f"model.layers.{layer}"
        shapes |= {f"{prefix}.self_attn.{name}_proj.weight": (hidden, hidden) for name in ("q", "k", "v", "o")}
        shapes |= {f"{prefix}.mlp.{name}_proj.weight": (inner, hidden) for name in ("gate", "up")}
        shapes[f"{prefix}.mlp.down_proj.weight"] = (hidden, inner)
    return shapes


if __name__ == "__main__":
    main(Path(sys.argv[1]))
