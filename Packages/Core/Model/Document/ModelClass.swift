/// A class in a ``ModelDocument``.
public struct ModelClass: Hashable, Sendable {
    /// The Swift name.
    public let name: String
    /// The table's name in SQL, or nil for an embedded class, which has no table.
    public let table: String?
    /// The properties in declaration order, those of superclasses first.
    public let properties: [ModelProperty]
    /// Groups of properties whose values must be unique together among objects that aren't in the trash. A property of
    /// an embedded object is named with a dot: `home.street`.
    public let uniqueProperties: [[String]]
    /// Whether deleting an object moves it into the trash on the server.
    public let isTrashable: Bool
    /// Earlier names of the class, newest first.
    public let previousNames: [String]
    /// Whether the app's own document no longer has the class. Servers keep its table.
    public let isRetired: Bool

    /// Whether objects of this class live inside others.
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
