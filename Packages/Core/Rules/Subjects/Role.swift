internal import TomboloModel

/// The name of a role that rows of a class give to users, such as `organizer`. The application decides which roles
/// there are. Names are compared by their bytes, as in the database and in rules.
public struct Role: Hashable, Sendable, CustomStringConvertible {
    public let name: String

    public init(_ name: String) { self.name = name }

    public static func == (left: Role, right: Role) -> Bool { left.name.hasBytes(of: right.name) }

    public func hash(into hasher: inout Hasher) { hasher.combine(Value.string(name)) }

    public var description: String { name }
}
