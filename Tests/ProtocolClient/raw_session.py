"""A connection that sends arbitrary messages, to test the gateway's answers."""

import secrets

import account
from device import PROTO
from platform_under_test import Failed
from protobuf import Format
from websocket import TEXT, Closed, WebSocket

WIRE = Format(PROTO)


class RawSession:
    def __init__(self, base, token):
        self.socket = WebSocket(base.replace("http", "ws", 1) + "/sync")
        self.hello = {"protocol_version": 2, "access_token": token, "client": secrets.randbits(62) + 1}

    @staticmethod
    def log_in(platform, user, password):
        return account.log_in(platform.gateway.url, platform.email(user), password)["accessToken"]

    def say(self, kind, message):
        self.socket.send(WIRE.encode("ClientMessage", {kind: message}))

    def say_hello(self, **members):
        self.say("hello", {**self.hello, **members})

    def say_text(self):
        self.socket.send(b"hello", TEXT)

    def heard(self):
        """The next message: its kind and content."""
        ((kind, body),) = WIRE.decode("ServerMessage", self.socket.receive()).items()
        return kind, body

    def expect(self, expected):
        """The content of the next message, which must be of this kind."""
        kind, body = self.heard()
        if kind != expected:
            raise Failed(f"{kind} came in place of {expected}: {body}")
        return body

    def wait_acknowledged(self, number):
        """Skips messages until the batch that acknowledges a changeset, and returns it."""
        while True:
            kind, body = self.heard()
            if kind == "end" and body["acknowledged"] >= number:
                return body

    def end(self):
        """The failure's code, if there is one, and the close frame's code. Skips other messages."""
        failure = None
        try:
            while True:
                kind, body = self.heard()
                if kind == "failure":
                    failure = body["code"].removeprefix("FAILURE_CODE_")
        except Closed as closed:
            return failure, closed.code
