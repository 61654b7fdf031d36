/// A value that its property cannot hold. The message says what was found and what is accepted.
public struct ValueError: Error, Hashable, Sendable, CustomStringConvertible {
    public let message: String

    public init(_ message: String) { self.message = message }

    public var description: String { message }
}
