import Crypto
import Foundation
import PostgresClient
import PostgresValues
import TomboloHTTP
import TomboloModel
import TomboloSQL

/// Works out what each row of an import would do, and why: create a resource, change one, or nothing. It changes
/// nothing itself. The same rows and the same data give the same ``version``, so that an import does what its preview
/// showed.
struct ImportPlanner {
    /// A row with its plan.
    struct Planned {
        var row: JobRow
        /// Whether the row has ids now where the file has titles.
        var isResolved = false
        /// The reason if the row is refused.
        var failure: RequestFailure?
    }

    let mapping: ImportMapping
    private(set) var creates: Int64 = 0
    private(set) var updates: Int64 = 0
    private(set) var refused: Int64 = 0
    private var hash = SHA256()
    private var names = ImportNames()
    /// The row that named each resource first.
    private var seen: [Value: Int64] = [:]
    private var seenValues: [[Value]: Int64] = [:]

    /// - Parameter arguments: the job's, with its user's choices.
    init(_ mapping: ImportMapping, _ arguments: JSON) {
        self.mapping = mapping
        hash.update(data: Data(JobStore.text(arguments).utf8))
    }

    /// The version of everything that was added, in its order.
    var version: String {
        hash.finalize().prefix(12).map { String(format: "%02x", $0) }.joined()
    }

    /// - Parameter rows: the job's rows, in their order.
    mutating func add(_ rows: [JobRow], _ connection: PostgresConnection) async throws -> [Planned] {
        let sources = try rows.map { try ImportSource($0.source ?? "", isTable: mapping.isTable) }
        let cells = sources.flatMap { mapping.titles($0) }
        try await names.find(cells, for: mapping.view, connection)
        let resolved = sources.map { mapping.resolved($0, names) }
        let readings = zip(sources, resolved).map { mapping.read($1 ?? $0, names) }
        let known = try await existing(readings.compactMap(\.parsed.id), connection)
        let wanted = Set(readings.compactMap { values($0.parsed) })
        let matches =
            try await mapping.match?.find(Array(wanted), of: mapping.type, for: mapping.view, connection) ?? [:]
        var planned: [Planned] = []
        for (place, row) in rows.enumerated() {
            let reading = readings[place]
            var entry = Planned(row: row)
            if let source = resolved[place] {
                entry.row.source = source.text
                entry.isResolved = true
                // The version includes the targets of titles, since the preview showed them.
                hash.update(data: Data(source.text.utf8))
            }
            do {
                let parsed = reading.parsed
                if !reading.problems.isEmpty {
                    let missing =
                        isNew(reading, known, matches) ? mapping.missing(parsed, besides: reading.problems) : []
                    throw RequestFailure.together(reading.problems + missing)
                }
                let there = try matched(parsed, matches, row.number)
                let key: Value = if let there { there } else { try self.key(row, parsed) }
                entry.row.key = key.keyText
                entry.row.plan = try plan(
                    parsed, key, isThere: there != nil || known.contains(key), row.number)
            } catch let failure as RequestFailure {
                entry.row.plan = .refuse
                entry.row.reason = JobOutcome.refused(mapping.located(failure)).reason
                entry.failure = failure
            }
            count(entry.row)
            planned.append(entry)
        }
        return planned
    }

    /// Whether a row that can't be read completely would create a resource, as far as one can tell.
    private func isNew(
        _ reading: ImportMapping.Reading, _ known: Set<Value>, _ matches: [[Value]: ImportMatch.Found]
    ) -> Bool {
        switch mapping.mode {
        case .create: return true
        case .update: return false
        case .upsert:
            guard mapping.match == nil else {
                return values(reading.parsed).map { matches[$0]?.keys.isEmpty ?? true } ?? false
            }
            if let id = reading.parsed.id { return !known.contains(id) }
            return !reading.problems.contains { failure in
                if case .pointer("/id")? = failure.source { true } else { false }
            }
        }
    }

    private mutating func count(_ row: JobRow) {
        switch row.plan {
        case .create: creates += 1
        case .update: updates += 1
        case .refuse, nil: refused += 1
        }
        hash.update(data: Data("\(row.number) \(row.plan?.rawValue ?? "") \(row.key ?? "")\n".utf8))
    }

    /// Uses the words of the forms' choices: ``ImportMapping/Mode/title``.
    private static var updateHint: Wording { Wording("Choose to update existing ones, or leave the row out.") }

    // MARK: By other properties

    private func values(_ parsed: ImportMapping.Parsed) -> [Value]? {
        mapping.match?.values(parsed, mapping.type, mapping.view.schema)
    }

