/// One column of a class's table: a scalar property or a link, whose value is the target's primary key.
public struct Column: Hashable, Sendable {
    /// The property's name in Swift, `startsAt`.
    public let name: String
    /// The name in both SQLite and PostgreSQL, `starts_at`.
    public let sqlName: String
    public let type: PropertyType
    public let isOptional: Bool
    public let isPrimaryKey: Bool
    public let isIndexed: Bool
    /// Whether the values are encrypted in a device's file.
    public let isEncrypted: Bool
    /// What happens to the row when the link's target is deleted.
    public let deleteRule: DeleteRule
    /// The values that the property can have, or nil if it can have all values of its type. For a list in one column,
    /// the values of its elements.
    public let allowedValues: AllowedValues?
    /// A hint for people who are about to enter a value, or nil.
    public let hint: String?
    /// Whether the string is Markdown. It's stored and sent like any other string.
    public let isMarkdown: Bool
    /// Which coordinate of the object's place this is; nil for any other number.
    public let coordinate: Coordinate?
    /// For a property of an embedded object: whether it's required there. The column itself is optional because the
    /// object may be absent.
    public let isRequiredWhenPresent: Bool
    /// Earlier names of the property, which older versions of an app still use.
    public let previousNames: [String]
    /// Whether the app's newest version lacks the property. The server keeps the column for older versions.
    public let isRetired: Bool

    /// - Parameter sqlName: the name in SQL if it shouldn't be derived from `name`.
    public init(
        name: String, sqlName: String? = nil, type: PropertyType, isOptional: Bool = false, isPrimaryKey: Bool = false,
        isIndexed: Bool = false, isEncrypted: Bool = false, deleteRule: DeleteRule = .nullify,
        isRequiredWhenPresent: Bool = false, allowedValues: AllowedValues? = nil, hint: String? = nil,
        isMarkdown: Bool = false, coordinate: Coordinate? = nil,
        previousNames: [String] = [], isRetired: Bool = false
    ) {
        self.name = name
        self.sqlName = sqlName ?? Self.sqlName(for: name)
        self.type = type
        self.isOptional = isOptional
        self.isPrimaryKey = isPrimaryKey
        self.isIndexed = isIndexed
        self.isEncrypted = isEncrypted
        self.deleteRule = deleteRule
        self.isRequiredWhenPresent = isRequiredWhenPresent
        self.allowedValues = allowedValues
        self.hint = hint
        self.isMarkdown = isMarkdown
        self.coordinate = coordinate
        self.previousNames = previousNames
        self.isRetired = isRetired
    }

    /// This property of an embedded object as a column of the class that embeds the object as `embedding`.
    package func embedded(in embedding: Column) -> Column {
        Column(
            name: "\(embedding.name).\(name)", sqlName: "\(embedding.sqlName)_\(sqlName)", type: type,
            isOptional: true, isIndexed: isIndexed, isEncrypted: isEncrypted, deleteRule: deleteRule,
            isRequiredWhenPresent: !isOptional || isRequiredWhenPresent, allowedValues: allowedValues, hint: hint,
            isMarkdown: isMarkdown, coordinate: coordinate,
            previousNames: Self.previousNames(of: name, previousNames, in: embedding),
            isRetired: isRetired || embedding.isRetired)
    }

    func renamedInSQL(_ sqlName: String) -> Column {
        Column(
            name: name, sqlName: sqlName, type: type, isOptional: isOptional, isPrimaryKey: isPrimaryKey,
            isIndexed: isIndexed, isEncrypted: isEncrypted, deleteRule: deleteRule,
            isRequiredWhenPresent: isRequiredWhenPresent, allowedValues: allowedValues, hint: hint,
            isMarkdown: isMarkdown, coordinate: coordinate,
            previousNames: previousNames, isRetired: isRetired)
    }

    /// Every name that a property of an embedded object has had, as combinations of the property's own names and those
    /// of the embedding property.
    static func previousNames(of name: String, _ previousNames: [String], in embedding: Column) -> [String] {
        let names = ([embedding.name] + embedding.previousNames).flatMap { outer in
            ([name] + previousNames).map { "\(outer).\($0)" }
        }
        return Array(names.dropFirst())
    }

