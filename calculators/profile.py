"""Hours of the week: how much of a demand own machines can take when the demand is not flat.

A profile is 168 weights (Monday 00:00 UTC first) with mean 1. In each hour the machines serve the lesser of the demand
and the planned share of their capacity; the rest goes to the API.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from calculators.units import HOURS_PER_WEEK

Array = npt.NDArray[np.float64]

_ALPHABET: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
FLAT: Final = (1.0,) * HOURS_PER_WEEK


def encode_weights(weights: Sequence[float]) -> str:
    """Write 168 weights as 168 characters, 64 levels relative to the largest, so that a link can carry them.

    Raises:
        ValueError: not 168 weights, a negative one, or all zero.
    """
    values = np.asarray(weights, dtype=float)
    if values.shape != (HOURS_PER_WEEK,) or not np.all(np.isfinite(values)) or values.min() < 0 or values.max() <= 0:
        raise ValueError("A week's profile needs 168 weights, none negative and at least one above zero.")
    return "".join(_ALPHABET[round(float(v))] for v in values / values.max() * 63.0)


def decode_weights(text: str) -> tuple[float, ...]:
    """Read 168 characters back into weights with mean 1; all 'A' (nothing at all) reads as flat."""
    levels = np.array([_ALPHABET.index(c) for c in text], dtype=float)
    if levels.shape != (HOURS_PER_WEEK,) or levels.sum() == 0:
        return FLAT
    return tuple(float(v) for v in levels / levels.mean())


@lru_cache(maxsize=64)
def _table(weights: tuple[float, ...], rented_share: float) -> tuple[Array, Array]:
    """Breakpoints of the used share of capacity as a function of demand / planned capacity.

    used(x) = sum over hours i of q_i min(x w_i, 1) / 168, with q_i the part of hour i in which machines are rented
    (the hours with the most demand first). It is piecewise linear with a kink at each x = 1 / w_i.
    """
    w = np.sort(np.asarray(weights, dtype=float))[::-1]
    q = np.clip(rented_share * HOURS_PER_WEEK - np.arange(HOURS_PER_WEEK), 0.0, 1.0)
    kinks = np.unique(1.0 / w[w > 0])
    load = np.concatenate(([0.0], kinks))
    used = (q * np.minimum(load[:, None] * w, 1.0)).sum(axis=1) / HOURS_PER_WEEK
    return load, used


def used_share(weights: tuple[float, ...], rented_share: npt.ArrayLike, load: npt.ArrayLike) -> Array:
    """Share of the planned capacity that is used in a mean hour.

    Args:
        weights: 168 weights with mean 1.
        rented_share: share of the hours in which the machines are there (1 = always); scalar or array.
        load: mean demand / planned capacity; infinity means 'as much as they can take'. Broadcasts with rented_share.

    Returns:
        Used share in [0, rented_share], broadcast shape.
    """
    shares = np.asarray(rented_share, dtype=float)
    loads = np.asarray(load, dtype=float)
    if shares.size == 1:
        share = float(shares.reshape(()))
        used = np.interp(loads, *_table(weights, share))
        used = np.where(np.isinf(loads), share, used)
        return np.asarray(used.reshape(np.broadcast_shapes(shares.shape, loads.shape)))
    shares, loads = np.broadcast_arrays(shares, loads)
    result = np.empty(loads.shape)
    for share in np.unique(shares):
        mask = shares == share
        result[mask] = used_share(weights, share, loads[mask])
    return result
