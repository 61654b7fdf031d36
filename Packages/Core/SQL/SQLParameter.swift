public import TomboloModel

/// A value to bind, with the stored type of the column that it meets: a link's literal has the type of the key.
public struct SQLParameter: Hashable, Sendable {
    /// Null where ``list`` is the value.
    public let value: Value
    /// Values to bind as one array, none of them null; in PostgreSQL only.
    public let list: [Value]?
    /// The type of the value, or of each in the list.
    public let type: PropertyType

    public init(_ value: Value, _ type: PropertyType) {
        self.value = value
        self.list = nil
        self.type = type
    }

    public init(list: [Value], _ type: PropertyType) {
        self.value = .null
        self.list = list
        self.type = type
    }
}
