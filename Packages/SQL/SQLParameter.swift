public import TomboloModel

/// A value to bind, with the stored type of the column that it meets: a link's literal has the type of the key.
public struct SQLParameter: Hashable, Sendable {
    public let value: Value
    public let type: PropertyType

    public init(_ value: Value, _ type: PropertyType) {
        self.value = value
        self.type = type
    }
}
