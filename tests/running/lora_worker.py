"""A worker that loads LoRA adapters as `dynamo.vllm` does, on the real Dynamo runtime and without an engine.

Runs with the Python of a release: python3 lora_worker.py MODEL. It serves the endpoints `load_lora`, `unload_lora` and `list_loras`, which
the runtime offers at `/v1/loras`, downloads with the runtime's own `LoRAManager`, and registers each adapter as a model, as the handlers in
`dynamo/vllm/handlers.py` do. An adapter with a name that is loaded already stays as it is, whatever its source is.

A request is answered with the text of the file `answer` of the adapter, and with BASE for the base model.
"""

from __future__ import annotations

import asyncio
import importlib
import os
import signal
import sys
from pathlib import Path

BASE = "the base model"


async def main(model: str) -> None:
    """Serve until SIGTERM."""
    # Only the environments of the runtime have these packages.
    llm = importlib.import_module("dynamo.llm")
    manager = importlib.import_module("dynamo.common.lora.manager").get_lora_manager()
    namespace = importlib.import_module("dynamo.common.utils.namespace").get_worker_namespace()
    create_runtime = importlib.import_module("dynamo.common.utils.runtime").create_runtime
    tokenizer = importlib.import_module("tokenizers").Tokenizer.from_file(str(Path(model, "tokenizer.json")))
    loaded: dict[str, str] = {}

    runtime, loop = create_runtime(os.environ["DYN_DISCOVERY_BACKEND"], "tcp", "zmq")
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, runtime.shutdown)
    serving = {name: runtime.endpoint(f"{namespace}.backend.{name}") for name in ("generate", *_ROUTES)}

    async def register(**adapter):
        kind = llm.ModelType.Chat | llm.ModelType.Completions
        await llm.register_model(llm.ModelInput.Tokens, kind, serving["generate"], model, worker_type=llm.WorkerType.Aggregated, **adapter)

    async def generate(request):
        yield {"token_ids": tokenizer.encode(loaded.get(request["model"], BASE)).ids, "finish_reason": "stop"}

    async def load_lora(request):
        name = request["lora_name"]
        if name not in loaded:
            download = await manager.download_lora(request["source"]["uri"])
            if download["status"] != "success":
                yield {"status": "error", "message": f"Failed to download LoRA: {download['message']}"}
                return
            loaded[name] = answer_of(download["local_path"])
            await register(lora_name=name, base_model_path=model, user_data={"lora_adapter": True, "lora_id": llm.lora_name_to_id(name)})
        yield {"status": "success", "message": "loaded", "lora_name": name, "lora_id": llm.lora_name_to_id(name)}

    async def unload_lora(request):
        name = request["lora_name"]
        if name not in loaded:
            yield {"status": "error", "message": f"LoRA adapter '{name}' not found. Available LoRAs: {list(loaded)}"}
            return
        await llm.unregister_model(endpoint=serving["generate"], lora_name=name)
        del loaded[name]
        yield {"status": "success", "message": "unloaded", "lora_name": name, "lora_id": llm.lora_name_to_id(name)}

    async def list_loras(_request=None):
        yield {"status": "success", "loras": {name: llm.lora_name_to_id(name) for name in loaded}, "count": len(loaded)}

    await register(model_name=model)
    handlers = (generate, load_lora, unload_lora, list_loras)
    await asyncio.gather(*(serving[handler.__name__].serve_endpoint(handler) for handler in handlers))


def answer_of(folder: str) -> str:
    """The text that stands for the weights of an adapter."""
    return Path(folder, "answer").read_text()


_ROUTES = ("load_lora", "unload_lora", "list_loras")

if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
