public import PostgresClient
import EventModels
import PostgresValues
import TomboloModel

/// Imports Open Event exports into PostgreSQL.
///
/// It tolerates and notes common mistakes of real exports:
/// - ids that several records share: each record becomes a separate object;
/// - references whose id and name disagree: the name is used if it fits exactly one record, otherwise the id;
/// - empty texts for values of any type, numbers written as text, keys in any of three styles;
/// - dates without an offset: these are in the event's time zone;
/// - speakers and sessions that disagree about each other: the sessions' file is used;
/// - missing list files, and records marked as deleted, which are left out.
///
/// Everything else is a fault, reported with file, record, field and reason. A record with a fault is set aside; a
/// link with a fault, or to such a record, is left out; the rest is imported. A fault of the event itself or of a
/// whole file refuses the export, and in a strict import any fault does.
///
/// Some things aren't imported because the models have no place for them: forms, call for speakers, versions, the
/// event's e-mail address, and the organizers' comments on sessions.
public enum OpenEventImporter {
    /// The progress of one class: rows written, of rows in total.
    public typealias Progress = @Sendable (_ className: String, _ written: Int, _ total: Int) -> Void

    /// Reads and checks an export without writing anything.
    /// - Parameters:
    ///   - folder: the path of the folder that has `event.json`.
    ///   - isStrict: whether any fault refuses the export. Otherwise ``OpenEventExport/setAside`` lists the faults
    ///     that cost a record or a link.
    /// - Throws: ``OpenEventError`` with every problem that refuses the export.
    public static func read(_ folder: String, isStrict: Bool = false) throws(OpenEventError) -> OpenEventExport {
        var parser = OpenEventParser(folder: folder, isStrict: isStrict)
        return try parser.parse()
    }

    /// Writes an export in one transaction: all or nothing. Writing the same export again changes nothing. A changed
    /// export overwrites later edits. Objects that the export no longer contains are kept.
    /// - Throws: `PostgresError`.
    nonisolated(nonsending) public static func write(
        _ export: OpenEventExport, to connection: PostgresConnection, progress: Progress = { _, _, _ in }
    ) async throws -> OpenEventSummary {
        try await connection.transaction { connection in
            let users = try await writeUsers(export, connection, progress)
            var classes = [users.line]
            for var part in export.parts {
                guard let index = EventModels.schema.index(of: part.className) else { continue }
                if part.className == "Speaker", let column = EventModels.schema[index].columnIndex("user") {
                    for position in part.rows.indices {
                        guard case .objectId(let key) = part.rows[position][0], let email = export.emailOfSpeaker[key],
                            let user = users.ids[email]
                        else { continue }
                        part.rows[position][column] = .objectId(user)
                    }
                }
                try await reuseKeys(of: &part.rows, in: EventModels.schema[index], connection)
                let upsert = RowUpsert(EventModels.schema, classIndex: index, existing: .update)
                let rows = part.rows
                let counts = try await upsert.write(rows, connection) { progress(part.className, $0, rows.count) }
                classes.append(
                    OpenEventSummary.Line(
                        className: part.className, file: part.file, records: part.recordCount,
                        setAside: part.setAsideCount,
                        rows: rows.count, inserted: counts.inserted, updated: counts.updated,
                        unchanged: counts.unchanged))
            }
            return OpenEventSummary(
                eventID: export.eventID, eventName: export.eventName, lines: classes, notes: export.notes,
                setAside: export.setAside)
        }
    }

    /// Properties that identify rows that may already exist under keys other than the import's. The panel recreates
    /// elements that change places in their list, and a link's key depends on its place in the file.
    private static let identities = ["Session.speakers": ["owner", "target"], "SocialLink": ["event", "sourceID"]]

    /// Gives rows the keys that they have in the database, so that they aren't inserted a second time.
    nonisolated(nonsending) private static func reuseKeys(
        of rows: inout [Row], in item: ClassSchema, _ connection: PostgresConnection
    ) async throws {
        guard let names = identities[item.name], let key = item.primaryKeyIndex else { return }
        let places = names.compactMap { item.columnIndex($0) }
        func identity(_ row: Row) -> [Value] { places.map { row[$0] } }
        let columns = ([key] + places).map { item.columns[$0] }
        let types = columns.map { EventModels.schema.storedType(of: $0) }
        let sql = columns.map { PostgresSQL.quoteIdentifier($0.sqlName) }
        let found = try await connection.query(
            "SELECT \(sql.joined(separator: ", ")) FROM \(PostgresSQL.quoteIdentifier(item.table)) "
                + "WHERE \(sql[1]) = ANY ($1) ORDER BY \(sql[0])",
            [try PostgresParameter(list: Array(Set(rows.map { $0[places[0]] })), of: types[1])])
        var present: [[Value]: [Value]] = [:]
        for row in found {
            let values = try types.enumerated().map { try row[$0].value(of: $1) }
            present[Array(values.dropFirst()), default: []].append(values[0])
        }
        // Rows whose key is in the database keep it.
        let others = rows.indices.filter { index in
            guard let own = present[identity(rows[index])]?.firstIndex(of: rows[index][key]) else { return true }
            present[identity(rows[index])]?.remove(at: own)
            return false
        }
        for index in others where !identity(rows[index]).contains(.null) {
            guard let first = present[identity(rows[index])]?.first else { continue }
            present[identity(rows[index])]?.removeFirst()
            rows[index][key] = first
        }
    }

    /// Creates users for speakers with an e-mail address that no user has. They have no password.
    nonisolated(nonsending) private static func writeUsers(
        _ export: OpenEventExport, _ connection: PostgresConnection, _ progress: Progress
    ) async throws -> (ids: [String: ObjectId], line: OpenEventSummary.Line) {
        guard let index = EventModels.schema.index(of: "User") else { preconditionFailure("There's no class User.") }
        let rows = export.people.map { person in
            var draft = RowDraft("User", OpenEventIdentity.user(email: person.email))
            draft["email"] = .string(person.email)
            draft["displayName"] = .string(person.name)
            return draft.row
        }
        let upsert = RowUpsert(EventModels.schema, classIndex: index, existing: .keep)
        let counts = try await upsert.write(rows, connection) { progress("User", $0, rows.count) }
        let table = PostgresSQL.quoteIdentifier(EventModels.schema[index].table)
        var ids: [String: ObjectId] = [:]
        if !rows.isEmpty {
            let known = try await connection.query(
                #"SELECT "email", "_id" FROM \#(table) WHERE "email" = ANY($1) AND "trashed_at" IS NULL"#,
                [.textArray(export.people.map(\.email))])
            for row in known { ids[try row[0].string] = ObjectId(bytes: try row[1].bytes) }
        }
        return (
            ids,
            OpenEventSummary.Line(
                className: "User", file: "speakers.json", records: rows.count, setAside: 0, rows: rows.count,
                inserted: counts.inserted, updated: 0, unchanged: counts.unchanged)
        )
    }
}
