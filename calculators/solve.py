"""Find where a monotone quantity reaches a target, with a function that takes arrays."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

_POINTS = 65
_ROUNDS = 6


def crossing(gap: Callable[[Array], Array], low: float, high: float) -> float | None:
    """First x in [low, high] at which ``gap`` changes sign or is zero; None when it does not.

    Each round evaluates 65 points at once and keeps the first interval with a change of sign, so a gap that is not
    monotone still gives its first crossing on the grid. Six rounds leave (high - low) / 64^6, below 2e-11 of the range.

    Args:
        gap: quantity less target, for an array of x; infinities are allowed, NaN counts as no value.
        low: lower end.
        high: upper end.
    """
    for _ in range(_ROUNDS):
        x = np.linspace(low, high, _POINTS)
        g = np.asarray(gap(x), dtype=float)
        exact = np.flatnonzero(g == 0)
        valid = ~(np.isnan(g[:-1]) | np.isnan(g[1:]))
        change = np.flatnonzero(valid & (np.sign(g[:-1]) * np.sign(g[1:]) < 0))
        if exact.size and (not change.size or exact[0] <= change[0]):
            return float(x[exact[0]])
        if not change.size:
            return None
        i = int(change[0])
        low, high = float(x[i]), float(x[i + 1])
        if not (high > low):
            break
        finite = np.isfinite(g[i]) and np.isfinite(g[i + 1])
        if finite and _is_straight(x, g, i):
            return float(low - g[i] * (high - low) / (g[i + 1] - g[i]))
    return 0.5 * (low + high)


def _is_straight(x: Array, g: Array, i: int) -> bool:
    """Whether the gap is a straight line around the interval, so that one secant step is exact."""
    near = slice(max(i - 2, 0), min(i + 4, x.size))
    xs, gs = x[near], g[near]
    if gs.size < 5 or not np.all(np.isfinite(gs)):
        return False
    slopes = np.diff(gs) / np.diff(xs)
    scale = float(np.max(np.abs(slopes)))
    return scale > 0 and float(np.ptp(slopes)) <= 1e-9 * scale
