"""Mistakes in command lines of engines, by family: what people write wrongly, and the remedy that the finding must name.

Each row has the program, the flags of the line, the code, the word at which the finding stands, and a part of the remedy. The image has
version 1.5.1 unless the row names another.
"""

from __future__ import annotations

from typing import NamedTuple

VERSION = "1.5.1"
_MODEL = {
    "sglang": "--model-path acme/tiny",
    "trtllm": "--model acme/tiny",
    "vllm": "--model acme/tiny",
    "mocker": "--model-path acme/tiny",
}


class Mistake(NamedTuple):
    """A command line with one mistake."""

    family: str
    program: str
    flags: str
    code: str
    word: str
    remedy: str
    version: str = VERSION

    @property
    def line(self) -> str:
        """The line for a shell, with each flag in a line of its own."""
        parts = [_MODEL.get(self.program, ""), *self.flags.split(" ~ ")]
        return " \\\n  ".join([f"exec python3 -m dynamo.{self.program}", *filter(None, parts)]) + "\n"


def _typos() -> list[Mistake]:
    """Flags with a wrong letter, and the right flag."""
    rows = {
        "vllm": [
            ("--tensor-paralel-size 2", "--tensor-parallel-size"),
            ("--max-model-length 4096", "--max-model-len"),
            ("--max-modle-length 4096", "--max-model-len"),
            ("--max-modellen 4096", "--max-model-len"),
            ("--max-num-seqz 4", "--max-num-seqs"),
            ("--gpu-memory-utilisation 0.9", "--gpu-memory-utilization"),
            ("--gpu-mem-utilization 0.9", "--gpu-memory-utilization"),
            ("--enable-prefix-cache", "--enable-prefix-caching"),
            ("--enable-prefixcaching", "--enable-prefix-caching"),
            ("--no-enable-prefix-cachin-g", "--no-enable-prefix-caching"),
            ("--no-prefix-caching", "write --no-enable-prefix-caching"),
            ("--enforce-eagerly", "--enforce-eager"),
            ("--served-models-name tiny", "--served-model-name"),
            ("--kv-transfer-configs {}", "--kv-transfer-config"),
            ("--kv-events-configs {}", "--kv-events-config"),
            ("--disagregation-mode prefill", "--disaggregation-mode"),
            ("--disaggregation-mod prefill", "--disaggregation-mode"),
            ("--disaggregation_mode prefill", "--disaggregation-mode"),
            ("--dyn-tool-call-parsers hermes", "--dyn-tool-call-parser"),
            ("--dyn-reasoning-parser-s qwen3", "--dyn-reasoning-parser"),
            ("--enable-exper-parallel", "--enable-expert-parallel"),
            ("--trust-remotecode", "--trust-remote-code"),
            ("--quantisation fp8", "--quantization"),
            ("--kv-cache-dtypes fp8", "--kv-cache-dtype"),
            ("--enable-chunked-prefil-l", "--enable-chunked-prefill"),
            ("--max-lora-ranks 16", "--max-lora-rank"),
            ("--enable-loras", "--enable-lora"),
            ("--data-paralel-size 2", "--data-parallel-size"),
            ("--pipeline-paralel-size 2", "--pipeline-parallel-size"),
            ("--swap-spaces 4", "remove it and the word behind it"),
            ("-xyz 4 5", "remove it and the 2 words behind it"),
        ],
        "sglang": [
            ("--tp-sizes 2", "--tp-size"),
            ("--mem-fraction-statics 0.8", "--mem-fraction-static"),
            ("--mem-fraction_static 0.8", "--mem-fraction-static"),
            ("--disaggregation-modes prefill", "--disaggregation-mode"),
            ("--disaggregation-transfer-backends nixl", "--disaggregation-transfer-backend"),
            ("--trust-remote-codes", "--trust-remote-code"),
            ("--page-sizes 16", "--page-size"),
            ("--context-lengths 4096", "--context-length"),
            ("--chunked-prefill-sizes 4096", "--chunked-prefill-size"),
            ("--enable-dp-attentions", "--enable-dp-attention"),
            ("--skip-tokenizer-inits", "--skip-tokenizer-init"),
            ("--served-model-names tiny", "--served-model-name"),
            ("--disable-radix-caches", "--disable-radix-cache"),
            ("--schedule-polici fcfs", "--schedule-policy"),
            ("--max-running-request-s 8", "--max-running-requests"),
            ("--attention-backends triton", "--attention-backend"),
        ],
        "trtllm": [
            ("--tensor-parallel-sizes 2", "--tensor-parallel-size"),
            ("--free-gpu-memory-fractions 0.8", "--free-gpu-memory-fraction"),
            ("--max-batchsize 8", "--max-batch-size"),
            ("--max-num-token-s 8", "--max-num-tokens"),
            ("--max-seq-length 4096", "--max-seq-len"),
            ("--extra-engine-arg-s a.yaml", "--extra-engine-args"),
            ("--override-engine-argument {}", "--override-engine-args"),
            ("--kv-blocksize 32", "--kv-block-size"),
            ("--expert-paralel-size 2", "--expert-parallel-size"),
            ("--publish-kv-event-s", "--publish-kv-events"),
        ],
        "frontend": [
            ("--http-ports 8000", "--http-port"),
            ("--router-modes kv", "--router-mode"),
            ("--router-temperatures 0.5", "--router-temperature"),
            ("--kv-cache-blocksize 16", "--kv-cache-block-size"),
            ("--migration-limits 3", "--migration-limit"),
            ("--router_mode kv", "--router-mode"),
        ],
        "mocker": [
            ("--speedup-ratios 2", "--speedup-ratio"),
            ("--block-sizes 16", "--block-size"),
            ("--num-gpu-blocks-overrides 16", "--num-gpu-blocks-override"),
            ("--engine-types vllm", "--engine-type"),
        ],
    }
    return [
        Mistake("a flag with a typing mistake", program, flags, "DYN600", flags.split(" ~ ")[-1].split()[0], remedy)
        for program, listed in rows.items()
        for flags, remedy in listed
    ]


