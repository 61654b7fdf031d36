/// A value that its property can't hold, or a predicate that doesn't fit its class.
public struct ValueError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A sentence that says what was found and what is accepted.
    public let message: String

    public init(_ message: String) { self.message = message }

    public var description: String { message }
}
