/// A property of a class in a ``ModelDocument``.
public struct ModelProperty: Hashable, Sendable {
    /// The Swift name.
    public let name: String
    /// The name of the column in SQL. For an embedded object it begins the names of its columns; for a list it ends the
    /// name of its table.
    public let column: String
    /// Never `linkingObjects`.
    public let type: PropertyType
    /// Of a list it's the elements that may be nil, which its type says.
    public let isOptional: Bool
    public let isPrimaryKey: Bool
    public let isIndexed: Bool
    /// Whether devices encrypt the values in their files. Such a class can't be synchronised.
    public let isEncrypted: Bool
    /// What becomes of an object when the object that the link points to is deleted.
    public let deleteRule: DeleteRule
    /// The values that the property, or an element of it, can have: those of an enumeration. Nil for all of its type.
    public let allowedValues: AllowedValues?
    /// What people should know before they enter a value; nil for nothing.
    public let hint: String?
    /// Whether the text is Markdown.
    public let isMarkdown: Bool
    /// Which half of its object's place it is; nil for anything else.
    public let coordinate: Column.Coordinate?
    /// Names that the property had before, newest first.
    public let previousNames: [String]
    /// Whether the app's own document lacks the property by now. Servers keep its column.
    public let isRetired: Bool

    /// - Parameter column: nil for the name that follows from the property's.
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

    /// A copy with another type, which isn't a place's latitude or longitude if `isOfPlace` is false.
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

    /// The class that the property leads to, and whether it is embedded there; nil for one of values.
    public var target: (name: String, isEmbedded: Bool)? {
        let element = if case .list(let element, _) = type { element } else { type }
        return switch element {
        case .link(let name): (name, false)
        case .embedded(let name): (name, true)
        default: nil
        }
    }
}
