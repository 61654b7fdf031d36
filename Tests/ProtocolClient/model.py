"""The device's classes, and the values of their properties.

In rows, values have JSON's types: None, bool, int, float or text. Data, ids, UUIDs and decimals are hexadecimal digits;
dates are whole microseconds since 1970.
"""

STORED = {
    "bool": "BOOL",
    "int": "INT",
    "int8": "INT",
    "int16": "INT",
    "int32": "INT",
    "double": "DOUBLE",
    "float": "DOUBLE",
    "string": "STRING",
    "data": "DATA",
    "date": "DATE",
    "objectId": "OBJECT_ID",
    "uuid": "UUID",
    "decimal128": "DECIMAL",
}
MEMBERS = {
    "BOOL": "bool",
    "INT": "int",
    "DOUBLE": "double",
    "STRING": "string",
    "DATA": "data",
    "DATE": "date",
    "OBJECT_ID": "object_id",
    "UUID": "uuid",
    "DECIMAL": "decimal",
}
HEXADECIMAL = {"DATA", "OBJECT_ID", "UUID", "DECIMAL"}
ZEROS = {
    "BOOL": False,
    "INT": 0,
    "DOUBLE": 0.0,
    "STRING": "",
    "DATA": "",
    "DATE": 0,
    "OBJECT_ID": "00" * 12,
    "UUID": "00" * 16,
    # 0, whose exponent 0 is stored as 6176.
    "DECIMAL": (6176 << 113).to_bytes(16, "little").hex(),
}
EMPTY_ARRAY = "00"


class ModelClass:
    """A class as `hello` describes it; its primary key comes first."""

    def __init__(self, name, columns, model):
        self.name, self.columns = name, columns
        self._model = model
        self.types = dict(column.split(": ") for column in columns)
        self.key = columns[0].split(":")[0]
        self.is_element = "." in name
        self.owner = columns[1].split(":")[0] if self.is_element else None
        self.rank = columns[2].split(":")[0] if self.is_element else None
        # For a list inside another list's elements: the property that links to the containing element.
        last = columns[-1].split(":")[0]
        self.parent = last if self.is_element and "." in (self.target(last) or "") else None

    def stored(self, column):
        """The wire type of a property, without VALUE_TYPE_."""
        kind = self.types[column].rstrip("?")
        if kind.startswith("link<"):
            target = self._model[kind[5:-1]]
            return target.stored(target.key)
        if kind.startswith("embedded<"):
            return "BOOL"
        return "DATA" if kind.startswith("array<") else STORED[kind]

    def zero(self, column):
        kind = self.types[column]
        if kind.endswith("?"):
            return None
        return EMPTY_ARRAY if kind.startswith("array<") else ZEROS[self.stored(column)]

    def target(self, column):
        kind = self.types[column].rstrip("?")
        return kind[5:-1] if kind.startswith("link<") else None


class Model:
    """Classes by name, in the order in which `hello` lists them."""

    def __init__(self, classes):
        self.classes = {}
        for name, columns in classes.items():
            self.classes[name] = ModelClass(name, columns, self)

    def __getitem__(self, name):
        return self.classes[name]

    def described(self):
        return [{"name": item.name, "columns": item.columns} for item in self.classes.values()]

    def lists(self, name):
        """The element classes of all lists of a class."""
        return [item for item in self.classes.values() if item.name.startswith(name + ".")]


def to_wire(kind, value):
    """A `Value` of a stored type."""
    if value is None:
        return {"nil": True}
    return {MEMBERS[kind]: bytes.fromhex(value) if kind in HEXADECIMAL else value}


def from_wire(value):
    """A `Value` of any type, as it appears in a row."""
    ((member, content),) = value.items()
    return None if member == "nil" else content.hex() if isinstance(content, bytes) else content


def from_vector(vector):
    """The values of a `ColumnVector`."""
    kind = vector["type"].removeprefix("VALUE_TYPE_")
    if kind in ("BOOL", "INT", "DATE"):
        values = [bool(number) for number in vector["integers"]] if kind == "BOOL" else vector["integers"]
    elif kind == "DOUBLE":
        values = vector["doubles"]
    else:
        values, start = [], 0
        for length in vector["lengths"]:
            raw = vector["heap"][start : start + length]
            values.append(raw.hex() if kind in HEXADECIMAL else raw.decode("utf-8"))
            start += length
    nils = vector["nils"]

    def is_nil(row):
        return row >> 3 < len(nils) and nils[row >> 3] >> (row & 7) & 1

    return [None if is_nil(row) else value for row, value in enumerate(values)]


def predicate(text):
    """A `Predicate` from JSON: true, ["and", …], ["or", …], ["not", x], ["in", path, kind, values],
    [path, "contains", text], [path, "==", kind, value]. `kind` is a stored type; a path is a name or a list."""
    if isinstance(text, bool):
        return {"constant": text}
    if text[0] in ("and", "or"):
        return {text[0]: {"parts": [predicate(part) for part in text[1:]]}}
    if text[0] == "not":
        return {"not": predicate(text[1])}
    if text[0] == "in":
        return {"is_in": {"path": path(text[1]), "literals": [to_wire(text[2], value) for value in text[3]]}}
    if text[1] in TEXT_TESTS:
        return {"text": {"path": path(text[0]), "operator": TEXT_TESTS[text[1]], "text": text[2]}}
    comparison = {"path": path(text[0]), "operator": COMPARISONS[text[1]], "literal": to_wire(text[2], text[3])}
    return {"compare": comparison}


def path(names):
    return [names] if isinstance(names, str) else names


TEXT_TESTS = {
    "contains": "TEXT_OPERATOR_CONTAINS",
    "beginsWith": "TEXT_OPERATOR_BEGINS_WITH",
    "endsWith": "TEXT_OPERATOR_ENDS_WITH",
}
COMPARISONS = {
    "==": "COMPARISON_OPERATOR_EQUAL",
    "!=": "COMPARISON_OPERATOR_NOT_EQUAL",
    "<": "COMPARISON_OPERATOR_LESS",
    "<=": "COMPARISON_OPERATOR_LESS_OR_EQUAL",
    ">": "COMPARISON_OPERATOR_GREATER",
    ">=": "COMPARISON_OPERATOR_GREATER_OR_EQUAL",
}
