public import TomboloModel
public import TomboloSyncProtocol

extension ServerSession {
    /// The part of the server's classes that a device has, and the device's names for it.
    struct DeviceSchema: Hashable, Sendable {
        /// The positions of the device's columns, by class, the primary key first.
        var columns: [Int: [Int]] = [:]
        /// The columns that are required on the device although the server allows nil.
        var required: [Int: Set<Int>] = [:]
        var names = DeviceNames()
    }

    /// Whether a schema has everything that a device has declared.
    public static func serves(_ classes: [HelloClass], with schema: Schema) -> Bool {
        (try? deviceSchema(classes, in: schema)) != nil
    }

    /// Finds the device's classes and properties by their current or previous names.
    /// - Throws: a failure that names the first class, property or type that the server doesn't have.
    static func deviceSchema(_ classes: [HelloClass], in schema: Schema) throws(SessionFailure) -> DeviceSchema {
        var result = DeviceSchema()
        for described in classes {
            guard let index = schema.index(of: described.name) else {
                let hint = described.name.nearest(in: schema.classes.map(\.name)).map { " Did you mean \($0)?" } ?? ""
                throw SessionFailure(
                    .badSchema, "The server has no class \(shown(described.name)).\(hint) \(Self.advice)")
            }
            let item = schema[index]
            guard result.columns[index] == nil else {
                throw SessionFailure(.badSchema, "The device names the class \(item.name) twice.")
            }
            if described.name != item.name { result.names.classes[index] = described.name }
            var columns: [Int] = []
            for text in described.columns {
                let found = try column(text, of: item, in: schema)
                // If a property were named twice, its values would be read and sent twice.
                guard !columns.contains(found.position) else {
                    throw SessionFailure(
                        .badSchema,
                        "The device names the property '\(item.columns[found.position].name)' of \(item.name) twice.")
                }
                columns.append(found.position)
                if found.name != item.columns[found.position].name {
                    result.names.columns[index, default: [:]][found.position] = found.name
                }
                if found.isRequired { result.required[index, default: []].insert(found.position) }
            }
            guard let key = item.primaryKeyIndex, let position = columns.firstIndex(of: key) else {
                throw SessionFailure(.badSchema, "The device's class \(item.name) lacks the primary key.")
            }
            columns.remove(at: position)
            result.columns[index] = [key] + columns
        }
        return result
    }

    private static let advice =
        "Apply the app's models with 'migration-tool apply --models FILE' before releasing the app."

    private static func column(
        _ text: String, of item: ClassSchema, in schema: Schema
    ) throws(SessionFailure) -> (position: Int, name: String, isRequired: Bool) {
        guard let colon = text.firstIndex(of: ":") else {
            throw SessionFailure(
                .badSchema, "'\(shown(text))' doesn't describe a property of \(item.name): expected 'name: type'.")
        }
        let name = String(text[..<colon])
        guard let position = item.columnIndex(name) else {
            let hint = name.nearest(in: item.columns.map(\.name)).map { " Did you mean '\($0)'?" } ?? ""
            throw SessionFailure(
                .badSchema, "The server's \(item.name) has no property '\(shown(name))'.\(hint) \(Self.advice)")
        }
        let column = item.columns[position]
        let serverType = "\(column.type.name)\(column.isOptional ? "?" : "")"
        guard text[colon...].hasPrefix(": ") else { throw mismatch(text, column, item) }
        let type = String(text[colon...].dropFirst(2))
        if type == serverType { return (position, name, false) }
        // A property that became optional: older versions get a zero instead of nil.
        if column.isOptional, column.linkTarget == nil, type + "?" == serverType { return (position, name, true) }
        guard isFormerTarget(type, of: column, in: schema) else { throw mismatch(text, column, item) }
        return (position, name, false)
    }

    private static func mismatch(_ text: String, _ column: Column, _ item: ClassSchema) -> SessionFailure {
        SessionFailure(
            .badSchema,
            "\(item.name): the device has '\(shown(text))', the server has '\(HelloClass.describe(column))'.")
    }

    /// Whether a link or embedded object refers to a class by a previous name. Embedded classes have no tables, so the
    /// name that a device uses for one doesn't matter to the server.
    private static func isFormerTarget(_ type: String, of column: Column, in schema: Schema) -> Bool {
        guard let parsed = PropertyType.parse(type), parsed.isOptional == column.isOptional else { return false }
        switch (parsed.type, column.type) {
        case (.link(let old), .link(let new)):
            guard let index = schema.index(of: old) else { return false }
            return index == schema.index(of: new)
        case (.embedded, .embedded): return true
        default: return false
        }
    }

    /// The number of bytes that messages quote of a device's input.
    private static let shownByteCount = 100

    private static func shown(_ text: String) -> String { text.shortened(toByteCount: shownByteCount) }
}
