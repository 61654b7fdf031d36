"""Protocol Buffers 3, as far as the sync protocol uses it. Messages are dicts, whose fields are defined by the .proto
files."""

import pathlib
import re
import struct

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5

FIELD = re.compile(r"(repeated\s+|optional\s+)?(\w+)\s+(\w+)\s*=\s*(\d+)\s*;")
BLOCK = re.compile(r"(message|enum)\s+(\w+)\s*\{")
ENUM_CASE = re.compile(r"(\w+)\s*=\s*(\d+)\s*;")
ONEOF = re.compile(r"oneof\s+\w+\s*\{([^}]*)\}")


class Malformed(Exception):
    """Bytes that aren't the message they should be."""


class Field:
    def __init__(self, kind, name, number, is_repeated, has_presence):
        self.kind, self.name, self.number = kind, name, number
        self.is_repeated = is_repeated
        # Missing from the dict if it wasn't sent; other fields then have their zero value.
        self.has_presence = has_presence


class Format:
    """The messages and enumerations of a folder's .proto files."""

    def __init__(self, folder):
        self.messages, self.enums = {}, {}
        for path in sorted(pathlib.Path(folder).glob("*.proto")):
            self._read(re.sub(r"//[^\n]*", "", path.read_text(encoding="utf-8")))

    def _read(self, text):
        for match in BLOCK.finditer(text):
            end, depth = match.end(), 1
            while depth:
                depth += {"{": 1, "}": -1}.get(text[end], 0)
                end += 1
            body = text[match.end() : end - 1]
            if match[1] == "enum":
                self.enums[match[2]] = {int(number): name for name, number in ENUM_CASE.findall(body)}
                continue
            fields = []
            for group in ONEOF.findall(body):
                for _, kind, name, number in FIELD.findall(group):
                    fields.append(Field(kind, name, int(number), False, True))
            for label, kind, name, number in FIELD.findall(ONEOF.sub("", body)):
                fields.append(Field(kind, name, int(number), label.strip() == "repeated", label.strip() == "optional"))
            self.messages[match[2]] = sorted(fields, key=lambda field: field.number)

    # Writing

    def encode(self, name, message):
        out = bytearray()
        known = self.messages[name]
        unknown = message.keys() - {field.name for field in known}
        if unknown:
            raise KeyError(f"{name} has no field {sorted(unknown)}")
        for field in known:
            value = message.get(field.name)
            if value is None or field.is_repeated and not value:
                continue
            if not field.is_repeated:
                is_zero = value in (0, "", b"") and field.kind not in self.messages
                if field.has_presence or not is_zero:
                    self._write(out, field, value)
            elif self._wire_type(field.kind) == BYTES:
                for item in value:
                    self._write(out, field, item)
            else:
                packed = bytearray()
                for item in value:
                    packed += self._scalar(field.kind, item)
                out += varint(field.number << 3 | BYTES) + varint(len(packed)) + packed
        return bytes(out)

    def _write(self, out, field, value):
        wire_type = self._wire_type(field.kind)
        out += varint(field.number << 3 | wire_type)
        if wire_type != BYTES:
            out += self._scalar(field.kind, value)
            return
        if field.kind in self.messages:
            value = self.encode(field.kind, value)
        elif field.kind == "string":
            value = value.encode("utf-8")
        out += varint(len(value)) + value

    def _wire_type(self, kind):
        if kind in self.messages or kind in ("string", "bytes"):
            return BYTES
        return FIXED64 if kind in ("double", "fixed64", "sfixed64") else VARINT

    def _scalar(self, kind, value):
        if kind == "sint64":
            return varint((value << 1 ^ value >> 63) & 0xFFFF_FFFF_FFFF_FFFF)
        if kind in ("double", "fixed64", "sfixed64"):
            return struct.pack({"double": "<d", "fixed64": "<Q", "sfixed64": "<q"}[kind], value)
        if kind in self.enums:
            value = next(number for number, name in self.enums[kind].items() if name == value)
        return varint(int(value))

    # Reading

    def decode(self, name, data):
        message = {}
        fields = {field.number: field for field in self.messages[name]}
        for field in fields.values():
            if field.is_repeated:
                message[field.name] = []
            elif not field.has_presence and field.kind not in self.messages:
                message[field.name] = self._zero(field.kind)
        for number, wire_type, raw in split(data):
            field = fields.get(number)
            if field is None:
                continue
            if wire_type == BYTES and self._wire_type(field.kind) != BYTES:
                message[field.name] += self._unpack(field.kind, raw)
                continue
            if wire_type != self._wire_type(field.kind):
                raise Malformed(f"{name}.{field.name} has wire type {wire_type}")
            value = self._value(field.kind, raw)
            if field.is_repeated:
                message[field.name].append(value)
            else:
                message[field.name] = value
        return message

    def _zero(self, kind):
        if kind in self.enums:
            return self.enums[kind][0]
        return {"string": "", "bytes": b"", "double": 0.0, "bool": False}.get(kind, 0)

    def _value(self, kind, raw):
        if kind in self.messages:
            return self.decode(kind, raw)
        if kind == "string":
            return raw.decode("utf-8")
        if kind == "sint64":
            return raw >> 1 ^ -(raw & 1)
        if kind in ("double", "sfixed64"):
            return struct.unpack("<d" if kind == "double" else "<q", struct.pack("<Q", raw))[0]
        if kind in self.enums:
            return self.enums[kind].get(raw, raw)
        return bool(raw) if kind == "bool" else raw

    def _unpack(self, kind, data):
        if self._wire_type(kind) == FIXED64:
            return [self._value(kind, raw) for (raw,) in struct.iter_unpack("<Q", data)]
        values, place = [], 0
        while place < len(data):
            raw, place = read_varint(data, place)
            values.append(self._value(kind, raw))
        return values


def varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_varint(data, place):
    value = shift = 0
    while True:
        if place >= len(data) or shift > 63:
            raise Malformed(f"a number that doesn't end, at byte {place} of {len(data)}")
        byte = data[place]
        place += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, place


def split(data):
    """The fields of a message: number, wire type, and an integer or bytes."""
    place = 0
    while place < len(data):
        key, place = read_varint(data, place)
        number, wire_type = key >> 3, key & 7
        if wire_type == VARINT:
            value, place = read_varint(data, place)
        elif wire_type in (FIXED64, FIXED32):
            length = 8 if wire_type == FIXED64 else 4
            value = int.from_bytes(data[place : place + length], "little")
            place += length
        elif wire_type == BYTES:
            length, place = read_varint(data, place)
            value = data[place : place + length]
            place += length
        else:
            raise Malformed(f"wire type {wire_type} at byte {place}")
        if place > len(data):
            raise Malformed(f"field {number} goes beyond the end of its message")
        yield number, wire_type, value
