internal import Foundation
internal import TomboloChangesets
internal import TomboloModel

/// Writes a changeset as JSON with names, for an operator to read. No program reads it back.
enum ChangesetJSON {
    static func text(_ changeset: Changeset, in schema: Schema) -> String {
        let instructions: [[String: Any]] = changeset.instructions.map { instruction in
            let item = schema[instruction.reference.classIndex]
            var entry: [String: Any] = ["class": item.name, "key": value(instruction.reference.key)]
            func add(_ fields: [FieldWrite]) {
                entry["fields"] = Dictionary(
                    fields.map { (item.columns[$0.column].name, value($0.value)) }, uniquingKeysWith: { $1 })
            }
            switch instruction {
            case .create(_, let fields):
                entry["operation"] = "create"
                add(fields)
            case .set(_, let fields):
                entry["operation"] = "set"
                add(fields)
            case .add(_, let column, let amount):
                entry["operation"] = "add"
                entry["property"] = item.columns[column].name
                entry["amount"] = amount
            case .erase: entry["operation"] = "erase"
            }
            return entry
        }
        let object: [String: Any] = [
            "number": changeset.number, "base": changeset.base, "stamp": changeset.stamp.microseconds,
            "instructions": instructions,
        ]
        guard let data = try? JSONSerialization.data(withJSONObject: object, options: [.sortedKeys]) else {
            return "{}"
        }
        return String(decoding: data, as: UTF8.self)
    }

    private static func value(_ value: Value) -> Any {
        switch value {
        case .null: NSNull()
        case .bool(let flag): flag
        case .int(let number): number
        case .double(let number): number.isFinite ? number : String(number)
        case .string(let text): text
        case .date(let microseconds): ["microseconds": microseconds]
        case .data(let data): ["base64": data.base64EncodedString()]
        case .objectId(let id): id.stringValue
        case .uuid(let id): id.uuidString.lowercased()
        case .decimal(let number): number.description
        }
    }
}
