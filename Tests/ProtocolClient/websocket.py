"""The client's side of a WebSocket with binary messages (RFC 6455)."""

import base64
import hashlib
import os
import socket
import ssl
import struct
import threading
import urllib.parse

CONNECT_SECONDS = 10
SILENCE_SECONDS = 45
CLOSE_SECONDS = 5
MAXIMUM_MESSAGE_BYTES = 20 << 20
MAXIMUM_HEAD_BYTES = 16 << 10

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
ACCEPT_SUFFIX = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class Closed(Exception):
    """The connection has ended. `code` is the close frame's, or None without one."""

    def __init__(self, code, reason):
        super().__init__(f"{reason} (code {code})")
        self.code = code


class WebSocket:
    """One thread may receive while another sends."""

    def __init__(self, url):
        parts = urllib.parse.urlsplit(url)
        uses_tls = parts.scheme == "wss"
        port = parts.port or (443 if uses_tls else 80)
        self._socket = socket.create_connection((parts.hostname, port), CONNECT_SECONDS)
        if uses_tls:
            self._socket = ssl.create_default_context().wrap_socket(self._socket, server_hostname=parts.hostname)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._buffer = bytearray()
        self._lock = threading.Lock()
        self._has_closed = False
        self._shake_hands(parts.hostname, port, parts.path)
        self._socket.settimeout(SILENCE_SECONDS)

    def _shake_hands(self, host, port, path):
        key = base64.b64encode(os.urandom(16))
        self._socket.sendall(
            f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key.decode()}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        while b"\r\n\r\n" not in self._buffer:
            if len(self._buffer) > MAXIMUM_HEAD_BYTES:
                raise Closed(None, "the answer to the upgrade is too long")
            self._fill()
        head, _, rest = bytes(self._buffer).partition(b"\r\n\r\n")
        self._buffer = bytearray(rest)
        status, *lines = head.decode("latin-1").split("\r\n")
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        accept = base64.b64encode(hashlib.sha1(key + ACCEPT_SUFFIX).digest()).decode()
        if status.split(" ")[1:2] != ["101"] or fields.get("sec-websocket-accept") != accept:
            raise Closed(None, f"no WebSocket: {status}")

    # Sending

    def send(self, message, opcode=BINARY):
        self._send_frame(opcode, message)

    def ping(self):
        self._send_frame(PING, b"")

    def close(self, code=1000):
        """Begins the closing handshake; `receive` then ends with Closed."""
        self._socket.settimeout(CLOSE_SECONDS)
        self._send_close(struct.pack(">H", code))

    def drop(self):
        """Drops the connection without a close frame."""
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._socket.close()

    def _send_close(self, payload):
        with self._lock:
            if self._has_closed:
                return
        self._send_frame(CLOSE, payload)
        self._has_closed = True

    def _send_frame(self, opcode, payload):
        length = len(payload)
        if length < 126:
            head = struct.pack(">BB", 0x80 | opcode, 0x80 | length)
        elif length < 1 << 16:
            head = struct.pack(">BBH", 0x80 | opcode, 0x80 | 126, length)
        else:
            head = struct.pack(">BBQ", 0x80 | opcode, 0x80 | 127, length)
        mask = os.urandom(4)
        masked = mask_bytes(payload, mask)
        with self._lock:
            if self._has_closed:
                return
            try:
                self._socket.sendall(head + mask + masked)
            except OSError as error:
                raise Closed(None, str(error)) from error

    # Receiving

    def receive(self):
        """The next message. Answers pings. Raises Closed."""
        message, is_open = bytearray(), False
        while True:
            is_last, opcode, payload = self._receive_frame()
            if opcode == PING:
                self._send_frame(PONG, payload)
            elif opcode == CLOSE:
                self._send_close(payload[:2])
                code = struct.unpack(">H", payload[:2])[0] if len(payload) >= 2 else None
                raise Closed(code, "the gateway closed the connection")
            elif opcode in (BINARY, CONTINUATION):
                if (opcode == CONTINUATION) != is_open:
                    raise Closed(None, "a fragment out of turn")
                message += payload
                is_open = not is_last
                if len(message) > MAXIMUM_MESSAGE_BYTES:
                    raise Closed(None, "a message that is too long")
                if is_last:
                    return bytes(message)
            elif opcode != PONG:
                raise Closed(None, f"a frame of kind {opcode}")

    def _receive_frame(self):
        first, second = self._take(2)
        if first & 0x70 or second & 0x80:
            raise Closed(None, "a frame with a reserved bit or a mask")
        length = second & 0x7F
        if length == 126:
            (length,) = struct.unpack(">H", self._take(2))
        elif length == 127:
            (length,) = struct.unpack(">Q", self._take(8))
        if length > MAXIMUM_MESSAGE_BYTES:
            raise Closed(None, "a frame that is too long")
        return bool(first & 0x80), first & 0x0F, self._take(length)

    def _take(self, count):
        while len(self._buffer) < count:
            self._fill()
        taken = bytes(self._buffer[:count])
        del self._buffer[:count]
        return taken

    def _fill(self):
        try:
            data = self._socket.recv(1 << 16)
        except OSError as error:
            raise Closed(None, str(error) or "silence") from error
        if not data:
            raise Closed(None, "the network connection ended")
        self._buffer += data


def mask_bytes(payload, mask):
    count = len(payload)
    repeated = (mask * (count // 4 + 1))[:count]
    return (int.from_bytes(payload, "big") ^ int.from_bytes(repeated, "big")).to_bytes(count, "big")
