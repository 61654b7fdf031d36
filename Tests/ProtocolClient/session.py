"""The device's side of a session: the states of docs/protocol.md. One thread calls everything here; another reads the
WebSocket and passes on the messages."""

import random
import threading
import time

import account
import changesets
from store import FramesMissing, SetForgotten
from websocket import Closed, WebSocket

FIRST_BACKOFF_SECONDS = 0.5
LONGEST_BACKOFF_SECONDS = 60
ANSWER_SECONDS = 60
PING_SECONDS = 40
MAXIMUM_RESETS_IN_A_ROW = 8
MAXIMUM_TOKENS_IN_A_ROW = 3
UPLOAD_WINDOW = 1_000
CHANGESETS_PER_MESSAGE = 100
WITHOUT_PARTITIONS, WITH_PARTITIONS = 2, 3

STOPPED, OPENING, VERIFYING, BOOTSTRAPPING, LIVE, WAITING, FAILED = (
    "stopped",
    "opening",
    "verifying",
    "bootstrapping",
    "live",
    "waiting",
    "failed",
)
OPEN = (VERIFYING, BOOTSTRAPPING, LIVE)


class Session:
    """The reading thread calls `deliver` with each event and the number of its connection. `report` gets events that a
    user may want to know about."""

    def __init__(self, base, store, wire, partition, deliver, report):
        self.base, self.store, self.wire, self.partition = base, store, wire, partition
        self.deliver, self.report = deliver, report
        self.phase = STOPPED
        self.connection, self.socket = 0, None
        self.frames = []
        # The highest changeset number sent on this connection.
        self.sent = 0
        self.sent_set = 0
        self.attempts = self.resets_in_a_row = self.tokens_in_a_row = 0
        # The times of the next timeouts, by the monotonic clock.
        self.retry_at = self.answer_by = self.ping_at = None
        # For tests: cut the connection after this many frames of a batch.
        self.cut_after = None
        # For tests: queue, but don't upload.
        self.is_held = False

    # Connecting

    def start(self):
        if self.phase in (STOPPED, FAILED, WAITING):
            self._connect()

    def stop(self):
        if self.socket:
            # The close frame is queued after everything sent before; the reading thread ends with the connection.
            try:
                self.socket.close()
            except (Closed, OSError):
                pass
        self._forget_connection()
        self.phase = STOPPED

    def cut(self):
        """Drops the connection without a close frame, like a network failure."""
        if self.socket:
            self.socket.drop()
        self._lost(Closed(None, "cut"))

    def _connect(self):
        self.connection += 1
        self.retry_at = None
        try:
            token = self._access_token()
            socket_base = self.base.replace("http", "ws", 1)
            self.socket = WebSocket(socket_base + "/sync")
        except account.Refused as error:
            if error.status in (401, 403):
                self._fail({"code": "NOT_AUTHENTICATED", "message": str(error), "is_retryable": False})
            else:
                self._lost(error)
            return
        except (Closed, OSError) as error:
            self._lost(error)
            return
        self.phase = OPENING
        now = time.monotonic()
        self.answer_by, self.ping_at = now + ANSWER_SECONDS, now + PING_SECONDS
        threading.Thread(target=self._read, args=(self.socket, self.connection), daemon=True).start()
        self._say_hello(token)

    def _access_token(self):
        login = self.store.state["login"]
        if login is None:
            raise account.Refused(401, {"code": "unauthenticated", "message": "log in first"})
        if account.needs_exchange(login):
            login = account.exchange(self.base, login["refreshToken"])
            self.store.change(login=login)
        return login["accessToken"]

    def _say_hello(self, token):
        state = self.store.state
        wanted = self.store.wanted_set()
        hello = {
            "protocol_version": WITHOUT_PARTITIONS if self.partition is None else WITH_PARTITIONS,
            "access_token": token,
            "client": state["client"],
            "position": state["position"],
            "active_subscriptions": self.store.active_set(),
            "wanted_subscriptions": wanted,
            "acknowledged": state["acknowledged"],
            "classes": self.store.model.described(),
        }
        if self.partition is not None:
            hello["partition"] = self.partition
        self.sent = state["acknowledged"]
        self.sent_set = wanted["version"]
        self._send("hello", hello)

    def _read(self, socket, connection):
        try:
            while True:
                self.deliver("message", connection, socket.receive())
        except Closed as error:
            self.deliver("closed", connection, error)

    def _send(self, kind, message):
        if self.socket is None:
            return
        data = self.wire.encode("ClientMessage", {kind: message})
        self.report("sent", {"kind": kind, "hex": data.hex() if len(data) <= 2_048 else None})
        try:
            self.socket.send(data)
        except Closed as error:
            self._lost(error)

    # Time

    def seconds_left(self):
        """The seconds until `tick` must be called; None if nothing is due."""
        due = [at for at in (self.retry_at, self.answer_by, self.ping_at) if at is not None]
        return max(0, min(due) - time.monotonic()) if due else None

    def tick(self):
        now = time.monotonic()
        if self.retry_at is not None and now >= self.retry_at:
            self._connect()
        elif self.answer_by is not None and now >= self.answer_by:
            self.cut()
        elif self.ping_at is not None and now >= self.ping_at:
            self.ping_at = now + PING_SECONDS
            try:
                self.socket.ping()
            except Closed as error:
                self._lost(error)

    # Events

    def happened(self, event, connection, content):
        if connection != self.connection:
            return
        if event == "closed":
            self._lost(content)
            return
        self.answer_by = None
        message = self.wire.decode("ServerMessage", content)
        ((kind, body),) = message.items()
        self.report("received", {"kind": kind, "hex": content.hex() if len(content) <= 2_048 else None})
        getattr(self, "_receive_" + kind)(body)

    def _receive_welcome(self, welcome):
        self.report("welcome", welcome)
        self.store.welcome(welcome["server_time_microseconds"])
        self.phase = BOOTSTRAPPING
        if welcome["last_changeset"] > self.sent:
            self.phase = VERIFYING
            self._show_again(welcome["last_changeset"])
        self.subscriptions_changed()

    def _show_again(self, last):
        """Uploads again the changesets that the gateway has, but whose outcomes this device doesn't know."""
        while self.sent < last:
            count = min(CHANGESETS_PER_MESSAGE, last - self.sent)
            if not self._upload(self.store.pending(self.sent, count)):
                self._send("upload", {})
                return

    def _receive_frame(self, frame):
        if frame["sequence"] == 0:
            self.frames = []
        self.frames.append(frame)
        self.report("frame", {"sequence": frame["sequence"]})
        if self.cut_after is not None and len(self.frames) >= self.cut_after:
            self.cut_after = None
            self.cut()

    def _receive_end(self, end):
        frames, self.frames = self.frames, []
        if end["frame_count"] == 0:
            frames = []
        try:
            self.store.apply(frames, end)
        except FramesMissing:
            self.cut()
            return
        except SetForgotten:
            self.store.forget_position()
            self.cut()
            return
        if self.phase == LIVE:
            self.resets_in_a_row = 0
        self.phase = LIVE
        self.attempts = self.tokens_in_a_row = 0
        self.sent = max(self.sent, self.store.state["acknowledged"])
        if end["replaces_all"]:
            self.sent = self.store.state["acknowledged"]
        self.report("batch", {"frames": len(frames), "replaces_all": end["replaces_all"]})
        self._send("applied", {"tick": end["position"]["tick"]})
        self.upload()

    def _receive_reset(self, reset):
        self.resets_in_a_row += 1
        self.report("reset", reset)
        if self.resets_in_a_row > MAXIMUM_RESETS_IN_A_ROW:
            self._fail({"code": "UNAVAILABLE", "message": "too many resets in a row", "is_retryable": False})
            return
        self.store.reset()
        self._lost(Closed(None, "reset"))

    def _receive_failure(self, failure):
        failure["code"] = str(failure["code"]).removeprefix("FAILURE_CODE_")
        if failure["is_retryable"]:
            self.report("failure", failure)
            self._lost(Closed(None, failure["message"]))
            return
        active = self.store.state["position"]["subscription_version"]
        if failure["code"] == "BAD_SUBSCRIPTION" and self.sent_set > active:
            self.store.refuse_set(self.sent_set, failure["message"])
            self.report("set refused", failure)
            self._lost(Closed(None, failure["message"]))
        elif failure["code"] == "NOT_AUTHENTICATED" and self.tokens_in_a_row < MAXIMUM_TOKENS_IN_A_ROW:
            self.tokens_in_a_row += 1
            self._forget_connection()
            self._replace_token()
        else:
            self._fail(failure)

    def _replace_token(self):
        login = self.store.state["login"]
        try:
            self.store.change(login=account.exchange(self.base, login["refreshToken"]))
        except account.Refused as error:
            if error.status in (401, 403):
                self._fail({"code": "NOT_AUTHENTICATED", "message": str(error), "is_retryable": False})
                return
            self._lost(error)
            return
        except OSError as error:
            self._lost(error)
            return
        self._connect()

    # Sending

    def subscriptions_changed(self):
        wanted = self.store.wanted_set()
        if self.phase in OPEN and wanted["version"] > self.sent_set:
            self.sent_set = wanted["version"]
            self._send("subscribe", wanted)

    def upload(self):
        """Uploads queued changesets that haven't been sent yet, if the session is live."""
        while self.phase == LIVE and not self.is_held and self.sent - self.store.state["acknowledged"] < UPLOAD_WINDOW:
            if not self._upload(self.store.pending(self.sent, CHANGESETS_PER_MESSAGE)):
                return

    def _upload(self, pending):
        if not pending:
            return False
        self.sent = pending[-1]["number"]
        wire = [changesets.wire_changeset(changeset, self.store.model) for changeset in pending]
        self._send("upload", {"changesets": wire})
        return True

    # Ending

    def _forget_connection(self):
        self.connection += 1
        self.socket = None
        self.frames = []
        self.answer_by = self.ping_at = self.retry_at = None

    def _lost(self, error):
        if self.socket:
            self.socket.drop()
        self._forget_connection()
        delay = min(FIRST_BACKOFF_SECONDS * 2 ** min(self.attempts, 16), LONGEST_BACKOFF_SECONDS)
        self.attempts += 1
        self.phase = WAITING
        self.retry_at = time.monotonic() + delay * (0.5 + random.random() / 2)
        self.report("lost", {"reason": str(error), "code": getattr(error, "code", None)})

    def _fail(self, failure):
        if self.socket:
            self.socket.drop()
        self._forget_connection()
        self.phase = FAILED
        self.report("failure", failure)
