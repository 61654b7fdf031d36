/// A property of a class in a ``ModelDocument``.
public struct ModelProperty: Hashable, Sendable {
    /// The Swift name.
    public let name: String
    /// The column's name in SQL. For an embedded object it's the prefix of its columns' names; for a list it's the
    /// suffix of its table's name.
    public let column: String
    /// Never `linkingObjects`.
    public let type: PropertyType
    /// Whether the value may be nil. For a list, its type says whether elements may be nil.
    public let isOptional: Bool
    public let isPrimaryKey: Bool
    public let isIndexed: Bool
    /// Whether devices encrypt the values in their files. Such a class can't be synchronised.
    public let isEncrypted: Bool
    /// What happens to an object when its link's target is deleted.
    public let deleteRule: DeleteRule
    /// The values that the property, or an element of it, can have: those of an enumeration. Nil if it can have all
    /// values of its type.
    public let allowedValues: AllowedValues?
    /// A hint for people who are about to enter a value, or nil.
    public let hint: String?
    /// Whether the string is Markdown.
    public let isMarkdown: Bool
    /// Which coordinate of the object's place this is; nil for any other property.
    public let coordinate: Column.Coordinate?
    /// Earlier names of the property, newest first.
    public let previousNames: [String]
    /// Whether the app's own document no longer has the property. Servers keep its column.
    public let isRetired: Bool

    /// - Parameter column: nil to derive the column's name from the property's.
    public init(
        name: String, column: String? = nil, type: PropertyType, isOptional: Bool = false, isPrimaryKey: Bool = false,
        isIndexed: Bool = false, isEncrypted: Bool = false, deleteRule: DeleteRule = .nullify,
        allowedValues: AllowedValues? = nil, hint: String? = nil, isMarkdown: Bool = false,
        coordinate: Column.Coordinate? = nil, previousNames: [String] = [], isRetired: Bool = false
    ) {
        self.name = name
        self.column = column ?? Column.sqlName(for: name)
        self.type = type
        self.isOptional = isOptional
        self.isPrimaryKey = isPrimaryKey
        self.isIndexed = isIndexed
        self.isEncrypted = isEncrypted
        self.deleteRule = deleteRule
        self.allowedValues = allowedValues
        self.hint = hint
        self.isMarkdown = isMarkdown
        self.coordinate = coordinate
        self.previousNames = previousNames
        self.isRetired = isRetired
    }

    /// A copy with another type. If `isOfPlace` is false, the copy isn't a latitude or longitude.
    init(
        _ other: ModelProperty, type: PropertyType, isOptional: Bool? = nil, isOfPlace: Bool = true,
        isRetired: Bool? = nil
    ) {
        self.init(
            name: other.name, column: other.column, type: type, isOptional: isOptional ?? other.isOptional,
            isPrimaryKey: other.isPrimaryKey, isIndexed: other.isIndexed, isEncrypted: other.isEncrypted,
            deleteRule: other.deleteRule, allowedValues: other.allowedValues, hint: other.hint,
            isMarkdown: other.isMarkdown, coordinate: isOfPlace ? other.coordinate : nil,
            previousNames: other.previousNames, isRetired: isRetired ?? other.isRetired)
    }

    /// The type as documents write it: `string?`, `list<link<Speaker>>`.
    public var typeText: String { type.name + (isOptional ? "?" : "") }

    /// The class that the property links to or embeds, and which of the two; nil for a property with values.
    public var target: (name: String, isEmbedded: Bool)? {
        let element = if case .list(let element, _) = type { element } else { type }
        return switch element {
        case .link(let name): (name, false)
        case .embedded(let name): (name, true)
        default: nil
        }
    }
}
