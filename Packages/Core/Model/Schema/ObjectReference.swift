/// Refers to an object by its class and primary key.
public struct ObjectReference: Hashable, Sendable, CustomStringConvertible {
    /// The class's position in the current ``Schema``. Positions never leave a process; names do.
    public let classIndex: Int
    public let key: Value

    public init(classIndex: Int, key: Value) {
        self.classIndex = classIndex
        self.key = key
    }

    public var description: String { "#\(classIndex)(\(key))" }
}
