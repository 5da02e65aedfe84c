"""A widget asks session state for its own key only.

Streamlit 1.67's text inputs, boxes and sliders read the values of all widgets into a new dictionary to look at one of
them, so that drawing n inputs costs n x n look-ups: with the sixty inputs of a scenario, nearly half of the time that
the sidebar takes. Here they get a view that looks up what is asked for. It is not part of the public interface:
pyproject.toml holds the release.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from streamlit.runtime.state.session_state import SessionState


class _View(Mapping[str, Any]):
    """Session state by key, read when asked for."""

    def __init__(self, state: SessionState) -> None:
        self._state = state

    def __getitem__(self, key: str) -> Any:
        return self._state[key]

    def __contains__(self, key: object) -> bool:
        return key in self._state

    def __iter__(self) -> Iterator[str]:
        return iter(_all_values(self._state))

    def __len__(self) -> int:
        return len(_all_values(self._state))


_all_values = vars(SessionState)["filtered_state"].fget


def look_up_one() -> None:
    """Let widgets look up one key; once a process."""
    SessionState.filtered_state = property(_View)  # type: ignore[assignment]
