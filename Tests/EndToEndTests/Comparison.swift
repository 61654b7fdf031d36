import PostgresClient
import TomboloModel

/// Compares a device's file with the database, row by row.
struct Comparison {
    let platform: Platform

    /// The rows of a class in a text format that both databases produce alike, without the floating-point columns.
    /// - Parameter condition: an SQL condition for the server's rows that the device may have.
    func differences(_ className: String, where condition: String = "true", on device: DeviceProcess) async throws
        -> [String]
    {
        let schema = Platform.schema
        guard let item = schema[className] else { throw EndToEndFailure("There is no class \(className).") }
        var server: [String] = []
        var local: [String] = []
        for column in item.columns {
            let name = PostgresSQL.quoteIdentifier(column.sqlName)
            switch schema.storedType(of: column) {
            case .objectId:
                server.append("encode(\(name), 'hex')")
                local.append("lower(hex(\(name)))")
            case .date:
                server.append("(extract(epoch FROM \(name)) * 1000000)::bigint::text")
                local.append("CAST(\(name) AS TEXT)")
            case .bool:
                server.append("\(name)::int::text")
                local.append("CAST(\(name) AS TEXT)")
            case .double: continue
            default:
                server.append("\(name)::text")
                local.append("CAST(\(name) AS TEXT)")
            }
        }
        let table = PostgresSQL.quoteIdentifier(item.table)
        let trash = item.isTrashable ? "trashed_at IS NULL" : "true"
        func line(_ parts: [String], _ present: [String]) -> String {
            zip(parts, present).map { "CASE WHEN \($1) IS NULL THEN '-' ELSE \($0) END" }.joined(
                separator: " || '|' || ")
        }
        let names = item.columns.filter { schema.storedType(of: $0) != .double }
            .map { PostgresSQL.quoteIdentifier($0.sqlName) }
        let expected = Set(
            try await platform.sql("SELECT \(line(server, names)) FROM \(table) WHERE \(trash) AND (\(condition))")
                .map { try $0[0].string })
        let found = Set(try DeviceFile(device.file).texts("SELECT \(line(local, names)) FROM \(table)"))
        return expected.subtracting(found).map { "\(className) missing on \(device.name): \($0)" }
            + found.subtracting(expected).map { "\(className) only on \(device.name): \($0)" }
    }
}
