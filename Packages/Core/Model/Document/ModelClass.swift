/// A class in a ``ModelDocument``.
public struct ModelClass: Hashable, Sendable {
    /// The Swift name.
    public let name: String
    /// The table's name in SQL; nil for an embedded class, which has none.
    public let table: String?
    /// In the order of their declaration, superclasses' properties first.
    public let properties: [ModelProperty]
    /// Groups of properties that must be unique together among objects that aren't in the trash. A property of an
    /// embedded object is named with a dot: `home.street`.
    public let uniqueProperties: [[String]]
    /// Whether deleting an object moves it into the trash on the server.
    public let isTrashable: Bool
    /// Names that the class had before, newest first.
    public let previousNames: [String]
    /// Whether the app's own document lacks the class by now. Servers keep its table.
    public let isRetired: Bool

    /// Whether objects of the class live inside others.
    public var isEmbedded: Bool { table == nil }

    /// - Parameter table: nil for an embedded class.
    public init(
        name: String, table: String?, properties: [ModelProperty], uniqueProperties: [[String]] = [],
        isTrashable: Bool = false, previousNames: [String] = [], isRetired: Bool = false
    ) {
        self.name = name
        self.table = table
        self.properties = properties
        self.uniqueProperties = uniqueProperties
        self.isTrashable = isTrashable
        self.previousNames = previousNames
        self.isRetired = isRetired
    }

    /// The property with this name, or nil.
    public subscript(propertyName: String) -> ModelProperty? { properties.first { $0.name == propertyName } }
}
