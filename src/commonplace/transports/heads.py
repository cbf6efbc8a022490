"""How long the head of a request may be, and what follows its body: both are read before anyone has shown who he is."""

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
    """uvicorn's own, which would go on reading a header for as long as it is sent, and takes trailers for headers."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._in_head = True
        self._beside = 0
        """Bytes since the last that were part of a body, or the end of a head or of a request."""

    def data_received(self, data: bytes) -> None:
        self._beside += len(data)
        super().data_received(data)
        if self._beside > LARGEST and not self.transport.is_closing():
            self.answer(_REFUSED)

    def answer(self, whole: bytes) -> None:
        """The last that is said on this connection, unless this request has its answer, or an earlier one has not."""
        if self.cycle is None or (self.cycle.response_complete if self._in_head else not self.cycle.response_started):
            self.transport.write(whole)
        self.transport.close()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head, self._beside = True, 0

    def on_header(self, name: bytes, value: bytes) -> None:
        # What comes behind a body is no header: the request was judged by those before it (RFC 9110, 6.5.1).
        if self._in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._in_head, self._beside = False, 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._beside = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._beside = 0
        super().on_message_complete()
