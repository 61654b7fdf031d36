"""A headless Chromium, driven over its DevTools protocol through a pipe: no port, and no library."""

import json
import os
import select
import shutil
import subprocess
import tempfile
import time

# The time limit for a protocol command or for the server's response to the browser, in seconds.
TIMEOUT = 20
# The most bytes of one message. Pictures are the largest.
MESSAGE_LIMIT = 64 << 20


class BrowserError(Exception):
    """The browser refused a command, ended, or took too long."""


class Browser:
    """A Chromium with a fresh profile, which `close` deletes."""

    def __init__(self, program):
        self.profile = tempfile.mkdtemp(prefix="tombolo-chromium.")
        arguments = [
            program, "--headless", "--remote-debugging-pipe", f"--user-data-dir={self.profile}",
            "--no-first-run", "--no-default-browser-check", "--disable-background-networking", "--disable-gpu",
            "--disable-dev-shm-usage", "--disable-extensions", "--disable-sync", "--mute-audio",
            "--font-render-hinting=none", "--force-color-profile=srgb", "--lang=en-GB", "about:blank",
        ]
        if os.geteuid() == 0:
            # Chromium can't create its sandbox as root, and CI runs as root. The browser only visits the tested server.
            arguments.insert(1, "--no-sandbox")
        # The browser reads commands from its file descriptor 3 and answers on 4.
        command_out, self.command_in = os.pipe()
        self.answer_out, answer_in = os.pipe()
        # Move them to higher numbers, since the child needs 3 and 4.
        command_out, answer_in = (self._above(item) for item in (command_out, answer_in))

        def places():
            os.dup2(command_out, 3)
            os.dup2(answer_in, 4)

        self.process = subprocess.Popen(
            arguments, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            pass_fds=(3, 4, command_out, answer_in), preexec_fn=places, start_new_session=True)
        os.close(command_out)
        os.close(answer_in)
        self.number = 0
        self.buffer = b""
        self.messages = []
        self.listeners = []

    @staticmethod
    def _above(descriptor):
        import fcntl
        copy = fcntl.fcntl(descriptor, fcntl.F_DUPFD, 20)
        os.close(descriptor)
        return copy

    def call(self, method, session=None, timeout=TIMEOUT, **parameters):
        """Sends a command and returns its result."""
        self.number += 1
        number = self.number
        message = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.command_in, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + timeout
        while True:
            answer = self._next(deadline, f"an answer to {method}")
            if answer.get("id") == number:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error'].get('message')}")
                return answer.get("result", {})
            self._tell(answer)

    def wait(self, what, condition, timeout=TIMEOUT):
        """Reads events until the condition returns a true value, and returns that value."""
        deadline = time.monotonic() + timeout
        while True:
            found = condition()
            if found:
                return found
            # Check at intervals too, since not every condition comes with an event.
            try:
                self._tell(self._next(min(deadline, time.monotonic() + 0.05), what))
            except BrowserError:
                if time.monotonic() >= deadline or self.process.poll() is not None:
                    raise

    def _tell(self, event):
        for listener in self.listeners:
            listener(event)

    def _next(self, deadline, what):
        while b"\0" not in self.buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.answer_out], [], [], left)[0]:
                raise BrowserError(f"Timed out waiting for {what}.")
            part = os.read(self.answer_out, 1 << 20)
            if not part:
                raise BrowserError(f"Chromium exited with code {self.process.wait()} while the test waited for {what}.")
            self.buffer += part
            if len(self.buffer) > MESSAGE_LIMIT:
                raise BrowserError(f"Chromium sent a message that exceeds {MESSAGE_LIMIT} bytes.")
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def close(self):
        """Ends the browser and its child processes."""
        import signal
        try:
            self.call("Browser.close", timeout=5)
        except (BrowserError, OSError):
            pass
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            pass
        try:
            # The browser has its own process group, so this kills nothing else.
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        for descriptor in (self.command_in, self.answer_out):
            os.close(descriptor)
        # Files that a killed browser process was still writing must not fail a test.
        shutil.rmtree(self.profile, ignore_errors=True)
