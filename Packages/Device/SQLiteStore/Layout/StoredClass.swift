package import TomboloModel

/// A file's description of one of its classes. It has enough detail to read the class's rows and to find the
/// differences from the app's class.
package struct StoredClass: Equatable, Sendable {
    package struct Property: Equatable, Sendable {
        package var name: String
        /// The column's name in SQL, unquoted.
        package var column: String
        package var type: PropertyType
        package var isOptional: Bool
        package var isPrimaryKey = false
        package var isIndexed = false
        package var isEncrypted = false
        package var isRequiredWhenPresent = false
        package var deletesWithTarget = false
    }

    /// `Talk`, or `Talk.speakers` for the elements of a list.
    package let name: String
    package var table: String
    package var properties: [Property]
    /// For a list of embedded objects, the class of the elements.
    package var embeddedClass: String?

    package init(_ schema: ClassSchema) {
        name = schema.name
        table = schema.table
        properties = schema.columns.map {
            Property(
                name: $0.name, column: $0.sqlName, type: $0.type, isOptional: $0.isOptional,
                isPrimaryKey: $0.isPrimaryKey, isIndexed: $0.needsIndex, isEncrypted: $0.isEncrypted,
                isRequiredWhenPresent: $0.isRequiredWhenPresent, deletesWithTarget: $0.deleteRule == .cascade)
        }
        if case .embedded(let item) = schema.owner?.element { embeddedClass = item.name }
    }

    /// The same class under another name.
    init(_ item: StoredClass, name: String, table: String) {
        self.name = name
        self.table = table
        properties = item.properties
        embeddedClass = item.embeddedClass
    }

    /// Whether this is an element class.
    package var isElement: Bool { name.contains(".") }
    /// The class that owns the list. For other classes, the class itself.
    package var rootName: String { String(name.prefix { $0 != "." }) }
    package var keyIndex: Int? { properties.firstIndex(where: \.isPrimaryKey) }
    package func index(of name: String) -> Int? { properties.firstIndex { $0.name == name } }

    /// Whether the last column of an element class refers to a parent element. It isn't part of the content.
    package var hasParent: Bool {
        // Recognised by type: the embedded class may have a property of the same name, but only this column links to
        // elements.
        guard isElement, case .link(let target)? = properties.last?.type else { return false }
        return target.contains(".")
    }
    package var content: ArraySlice<Property> {
        isElement ? properties[ElementColumn.content..<(properties.count - (hasParent ? 1 : 0))] : properties[...]
    }

    // MARK: Text

    /// The table's name, then one line per property: `price int`, `room link<Room>? indexed`, `_id objectId key`. For
    /// elements that are embedded objects there's also a line `@embedded Address`. Name and type come first, so that a
    /// property may be called `key`. Spaces in names are written `\s`.
    var text: String {
        var lines = [table]
        for property in properties {
            var words = [
                Self.word(property.name), Self.word(property.type.name + (property.isOptional ? "?" : "")),
            ]
            if property.isPrimaryKey { words.append("key") }
            if property.isIndexed { words.append("indexed") }
            if property.isEncrypted { words.append("encrypted") }
            if property.isRequiredWhenPresent { words.append("required") }
            if property.deletesWithTarget { words.append("cascade") }
            if property.column != Column.sqlName(for: property.name) { words.append("column=\(property.column)") }
            lines.append(words.joined(separator: " "))
        }
        if let embeddedClass { lines.append("@embedded \(Self.word(embeddedClass))") }
        return lines.joined(separator: "\n")
    }

    /// Swift names can contain spaces, but never a backslash.
    private static func word(_ name: String) -> String { name.replacing(" ", with: "\\s") }
    private static func name(_ word: Substring) -> String { String(word.replacing("\\s", with: " ")) }

    /// Parses ``text``. Nil if the text is invalid.
    init?(name: String, text: String) {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard !lines.isEmpty else { return nil }
        self.name = name
        table = lines.removeFirst()
        properties = []
        for line in lines {
            // The column's name comes last and may contain spaces.
            let column = line.firstRange(of: " column=").map { String(line[$0.upperBound...]) }
            let words = line.prefix(upTo: line.firstRange(of: " column=")?.lowerBound ?? line.endIndex)
                .split(separator: " ").map(Self.name)
            guard words.count >= 2 else { return nil }
            if words[0] == "@embedded" {
                embeddedClass = words[1]
                continue
            }
            let isOptional = words[1].hasSuffix("?")
            guard let type = PropertyType(name: isOptional ? String(words[1].dropLast()) : words[1]) else {
                return nil
            }
            let marks = words.dropFirst(2)
            properties.append(
                Property(
                    name: words[0], column: column ?? Column.sqlName(for: words[0]), type: type,
                    isOptional: isOptional, isPrimaryKey: marks.contains("key"),
                    isIndexed: marks.contains("indexed"), isEncrypted: marks.contains("encrypted"),
                    isRequiredWhenPresent: marks.contains("required"), deletesWithTarget: marks.contains("cascade")))
        }
    }
}

extension Column {
    /// Links are also indexed, to find the elements and objects that point to an object.
    var needsIndex: Bool { !isPrimaryKey && (isIndexed || linkTarget != nil) }
}
