public import TomboloModel
public import TomboloSyncProtocol

extension ServerSession {
    /// Whether a schema has everything that a device says it has.
    public static func serves(_ classes: [HelloClass], with schema: Schema) -> Bool {
        (try? deviceColumns(classes, in: schema)) != nil
    }

    /// The positions of the device's columns, by class, the primary key first.
    /// - Throws: a failure that names each class, property or type that the server does not have.
    static func deviceColumns(_ classes: [HelloClass], in schema: Schema) throws(SessionFailure) -> [Int: [Int]] {
        var result: [Int: [Int]] = [:]
        for described in classes {
            guard let index = schema.index(of: described.name) else {
                let hint = described.name.nearest(in: schema.classes.map(\.name)).map { " Did you mean \($0)?" } ?? ""
                throw SessionFailure(
                    .badSchema,
                    "The server has no class \(shown(described.name)).\(hint) Migrate the server before releasing the app."
                )
            }
            let item = schema[index]
            guard result[index] == nil else {
                throw SessionFailure(.badSchema, "The device names the class \(item.name) twice.")
            }
            var columns: [Int] = []
            for text in described.columns {
                let column = try column(text, of: item)
                // Each time it is named, its values would be read and sent once more.
                guard !columns.contains(column) else {
                    throw SessionFailure(
                        .badSchema,
                        "The device names the property '\(item.columns[column].name)' of \(item.name) twice.")
                }
                columns.append(column)
            }
            guard let key = item.primaryKeyIndex, let position = columns.firstIndex(of: key) else {
                throw SessionFailure(.badSchema, "The device's class \(item.name) lacks the primary key.")
            }
            columns.remove(at: position)
            result[index] = [key] + columns
        }
        return result
    }

    private static func column(_ text: String, of item: ClassSchema) throws(SessionFailure) -> Int {
        guard let colon = text.firstIndex(of: ":") else {
            throw SessionFailure(
                .badSchema, "'\(shown(text))' describes no property of \(item.name): expected 'name: type'.")
        }
        let name = String(text[..<colon])
        guard let column = item.columnIndex(name) else {
            let hint = name.nearest(in: item.columns.map(\.name)).map { " Did you mean '\($0)'?" } ?? ""
            throw SessionFailure(
                .badSchema,
                "The server's \(item.name) has no property '\(shown(name))'.\(hint) "
                    + "Migrate the server before releasing the app.")
        }
        let expected = HelloClass.describe(item.columns[column])
        guard text == expected else {
            throw SessionFailure(
                .badSchema, "\(item.name): the device has '\(shown(text))', the server has '\(expected)'.")
        }
        return column
    }

    /// A device's text as messages show it: its first so many bytes.
    private static let shownByteCount = 100

    private static func shown(_ text: String) -> String { text.shortened(toByteCount: shownByteCount) }
}
