public import TomboloModel

/// A value to bind, with the stored type of the column that it's compared with or written to. For a link, that is the
/// key's type.
public struct SQLParameter: Hashable, Sendable {
    /// The value, or null if ``list`` is the value.
    public let value: Value
    /// The values to bind as one array, none of them null. PostgreSQL only.
    public let list: [Value]?
    /// The type of the value, or of each value in the list.
    public let type: PropertyType

    /// A single value.
    public init(_ value: Value, _ type: PropertyType) {
        self.value = value
        self.list = nil
        self.type = type
    }

    /// A list, bound as one array. PostgreSQL only.
    public init(list: [Value], _ type: PropertyType) {
        self.value = .null
        self.list = list
        self.type = type
    }
}
