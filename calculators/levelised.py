"""Levelised cost: USD per million tokens over the horizon, in all and by kind of token.

Levelised cost = present value of all that own machines cost, residual value taken off, / present value of the tokens
they serve (the usual levelised cost of a product). By kind, the cost is split by the machine time that each kind takes:
prefill makes new input, decode makes output; cached input skips prefill and is charged nothing of its own.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from calculators.cashflow import evaluate_flow, monthly_rate
from calculators.evaluate import site_inputs
from calculators.report import Report, scalar_terms
from calculators.sizing import prefill_share, size
from calculators.units import TOKENS_PER_MTOK


@dataclass(frozen=True)
class Levelised:
    """USD per million tokens; a kind that is not served is None. ``prefill_share`` is its share of the machine time."""

    usd_per_mtok: float
    new_input_usd_per_mtok: float | None
    cached_input_usd_per_mtok: float | None
    output_usd_per_mtok: float
    prefill_share: float


def _prefill_share(report: Report) -> float:
    """Share of the machines' time that goes into prefill at the operating point."""
    x = site_inputs(report.inputs)
    known = float(report.result.sizing.concurrency)
    if math.isnan(known):  # an own load test does not say it: the split between prompts and decode is then the model's
        known = max(float(size(replace(x, measured_output_tokens_per_s=math.nan)).concurrency), 1.0)
    return prefill_share(x, known)


def levelised(report: Report) -> Levelised | None:
    """Levelised cost of a report's scenario; None where nothing is served."""
    if report.status is None or float(report.result.served_requests_per_month) <= 0:
        return None
    terms = scalar_terms(report.result.terms)
    months = np.arange(int(terms.horizon_months))
    factor = np.exp(-np.log1p(monthly_rate(terms.discount_rate_per_year)) * (months + 1.0))
    served = np.broadcast_to(terms.served_requests(months), months.shape)
    value = terms.api_usd_per_request * np.broadcast_to(terms.price_level(months), months.shape) * served
    # what is left of the API value after all costs is the NPV, so the costs are the value less the NPV
    cost = float((value * factor).sum()) - float(evaluate_flow(terms, extend=False).npv_usd)
    requests = float((served * factor).sum())
    i = report.inputs
    ratio = float(np.asarray(i.token_ratio))
    given, out = float(np.asarray(i.input_tokens)) * ratio, float(np.asarray(i.output_tokens)) * ratio
    reuse = float(np.asarray(i.serving_cached_share))
    per_request = cost / requests
    share = _prefill_share(report) if reuse < 1 else 0.0
    new = given * (1 - reuse)
    return Levelised(
        usd_per_mtok=per_request / (given + out) * TOKENS_PER_MTOK,
        new_input_usd_per_mtok=per_request * share / new * TOKENS_PER_MTOK if new > 0 else None,
        cached_input_usd_per_mtok=0.0 if reuse > 0 else None,
        output_usd_per_mtok=per_request * (1 - share) / out * TOKENS_PER_MTOK,
        prefill_share=share,
    )
