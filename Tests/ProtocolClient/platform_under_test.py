"""A gateway process on a temporary PostgreSQL cluster, devices in separate processes, and plain SQL. Run by
`infra/dev/with-cluster.sh`, which sets the database URLs."""

import json
import os
import pathlib
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLUSTER = ROOT / "infra/dev/cluster.sh"
# The time limit for conditions that must become true; no test depends on how long they take.
LIMIT_SECONDS = 120
POLL_SECONDS = 0.02
PASSWORD = "correct horse battery"


class Failed(Exception):
    """A claim that ends its scenario."""


class Device:
    """A device.py process."""

    def __init__(self, platform, name, classes, user, partition):
        self.platform, self.name = platform, name
        self.file = platform.folder / f"{name}.json"
        self.classes, self.partition = classes, partition
        self.process = None
        self.start()
        self.ask("login", platform.email(user), PASSWORD)

    def start(self):
        command = [sys.executable, str(ROOT / "Tests/ProtocolClient/device.py")]
        command += [self.platform.gateway.url, str(self.file), str(self.classes)]
        if self.partition is not None:
            command.append(json.dumps(self.partition))
        self.events, self.answers = [], []
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.platform.messages, text=True
        )
        threading.Thread(target=self._read, args=(self.process, self.events, self.answers), daemon=True).start()

    @staticmethod
    def _read(process, events, answers):
        for line in process.stdout:
            content = json.loads(line)
            (events if "event" in content else answers).append(content)

    def attempt(self, *command):
        """Returns the whole answer, which may be an error."""
        count = len(self.answers)
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        wait_until(f"{self.name} answers {command[0]}", lambda: len(self.answers) > count)
        return self.answers[count]

    def ask(self, *command):
        answer = self.attempt(*command)
        if "error" in answer:
            raise Failed(f"{self.name}: {command} failed: {answer['error']}")
        return answer["answer"]

    def state(self):
        return self.ask("state")

    def seen(self, name):
        return [event for event in list(self.events) if event["event"] == name]

    def wait_live(self):
        wait_until(f"{self.name} is live", lambda: self.state()["phase"] == "live")

    def connect(self):
        self.ask("connect")
        self.wait_live()

    def wait_uploaded(self):
        wait_until(f"{self.name} has the outcome of everything", lambda: self.state()["pending"] == 0)

    def row(self, name, key, column=None):
        found = [row for row in self.ask("rows", name) if row["_id"] == key]
        return None if not found else found[0][column] if column else found[0]

    def stop(self):
        """Ends the device gracefully."""
        if self.process.poll() is None:
            self.process.stdin.write('["quit"]\n')
            self.process.stdin.flush()
            self.process.wait(LIMIT_SECONDS)

    def kill(self):
        self.process.kill()
        self.process.wait(LIMIT_SECONDS)


class Gateway:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.process, self.port, self.url = None, 0, None
        self.environment = {
            **os.environ,
            "TOMBOLO_DATABASE_URL": os.environ["TOMBOLO_GATEWAY_DATABASE_URL"],
            "TOMBOLO_JWT_SECRET": secrets.token_hex(32),
        }

    def start(self):
        output, messages = self.folder / f"gateway-{time.monotonic_ns()}.out", self.folder / "gateway.log"
        with open(output, "w", encoding="utf-8") as out, open(messages, "a", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [self.program, "--port", str(self.port)], stdout=out, stderr=log, env=self.environment
            )

        def listens():
            if self.process.poll() is not None:
                raise Failed("the gateway ended: " + messages.read_text(encoding="utf-8")[-2_000:])
            lines = output.read_text(encoding="utf-8").splitlines()
            return next((line.removeprefix("gateway ") for line in lines if line.startswith("gateway http")), None)

        # Keep the port, so that devices find the gateway again.
        self.url = wait_until("the gateway listens", listens)
        self.port = int(self.url.rsplit(":", 1)[1])

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(LIMIT_SECONDS)

    def kill(self):
        self.process.kill()
        self.process.wait(LIMIT_SECONDS)


class Platform:
    def __init__(self, programs, models, rules):
        self.programs = pathlib.Path(programs)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tombolo-protocol."))
        self.messages = open(self.folder / "devices.messages", "a", encoding="utf-8")
        self.database = os.environ["TOMBOLO_DATABASE_URL"]
        self.devices = []
        self.gateway = Gateway(self.programs / "sync-gateway", self.folder)
        (self.folder / "models.json").write_text(json.dumps(models), encoding="utf-8")
        (self.folder / "rules.yaml").write_text(rules, encoding="utf-8")
        self.migrate("apply", "--models", self.folder / "models.json", "--rules", self.folder / "rules.yaml")
        for user in ("ann", "bob"):
            self.migrate("user", "add", self.email(user), "--password-stdin", given=PASSWORD + "\n")
        self.gateway.start()

    @staticmethod
    def email(user):
        return f"{user}@example.org"

    def migrate(self, *arguments, given=None):
        run([self.programs / "migration-tool", *arguments], given)

    def sql(self, statement):
        """Returns psql's unaligned output."""
        command = ["psql", "-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", self.database, "-c", statement]
        return run(command).strip()

    def classes(self, name, classes):
        path = self.folder / f"{name}.classes.json"
        path.write_text(json.dumps(classes), encoding="utf-8")
        return path

    def device(self, name, classes, user="ann", partition=None):
        device = Device(self, name, self.classes(name, classes), user, partition)
        self.devices.append(device)
        return device

    # The cluster's files, for a backup

    def data_folder(self):
        return pathlib.Path(os.environ["TOMBOLO_DEV_DIR"]) / "pg/data"

    def cluster(self, command):
        # Processes with this variable are killed when the tests end, but the server must not be.
        environment = {name: value for name, value in os.environ.items() if name != "TOMBOLO_THROWAWAY"}
        run([CLUSTER, command], environment=environment)

    def back_up(self):
        backup = self.data_folder().with_name("data.backup")
        self.cluster("stop")
        run(["cp", "-a", self.data_folder(), backup])
        self.cluster("start")

    def restore(self):
        backup = self.data_folder().with_name("data.backup")
        self.cluster("stop")
        shutil.rmtree(self.data_folder())
        backup.rename(self.data_folder())
        self.cluster("start")

    def end(self, keeps_files):
        for device in self.devices:
            device.kill()
        if self.gateway.process and self.gateway.process.poll() is None:
            self.gateway.kill()
        self.messages.close()
        if keeps_files:
            print(f"The files of the failed tests are in {self.folder}")
        else:
            shutil.rmtree(self.folder)


def run(command, given=None, environment=None):
    result = subprocess.run(
        list(map(str, command)), input=given, capture_output=True, text=True, env=environment, check=False
    )
    if result.returncode != 0:
        raise Failed(f"{command[0]} {command[1]} failed: {result.stderr[-2_000:]}")
    return result.stdout


def wait_until(text, condition):
    """Waits until `condition` returns a true value, and returns that value."""
    deadline = time.monotonic() + LIMIT_SECONDS
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise Failed(f"after {LIMIT_SECONDS} s there is still not: {text}")
        time.sleep(POLL_SECONDS)
