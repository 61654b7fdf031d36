/// A class whose objects give users roles, resolved against the schema. Columns are positions in the class.
public struct GrantColumns: Hashable, Sendable {
    public let classIndex: Int
    /// Holds the user's id: an ObjectId, or its 24 hexadecimal digits.
    public let userColumn: Int
    /// Holds the role's name.
    public let roleColumn: Int
    /// Holds the key of the object within which the role counts, or nil for a role that applies everywhere. Without such
    /// a column, all roles apply everywhere.
    public let scopeColumn: Int?
    /// The names of the roles that the class can give, or nil if the rules don't list them.
    public let roles: [String]?
    /// The exclusive roles, such as `owner`, of which each scope has one holder. The value is the role that a holder
    /// gets after handing the exclusive one over.
    public let exclusive: [String: String]
}
