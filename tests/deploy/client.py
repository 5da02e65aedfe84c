"""A person without a browser: speaks Streamlit's own websocket protocol, to load a server with many sessions."""

import time
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from types import TracebackType
from typing import Any, Self

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

from tests.deploy.servers import get

_VALUE_FIELD = {
    "number_input": "double_value",
    "text_input": "string_value",
    "selectbox": "string_value",
    "checkbox": "bool_value",
    "slider": "double_array_value",
}


@dataclass
class Run:
    """What came back for one interaction."""

    seconds: float
    received_bytes: int
    plots: int
    errors: tuple[str, ...]
    alerts: tuple[str, ...] = ()


@dataclass
class Person:
    """One session: opens a page, changes inputs, gets the new page.

    Widgets are found by the key that the app gave them, which Streamlit puts at the end of their ids.
    """

    url: str
    query: str = ""
    page: str = ""
    route: str = ""
    pages: tuple[str, ...] = ()
    """Addresses of all pages, as the app told with its navigation; '' is the default page."""
    _socket: ClientConnection | None = None
    _kinds: dict[str, str] = field(default_factory=dict)
    _ids: dict[str, str] = field(default_factory=dict)
    _values: dict[str, Any] = field(default_factory=dict)

    async def __aenter__(self) -> Self:
        headers = {}
        if self.route:
            headers["Cookie"] = f"route={self.route}"
        address = self.url.replace("http://", "ws://") + "/_stcore/stream"
        self._socket = await connect(
            address,
            subprotocols=["streamlit"],
            additional_headers=headers,
            max_size=None,
            ping_interval=None,
            open_timeout=60,  # type: ignore[list-item]
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._socket is not None
        await self._socket.close()

    async def change(self, key: str, value: float | str | bool) -> Run:
        """Change one input and wait until the page is complete."""
        if key not in self._ids:
            raise KeyError(f"No widget with the key {key}; there are {sorted(self._ids)}")
        self._values[key] = value
        return await self.run()

    async def run(self) -> Run:
        """Ask for the page with the inputs as they are."""
        assert self._socket is not None
        message = BackMsg()
        state = message.rerun_script
        state.query_string = self.query
        state.page_name = self.page
        for key, value in self._values.items():
            widget = state.widget_states.widgets.add()
            widget.id = self._ids[key]
            name = _VALUE_FIELD[self._kinds[key]]
            if name == "double_array_value":
                widget.double_array_value.data.append(value)
            else:
                setattr(widget, name, value)
        start = time.perf_counter()
        await self._socket.send(message.SerializeToString())
        received = plots = 0
        errors: list[str] = []
        alerts: list[str] = []
        while True:
            data = await self._socket.recv(decode=False)
            received += len(data)
            answer = ForwardMsg.FromString(data)
            if answer.HasField("navigation"):
                self.pages = tuple("" if p.is_default else p.url_pathname for p in answer.navigation.app_pages)
            if answer.HasField("delta") and answer.delta.HasField("new_element"):
                element = answer.delta.new_element
                kind = element.WhichOneof("type") or ""
                if kind in _VALUE_FIELD:
                    widget_id = getattr(element, kind).id
                    key = widget_id.split("-", 2)[-1]
                    self._ids[key], self._kinds[key] = widget_id, kind
                plots += kind == "plotly_chart"
                if kind == "alert":
                    alerts.append(element.alert.body)
                if kind == "exception":
                    errors.append(element.exception.message)
            if answer.HasField("script_finished") and answer.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                break
        return Run(time.perf_counter() - start, received, plots, tuple(errors), tuple(alerts))


def new_route(url: str) -> str:
    """The cookie that keeps a browser with its process, as nginx gives it with the first page."""
    cookie: SimpleCookie = SimpleCookie(get(url)[1].get("set-cookie", ""))
    return cookie["route"].value if "route" in cookie else ""
