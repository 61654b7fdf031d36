"""Changesets on the wire."""

from model import to_wire


def wire_changeset(changeset, model):
    """A queued changeset as a `Changeset` message. The same queue entry always produces the same message."""
    classes = {}
    instructions = [wire_instruction(instruction, model, classes) for instruction in changeset["instructions"]]
    return {
        "number": changeset["number"],
        "base": changeset["base"],
        "stamp_microseconds": changeset["stamp"],
        "classes": [{"name": name, "columns": list(columns)} for name, columns in classes.items()],
        "instructions": instructions,
    }


def wire_instruction(instruction, model, classes):
    item = model[instruction["class"]]
    # Property names with their positions; dicts keep the order in which names were added.
    columns = classes.setdefault(item.name, {})

    def place(column):
        return columns.setdefault(column, len(columns))

    result = {
        "class_position": list(classes).index(item.name),
        "key": to_wire(item.stored(item.key), instruction["key"]),
    }
    if instruction["op"] in ("create", "set"):
        fields = instruction["fields"]
        result[instruction["op"]] = {
            "columns": [place(column) for column in fields],
            "values": [to_wire(item.stored(column), value) for column, value in fields.items()],
        }
    elif instruction["op"] == "add":
        result["add"] = {"column": place(instruction["column"]), "amount": instruction["amount"]}
    else:
        result["erase"] = True
    return result
