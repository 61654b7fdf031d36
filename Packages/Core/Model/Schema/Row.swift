/// The values of one object in the column order of its class. Sendable: what stores and servers pass around.
public struct Row: Hashable, Sendable {
    public var values: [Value]

    public init(_ values: [Value]) { self.values = values }

    @inlinable public subscript(column: Int) -> Value {
        get { values[column] }
        set { values[column] = newValue }
    }
}
