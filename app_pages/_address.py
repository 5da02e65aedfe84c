"""One entry in the browser's history for one action.

Streamlit 1.67 sends one address, and so makes one history entry, for each bound widget whose value code changes and
for each default that a complete link spells out. Here the server's copy of the address is brought up to date beforehand
without sending, so that nothing is sent when a link is opened and once when a button changes several inputs. This uses
methods of the copy that are not part of the public interface: pyproject.toml holds the release, and the browser
tests count the entries.
"""

from collections.abc import Iterable, Mapping

from streamlit.runtime.state import get_session_state


def leave_out(names: Iterable[str]) -> None:
    """Forget parameters that say what a widget says anyway; the browser's address stays as it is."""
    with get_session_state().query_params() as copy:
        for name in names:
            copy.discard_param_no_forward_msg(name)


def announce(values: Mapping[str, str | None]) -> None:
    """Send the address as it is after a change of several inputs, once; their widgets then have nothing to send.

    A widget that is drawn for the first time after the change would not send it at all.

    Args:
        values: text of each changed input as the address will have it; None = it leaves the address.
    """
    if not values:
        return
    with get_session_state().query_params() as copy:
        for name, value in values.items():
            if value is None:
                copy.discard_param_no_forward_msg(name)
            else:
                copy.set_with_no_forward_msg(name, value)
        copy._send_query_param_msg()
