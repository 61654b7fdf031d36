/// Something that a role may do with one database object, or with the tables of classes.
public struct DatabaseRight: Hashable, Sendable {
    /// What the right applies to.
    public enum Target: Hashable, Sendable {
        case schema(String)
        /// A table or a view in the schema `tombolo`.
        case table(String)
        /// A sequence in the schema `tombolo`.
        case sequence(String)
        /// A function in the schema `tombolo` with its parameter types: `restore(text, text)`.
        case function(String)
        /// The tables of all classes of all apps.
        case classes
        /// The tables of a class, given by name, and of its lists.
        case classTables(String)
    }

    /// A PostgreSQL privilege.
    public struct Privilege: Hashable, Sendable {
        public enum Kind: String, Hashable, Sendable {
            case select = "SELECT"
            case insert = "INSERT"
            case update = "UPDATE"
            case delete = "DELETE"
            case usage = "USAGE"
            case execute = "EXECUTE"
        }

        public let kind: Kind
        /// The columns that it's limited to, or nil for all. For classes, these are property names or names of
        /// columns without a property, such as `trashed_at`.
        public let columns: [String]?

        public static let select = Privilege(kind: .select, columns: nil)
        public static let insert = Privilege(kind: .insert, columns: nil)
        public static let update = Privilege(kind: .update, columns: nil)
        public static let delete = Privilege(kind: .delete, columns: nil)
        public static let usage = Privilege(kind: .usage, columns: nil)
        public static let execute = Privilege(kind: .execute, columns: nil)

        public static func select(_ columns: String...) -> Privilege { Privilege(kind: .select, columns: columns) }
        public static func insert(_ columns: String...) -> Privilege { Privilege(kind: .insert, columns: columns) }
        public static func update(_ columns: String...) -> Privilege { Privilege(kind: .update, columns: columns) }
    }

    public let target: Target
    public let privileges: [Privilege]
    /// What the role needs the right for.
    public let purpose: String

    /// - Parameter purpose: what the role needs it for, worded for documents.
    public init(_ target: Target, _ privileges: Privilege..., for purpose: String) {
        self.target = target
        self.privileges = privileges
        self.purpose = purpose
    }
}
