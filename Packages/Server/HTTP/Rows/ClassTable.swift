import PostgresClient
import Synchronization
public import TomboloModel

/// A model class's table in a schema that servers loaded: names for SQL and positions in rows, by property. The
/// compiler checks the properties that a service names; the database is checked for them once, when the service starts.
///
///     let tickets = try ClassTable<Ticket>(schema)
///     "UPDATE \(tickets) SET \(tickets[\.rank]) = $2 WHERE \(tickets[\._id]) = $1"
///     try await reader.objects(tickets, matching: filter).map { $0[\.rank] }
public struct ClassTable<Class: Object>: Sendable {
    /// The class in the schema. It may have properties that the model class lacks.
    public let item: ClassSchema
    public let classIndex: Int
    private let positions = PropertyPositions()

    /// - Throws: ``ValueError`` if the schema lacks the class or one of its properties, or has a property of another
    ///   type.
    public init(_ schema: Schema) throws(ValueError) {
        let wanted = ObjectClass.of(Class.self).schema
        guard let classIndex = schema.index(of: wanted.name) else {
            throw ValueError("The database has no class \(wanted.name): run migration-tool apply with its models.")
        }
        item = schema[classIndex]
        self.classIndex = classIndex
        for column in wanted.columns {
            let found = item.columnIndex(column.name).map { item.columns[$0] }
            guard found?.type == column.type else {
                throw ValueError(
                    "The database has \(found.map { "\($0.type.name) in" } ?? "no") \(wanted.name).\(column.name), "
                        + "which is \(column.type.name) in this program: run migration-tool plan to see how they differ."
                )
            }
        }
    }

    /// The quoted name of a property's column.
    public subscript(property: any PartialKeyPath<Class> & Sendable) -> String {
        PostgresSQL.quoteIdentifier(item.columns[position(of: property)].sqlName)
    }

    /// A row of the class, with all its columns in the schema's order.
    public func row(_ row: Row) -> ClassRow<Class> { ClassRow(table: self, row: row) }

    /// - Parameter property: a property with a column; lists have none.
    func position(of property: any PartialKeyPath<Class> & Sendable) -> Int {
        positions.position(of: property) {
            let name = PropertyPath(of: property).description
            guard let position = item.columnIndex(name) else {
                preconditionFailure("\(item.name).\(name) has no column.")
            }
            return position
        }
    }
}

extension ClassTable: CustomStringConvertible {
    /// The table's quoted name.
    public var description: String { PostgresSQL.quoteIdentifier(item.table) }
}

/// The column positions of a class's key paths. Finding them out takes an object of the class.
private final class PropertyPositions: Sendable {
    private struct Path: Hashable, Sendable {
        let keyPath: any AnyKeyPath & Sendable

        static func == (left: Path, right: Path) -> Bool { left.keyPath == right.keyPath }
        func hash(into hasher: inout Hasher) { keyPath.hash(into: &hasher) }
    }

    private let known = Mutex<[Path: Int]>([:])

    func position(of keyPath: any AnyKeyPath & Sendable, _ find: () -> Int) -> Int {
        let path = Path(keyPath: keyPath)
        if let position = known.withLock({ $0[path] }) { return position }
        let position = find()
        known.withLock { $0[path] = position }
        return position
    }
}