def _values(family: str, code: str, rows: dict[str, list[tuple[str, str, str]]]) -> list[Mistake]:
    """Rows with the flags, the word of the finding, and the remedy."""
    return [Mistake(family, program, flags, code, word, remedy) for program, listed in rows.items() for flags, word, remedy in listed]


_CHOICES = _values(
    "a value that the flag does not have",
    "DYN604",
    {
        "vllm": [
            ("--disaggregation-mode prefil", "prefil", "write prefill"),
            ("--disaggregation-mode decoder", "decoder", "write decode"),
            ("--disaggregation-mode=Prefill", "Prefill", "write prefill"),
            ("--dtype bfloat", "bfloat", "bfloat16"),
            ("--dtype fp16", "fp16", "half"),
            ("--dtype int8", "int8", "auto"),
            ("--kv-cache-dtype fp9", "fp9", "write fp8"),
            ("--kv-cache-dtype fp8_e5m3", "fp8_e5m3", "fp8_e5m2"),
            ("--kv-cache-dtype int8", "int8", "write one of"),
            ("--max-lora-rank 20", "20", "256"),
            ("--max-lora-rank=48", "48", "256"),
            ("--router-mode round_robin", "round_robin", "write round-robin"),
            ("--router-mode kv-aware", "kv-aware", "kv"),
            ("--runner generation", "generation", "write generate"),
            ("--runner embed", "embed", "pooling"),
            ("--convert embedding", "embedding", "write embed"),
            ("--event-plane tcp", "tcp", "nats, zmq"),
            ("--request-plane http", "http", "nats, tcp"),
            ("--discovery-backend kubernets", "kubernets", "write kubernetes"),
            ("--discovery-backend consul", "consul", "etcd"),
        ],
        "sglang": [
            ("--disaggregation-mode prefil", "prefil", "write prefill"),
            ("--disaggregation-transfer-backend nixle", "nixle", "write nixl"),
            ("--disaggregation-transfer-backend ucx", "ucx", "mooncake"),
            ("--dtype fp16", "fp16", "half"),
            ("--kv-cache-dtype fp8", "fp8", "fp8_e4m3"),
            ("--kv-cache-dtype fp8_e4m2", "fp8_e4m2", "fp8_e4m3"),
            ("--load-balance-method round-robin", "round-robin", "write round_robin"),
            ("--quantization fp-8", "fp-8", "write fp8"),
            ("--quantization nf4", "nf4", "awq"),
            ("--schedule-policy fifo", "fifo", "fcfs"),
        ],
        "trtllm": [
            ("--disaggregation-mode prefill_first", "prefill_first", "prefill"),
            ("--disaggregation-mode prefil", "prefil", "write prefill"),
            ("--modality texts", "texts", "write text"),
            ("--modality image", "image", "image_diffusion"),
            ("--torch-dtype float-16", "float-16", "write float16"),
            ("--torch-dtype fp8", "fp8", "float16"),
            ("--quant-algo fp8", "fp8", "FP8"),
            ("--guided-decoding-backend outlines", "outlines", "xgrammar"),
        ],
        "frontend": [
            ("--router-mode kv_aware", "kv_aware", "kv"),
            ("--router-mode roundrobin", "roundrobin", "write round-robin"),
            ("--router-mode KV", "KV", "kv"),
            ("--tokenizer fast-tokens", "fast-tokens", "write fastokens"),
        ],
        "mocker": [
            ("--engine-type vlm", "vlm", "write vllm"),
            ("--disaggregation-mode encode", "encode", "decode"),
        ],
    },
)
_TYPES = _values(
    "a value of the wrong type",
    "DYN605",
    {
        "vllm": [
            ("--tensor-parallel-size two", "two", "an integer"),
            ("--tensor-parallel-size 2.0", "2.0", "an integer"),
            ("--tensor-parallel-size=auto", "auto", "an integer"),
            ("-tp 4x", "4x", "an integer"),
            ("--max-model-len 4,096", "4,096", "an integer"),
            ("--max-model-len 32kb", "32kb", "an integer"),
            ("--max-model-len large", "large", "an integer"),
            ("--max-num-seqs 1e3", "1e3", "an integer"),
            ("--max-num-seqs 256.", "256.", "an integer"),
            ("--gpu-memory-utilization 90%", "90%", "write 0.9"),
            ("--gpu-memory-utilization 0,9", "0,9", "a number"),
            ("--block-size 16k", "16k", "an integer"),
            ("--seed none", "none", "an integer"),
            ("--max-num-batched-tokens 8K5", "8K5", "an integer"),
            ("--nnodes one", "one", "an integer"),
            ("--cpu-offload-gb 10G", "10G", "a number"),
            ("--max-loras many", "many", "an integer"),
            ("--shutdown-timeout 30s", "30s", "an integer"),
            ("--router-temperature hot", "hot", "a number"),
        ],
        "sglang": [
            ("--tp two", "two", "an integer"),
            ("--tp-size=2.0", "2.0", "an integer"),
            ("--mem-fraction-static 80%", "80%", "a number"),
            ("--page-size 16k", "16k", "an integer"),
            ("--chunked-prefill-size 8k", "8k", "an integer"),
            ("--max-running-requests 1e3", "1e3", "an integer"),
            ("--dp-size all", "all", "an integer"),
            ("--cuda-graph-bs-decode 1 2 x", "x", "an integer"),
        ],
        "trtllm": [
            ("--tensor-parallel-size two", "two", "an integer"),
            ("--free-gpu-memory-fraction 80%", "80%", "a number"),
            ("--max-batch-size 8k", "8k", "an integer"),
            ("--max-num-tokens=8,192", "8,192", "an integer"),
            ("--max-seq-len 32k", "32k", "an integer"),
            ("--kv-block-size auto", "auto", "an integer"),
        ],
        "frontend": [
            ("--http-port http", "http", "an integer"),
            ("--router-temperature low", "low", "a number"),
            ("--kv-cache-block-size 16k", "16k", "an integer"),
            ("--migration-limit none", "none", "an integer"),
        ],
        "mocker": [("--speedup-ratio fast", "fast", "a number"), ("--block-size auto", "auto", "an integer")],
    },
)
_RANGES = [
    *_values(
        "a number that the engine refuses",
        "DYN644",
        {
            "vllm": [
                ("--gpu-memory-utilization 90", "90", "above 0 and up to 1, not `90`; write 0.9"),
                ("--gpu-memory-utilization=85", "85", "write 0.85"),
                ("--gpu-memory-utilization 1.5", "1.5", "write 0.9"),
                ("--gpu-memory-utilization 0", "0", "write 0.9"),
                ("--gpu-memory-utilization -0.5", "-0.5", "write 0.5"),
                ("--max-num-seqs 0", "0", "a number from 1 on, not `0`; remove it, which leaves the default"),
                ("--max-num-batched-tokens -1", "-1", "remove it"),
                ("--max-num-seqs -16", "-16", "write 16"),
                ("--max-model-len -5", "-5", "write -1"),
                ("--max-model-len -4096", "-4096", "a number from -1 on, not `-4096`; write 4096"),
            ],
            "trtllm": [("--free-gpu-memory-fraction 95", "95", "a number from 0 to 1, not `95`; write 0.95")],
            "frontend": [
                ("--http-port 80000", "80000", "a number from 0 to 65535, not `80000`; write 8000"),
                ("--http-port=65599", "65599", "write a number from 0 to 65535"),
                ("--kv-cache-block-size -16", "-16", "write 16"),
            ],
        },
    ),
    Mistake(
        "a number that the engine refuses",
        "vllm",
        "--tensor-parallel-size 0",
        "DYN644",
        "0",
        "write the number of GPUs of the pod",
        "1.6.1",
    ),
    Mistake("a number that the engine refuses", "vllm", "-dp -2", "DYN644", "-2", "`-dp` of dynamo.vllm 1.6.1 (vllm 0.31.0)", "1.6.1"),
    Mistake("a number that the engine refuses", "vllm", "--block-size 0", "DYN644", "0", "write 16", "1.6.1"),
    *_values(
        "a number with which the engine fails later",
        "DYN644",
        {
            "sglang": [
                ("--mem-fraction-static 85", "85", "write 0.85"),
                ("--tp 0", "0", "write the number of GPUs of the pod"),
                ("--page-size -64", "-64", "write 64"),
                ("--max-running-requests 0", "0", "remove it"),
                ("--disaggregation-bootstrap-port 89980", "89980", "write 8998"),
                ("--nccl-port 70001", "70001", "write a number from 0 to 65535"),
            ],
            "trtllm": [("--tensor-parallel-size -2", "-2", "write 2")],
            "vllm": [
                ("--master-port 295000", "295000", "write 29500"),
                ("--block-size 17", "17", "needs a multiple of 16, not `17`; write 16"),
            ],
        },
    ),
    Mistake("a number with which the engine fails later", "vllm", "--pipeline-parallel-size 0", "DYN644", "0", "write 1", "1.0.1"),
]
_MISSING = _values(
    "a flag without its value",
    "DYN602",
    {
        "vllm": [
            ("--max-model-len", "--max-model-len", "write it behind"),
            ("--max-model-len ~ --enforce-eager", "--max-model-len", "write it behind"),
            ("--served-model-name ~ --enforce-eager", "--served-model-name", "at least one value"),
            ("--kv-transfer-config ~ --disaggregation-mode prefill", "--kv-transfer-config", "write it behind"),
            ("--disaggregation-mode ~ --enforce-eager", "--disaggregation-mode", "write it behind"),
            ("--tensor-parallel-size", "--tensor-parallel-size", "write it behind"),
            ("-tp ~ -pp 1", "-tp", "write it behind"),
            ("--tokenizer -- x", "--tokenizer", "write it behind"),
        ],
        "sglang": [
            ("--tp ~ --trust-remote-code", "--tp", "write it behind"),
            ("--page-size", "--page-size", "write it behind"),
            ("--disaggregation-mode ~ --skip-tokenizer-init", "--disaggregation-mode", "write it behind"),
        ],
        "trtllm": [
            ("--extra-engine-args", "--extra-engine-args", "write it behind"),
            ("--max-seq-len ~ --skip-warmup", "--max-seq-len", "write it behind"),
        ],
        "frontend": [
            ("--router-mode", "--router-mode", "write it behind"),
            ("--http-port ~ --router-mode kv", "--http-port", "write it behind"),
        ],
        "mocker": [("--block-size", "--block-size", "write it behind")],
    },
)
_SUPERFLUOUS = _values(
    "a value too many",
    "DYN603",
    {
        "vllm": [
            ("--enforce-eager true", "true", "remove it"),
            ("--enforce-eager=true", "true", "--no-enforce-eager"),
            ("--enable-prefix-caching False", "False", "remove it"),
            ("--no-enable-prefix-caching=1", "1", "remove the value"),
            ("--trust-remote-code yes", "yes", "remove it"),
            ("--tensor-parallel-size 2 4", "4", "remove it"),
            ("--enable-lora=false", "false", "--no-enable-lora"),
            ("--model acme/tiny acme/small", "acme/small", "remove it"),
            ("--dtype auto half", "half", "remove it"),
        ],
        "sglang": [
            ("--trust-remote-code true", "true", "remove it"),
            ("--enable-dp-attention=true", "true", "remove the value"),
            ("--disable-radix-cache False", "False", "remove it"),
            ("--tp 2 4", "4", "remove it"),
            ("--served-model-name tiny other", "other", "remove it"),
        ],
        "trtllm": [
            ("--publish-kv-events true", "true", "remove it"),
            ("--skip-warmup=1", "1", "--no-skip-warmup"),
            ("--served-model-name a b", "b", "remove it"),
        ],
        "frontend": [("--router-replica-sync true", "true", "remove it"), ("--router-kv-events=false", "false", "--no-router-kv-events")],
        "mocker": [("--enable-prefix-caching true", "true", "remove it")],
    },
)
_JSON = _values(
    "a value that is not JSON",
    "DYN606",
    {
        "vllm": [
            ("--kv-transfer-config '{kv_connector: NixlConnector}'", "{kv_connector: NixlConnector}", "double quotes"),
            ("""--kv-transfer-config "{'kv_connector': 'NixlConnector'}\"""", "{'kv_connector': 'NixlConnector'}", "double quotes"),
            ("""--kv-transfer-config '{"kv_connector":"NixlConnector",}'""", '{"kv_connector":"NixlConnector",}', "; remove the comma"),
            ("""--kv-transfer-config '{"kv_connector":"NixlConnector"'""", '{"kv_connector":"NixlConnector"', "; write it there"),
            ("--kv-transfer-config NixlConnector", "NixlConnector", "double quotes"),
            ("--compilation-config '{level: 3}'", "{level: 3}", "double quotes"),
            ("--speculative-config '{\"method\": eagle}'", '{"method": eagle}', "double quotes"),
            ("--limit-mm-per-prompt image=2", "image=2", '{"image":2}'),
            ("--limit-mm-per-prompt image=2,video=1", "image=2,video=1", '{"image":2,"video":1}'),
            ("--limit-mm-per-prompt image=a", "image=a", "double quotes"),
            ("""--hf-overrides '{"rope_parameters": {"rope_type": "yarn"}'""", '{"rope_parameters"', "a `}` is missing at its end"),
            ("""--kv-events-config '{"publisher": True}'""", '{"publisher": True}', "; write true"),
        ],
        "trtllm": [
            ("""--override-engine-args '{"kv_cache_config": {"dtype": "fp8"}'""", '{"kv_cache_config"', "a `}` is missing at its end"),
        ],
        "planner": [("""--config '{"backend": "vllm"'""", '{"backend"', "a `}` is missing at its end")],
        "sglang": [
            ("""--json-model-override-args '{"a": True}'""", '{"a"', "`True` is `true` in JSON"),
            ("""--kv-events-config '{"publisher" "zmq"}'""", '{"publisher"', 'before `"zmq"}`, a colon is missing'),
            ("--default-chat-template-kwargs thinking=true", "thinking=true", "double quotes"),
            ("--default-chat-template-kwargs '{thinking: true}'", "{thinking: true}", "double quotes"),
        ],
        "frontend": [("--router-conditional-disagg-config '{a: 1}'", "{a: 1}", "double quotes")],
    },
)
_TORN = _values(
    "a JSON document without the quotes that a shell needs",
    "DYN629",
    {
        "vllm": [
            (
                """--kv-transfer-config {"kv_connector":"NixlConnector","kv_role":"kv_both"}""",
                '{"kv_connector":"NixlConnector"',
                """write --kv-transfer-config '{"kv_connector":"NixlConnector","kv_role":"kv_both"}'""",
            ),
            (
                """--kv-transfer-config {"kv_connector": "NixlConnector", "kv_role": "kv_both"}""",
                '{"kv_connector":',
                """write --kv-transfer-config '{"kv_connector": "NixlConnector", "kv_role": "kv_both"}'""",
            ),
            ("""--kv_transfer_config={"kv_role":"kv_both"}""", '--kv_transfer_config={"kv_role"', """'{"kv_role":"kv_both"}'"""),
            ("""--kv-events-config "{"publisher": "zmq"}\"""", '"{"publisher":', """'{"publisher": "zmq"}'"""),
            ("""--compilation-config {"mode":3}""", '{"mode":3}', """'{"mode":3}'"""),
            ("""--kv-transfer-config {"kv_role":"kv_both","engine_id":"$HOSTNAME"}""", '{"kv_role"', '\\"engine_id\\":\\"$HOSTNAME\\"}"'),
            ("""--hf-overrides {"rope_parameters": {"rope_type": "yarn"}}""", '{"rope_parameters":', "'{"),
        ],
        "sglang": [
            ("""--kv-events-config {"publisher":"zmq"}""", '{"publisher"', """'{"publisher":"zmq"}'"""),
            ("""--json-model-override-args {"max_position_embeddings": 8192}""", '{"max_position_embeddings":', "'{"),
        ],
        "trtllm": [("""--override-engine-args {"kv_cache_config": {"dtype": "fp8"}}""", '{"kv_cache_config":', "'{")],
    },
)
_FIELDS = [
    *_values(
        "a field that a JSON document does not have",
        "DYN630",
        {
            "vllm": [
                ("""--kv-transfer-config '{"kv_conector":"NixlConnector"}'""", "{", "write kv_connector"),
                ("""--kv-transfer-config '{"kv-connector":"NixlConnector","kv_role":"kv_both"}'""", "{", "write kv_connector"),
                ("""--kv-events-config '{"publisher":"zmq","topics":"kv"}'""", "{", "write topic"),
                ("""--compilation-config '{"level":3,"pass_config":{}}'""", "{", "remove it"),
                ("""--compilation-config '{"pass_config":{"enable_spp":true}}'""", "{", "write enable_sp"),
                ("""--speculative-config '{"method":"ngram","num_spec_tokens":3}'""", "{", "write num_speculative_tokens"),
                ("""--structured-outputs-config '{"reasoning_parsr":"qwen3"}'""", "{", "write reasoning_parser"),
                ("--kv-transfer-config.kv_rol kv_both", "--kv-transfer-config.kv_rol", "write kv_role"),
            ],
            "sglang": [("""--cuda-graph-config '{"decode":{"backends":"full"}}'""", "{", "write backend")],
            "frontend": [("""--router-conditional-disagg-config '{"polcy":"x"}'""", "{", "write policy")],
        },
    ),
    *_values(
        "a field without effect",
        "DYN631",
        {
            "sglang": [("""--kv-events-config '{"publisher":"zmq","enable_kv_cache_events":true}'""", "{", "remove it")],
            "planner": [("""--config '{"backend":"vllm","optimization_targets":"sla"}'""", "{", "write optimization_target")],
        },
    ),
    *_values(
        "a value that a field does not have",
        "DYN604",
        {
            "vllm": [
                ("""--kv-transfer-config '{"kv_connector":"NixlConnector","kv_role":"both"}'""", "{", "write kv_both"),
                ("""--kv-events-config '{"publisher":"kafka"}'""", "{", "null, zmq"),
                ("--kv-transfer-config.kv_role both", "--kv-transfer-config.kv_role", "write kv_both"),
                ("""--speculative-config '{"method":"ngrams","num_speculative_tokens":3}'""", "{", "write ngram"),
                ("""--attention-config '{"backend":"FLASH_ATN"}'""", "{", "write FLASH_ATTN"),
            ],
            "sglang": [("""--kv-events-config '{"publisher":"kafka"}'""", "{", "null, zmq")],
            "planner": [("""--config '{"backend":"vlm"}'""", "{", "write vllm")],
        },
    ),
    *_values(
        "a field of the wrong type",
        "DYN605",
        {
            "vllm": [
                ("""--kv-transfer-config '{"kv_connector":"NixlConnector","kv_role":"kv_both","kv_port":"a"}'""", "{", "write an integer"),
                ("""--kv-events-config '{"enable_kv_cache_events":"si"}'""", "{", "write true or false"),
                ("""--compilation-config '{"cudagraph_capture_sizes":8}'""", "{", "write a list"),
                ("""--speculative-config '{"method":"ngram","num_speculative_tokens":0}'""", "{", "write an integer above 0"),
                ("--kv-transfer-config.kv_port a", "--kv-transfer-config.kv_port", "write an integer"),
            ],
            "planner": [("""--config '{"backend":"vllm","prophet_window_size":"day"}'""", "{", "write an integer")],
        },
    ),
    *_values(
        "a field that a JSON document lacks",
        "DYN632",
        {"vllm": [("""--kv-transfer-config '{"kv_connector":"NixlConnector"}'""", "{", "add kv_role")]},
    ),
]
_OTHERS = [
    Mistake(
        "a field that a JSON document does not have",
        "vllm",
        """--dyn-structural-tag '{"scopes":1}'""",
        "DYN630",
        "{",
        "write scope",
        "1.6.1",
    ),
    Mistake("an abbreviation of several flags", "vllm", "--max-num 4", "DYN607", "--max-num", "--max-num-seqs"),
    Mistake("an abbreviation of several flags", "vllm", "--data-parallel 2", "DYN607", "--data-parallel", "--data-parallel-size"),
    Mistake("an abbreviation of several flags", "vllm", "--enable-exp --enable-e", "DYN607", "--enable-e", "--enable-expert-parallel"),
    Mistake("an abbreviation of several flags", "sglang", "--disagg 2", "DYN607", "--disagg", "whole name"),
    Mistake("an abbreviation of several flags", "frontend", "--router 2", "DYN607", "--router", "whole name"),
    Mistake("an abbreviation of several flags", "trtllm", "--max 2", "DYN607", "--max", "--max-batch-size"),
    Mistake(
        "an abbreviation of several flags",
        "sglang",
        "--cuda-graph-max-bs 8",
        "DYN607",
        "--cuda-graph-max-bs",
        "write --cuda-graph-max-bs-decode",
        "1.6.1",
    ),
    Mistake("two values", "vllm", "--max-model-len 4096 ~ --max-model-len 8192", "DYN609", "--max-model-len 8192", "remove one"),
    Mistake("two values", "vllm", "-tp 2 ~ --tensor-parallel-size 4", "DYN609", "--tensor-parallel-size 4", "remove one"),
    Mistake("two values", "vllm", "--enable-lora ~ --no-enable-lora", "DYN609", "--no-enable-lora", "remove one"),
    Mistake("two values", "sglang", "--tp 2 ~ --tp-size 4", "DYN609", "--tp-size 4", "remove one"),
    Mistake("two values", "frontend", "--router-mode kv ~ --router-mode random", "DYN609", "--router-mode random", "remove one"),
    Mistake("two values", "trtllm", "--model acme/small", "DYN609", "--model acme/small", "remove one"),
    Mistake("a deprecated flag", "sglang", "--cuda-graph-max-bs 8", "DYN611", "--cuda-graph-max-bs", "--cuda-graph-max-bs-decode"),
    Mistake(
        "a deprecated flag",
        "sglang",
        "--disable-cuda-graph",
        "DYN611",
        "--disable-cuda-graph",
        "; write --cuda-graph-backend-decode=disabled --cuda-graph-backend-prefill=disabled",
    ),
    *(
        Mistake("a deprecated flag", "frontend", flags, "DYN611", flags.split()[0], f"; write {remedy} in --router-policy-config", "1.6.1")
        for flags, remedy in (
            ("--router-temperature 0.5", "router_temperature in the default policy parameters"),
            ("--router-queue-threshold 4", "policy_classes[].prefill_busy_threshold_frac"),
        )
    ),
    Mistake(
        "a deprecated flag",
        "sglang",
        "--enable-prefill-context-parallel",
        "DYN611",
        "--enable-prefill-context-parallel",
        "--enable-prefill-cp",
    ),
    Mistake("a deprecated flag", "mocker", "--is-prefill-worker", "DYN611", "--is-prefill-worker", "--disaggregation-mode=prefill"),
    Mistake(
        "a deprecated flag without a successor",
        "frontend",
        "--enforce-disagg",
        "DYN611",
        "--enforce-disagg",
        "a later release can remove it",
    ),
    Mistake("a deprecated name", "vllm", "--kv-overlap-score-weight 2 ~ --kv-events", "DYN611", "--kv-events", "--router-kv-events"),
    *(
        Mistake("a connector", "vllm", flags, "DYN643", flags.split()[0], remedy, version)
        for version, flags, remedy in (
            ("1.0.0", "--connector nixl", """write --kv-transfer-config '{"kv_connector":"NixlConnector","kv_role":"kv_both"}'"""),
            ("1.6.1", "--connector NONE", "remove it: no connector is the default"),
            ("1.6.1", "--connector nixl --kv-transfer-config {}", "; remove it"),
            ("1.6.1", "--connector nixl --disaggregation-mode decode", '"kv_role":"kv_consumer"}'),
            ("1.5.1", "--connector lmcache", '{"kv_connector":"LMCacheConnectorV1","kv_role":"kv_both"}'),
            ("1.5.1", "--connector kvbm nixl", '"kv_connector_module_path":"kvbm.vllm_integration.connector"}'),
            ("1.5.1", "--connector acme", "write --kv-transfer-config with its JSON document"),
            ("0.9.0", "--kv-transfer-config {}", "add --connector none"),
            ("0.9.1", "--kv-transfer-config {} --connector nixl", "write --connector none, or remove --kv-transfer-config"),
        )
    ),
    Mistake("no value that must be there", "planner", "", "DYN608", "dynamo.planner", "--config"),
    Mistake("a line that ends too early", "vllm", "--enforce-eager\n  --max-num-seqs 4", "DYN626", "--enforce-eager", "write one there"),
    Mistake("a line that ends too early", "sglang", "--tp 1\n  --page-size 16", "DYN626", "1", "write one there"),
    Mistake(
        "a line that ends too early", "vllm", "# --enforce-eager ~ --max-num-seqs 4", "DYN626", "# --enforce-eager", "above the command"
    ),
    Mistake("a line that ends too early", "trtllm", "--max-seq-len 8 # low ~ --skip-warmup", "DYN626", "# low", "above the command"),
    Mistake(
        "a line that ends too early", "frontend", "--router-mode kv ~ \n  --http-port 80", "DYN626", "--http-port", "remove the empty line"
    ),
    Mistake("a line that ends too early", "mocker", "\\ --block-size 16", "DYN626", "\\ --block-size", "end the line behind"),
    Mistake("words that are one word", "vllm", "'--max-num-seqs 4'", "DYN625", "'--max-num-seqs 4'", "remove the quotes"),
    Mistake("a file in place of a module", "vllm", "; python3 dynamo.vllm", "DYN624", "dynamo.vllm", "write -m before it"),
    Mistake("a variable that is missing", "vllm", "--max-num-seqs $(SEQS)", "DYN627", "$(SEQS)", "${SEQS}"),
    Mistake("a quote without an end", "vllm", "--served-model-name 'tiny", "DYN619", "'tiny", "close the quote"),
    Mistake("a quote without an end", "sglang", '--served-model-name "tiny', "DYN619", '"tiny', "close the quote"),
]


