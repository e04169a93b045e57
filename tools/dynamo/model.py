"""Writes a model folder for the mock engine: a tokenizer that is trained on Python's own documentation, and a config. It has no weights.

Runs in the environment of a runtime, which alone has the package `tokenizers`: python3 model.py FOLDER
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from pydoc_data import topics

# The mock engine makes up tokens with numbers from 1000 to 2000.
WORDS = 2048
START, END = "<s>", "</s>"
TEMPLATE = "{% for message in messages %}{{ message['role'] }}: {{ message['content'] }}\n{% endfor %}assistant: "


def main(folder: Path) -> None:
    """Write the files that a frontend and a worker read."""
    import tokenizers  # noqa: PLC0415 - this file is read without it, for doctests
    from tokenizers import decoders, models, pre_tokenizers, trainers  # noqa: PLC0415

    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    letters = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=WORDS, initial_alphabet=letters, special_tokens=[START, END], show_progress=False)
    tokenizer.train_from_iterator(topics.topics.values(), trainer)
    tokenizer.save(str(folder / "tokenizer.json"))
    sizes = {"hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 2, "num_hidden_layers": 1, "max_position_embeddings": 4096}
    tokens = {"bos_token_id": 0, "eos_token_id": 1, "vocab_size": tokenizer.get_vocab_size()}
    write(folder / "config.json", architectures=["LlamaForCausalLM"], model_type="llama", **sizes, **tokens)
    write(folder / "generation_config.json", bos_token_id=0, eos_token_id=1)
    names = {"bos_token": START, "eos_token": END, "tokenizer_class": "PreTrainedTokenizerFast"}
    write(folder / "tokenizer_config.json", **names, chat_template=TEMPLATE, model_max_length=4096)


def write(file: Path, **values: object) -> None:
    """Write a JSON object."""
    file.write_text(json.dumps(values, indent=2) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