    /// The id of the resource with the values of a row.
    /// - Returns: nil if there is none, and for imports by id.
    /// - Throws: ``RequestFailure`` for a row that can't be matched.
    private mutating func matched(
        _ parsed: ImportMapping.Parsed, _ matches: [[Value]: ImportMatch.Found], _ number: Int64
    ) throws -> Value? {
        guard let match = mapping.match else { return nil }
        let source = RequestFailure.Source.pointer(place(match).description)
        guard let values = values(parsed) else {
            throw RequestFailure(
                .unprocessable, Wording("The row has no value for \(match.text), which rows are matched by."),
                hint: Wording("Write a value, or leave the row out."), source: source)
        }
        if let first = seenValues[values] {
            throw RequestFailure(
                .conflict, Wording("\(mapping.name(ofRow: first)) has the same \(match.text)."),
                hint: Wording("Leave one of the two out."), source: source)
        }
        seenValues[values] = number
        let found = matches[values] ?? ImportMatch.Found()
        guard found.keys.count <= 1 else {
            throw RequestFailure(
                .conflict, Wording("\(found.keys.count) of the \(mapping.type.name) have this \(match.text)."),
                hint: Wording("Change all but one of them, or match by id."), source: source)
        }
        if let key = found.keys.first {
            guard mapping.mode == .create else { return key }
            throw RequestFailure(
                .conflict, Wording("There is already a resource with this \(match.text)."), hint: Self.updateHint,
                source: source)
        }
        guard !found.isInTrash else {
            throw RequestFailure(
                .conflict, Wording("The resource with this \(match.text) is in the trash."),
                hint: Wording("Restore it first, or leave the row out."), source: source)
        }
        guard mapping.mode != .update else {
            throw RequestFailure(
                .notFound, Wording("None of the \(mapping.type.name) that you can see has this \(match.text)."),
                hint: Wording("Correct the value, choose to create new ones, or leave the row out."), source: source)
        }
        return nil
    }

    /// Where the first of the properties would be in a request.
    private func place(_ match: ImportMatch) -> RequestPointer {
        let isLink = mapping.members.contains { $0.field.name == match.names[0] && $0.field.isRelationship }
        return RequestPointer() / (isLink ? "relationships" : "attributes") / match.names[0]
    }

    // MARK: By ids

    private func key(_ row: JobRow, _ parsed: ImportMapping.Parsed) throws -> Value {
        if let id = parsed.id { return id }
        guard mapping.mode != .update, let key = row.key.flatMap({ mapping.type.keyValue($0) }) else {
            throw RequestFailure(
                .unprocessable, Wording("The row has no id."),
                hint: mapping.mode == .update
                    ? Wording("Write the id of the resource to change, or leave the row out.")
                    : Wording("Give it one: the server doesn't generate ids for \(mapping.type.name)."),
                source: .pointer("/id"))
        }
        return key
    }

    private mutating func plan(
        _ parsed: ImportMapping.Parsed, _ key: Value, isThere: Bool, _ number: Int64
    ) throws -> JobRow.Plan {
        if let first = seen[key] {
            throw RequestFailure(
                .conflict, Wording("\(mapping.name(ofRow: first)) has the same id."),
                hint: Wording("Leave one of the two out."),
                source: .pointer("/id"))
        }
        seen[key] = number
        if isThere {
            guard mapping.mode != .create else {
                throw RequestFailure(
                    .conflict, Wording("There is already a resource with this id."), hint: Self.updateHint,
                    source: .pointer("/id"))
            }
            _ = try mapping.change(mapping.checkable(parsed))
            return .update
        }
        guard mapping.mode != .update || mapping.match != nil else {
            var failure = JSONAPIRoutes.noSuchResource(mapping.type)
            failure.source = .pointer("/id")
            throw failure
        }
        let writer = ResourceWriter(view: mapping.view) { _, _, _, _, _, _ in }
        _ = try writer.newRow(try creation(parsed), key: key, at: RequestPointer())
        return .create
    }

    /// - Throws: ``RequestFailure`` with everything that is wrong with a new resource, and everything that it lacks.
    private func creation(_ parsed: ImportMapping.Parsed) throws -> ResourceChange {
        let change: ResourceChange
        do {
            change = try mapping.change(mapping.creation(parsed))
        } catch let failure as RequestFailure {
            let missing = mapping.missing(parsed, besides: failure.everything)
            throw RequestFailure.together(failure.everything + missing)
        }
        let missing = mapping.missing(parsed)
        guard missing.isEmpty else { throw RequestFailure.together(missing) }
        return change
    }

    /// The ids that belong to resources which the user can see.
    private func existing(_ ids: [Value], _ connection: PostgresConnection) async throws -> Set<Value> {
        guard !ids.isEmpty else { return [] }
        let (type, view) = (mapping.type, mapping.view)
        let condition = try Predicate.all([view.readable(type), .isIn(PropertyPath(type.key.name), ids)]).sql(
            .postgresql, className: type.item.name, in: view.schema, alias: ResourcePlan.alias, firstParameter: 1)
        let found = try await connection.query(
            """
            SELECT \(PostgresSQL.quoteIdentifier(ResourcePlan.alias, type.key.sqlName))
            FROM \(PostgresSQL.quoteIdentifier(type.item.table)) AS "\(ResourcePlan.alias)"
            WHERE \(condition.sql) AND \(RowReader.isIn(trash: false, type.item, alias: ResourcePlan.alias))
            """, try condition.parameters.map { try PostgresParameter($0) })
        return Set(try found.map { try $0[0].value(of: type.keyType) })
    }
}