def _moved(program: str, version: str, rows: list[tuple[str, str]]) -> list[Mistake]:
    """Flags that another release has, and the remedy."""
    family = "a flag of another release"
    return [Mistake(family, program, flags, "DYN601", flags.split()[0].partition("=")[0], remedy, version) for flags, remedy in rows]


_MOVED = [
    *_moved(
        "vllm",
        "1.4.0",
        [
            ("--is-prefill-worker", "write --disaggregation-mode prefill"),
            ("--is-decode-worker", "write --disaggregation-mode decode"),
            ("--no-is-prefill-worker", "write --disaggregation-mode agg"),
            ("--multimodal-encode-worker", "write --enable-multimodal --disaggregation-mode encode"),
            ("--multimodal-worker", "write --enable-multimodal"),
            ("--durable-kv-events", "remove it"),
        ],
    ),
    *_moved(
        "vllm",
        "1.6.1",
        [
            ("--is-prefill-worker", "write --disaggregation-mode prefill"),
            ("--swap-space 4", "remove it"),
            ("--disable-log-requests", "write --no-enable-log-requests"),
            ("--max-num-partial-prefills 2", "remove it"),
            ("--calculate-kv-scales", "remove it"),
            ("--migration-limit 3", "write --migration-limit in the command of dynamo.frontend"),
            ("--store-kv etcd", "write --discovery-backend"),
            ("--enable-local-indexer true", "remove it"),
            ("--omni", "dynamo.vllm.omni"),
        ],
    ),
    *_moved("vllm", "1.0.0", [("--store-kv etcd", "write --discovery-backend")]),
    *_moved("vllm", "0.9.0", [("--discovery-backend etcd", "it exists since 1.0.0; write --store-kv, its earlier name")]),
    *_moved("frontend", "0.9.0", [("--discovery-backend etcd", "write --store-kv, its earlier name")]),
    *_moved("vllm", "0.9.0", [("--disaggregation-mode prefill", "exists since"), ("--classify-worker", "exists since")]),
    *_moved(
        "sglang",
        "1.6.1",
        [
            ("--nsa-prefill-backend x", "write --dsa-prefill-backend"),
            ("--stream-output", "write --incremental-streaming-output"),
            ("--enable-double-sparsity", "remove it: SGLang removed double sparsity"),
            ("--keep-mm-feature-on-device", "write --mm-feature-transport=cuda_ipc"),
            ("--multimodal-encode-worker", "write --enable-multimodal --disaggregation-mode encode"),
            ("--migration-limit 3", "write --migration-limit in the command of dynamo.frontend"),
            ("--hybrid-kvcache-ratio 0.5", "write --swa-full-tokens-ratio"),
        ],
    ),
    *_moved("trtllm", "1.6.1", [("--migration-limit 3", "in the command of dynamo.frontend")]),
    *_moved("trtllm", "1.0.0", [("--store-kv etcd", "write --discovery-backend")]),
    *_moved("frontend", "1.6.1", [("--store-kv etcd", "write --discovery-backend")]),
    *_moved("frontend", "1.4.0", [("--router-durable-kv-events", "remove it"), ("--durable-kv-events", "remove it")]),
    *_moved(
        "planner", "1.5.1", [("--environment kubernetes", "write --config with the field environment"), ("--ttft 0.5", "write --config")]
    ),
    *_moved("mocker", "1.5.1", [("--num-g2-blocks 8", "remove it"), ("--store-kv etcd", "write --discovery-backend")]),
]
_FOREIGN = [
    Mistake("a flag of another engine or release", program, flags, "DYN600", flags.split()[0].partition("=")[0], remedy, version)
    for program, version, rows in (
        (
            "vllm",
            "1.5.1",
            [
                ("--tp-size 2", "SGLang, not of dynamo.vllm 1.5.1 (vllm 0.28.0); write --tensor-parallel-size"),
                ("--mem-fraction-static=0.8", "write --gpu-memory-utilization with the part of all memory"),
                ("--max-batch-size 8", "dynamo.trtllm, not of dynamo.vllm 1.5.1 (vllm 0.28.0); write --max-num-seqs"),
                ("--n-gpu-layers 99", "llama.cpp, not of dynamo.vllm 1.5.1 (vllm 0.28.0); remove it"),
                ("--num-shard 2", "TGI, not of dynamo.vllm 1.5.1 (vllm 0.28.0); write --tensor-parallel-size"),
                (
                    "--guided-decoding-backend xgrammar",
                    "vLLM 0.10.2, not of dynamo.vllm 1.5.1 (vllm 0.28.0); write --structured-outputs-config.backend",
                ),
                ("--num-scheduler-steps 8", "remove it: the engine has no scheduling of several steps"),
                ("--use-v2-block-manager", "remove it"),
                ("--enable-auto-tool-choice", "remove it: --dyn-tool-call-parser turns tool calls on"),
                ("--port 8000", "remove it: dynamo.frontend serves HTTP, on port 8000 or --http-port"),
            ],
        ),
        ("vllm", "1.4.0", [("--router-mode kv", "write --router-mode in the command of dynamo.frontend, or remove it")]),
        (
            "sglang",
            "1.5.1",
            [
                ("--max-model-len 4096", "write --context-length"),
                ("--enforce-eager", "write --cuda-graph-backend-decode=disabled --cuda-graph-backend-prefill=disabled"),
                ("--enable-ep-moe", "write --ep-size with the value of --tp-size"),
            ],
        ),
        ("sglang", "1.0.0", [("--enforce-eager", "write --disable-cuda-graph")]),
        (
            "trtllm",
            "1.5.1",
            [
                ("--max-model-len 4096", "write --max-seq-len"),
                ("--tp_size 2", "write --tensor-parallel-size"),
                (
                    "--extra_llm_api_options a.yaml",
                    "trtllm-serve, not of dynamo.trtllm 1.5.1 (tensorrt-llm 1.3.0rc25); write --extra-engine-args",
                ),
                ("--disaggregation-strategy decode_first", "Dynamo 0.6.1"),
            ],
        ),
        ("frontend", "1.5.1", [("--port 8000", "write --http-port"), ("--tensor-parallel-size 2", "is a flag of dynamo.vllm")]),
    )
    for flags, remedy in rows
]
_REMEDIES = [
    Mistake("a dash of an editor", "vllm", "\u2013-max-model-len 4096", "DYN600", "\u2013-max-model-len", "no hyphen, so it is not a flag"),
    Mistake("one long dash", "vllm", "\u2014seed 1", "DYN600", "\u2014seed", "write --seed"),
    Mistake("a flag in quotes", "vllm", "'\"--seed\"' 1", "DYN600", '"--seed"', "write --seed"),
    Mistake(
        "a word less, of the router",
        "frontend",
        "--router-kv-overlap-weight 1.0",
        "DYN600",
        "--router-kv-overlap-weight",
        "write --router-kv-overlap-score-weight",
        "1.5.1",
    ),
    Mistake("a word less", "vllm", "--dyn-tool-parser hermes", "DYN600", "--dyn-tool-parser", "write --dyn-tool-call-parser"),
    Mistake("the beginning of a value", "vllm", "--dtype bfloat", "DYN604", "bfloat", "write bfloat16"),
    Mistake("the beginning of a value", "vllm", "--dyn-tool-call-parser llama3", "DYN604", "llama3", "write llama3_json"),
    Mistake("a value in quotes", "vllm", "--dyn-tool-call-parser '\"hermes\"'", "DYN604", "hermes", "remove the quotes: write hermes"),
    Mistake("a value of a later release", "vllm", "--dyn-reasoning-parser kimi_k3", "DYN604", "kimi_k3", "a value since 1.", "1.0.1"),
    Mistake("a flag of SGLang", "mocker", "--page-size 16", "DYN600", "--page-size", "write --block-size"),
    Mistake("a joined line", "vllm", "--seed 1\\\n--max-num-seqs 4", "DYN626", "1", "write a blank before the backslash"),
    Mistake(
        "flags that exclude each other",
        "vllm",
        "--is-prefill-worker ~ --is-decode-worker",
        "DYN609",
        "--is-decode-worker",
        "remove one of them",
        "1.3.1",
    ),
]
ALL = [
    *_REMEDIES,
    *_FOREIGN,
    *_MOVED,
    *_typos(),
    *_CHOICES,
    *_TYPES,
    *_RANGES,
    *_MISSING,
    *_SUPERFLUOUS,
    *_JSON,
    *_TORN,
    *_FIELDS,
    *_OTHERS,
]
"""All mistakes."""
