"""One entry in the browser's history for one action.

Streamlit 1.67 sends one address, and so makes one history entry, for each bound widget whose value code changes and
for each default that a complete link spells out. Here the server's copy of the address is brought up to date beforehand
without sending, so that nothing is sent when a link is opened and once when a button changes several inputs. This uses
the copy's own methods, which are not part of the public interface: pyproject.toml holds the release, and the browser
tests count the entries.
"""

from collections.abc import Iterable, Mapping

from streamlit.runtime.state import get_session_state


def leave_out(names: Iterable[str]) -> None:
    """Forget parameters that say what a widget says anyway; the browser's address stays as it is."""
    with get_session_state().query_params() as copy:
        for name in names:
            copy.discard_param_no_forward_msg(name)


def expect(values: Mapping[str, str | None]) -> None:
    """Announce the address after a change of several inputs; the first of them then sends it, once.

    Args:
        values: text of each changed input as the address will have it; None = it leaves the address.
    """
    with get_session_state().query_params() as copy:
        for place, (name, value) in enumerate(values.items()):
            if place == 0:
                # whatever stands there differs from what comes, so this one sends
                copy.set_with_no_forward_msg(name, "\0")
            elif value is None:
                copy.discard_param_no_forward_msg(name)
            else:
                copy.set_with_no_forward_msg(name, value)
