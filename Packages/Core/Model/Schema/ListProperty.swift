/// A list with a child table: its element class is named `Class.property`, its table `class_property`.
public struct ListProperty: Hashable, Sendable {
    /// What the elements are.
    public indirect enum Element: Hashable, Sendable {
        /// Links to objects of a class.
        case link(to: String)
        case scalar(PropertyType, isOptional: Bool)
        /// Embedded objects of a class, with its properties as columns and its lists as further tables.
        case embedded(ClassSchema)
    }

    /// With the names of the embedded objects on the way: `address.residents`.
    public let name: String
    public let element: Element
    /// The table's name after that of the class.
    public let sqlName: String
    /// The values that the elements of a list of scalars can have; nil for all of their type.
    public let allowedValues: AllowedValues?
    /// What people should know before they enter a value; nil for nothing.
    public let hint: String?
    /// Names that the property had before, by which older versions of an app ask for it.
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

    /// The class that the elements link to, where they do.
    public var target: String? { if case .link(let target) = element { target } else { nil } }

    /// The list of an embedded object, as a list of the class that has the object in `embedding`.
    package func embedded(in embedding: Column) -> ListProperty {
        ListProperty(
            name: "\(embedding.name).\(name)", element: element, sqlName: "\(embedding.sqlName)_\(sqlName)",
            allowedValues: allowedValues, hint: hint,
            previousNames: Column.previousNames(of: name, previousNames, in: embedding),
            isRetired: isRetired || embedding.isRetired)
    }
}
