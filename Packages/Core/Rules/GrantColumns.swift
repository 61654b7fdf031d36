/// A class whose objects give users roles, resolved against the schema: columns by their position in the class.
public struct GrantColumns: Hashable, Sendable {
    public let classIndex: Int
    /// Holds the id of the user: an ObjectId, or its 24 hexadecimal digits.
    public let userColumn: Int
    /// Holds the role's name.
    public let roleColumn: Int
    /// Holds the key of the object within which the role counts, or nil for everywhere. Without such a column all roles
    /// count everywhere.
    public let scopeColumn: Int?
    /// The names of the roles that it gives; nil if the rules don't list them.
    public let roles: [String]?
    /// By a role that one user has in each scope, such as `owner`: the role that a user gets who hands it over.
    public let exclusive: [String: String]
}
