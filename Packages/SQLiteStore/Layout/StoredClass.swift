internal import TomboloModel

/// What a file says about one of its classes: enough to tell how the app's classes differ from it.
struct StoredClass: Equatable {
    struct Property: Equatable {
        var name: String
        var type: String
        var isOptional: Bool
        var isPrimaryKey: Bool
        var isIndexed: Bool
    }

    var table: String
    var properties: [Property]

    init(_ layout: TableLayout) {
        table = layout.schema.table
        properties = layout.schema.columns.map {
            Property(
                name: $0.name, type: $0.type.name, isOptional: $0.isOptional, isPrimaryKey: $0.isPrimaryKey,
                isIndexed: layout.isIndexed($0))
        }
    }

    /// The table's name, then a line for each property: `price int`, `room link<Room>? indexed`, `_id objectId key`.
    var text: String {
        let lines = properties.map {
            "\($0.name) \($0.type)\($0.isOptional ? "?" : "")\($0.isPrimaryKey ? " key" : "")"
                + ($0.isIndexed ? " indexed" : "")
        }
        return ([table] + lines).joined(separator: "\n")
    }

    /// From ``text``; nil where it is not one.
    init?(text: String) {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard !lines.isEmpty else { return nil }
        table = lines.removeFirst()
        properties = []
        for line in lines {
            let words = line.split(separator: " ").map(String.init)
            guard words.count >= 2 else { return nil }
            let isOptional = words[1].hasSuffix("?")
            properties.append(
                Property(
                    name: words[0], type: isOptional ? String(words[1].dropLast()) : words[1], isOptional: isOptional,
                    isPrimaryKey: words.contains("key"), isIndexed: words.contains("indexed")))
        }
    }
}
