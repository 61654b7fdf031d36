"""The device's file: the server's rows, the queue, and the device's position. The app sees the server's rows with the
queue replayed on top."""

import copy
import json
import os
import pathlib
import random
import time

import model as values

EMPTY_POSITION = {
    "tick": 0,
    "token": 0,
    "subscription_version": 0,
    "rules_fingerprint": 0,
    "schema_fingerprint": 0,
}
EMPTY_SET = {"version": 0, "subscriptions": []}
INTEGER_RANGE = range(-(1 << 63), 1 << 63)


class FramesMissing(Exception):
    """A batch ended, but its frames aren't all there."""


class SetForgotten(Exception):
    """A batch belongs to a subscription set that the file no longer has."""


class Store:
    """One JSON file. Each change is written to a new file that replaces the old one, so it's saved completely or not at
    all."""

    def __init__(self, path, model):
        self.path, self.model = pathlib.Path(path), model
        self.welcomed = None
        if self.path.exists():
            self.state = json.loads(self.path.read_text(encoding="utf-8"))
        else:
            self.state = {
                "client": new_client(),
                "position": EMPTY_POSITION,
                "sets": {},
                "refused_sets": {},
                "rows": {name: {} for name in model.classes},
                "queue": [],
                "last": 0,
                "acknowledged": 0,
                "last_stamp": 0,
                "offset": 0,
                "refusals": [],
                "login": None,
            }
        self.shown = self._replayed(self.state)

    def _commit(self, state):
        draft = self.path.with_suffix(".draft")
        with open(draft, "w", encoding="utf-8") as file:
            json.dump(state, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, self.path)
        self.state = state

    def change(self, **members):
        self._commit({**self.state, **members})

    # What `hello` says

    def active_set(self):
        return self.state["sets"].get(str(self.state["position"]["subscription_version"]), EMPTY_SET)

    def wanted_set(self):
        wanted = [item for version, item in self.state["sets"].items() if version not in self.state["refused_sets"]]
        return max(wanted, key=lambda item: item["version"], default=EMPTY_SET)

    # Subscriptions

    def subscribe(self, subscriptions):
        """Stores a new set. Returns its version."""
        version = max(map(int, self.state["sets"]), default=0) + 1
        new = {"version": version, "subscriptions": subscriptions}
        self.change(sets={**self.state["sets"], str(version): new})
        return version

    def refuse_set(self, version, reason):
        self.change(refused_sets={**self.state["refused_sets"], str(version): reason})

    # Local transactions

    def write(self, instructions):
        """Applies and queues one transaction. An instruction has op, class and key; create and set also have `fields`,
        and add has `column` and `amount`."""
        shown = copy.deepcopy(self.shown)
        for instruction in instructions:
            perform(self.model, shown, instruction)
        wall = time.time_ns() // 1000
        stamp = max(wall + self.state["offset"], self.state["last_stamp"] + 1)
        changeset = {
            "number": self.state["last"] + 1,
            "base": self.state["position"]["tick"],
            "stamp": stamp,
            "instructions": instructions,
        }
        self.change(queue=[*self.state["queue"], changeset], last=changeset["number"], last_stamp=stamp)
        self.shown = shown

    def pending(self, after, limit):
        return [changeset for changeset in self.state["queue"] if changeset["number"] > after][:limit]

    # Batches

    def apply(self, frames, end):
        """One batch, in one transaction."""
        if [frame["sequence"] for frame in frames] != list(range(end["frame_count"])):
            raise FramesMissing(f"{len(frames)} frames of {end['frame_count']}")
        state = copy.deepcopy(self.state)
        if end["replaces_all"]:
            state["rows"] = {name: {} for name in self.model.classes}
        for frame in frames:
            for removal in frame["removals"]:
                for key in values.from_vector(removal["keys"]):
                    remove(self.model, state["rows"], removal["class_name"], key)
            for block in frame["blocks"]:
                write_block(state["rows"], block)
        state["acknowledged"] = max(state["acknowledged"], end["acknowledged"])
        state["queue"] = [item for item in state["queue"] if item["number"] > state["acknowledged"]]
        if end["replaces_all"]:
            for changeset in state["queue"]:
                changeset["base"] = end["position"]["tick"]
        state["refusals"] += [shown_refusal(refusal) for refusal in end["refusals"]]
        version = end["position"]["subscription_version"]
        if version > 0 and str(version) not in state["sets"]:
            raise SetForgotten(f"version {version}")
        state["sets"] = {known: item for known, item in state["sets"].items() if int(known) >= version}
        state["position"] = end["position"]
        server_time = max(end["server_time_microseconds"], self._welcomed_time())
        state["offset"] = server_time - time.time_ns() // 1000
        state["last_stamp"] = max(state["last_stamp"], server_time)
        shown = self._replayed(state)
        self._commit(state)
        self.shown = shown

    def welcome(self, server_time):
        """Stores the server's time, which it sends at the beginning of a connection."""
        self.welcomed = (server_time, time.monotonic_ns() // 1000)

    def _welcomed_time(self):
        if self.welcomed is None:
            return 0
        server_time, moment = self.welcomed
        return server_time + time.monotonic_ns() // 1000 - moment

    def _replayed(self, state):
        shown = copy.deepcopy(state["rows"])
        for changeset in state["queue"]:
            for instruction in changeset["instructions"]:
                perform(self.model, shown, instruction)
        return shown

    # Starting over

    def reset(self):
        queue = [{**item, "number": number, "base": 0} for number, item in enumerate(self.state["queue"], 1)]
        self.change(client=new_client(), position=EMPTY_POSITION, acknowledged=0, queue=queue, last=len(queue))

    def forget_position(self):
        """Forgets the position, so that everything is downloaded again under the same client id."""
        self.change(position=EMPTY_POSITION)


def new_client():
    return random.SystemRandom().randrange(1, 1 << 63)


def row_name(key):
    """A key as a member of a JSON object."""
    return json.dumps(key)


def write_block(rows, block):
    table = rows[block["class_name"]]
    vectors = [values.from_vector(vector) for vector in block["vectors"]]
    for row in range(block["row_count"]):
        content = {column: vector[row] for column, vector in zip(block["columns"], vectors)}
        name = row_name(content[block["columns"][0]])
        if block["is_whole"]:
            table[name] = content
        elif name in table:
            table[name].update(content)


def remove(model, rows, class_name, key):
    """Removes an object and the elements of its lists."""
    rows[class_name].pop(row_name(key), None)
    for item in model.lists(class_name):
        table = rows[item.name]
        for name in [name for name, row in table.items() if row[item.owner] == key]:
            del table[name]


def perform(model, rows, instruction):
    item, key = model[instruction["class"]], instruction["key"]
    table, name = rows[item.name], row_name(key)
    row = table.get(name)
    if instruction["op"] == "create":
        if row is None:
            row = table[name] = {column: item.zero(column) for column in item.types}
            row[item.key] = key
        row.update(instruction["fields"])
    elif instruction["op"] == "set" and row is not None:
        row.update(instruction["fields"])
    elif instruction["op"] == "add" and row is not None:
        total = (row[instruction["column"]] or 0) + instruction["amount"]
        if total in INTEGER_RANGE:
            row[instruction["column"]] = total
    elif instruction["op"] == "erase":
        remove(model, rows, item.name, key)


def shown_refusal(refusal):
    return {
        "number": refusal["number"],
        "code": refusal["code"].removeprefix("REFUSAL_CODE_"),
        "class": refusal.get("class_name"),
        "key": values.from_wire(refusal["key"]) if "key" in refusal else None,
        "role": refusal.get("role"),
        "message": refusal["message"],
    }
