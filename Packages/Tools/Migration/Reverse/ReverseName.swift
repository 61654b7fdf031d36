import TomboloModel

/// Swift names derived from SQL names.
enum ReverseName {
    /// Class names that would conflict with names that the source uses itself.
    static let takenClasses: Set<String> = [
        "Any", "AnyObject", "Array", "Bool", "Character", "Data", "Date", "Decimal128", "Dictionary", "Double",
        "EmbeddedObject", "Error", "Float", "Foundation", "Int", "Int16", "Int32", "Int64", "Int8", "LinkingObjects",
        "List",
        "Object",
        "ObjectBase", "ObjectId", "Optional", "Persisted", "Protocol", "Realm", "RealmSwift", "Results", "Self", "Set",
        "String", "Swift",
        "Type",
        "UInt", "UUID", "URL", "Void",
    ]

    /// Members of every object.
    static let takenProperties = ModelName.objectMembers.union([
        "accessor", "className", "debugDescription", "freeze", "init", "invalidate", "isEqual", "isFrozen",
        "isSameObject", "observe", "observationInfo", "self", "setValue", "thaw", "value", "Type", "Protocol",
    ])

    /// Keywords that need backticks as a property name.
    static let keywords: Set<String> = [
        "Any", "Self", "actor", "as", "associatedtype", "async", "await", "borrowing", "break", "case", "catch",
        "class",
        "consuming", "continue", "default", "defer", "deinit", "do", "dynamic", "else", "enum", "extension",
        "fallthrough",
        "false", "fileprivate", "for", "func", "get", "guard", "if", "import", "in", "infix", "inout", "internal", "is",
        "isolated", "lazy", "let", "macro", "mutating", "nil", "nonisolated", "nonmutating", "open", "operator",
        "optional",
        "override", "package", "postfix", "precedencegroup", "prefix", "private", "protocol", "public", "repeat",
        "required", "rethrows", "return", "sending", "set", "some", "static", "struct", "subscript", "super", "switch",
        "throw", "throws", "true", "try", "typealias", "unowned", "var", "weak", "where", "while", "willSet", "didSet",
    ]

    /// `order_item` → `OrderItem`.
    static func className(_ table: String) -> String {
        let name = words(table).map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        let safe = name.first.map(\.isNumber) == true ? "Table\(name)" : name
        if safe.isEmpty { return "Table" }
        return takenClasses.contains(safe) || keywords.contains(safe) ? "\(safe)Row" : safe
    }

    /// `starts_at` → `startsAt`, `_id` → `_id`.
    static func propertyName(_ column: String) -> String {
        let leading = column.prefix { $0 == "_" }
        let parts = words(column)
        let name = parts.enumerated().map { index, word in
            index == 0 ? word.prefix(1).lowercased() + word.dropFirst() : word.prefix(1).uppercased() + word.dropFirst()
        }.joined()
        if name.isEmpty { return "column" }
        let safe = name.first.map(\.isNumber) == true && leading.isEmpty ? "column\(name)" : leading + name
        return takenProperties.contains(safe) ? "\(safe)Column" : safe
    }

    /// The name as written in source code.
    static func quoted(_ property: String) -> String {
        keywords.contains(property) ? "`\(property)`" : property
    }

    /// Splits at everything that isn't a letter or digit. All-caps words become lower-case.
    private static func words(_ name: String) -> [String] {
        name.split { !($0.isLetter || $0.isNumber) }.map { word in
            word.allSatisfy { !$0.isLowercase } ? word.lowercased() : String(word)
        }
    }
}
