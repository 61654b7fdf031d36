/// The name of a role that rows of a class give to users, such as `organizer`. Which roles there are is up to the
/// application.
public struct Role: Hashable, Sendable, CustomStringConvertible {
    public let name: String

    public init(_ name: String) { self.name = name }

    public var description: String { name }
}
