"""Lists as an app sees them, and the instructions for operations on them."""

import os

import rank


def elements(model, rows, name, owner, parent=None):
    """The elements of an object's list, in order, without those whose target doesn't exist. `parent` is the element
    that has the list, if it's inside another list."""
    item = model[name]
    found = [row for row in rows[name].values() if row[item.owner] == owner]
    if item.parent:
        found = [row for row in found if row[item.parent] == parent]
    target = item.target("target") if "target" in item.types else None
    if target:
        present = [row[model[target].key] for row in rows[target].values()]
        found = [row for row in found if row["target"] in present]
    return sorted(found, key=lambda row: (row[item.rank].encode(), bytes.fromhex(row[item.key])))


def insert(model, rows, name, owner, place, fields):
    """Instructions that insert an element. `fields` has its target, value or properties."""
    item = model[name]
    present = elements(model, rows, name, owner, fields.get(item.parent))
    new, moved = new_rank(item, present, place)
    content = {item.owner: owner, item.rank: new, **fields}
    return [*moved, {"op": "create", "class": name, "key": os.urandom(12).hex(), "fields": content}]


def move(model, rows, name, owner, place, to, parent=None):
    item = model[name]
    rest = elements(model, rows, name, owner, parent)
    element = rest.pop(place)
    new, moved = new_rank(item, rest, to)
    return [*moved, {"op": "set", "class": name, "key": element[item.key], "fields": {item.rank: new}}]


def remove(model, rows, name, owner, place, parent=None):
    return erase(model, rows, name, elements(model, rows, name, owner, parent)[place][model[name].key])


def erase(model, rows, name, key):
    """Instructions that erase an element, after those of the lists inside it."""
    erased = []
    for inner in model.lists(name):
        if inner.parent and inner.target(inner.parent) == name:
            for row in [row for row in rows[inner.name].values() if row[inner.parent] == key]:
                erased += erase(model, rows, inner.name, row[inner.key])
    return [*erased, {"op": "erase", "class": name, "key": key}]


def new_rank(item, present, place):
    """A rank for a place, and instructions that give all other elements new ranks if there is no room."""
    low = present[place - 1][item.rank] if place > 0 else None
    high = present[place][item.rank] if place < len(present) else None
    new = rank.between(low, high)
    if new is not None:
        return new, []
    ranks = rank.sequence(len(present) + 1, None, None)
    new = ranks.pop(place)
    return new, [
        {"op": "set", "class": item.name, "key": row[item.key], "fields": {item.rank: other}}
        for row, other in zip(present, ranks)
    ]
