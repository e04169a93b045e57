"""Finds misspelt fields of TensorRT-LLM, in files and in the value of `--override-engine-args`.

The fields are those of `LlmArgs`, which refuses unknown ones (`tensorrt_llm/llmapi/llm_args.py`, `StrictBaseModel`). Dynamo merges the
overrides into them (`dynamo/trtllm/workers/llm_worker.py`, `deep_update`). The list of fields here is not complete, so only a name that is
a slip for one of them counts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from krm_fn.base import codes, spelling
from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes.values import mapping
from krm_fn.review.arguments.argument_rules import ArgumentFinding
from krm_fn.review.arguments.judged_commands import JudgedCommand
from krm_fn.review.arguments.worker_modes import WorkerFinding

CODE = codes.MISSPELT_TRTLLM_FIELD
_PROGRAM, _FLAG = "dynamo.trtllm", "--override-engine-args"
_FIELDS: dict[str, tuple[str, ...]] = {
    name: tuple(fields.split())
    for name, fields in {
        "": "model tokenizer tokenizer_mode skip_tokenizer_init trust_remote_code tensor_parallel_size dtype revision "
        "pipeline_parallel_size context_parallel_size gpus_per_node moe_cluster_parallel_size moe_tensor_parallel_size "
        "moe_expert_parallel_size enable_attention_dp enable_lm_head_tp_in_adp load_format enable_lora lora_config "
        "kv_cache_config enable_chunked_prefill guided_decoding_backend peft_cache_config scheduler_config "
        "cache_transceiver_config speculative_config max_batch_size max_input_len max_seq_len max_beam_width "
        "max_num_tokens num_postprocess_workers reasoning_parser backend return_perf_metrics build_config "
        "cuda_graph_config attention_dp_config disable_overlap_scheduler moe_config attn_backend sampler_type "
        "enable_iter_perf_stats enable_iter_req_stats print_iter_log batch_wait_timeout_ms torch_compile_config "
        "enable_autotuner stream_interval allreduce_strategy",
        "kv_cache_config": "enable_block_reuse max_tokens max_attention_window sink_token_length free_gpu_memory_fraction host_cache_size "
        "onboard_blocks event_buffer_max_size enable_partial_reuse copy_on_partial_reuse dtype tokens_per_block",
        "cache_transceiver_config": "backend max_tokens_in_buffer kv_transfer_timeout_ms",
        "cuda_graph_config": "batch_sizes max_batch_size enable_padding",
    }.items()
}
"""Fields of `LlmArgs`, and of the objects in some of its fields."""


class MisspeltField(NamedTuple):
    """A name that is a slip for a field. `parent` is the field with the object that has it; empty at the top."""

    parent: str
    name: str
    field: str

    def message(self, document: str) -> str:
        """Returns the message about a document with this name."""
        where = f"{self.parent} of {document}" if self.parent else document
        return f"`{self.name}` in {where} is not a field of TensorRT-LLM, so the worker ends at its start; write {self.field}"


def misspelt(document: Mapping[str, Any]) -> Iterator[MisspeltField]:
    """Yields the misspelt fields of a document, except for those that it has under the right name, too."""
    for parent, fields in _FIELDS.items():
        entries = mapping(document, parent) if parent else document
        for name in entries:
            near = (spelling.nearest(f"{name}", fields) or _switch(f"{name}", fields)) if name not in fields else ""
            if near and near not in entries:
                yield MisspeltField(parent, f"{name}", near)


def _switch(name: str, fields: Collection[str]) -> str:
    """Returns the field that turns on what a name says: `enable_chunked_prefill` for `chunked_prefill`; empty without one."""
    return f"enable_{name}" if f"enable_{name}" in fields else ""


def check(commands: Iterable[JudgedCommand]) -> Iterator[WorkerFinding]:
    """Yields a finding for each misspelt field in the overrides of a worker."""
    for judged in commands:
        use = judged.parsed.last(judged.table, _FLAG) if judged.command.program == _PROGRAM else None
        if use:
            for field in misspelt(use.document or {}):
                yield WorkerFinding(judged, ArgumentFinding(CODE, "warning", use.values[0], field.message(_FLAG), old=f'"{field.name}"'))
