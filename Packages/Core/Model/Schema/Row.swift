/// The values of one object in the column order of its class. Stores and servers pass rows around, so they are Sendable.
public struct Row: Hashable, Sendable {
    public var values: [Value]

    public init(_ values: [Value]) { self.values = values }

    @inlinable public subscript(column: Int) -> Value {
        get { values[column] }
        set { values[column] = newValue }
    }
}
