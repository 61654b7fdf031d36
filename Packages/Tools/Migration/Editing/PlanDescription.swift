import PostgresClient
import TomboloModel
import TomboloPostgresStore
import TomboloServerModel

/// Describes what a plan does to a database that is in use.
struct PlanDescription {
    /// The most tables whose rows are counted.
    static let tableLimit = 50

    private let plan: MigrationPlan
    private let edit: DocumentEdit
    private let connection: PostgresConnection

    init(_ plan: MigrationPlan, _ edit: DocumentEdit, _ connection: PostgresConnection) {
        self.plan = plan
        self.edit = edit
        self.connection = connection
    }

    func plan() async throws -> DocumentPlan {
        let documents = plan.documents
        let live = try await PostgresCatalog.read(connection).tables
        let models = try await models()
        let renamed = models.map { renamedColumns($0.old, $0.new) } ?? []
        let mentions = try await Self.mentions(of: renamed, connection)
        var retired: [DocumentPlan.Count] = []
        if let models { retired = try await self.retired(models.old, models.new, live) }
        return DocumentPlan(
            fingerprint: try await Self.fingerprint(plan, connection),
            changes: documents.changes.map(\.description) + documents.permissions.map { "Permissions: \($0)." },
            losses: documents.changes.filter(\.isLoss).map(\.description) + mentions, retired: retired,
            steps: plan.steps.map {
                DocumentPlan.Step(name: $0.name, sql: $0.sql, isTransactional: $0.isTransactional)
            },
            locked: try await locked(live), lockSeconds: Migrator.lockTimeoutMilliseconds / 1_000,
            notes: documents.ruleNotes + plan.notes + plan.advice,
            models: documents.models[edit.app]?.json)
    }

    /// A fingerprint of the documents in the database and of the steps.
    static func fingerprint(_ plan: MigrationPlan, _ connection: PostgresConnection) async throws -> String {
        let steps = plan.steps.map { "\($0.isTransactional) \($0.name)\n\($0.sql)" }.sorted()
        let version = try await DocumentTable.version(connection)
        // A plan that isn't based on the newest documents can't be the one that was confirmed.
        guard version == plan.documents.version else { throw DocumentEditError.stale }
        return try await connection.query(
            "SELECT encode(sha256(convert_to($1, 'UTF8')), 'hex')",
            [.text("\(version)\n" + steps.joined(separator: "\n\n"))])[0, 0].string
    }

    /// The current models and those to store, or nil if they don't change.
    private func models() async throws -> (old: ModelDocument, new: ModelDocument)? {
        let stored = try await DocumentTable.newest(connection)
        guard let content = stored.first(where: { $0.app == edit.app && $0.kind == .models })?.content,
            let old = try? ModelDocument(json: content), let new = plan.documents.models[edit.app]
        else { return nil }
        return (old, new)
    }

    /// The names that columns lose. Names with unusual characters are left out, because they would need escapes in a
    /// pattern.
    private func renamedColumns(_ old: ModelDocument, _ new: ModelDocument) -> Set<String> {
        guard plan.documents.changes.contains(where: { $0.kind == .renamedInSQL }) else { return [] }
        var names: Set<String> = []
        for item in new.classes {
            guard let before = ([item.name] + item.previousNames).lazy.compactMap({ old[$0] }).first else { continue }
            let kept = Set(item.properties.map(\.column))
            names.formUnion(before.properties.map(\.column).filter { !kept.contains($0) })
        }
        return names.filter { $0.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" } }
    }

    // MARK: Rows

    private typealias Tables = [String: [String: PostgresCatalog.Column]]

    /// What is being retired, with the number of rows that have a value. Embedded objects aren't counted, because
    /// they have several columns.
    private func retired(
        _ old: ModelDocument, _ new: ModelDocument, _ live: Tables
    ) async throws -> [DocumentPlan.Count] {
        var counts: [DocumentPlan.Count] = []
        for change in plan.documents.changes where change.kind == .retired {
            let names = [change.className] + (new[change.className]?.previousNames ?? [])
            guard counts.count < Self.tableLimit, let item = names.lazy.compactMap({ old[$0] }).first,
                let table = item.table
            else { continue }
            guard let name = change.property else {
                if live[table] != nil { counts.append(try await count(change.place, in: table)) }
                continue
            }
            guard let property = item[name] else { continue }
            let list = "\(table)_\(property.column)"
            if case .list = property.type, live[list] != nil {
                counts.append(try await count(change.place, in: list))
            } else if live[table]?[property.column] != nil {
                counts.append(try await count(change.place, in: table, having: property.column))
            }
        }
        return counts
    }

    /// Counts up to a limited number of rows, because tables may have any size.
    private func count(
        _ name: String, in table: String, having column: String? = nil
    ) async throws -> DocumentPlan.Count {
        let value = column.map { PostgresSQL.quoteIdentifier($0) } ?? "true"
        let found = try await connection.query(
            """
            SELECT count(*), count(value) FROM (
                SELECT \(value) AS value FROM \(PostgresSQL.quoteIdentifier("public", table))
                LIMIT \(DocumentPlan.Count.limit + 1)
            ) AS looked
            """)[0]
        return DocumentPlan.Count(
            name: name, rows: try found[1].int, isPartial: try found[0].int > DocumentPlan.Count.limit)
    }

    // MARK: Locks

    /// Existing tables that transactional steps change, or give triggers or policies.
    private func locked(_ live: Tables) async throws -> [DocumentPlan.Count] {
        var names: Set<String> = []
        for step in plan.steps where step.isTransactional {
            for match in step.sql.matches(of: /(?:ALTER TABLE|ON) (?:"public"|public)\."((?:[^"]|"")+)"/) {
                names.insert(String(match.1).replacing("\"\"", with: "\""))
            }
        }
        var counts: [DocumentPlan.Count] = []
        for table in names.filter({ live[$0] != nil }).sorted().prefix(Self.tableLimit) {
            counts.append(try await count(table, in: table))
        }
        return counts
    }
}
