/// A named set of rights. Which roles there are is up to the application; two are built in.
public struct Role: Hashable, Sendable, CustomStringConvertible {
    public let name: String

    public init(_ name: String) { self.name = name }

    /// Everybody, logged in or not.
    public static let anonymous = Role("anonymous")
    /// Everybody who is logged in.
    public static let attendee = Role("attendee")

    public var description: String { name }
}
