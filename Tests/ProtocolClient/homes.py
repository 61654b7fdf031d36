"""The app of the scenarios: its models and rules for the server, and what devices send in `hello`."""

MODELS = {
    "format": 1,
    "app": "homes",
    "classes": [
        {
            "name": "Address",
            "embedded": True,
            "properties": [
                {"name": "street", "type": "string"},
                {"name": "zip", "type": "string?"},
                {"name": "numbers", "type": "array<int,string>"},
                {"name": "residents", "type": "list<link<Agent>>"},
            ],
        },
        {
            "name": "Agent",
            "unique": [["name"]],
            "properties": [
                {"name": "_id", "type": "objectId", "primaryKey": True},
                {"name": "name", "type": "string"},
            ],
        },
        {
            "name": "Listing",
            "properties": [
                {"name": "_id", "type": "objectId", "primaryKey": True},
                {"name": "location", "type": "string"},
                {"name": "price", "type": "int"},
                {"name": "views", "type": "int"},
                {"name": "bedrooms", "type": "int8"},
                {"name": "locked", "type": "bool"},
                {"name": "size", "type": "double?"},
                {"name": "note", "type": "string?"},
                {"name": "soldAt", "type": "date?"},
                {"name": "photo", "type": "data?"},
                {"name": "uuid", "type": "uuid?"},
                {"name": "exact", "type": "decimal128?"},
                {"name": "agent", "type": "link<Agent>?"},
                {"name": "address", "type": "embedded<Address>?"},
                {"name": "tags", "type": "list<string>"},
                {"name": "viewers", "type": "list<link<Agent>>"},
                {"name": "homes", "type": "list<embedded<Address>>"},
            ],
        },
        {
            "name": "Memo",
            "properties": [
                {"name": "_id", "type": "string", "primaryKey": True},
                {"name": "_partition", "type": "string?"},
                {"name": "text", "type": "string"},
                {"name": "lines", "type": "list<string>"},
            ],
        },
    ],
}
# Locked listings can't be changed, and secret ones can't be seen.
RULES = """
version: 1
rules:
  Agent: [{name: everybody, applyWhen: {}, read: true, write: true}]
  Listing: [{name: editor, applyWhen: {}, read: {location: {$ne: secret}},
             write: {locked: false, location: {$ne: secret}}}]
  Memo: [{name: everybody, applyWhen: {}, read: true, write: true}]
"""
CLASSES = {
    "Agent": ["_id: objectId", "name: string"],
    "Listing": [
        "_id: objectId",
        "location: string",
        "price: int",
        "views: int",
        "bedrooms: int8",
        "locked: bool",
        "size: double?",
        "note: string?",
        "soldAt: date?",
        "photo: data?",
        "uuid: uuid?",
        "exact: decimal128?",
        "agent: link<Agent>?",
        "address: embedded<Address>?",
        "address.street: string?",
        "address.zip: string?",
        "address.numbers: array<int,string>?",
    ],
    "Listing.address.residents": ["_id: objectId", "owner: link<Listing>", "rank: string", "target: link<Agent>"],
    "Listing.tags": ["_id: objectId", "owner: link<Listing>", "rank: string", "value: string"],
    "Listing.viewers": ["_id: objectId", "owner: link<Listing>", "rank: string", "target: link<Agent>"],
    "Listing.homes": [
        "_element: objectId",
        "_owner: link<Listing>",
        "_rank: string",
        "street: string",
        "zip: string?",
        "numbers: array<int,string>",
    ],
    "Listing.homes.residents": [
        "_id: objectId",
        "owner: link<Listing>",
        "rank: string",
        "target: link<Agent>",
        "parent: link<Listing.homes>",
    ],
}
MEMOS = {
    "Memo": ["_id: string", "_partition: string?", "text: string"],
    "Memo.lines": ["_id: objectId", "owner: link<Memo>", "rank: string", "value: string"],
}
EVERYTHING = [["agents", "Agent", True], ["listings", "Listing", True]]
