"""How long the head of a request may be, which is read before anyone has shown who he is."""

from __future__ import annotations

from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LARGEST = 64 * 1024
_REFUSED = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"content-type: text/plain; charset=utf-8\r\ncontent-length: 42\r\nconnection: close\r\n\r\n"
    b"the head of the request is larger than 64K"
)


class BoundedHead(HttpToolsProtocol):
    """uvicorn's own, which would go on reading a header for as long as it is sent."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._open = False
        self._read = 0

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self._open:
            return
        self._read += len(data)
        if self._read > LARGEST:
            self.transport.write(_REFUSED)
            self.transport.close()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._open, self._read = True, 0

    def on_headers_complete(self) -> None:
        self._open = False
        super().on_headers_complete()
