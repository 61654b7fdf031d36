/// A list with a child table. Its element class is named `Class.property`, its table `class_property`.
public struct ListProperty: Hashable, Sendable {
    /// The kind of elements.
    public indirect enum Element: Hashable, Sendable {
        /// Links to objects of a class.
        case link(to: String)
        case scalar(PropertyType, isOptional: Bool)
        /// Embedded objects of a class, with its properties as columns and its lists as further tables.
        case embedded(ClassSchema)
    }

    /// The name, including the names of the embedded objects on the way to it: `address.residents`.
    public let name: String
    public let element: Element
    /// The part of the table's name that follows the class's.
    public let sqlName: String
    /// For a list of scalars, the values that elements can have; nil if they can have all values of their type.
    public let allowedValues: AllowedValues?
    /// A hint for people who are about to enter a value, or nil.
    public let hint: String?
    /// Earlier names of the property, which older versions of an app still use.
    public let previousNames: [String]
    /// Whether the app's newest version lacks the property. The server keeps the table for older versions.
    public let isRetired: Bool

    public init(
        name: String, element: Element, sqlName: String? = nil, allowedValues: AllowedValues? = nil,
        hint: String? = nil, previousNames: [String] = [], isRetired: Bool = false
    ) {
        self.name = name
        self.element = element
        self.sqlName = sqlName ?? Column.sqlName(for: name)
        self.allowedValues = allowedValues
        self.hint = hint
        self.previousNames = previousNames
        self.isRetired = isRetired
    }

    /// A list of links.
    public init(name: String, target: String) { self.init(name: name, element: .link(to: target)) }

    /// The class that the elements link to, or nil if they aren't links.
    public var target: String? { if case .link(let target) = element { target } else { nil } }

    /// This list of an embedded object as a list of the class that embeds the object as `embedding`.
    package func embedded(in embedding: Column) -> ListProperty {
        ListProperty(
            name: "\(embedding.name).\(name)", element: element, sqlName: "\(embedding.sqlName)_\(sqlName)",
            allowedValues: allowedValues, hint: hint,
            previousNames: Column.previousNames(of: name, previousNames, in: embedding),
            isRetired: isRetired || embedding.isRetired)
    }
}
