import EventModels
import PostgresClient
import PostgresValues
public import TomboloModel

/// Writes rows by property names, as any plain-SQL writer would.
public struct RowWriter: Sendable {
    let pool: PostgresPool
    private let schema = EventModels.schema

    struct NoSuchClass: Error { let name: String }

    /// Inserts an object; properties without a value get the column's default.
    @discardableResult
    public func insert(_ className: String, _ values: [String: Value], id: ObjectId = .generate()) async throws
        -> ObjectId
    {
        guard let item = schema[className] else { throw NoSuchClass(name: className) }
        var all = values
        all["_id"] = .objectId(id)
        var names: [String] = []
        var parameters: [PostgresParameter] = []
        for column in item.columns {
            guard let value = all.removeValue(forKey: column.name) else { continue }
            names.append(PostgresSQL.quoteIdentifier(column.sqlName))
            parameters.append(try PostgresParameter(value, as: schema.storedType(of: column)))
        }
        guard all.isEmpty else { throw NoSuchClass(name: "\(className) with \(all.keys.sorted())") }
        let places = (1...parameters.count).map { "$\($0)" }.joined(separator: ", ")
        try await pool.query(
            """
            INSERT INTO \(PostgresSQL.quoteIdentifier(item.table)) (\(names.joined(separator: ", "))) VALUES (\(places))
            """, parameters)
        return id
    }

    /// Sets one property.
    public func set(_ className: String, _ id: ObjectId, _ property: String, _ value: Value) async throws {
        guard let item = schema[className], let index = item.columnIndex(property) else {
            throw NoSuchClass(name: "\(className).\(property)")
        }
        let column = item.columns[index]
        try await pool.query(
            """
            UPDATE \(PostgresSQL.quoteIdentifier(item.table))
            SET \(PostgresSQL.quoteIdentifier(column.sqlName)) = $2 WHERE "_id" = $1
            """, [.objectId(id), try PostgresParameter(value, as: schema.storedType(of: column))])
    }
}