    /// `startsAt` → `starts_at`, `shortURL` → `short_url`, `_id` → `_id`, `home.street` → `home_street`.
    public static func sqlName(for name: String) -> String {
        var result = ""
        let characters = Array(name)
        for (index, character) in characters.enumerated() {
            if character == "." {
                result += "_"
            } else if character.isUppercase {
                let follows =
                    index > 0 && characters[index - 1] != "_" && characters[index - 1] != "."
                    && !characters[index - 1].isUppercase
                let beginsWord =
                    index > 0 && index + 1 < characters.count && characters[index - 1].isUppercase
                    && characters[index + 1].isLowercase
                if follows || beginsWord { result += "_" }
                result += character.lowercased()
            } else {
                result.append(character)
            }
        }
        return systemNames.contains(result) ? result + "_" : result
    }

    /// Columns that every SQLite or PostgreSQL table has implicitly.
    /// <https://www.postgresql.org/docs/current/ddl-system-columns.html>
    static let systemNames: Set<String> = ["rowid", "ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"]

    /// Whether the values are strings with any content.
    var canBeMarkdown: Bool { type == .string && allowedValues == nil }

    /// The class that a link points to.
    public var linkTarget: String? {
        if case .link(let target) = type { target } else { nil }
    }
}

extension Column {
    /// Checks a value against the type, optionality and the limits that all stores share.
    /// - Throws: ``ValueError``, which says what is accepted. Callers add class and key.
    public func validate(_ value: Value, linkKeyType: PropertyType? = nil) throws(ValueError) {
        switch (type, value) {
        case (_, .null):
            guard isOptional else { throw ValueError(Wording("'\(name)' is required and cannot be nil.")) }
        case (.bool, .bool), (.embedded, .bool), (.objectId, .objectId), (.uuid, .uuid),
            (.decimal128, .decimal):
            break
        case (.int(let bits), .int(let number)):
            guard bits == 64 || (number >> Int64(bits - 1) == 0 || number >> Int64(bits - 1) == -1) else {
                throw ValueError(Wording("'\(name)' is a \(bits)-bit integer and cannot hold \(number)."))
            }
        case (.float, .double(let number)), (.double, .double(let number)):
            guard !number.isNaN else {
                throw ValueError(Wording("'\(name)' cannot be NaN: use an optional and nil instead."))
            }
        case (.string, .string(let text)): try validateText(text)
        case (.data, .data(let data)): try validateLength(data.count)
        case (.array, .data(let data)):
            try validateLength(data.count)
            if let count = ArrayCoding.count(data), count > ArrayCoding.maximumCount {
                throw ValueError(
                    Wording("'\(name)' can hold at most \(ArrayCoding.maximumCount) elements, not \(count)."))
            }
        case (.date, .date(let microseconds)):
            guard Value.dateRange.contains(microseconds) else {
                throw ValueError(Wording("'\(name)' must lie between the years 1 and 9999."))
            }
        case (.link, let key):
            if let linkKeyType {
                try Column(name: name, type: linkKeyType).validate(key)
            } else if case .objectId = key {
            } else if case .uuid = key {
            } else if case .int = key {
            } else if case .string(let text) = key {
                try validateText(text)
            } else {
                throw ValueError(Wording("'\(name)' links to \(linkTarget ?? "") and cannot hold \(key)."))
            }
        default: throw ValueError(Wording("'\(name)' is of type \(type.name) and cannot hold \(value)."))
        }
    }

    private func validateText(_ text: String) throws(ValueError) {
        try validateLength(text.utf8.count)
        guard !text.containsNull else {
            throw ValueError(Wording("'\(name)' cannot contain U+0000, which PostgreSQL can't store in text."))
        }
    }

    private func validateLength(_ count: Int) throws(ValueError) {
        guard count <= Value.maximumByteCount else {
            throw ValueError(Wording("'\(name)' can hold at most \(Value.maximumByteCount) bytes, not \(count)."))
        }
    }
}
