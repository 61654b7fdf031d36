public import PostgresClient
public import TomboloModel

/// Replays the audit log from the start and compares the result with the tables. Only the tables' owner can run it.
public enum AuditVerification {
    /// The most differences reported for one class.
    public static let differenceLimit = 100

    /// An object that differs between the log and its table.
    public struct Difference: Hashable, Sendable, CustomStringConvertible {
        public let className: String
        public let key: String
        /// The properties that differ. Empty if the object exists on one side only.
        public let properties: [String]
        public let isLogged: Bool
        public let isStored: Bool

        public var description: String {
            guard isLogged, isStored else {
                let place = isLogged ? "log but not in the table" : "table but not in the log"
                return "\(className) \(key) is in the \(place)"
            }
            return "\(className) \(key) differs in \(properties.joined(separator: ", "))"
        }
    }

    /// The result of a verification.
    public struct Report: Sendable {
        public var differences: [Difference] = []
        /// Classes for which the log doesn't have all earlier objects yet.
        public var incomplete: [String] = []
        /// Whether months of the log were dropped. The replay then lacks them, and its differences mean nothing.
        public var isShortened = false
    }

    /// Compares all classes of a schema, leaving out objects that changed after the log's position.
    /// - Throws: ``PostgresStoreError`` `.schema` for a database without an audit log, or one whose log hasn't begun.
    public static func run(_ schema: Schema, on connection: PostgresConnection) async throws -> Report {
        var report = Report()
        let identifiers = try await SchemaIdentifiers.read(connection)
        let position = try await connection.query(
            "SELECT tick IS NOT NULL, expired_to IS NOT NULL FROM tombolo.audit_position")
        guard let row = position.first, try row[0].bool else {
            throw PostgresStoreError(
                .schema, "The audit log hasn't begun. Start an admin server, and a gateway with a sequencer.")
        }
        report.isShortened = try row[1].bool
        let done = Set(
            try await connection.query("SELECT class::bigint FROM tombolo.audit_baseline WHERE is_done").map {
                Int16(truncatingIfNeeded: try $0[0].int64)
            })
        for (index, item) in schema.classes.enumerated() {
            guard let layout = ClassLayout(item, classIndex: index, schema: schema, identifiers: identifiers) else {
                continue
            }
            guard done.contains(layout.id) else {
                report.incomplete.append(item.name)
                continue
            }
            report.differences += try await differences(layout, connection)
        }
        return report
    }

    private static func differences(
        _ layout: ClassLayout, _ connection: PostgresConnection
    ) async throws -> [Difference] {
        var ids: [String] = []
        var zeros: [String?] = []
        var names: [String: String] = [:]
        for (position, column) in layout.item.columns.enumerated() {
            let id = String(layout.columnIDs[position])
            names[id] = column.name
            ids.append(id)
            zeros.append(column.isOptional ? nil : zero(of: column, layout.storedTypes[position]))
        }
        if layout.item.isTrashable {
            ids += [LoggedValue.trashColumn, LoggedValue.trashReasonColumn]
            zeros += ["false", nil]
        }
        let found = try await connection.query(
            """
            SELECT d.key, d.logged IS NOT NULL, d.stored IS NOT NULL, ARRAY(SELECT k FROM \
            jsonb_object_keys(coalesce(d.logged, '{}') || coalesce(d.stored, '{}')) AS k \
            WHERE d.logged -> k IS DISTINCT FROM d.stored -> k ORDER BY k) \
            FROM tombolo.audit_differences($1::smallint, jsonb_object($2::text[], $3::text[]), $4::integer) AS d
            """,
            [
                .int64(Int64(layout.id)), .textArray(ids), .textArray(zeros), .int64(Int64(differenceLimit)),
            ])
        return try found.map { row in
            let (isLogged, isStored) = (try row[1].bool, try row[2].bool)
            let changed = try row[3].stringArray.compactMap { $0 }
            return Difference(
                className: layout.item.name, key: try row[0].string,
                properties: isLogged && isStored ? changed.map { names[$0] ?? "the trash" } : [],
                isLogged: isLogged, isStored: isStored)
        }
    }

    /// The value that ADD COLUMN gave to existing objects, as the log would write it.
    private static func zero(of column: Column, _ type: PropertyType) -> String? {
        if case .array = column.type { return ArrayCoding.empty.map { hexadecimal($0) }.joined() }
        // The zero of PostgreSQL's binary form of a decimal.
        if case .decimal128 = type { return String(repeating: "0", count: 16) }
        return KeyText.text(type.zero)
    }

    private static func hexadecimal(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }
}
