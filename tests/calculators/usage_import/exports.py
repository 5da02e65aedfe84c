"""Small invented exports in each provider's column order, so that the tests need no other files.

EXPORTS maps a file's name to (bytes, kind that 'auto' must find). All values are made up; the tests show what they add
up to.
"""

from pathlib import Path

FOLDER = Path(__file__).parent / "exports"

KIND_OF = {
    "anthropic_usage.csv": "anthropic_usage",
    "anthropic_cost.csv": "anthropic_cost",
    "anthropic_usage.json": "anthropic_usage",
    "anthropic_cost.json": "anthropic_cost",
    "openai_usage.csv": "openai_usage",
    "openai_usage.json": "openai_usage",
    "openai_costs.csv": "openai_costs",
    "openai_costs.json": "openai_costs",
    "openrouter_daily.csv": "openrouter",
    "openrouter.json": "openrouter",
    "openrouter_generations.csv": "openrouter",
    "litellm_daily.json": "litellm_daily",
    "litellm_logs.csv": "litellm_logs",
    "litellm_export.csv": "litellm_export",
    "deepseek_usage.csv": "deepseek_usage",
    "deepseek_cost.csv": "deepseek_cost",
    "langfuse.csv": "langfuse",
    "langfuse_daily.json": "langfuse",
    "helicone.csv": "helicone",
    "focus.csv": "focus",
    "focus_money_text.csv": "focus",
    "aws_cur.csv": "aws_cur",
    "aws_cur2.csv": "aws_cur",
    "azure_cost.csv": "azure_cost",
    "gcp_billing.jsonl": "gcp_billing",
    "azure_trace.csv": "azure_trace",
    "burstgpt.csv": "burstgpt",
    "mooncake.jsonl": "mooncake",
    "german.csv": "generic",
    "generic.csv": "generic",
    "vllm.json": "vllm_bench",
    "sglang.jsonl": "sglang_bench",
    "inferencex.json": "inferencex",
    "inferencex.csv": "inferencex",
    "guidellm.json": "guidellm",
    "inference_perf.json": "inference_perf",
    "llmd.yaml": "llmd_report",
    "llmd.json": "llmd_report",
}


def vllm_metrics(prompt: int, output: int, requests: int, *, ttft_s: float, hits: int = 0, at: str = "") -> bytes:
    """Write a scrape of a server with two engines that share the counts."""
    lines = [f"# scraped_at {at}"] if at else []
    lines += [
        "# HELP vllm:prompt_tokens_total Number of prefill tokens processed.",
        "# TYPE vllm:prompt_tokens_total counter",
    ]
    shares = [[n // 2 for n in (prompt, output, requests)], [n - n // 2 for n in (prompt, output, requests)]]
    for engine, (given, out, count) in enumerate(shares):
        tag = f'engine="{engine}",model_name="alpha"'
        for name, value in (
            ("prompt_tokens_total", given),
            ("generation_tokens_total", out),
            ("prefix_cache_queries_total", given),
            ("prefix_cache_hits_total", hits / 2),
            ("time_to_first_token_seconds_sum", ttft_s / 2),
            ("time_to_first_token_seconds_count", count),
        ):
            lines.append(f"vllm:{name}{{{tag}}} {float(value)}")
        lines.append(f'vllm:time_to_first_token_seconds_bucket{{{tag},le="+Inf"}} {float(count)}')
    return ("\n".join(lines) + "\n").encode()


METRICS = vllm_metrics(1000, 100, 10, ttft_s=5.0)

EXPORTS = {name: ((FOLDER / name).read_bytes(), kind) for name, kind in KIND_OF.items()}
EXPORTS["metrics.prom"] = (METRICS, "vllm_metrics")

OPENAI_USAGE = EXPORTS["openai_usage.csv"][0]
OPENAI_USAGE_API = EXPORTS["openai_usage.json"][0]
VLLM = EXPORTS["vllm.json"][0]
INFERENCEX = EXPORTS["inferencex.json"][0]
