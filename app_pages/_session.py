"""A widget asks session state for its own key only, and boxes with the same options share them.

Streamlit 1.67's text inputs, boxes and sliders read the values of all widgets into a new dictionary to look at one of
them, so that drawing n inputs costs n x n look-ups: with the sixty inputs of a scenario, nearly half of the time that
the sidebar takes. Here they get a view that looks up what is asked for. Each box also keeps its options and where each
stands, once a session: with two boxes of all offers a third of a session's memory. And the theme, which never changes,
is written anew into the first message of every run, which took as long as four inputs. None of this is part of the
public interface: pyproject.toml holds the release.
"""

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from streamlit.elements.widgets import selectbox
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session
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


@cache
def look_up_one() -> None:
    """Let widgets look up one key; once a process."""
    SessionState.filtered_state = property(_View)  # type: ignore[assignment]


_each_time = selectbox.create_mappings


@lru_cache(maxsize=64)
def _of(options: tuple[str, ...]) -> tuple[list[str], dict[str, int]]:
    return _each_time(options)


def _mappings(options: Sequence[Any], format_func: Callable[[Any], str] = str) -> tuple[list[str], dict[str, int]]:
    if format_func is str and all(type(option) is str for option in options):
        return _of(tuple(options))
    return _each_time(options, format_func)


@cache
def share_options() -> None:
    """Let boxes of texts share their options; once a process."""
    selectbox.create_mappings = _mappings


_write_theme = app_session._populate_theme_msg


@cache
def _theme(section: str) -> CustomThemeConfig:
    written = CustomThemeConfig()
    _write_theme(written, section)
    return written


def _copy_theme(message: CustomThemeConfig, section: str = "theme") -> None:
    if _theme(section).ByteSize():
        message.MergeFrom(_theme(section))


@cache
def send_theme_as_made() -> None:
    """Let runs copy the theme that was written once; once a process."""
    app_session._populate_theme_msg = _copy_theme


@cache
def keep_what_is_loaded() -> None:
    """Leave modules, catalogue and measurements out of the search for garbage; once a process, after the first page.

    They live as long as the process, and looking through all of them stops every session for 150 ms now and then.
    """
    gc.collect()
    gc.freeze()
