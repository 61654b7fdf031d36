"""A device that synchronises with a Tombolo gateway: `device.py URL FILE CLASSES [PARTITION]`.

CLASSES is a JSON file of class names with their property texts, primary keys first; PARTITION a `Value` as JSON. Each
line of standard input is a JSON list, a command with its arguments; each gets one line, {"answer": …} or
{"error": …}. Lines {"event": …} come in between.
"""

import json
import os
import pathlib
import queue
import sys
import threading

import account
import lists
from model import Model, predicate
from protobuf import Format
from session import Session
from store import Store, perform

PROTO = pathlib.Path(__file__).resolve().parents[2] / "Packages/Core/SyncProtocol/Proto"


class Device:
    def __init__(self, base, path, classes, partition):
        self.model = Model(json.loads(pathlib.Path(classes).read_text(encoding="utf-8")))
        self.base, self.store = base, Store(path, self.model)
        self.events = queue.Queue()
        self.session = Session(
            base,
            self.store,
            Format(PROTO),
            partition,
            lambda *event: self.events.put(("session", *event)),
            lambda name, content: say({"event": name, **content}),
        )

    def run(self):
        threading.Thread(target=self._read_commands, daemon=True).start()
        while True:
            try:
                source, *content = self.events.get(timeout=self.session.seconds_left())
            except queue.Empty:
                self.session.tick()
                continue
            if source == "session":
                self.session.happened(*content)
            elif not self._obey(content[0]):
                self.session.stop()
                return

    def _read_commands(self):
        for line in sys.stdin:
            self.events.put(("command", line))
        self.events.put(("command", '["quit"]'))

    def _obey(self, line):
        name, *arguments = json.loads(line)
        if name == "quit":
            return False
        try:
            say({"answer": getattr(self, "do_" + name.replace("-", "_"))(*arguments)})
        except (account.Refused, KeyError, IndexError, ValueError, OSError) as error:
            say({"error": f"{type(error).__name__}: {error}"})
        return True

    # Commands

    def do_login(self, email, password):
        self.store.change(login=account.log_in(self.base, email, password))
        return self.store.state["login"]["userID"]

    def do_exchange(self):
        login = account.exchange(self.base, self.store.state["login"]["refreshToken"])
        self.store.change(login=login)
        return login["userID"]

    def do_spoil_token(self):
        login = self.store.state["login"]
        self.store.change(login={**login, "accessToken": login["accessToken"][:-8] + "AAAAAAAA"})

    def do_connect(self):
        self.session.start()

    def do_disconnect(self):
        self.session.stop()

    def do_cut(self):
        self.session.cut()

    def do_cut_after(self, frames):
        self.session.cut_after = frames

    def do_hold(self, is_held):
        self.session.is_held = is_held
        self.session.upload()

    def do_subscribe(self, queries):
        """Queries: name or null, class, predicate."""
        new = []
        for name, class_name, condition in queries:
            item = {"class_name": class_name, "predicate": predicate(condition)}
            new.append(item if name is None else {"name": name, **item})
        version = self.store.subscribe(new)
        self.session.subscriptions_changed()
        return version

    def do_write(self, *writes):
        """One transaction with any number of writes. Answers with the keys of the objects that they created."""
        instructions, keys = [], []
        shown = json.loads(json.dumps(self.store.shown))
        for write in writes:
            for instruction in self._instructions(shown, *write):
                perform(self.model, shown, instruction)
                instructions.append(instruction)
                if instruction["op"] == "create":
                    keys.append(instruction["key"])
        self.store.write(instructions)
        self.session.upload()
        return keys

    def _instructions(self, rows, op, name, *arguments):
        if op == "create":
            fields = dict(arguments[0])
            key = fields.pop(self.model[name].key, None) or os.urandom(12).hex()
            return [{"op": "create", "class": name, "key": key, "fields": fields}]
        if op == "set":
            return [{"op": "set", "class": name, "key": arguments[0], "fields": arguments[1]}]
        if op == "add":
            return [{"op": "add", "class": name, "key": arguments[0], "column": arguments[1], "amount": arguments[2]}]
        if op == "erase":
            return [{"op": "erase", "class": name, "key": arguments[0]}]
        if op in ("insert", "move", "remove"):
            return getattr(lists, op)(self.model, rows, name, *arguments)
        raise ValueError(f"no such write: {op}")

    def do_rows(self, name):
        key = self.model[name].key
        return sorted(self.store.shown[name].values(), key=lambda row: row[key])

    def do_list(self, *place):
        """A list, given by its element class, its owner's key and, if it's inside another list, the element's id."""
        return lists.elements(self.model, self.store.shown, *place)

    def do_state(self):
        state = self.store.state
        return {
            "phase": self.session.phase,
            "client": state["client"],
            "acknowledged": state["acknowledged"],
            "last": state["last"],
            "pending": len(state["queue"]),
            "bases": [changeset["base"] for changeset in state["queue"]],
            "stamps": [changeset["stamp"] for changeset in state["queue"]],
            "position": state["position"],
            "sets": sorted(map(int, state["sets"])),
            "refused_sets": state["refused_sets"],
            "refusals": state["refusals"],
        }


def say(content):
    print(json.dumps(content), flush=True)


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    Device(*sys.argv[1:4], json.loads(sys.argv[4]) if len(sys.argv) == 5 else None).run()
