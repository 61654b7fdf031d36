package import PostgresClient
package import TomboloHTTP
package import TomboloModel
import TomboloRules
import TomboloLocalization

/// Imports between upload and start, for routes and pages. The caller's view decides everything, and nobody can access
/// another user's file.
package struct ImportDesk: Sendable {
    private static let known: Set<String> = ["mapping", "mode", "match", "formulas", "atomic", "expect"]

    let pool: PostgresPool

    package init(_ pool: PostgresPool) { self.pool = pool }

    /// An uploaded file with its user's choices.
    /// - Parameter wishes: `mapping`, `mode`, `match`, `formulas`; may also contain what ``start(_:_:of:for:)`` takes.
    /// - Throws: ``RequestFailure``: 404 if there is no such file or it's somebody else's, 409 if it was started, 400
    ///   for other wishes.
    package func draft(
        _ id: Int64, _ wishes: JSON, of type: ResourceType, for view: CallerView
    ) async throws -> ImportDraft {
        guard let user = view.subject.userID else { throw RequestFailure.needsUser }
        let job = try await pool.withConnection { try await JobStore.job(id, of: user, $0) }
        return try draft(job, wishes, of: type, for: view)
    }

    private func draft(
        _ job: Job, _ wishes: JSON, of type: ResourceType, for view: CallerView
    ) throws -> ImportDraft {
        try Self.check(job, type)
        guard job.state == .draft else {
            throw RequestFailure(
                .conflict, localized("The import has already been started or cancelled: it's \(job.state.word)."),
                hint: "GET /jobs/\(job.id) shows its result.",
                pageHint: localized("Its page under Jobs shows its result."))
        }
        guard job.arguments["isComplete"] == true, case .object(var arguments) = job.arguments else {
            throw Self.incomplete
        }
        guard case .object(let members) = wishes else {
            throw RequestFailure(.badRequest, "The body isn't a JSON object.", hint: "Send {\"mapping\": {…}}.")
        }
        if let stranger = members.keys.filter({ !Self.known.contains($0) }).min() {
            throw RequestFailure(
                .badRequest, "'\(stranger.shortened(toByteCount: 60))' isn't supported here.",
                hint: ResourceQuery.nearest(stranger, Self.known.sorted()).localized)
        }
        for name in ["mapping", "mode", "match", "formulas"] { arguments[name] = members[name] }
        let mapping = try ImportMapping(.object(arguments), of: type, for: view)
        try ImportWorker(mapping: mapping).checkRights()
        return ImportDraft(
            id: job.id, columns: ImportMapping.columns(job.arguments).map(\.name), rowCount: job.total, job: job,
            arguments: job.arguments, mapping: mapping)
    }

    /// An uploaded file before any choices.
    /// - Throws: ``RequestFailure`` with status 404 if there is no such file or it's somebody else's, 409 if it isn't
    ///   complete.
    package func summary(
        _ id: Int64, by user: ObjectId, of type: ResourceType, for view: CallerView
    ) async throws -> ImportSummary {
        let (job, rows) = try await pool.withConnection { connection in
            let job = try await JobStore.job(id, of: user, connection)
            return (job, try await Self.rows(of: job, after: 0, limit: 3, connection))
        }
        try Self.check(job, type)
        guard job.state != .draft || job.arguments["isComplete"] == true else { throw Self.incomplete }
        let columns = ImportMapping.columns(job.arguments).map(\.name)
        let isTable = job.arguments["format"] == .string(ImportFile.Format.csv.rawValue)
        var file: String?
        if case .string(let name)? = job.arguments["file"] { file = name }
        return ImportSummary(
            file: file, note: Self.note(job.arguments), isTable: isTable,
            numbersLines: isTable || job.arguments["numbers"] == .string("lines"), columns: columns,
            rowCount: job.total,
            suggestions: ImportMapping.suggestions(columns, of: type, view),
            matches: ImportMatch.all(of: type, view).map(\.names), isWaiting: job.state == .draft,
            rows: rows.compactMap { row in row.source.flatMap { try? ImportSource($0, isTable: isTable) } })
    }

    /// Rows that take little memory when they're decoded.
    private static func rows(
        of job: Job, after number: Int64, limit: Int = ImportLimits.chunkRowCount, _ connection: PostgresConnection
    ) async throws -> [JobRow] {
        try await JobStore.rows(
            of: job, after: number, limit: limit, byteCount: ImportLimits.chunkByteCount, connection)
    }

    private static var incomplete: RequestFailure {
        RequestFailure(.conflict, localized("The file's upload is incomplete."), hint: localized("Send it again."))
    }

    private static func check(_ job: Job, _ type: ResourceType) throws {
        guard job.kind == .load, type.item.name == job.className || type.item.previousNames.contains(job.className)
        else {
            throw RequestFailure(
                .notFound, localized("You have no import of \(type.name) with this number."),
                hint: "GET /jobs lists your jobs.",
                pageHint: localized("The Jobs page lists yours."))
        }
    }

    /// What the file's user should check.
    static func notes(_ arguments: JSON) -> JSON { .array(note(arguments).map { [JSON.string($0)] } ?? []) }

    private static func note(_ arguments: JSON) -> String? {
        guard case .string(let name)? = arguments["encoding"] else { return nil }
        return ImportEncoding(rawValue: name)?.note
    }

    // MARK: Previews

    /// What an import would do. It changes nothing.
    /// - Returns: `total`, `creates`, `updates`, `refused`, `tried`, `leftAlone`, `problems`, `ignored`, the first
    ///   `rows` as they'd be stored, and the `version` that ``start(_:_:of:for:)`` expects.
    package func preview(_ draft: ImportDraft) async throws -> JSON {
        var planner = ImportPlanner(draft.mapping, draft.choices)
        var first: [ImportPlanner.Planned] = []
        var problems: [JSON] = []
        var unmapped: Set<String> = []
        var after: Int64 = 0
        while true {
            try Task.checkCancellation()
            let rows = try await pool.withConnection { [after] in
                try await Self.rows(of: draft.job, after: after, $0)
            }
            guard let last = rows.last else { break }
            after = last.number
            let (added, moved) = try await pool.withConnection { [planner] connection in
                var planner = planner
                let added = try await planner.add(rows, connection)
                return (added, planner)
            }
            planner = moved
            if first.isEmpty { first = added }
            for entry in added {
                guard let failures = entry.failure?.everything else { continue }
                unmapped.formUnion(draft.mapping.unmapped(failures))
                guard problems.count < ImportLimits.shownProblemCount else { continue }
                problems += draft.mapping.problems(
                    failures.filter { draft.mapping.unmapped([$0]).isEmpty }, row: entry.row.number)
            }
        }
        let trial = try await ImportTrial.run(first, ImportWorker(mapping: draft.mapping), pool)
        problems += trial.problems
        func row(_ problem: JSON) -> Int64 { if case .int(let row)? = problem["row"] { row } else { 0 } }
        problems = draft.mapping.commonProblems(unmapped) + problems.sorted { row($0) < row($1) }
        problems = Array(problems.prefix(ImportLimits.shownProblemCount))
        return [
            "mapping": .object(draft.mapping.json), "mode": .string(draft.mode.rawValue),
            "match": draft.mapping.matchJSON, "total": .int(draft.rowCount),
            "creates": .int(planner.creates - trial.refusedCreates),
            "updates": .int(planner.updates - trial.refusedUpdates),
            "refused": .int(planner.refused + trial.refusedCreates + trial.refusedUpdates),
            "tried": .int(trial.checked), "leftAlone": .int(trial.left), "version": .string(planner.version),
            "problems": .array(problems), "rows": .array(trial.rows), "notes": Self.notes(draft.arguments),
            "ignored": .array(draft.mapping.ignored),
        ]
    }

    // MARK: Starting

    /// Makes a job of a draft. The job does what the preview showed.
    /// - Parameter wishes: those of the preview; `expect` with its `version`; `atomic`.
    /// - Returns: the job's number.
    /// - Throws: ``RequestFailure``: 428 without a version, 409 if the import would do something else by now.
    package func start(
        _ id: Int64, _ wishes: JSON, of type: ResourceType, for view: CallerView
    ) async throws -> Int64 {
        guard let user = view.subject.userID else { throw RequestFailure.needsUser }
        let isAtomic = try Self.isAtomic(wishes["atomic"])
        try await pool.transaction { connection in
            let job = try await JobStore.job(id, of: user, isLocked: true, connection)
            let draft = try self.draft(job, wishes, of: type, for: view)
            guard case .string(let version)? = wishes["expect"]?["version"] else {
                throw RequestFailure(
                    .preconditionRequired, "The request doesn't name the preview that it's based on.",
                    hint: "Ask for a preview first, show it, and send its \"version\" back in \"expect\".",
                    source: .pointer("/expect"))
            }
            guard !isAtomic || draft.rowCount <= ImportLimits.atomicRowCount else {
                throw RequestFailure(
                    .unprocessable,
                    localized(
                        "The file has \(draft.rowCount) rows; the limit for all or nothing is "
                            + "\(ImportLimits.atomicRowCount)."
                    ),
                    hint: "Leave 'atomic' out to import in batches.",
                    pageHint: localized("Clear \"All or nothing\" to import in batches."),
                    source: .pointer("/atomic"))
            }
            try await plan(draft, version, connection)
            try await JobStore.start(id, draft.chosen, isAtomic: isAtomic, connection)
        }
        return id
    }

    private func plan(_ draft: ImportDraft, _ version: String, _ connection: PostgresConnection) async throws {
        // The English of reasons is stored too, whatever the user's language.
        let planner = try await MessageCatalogue.$current.withValue(nil) { try await planned(draft, connection) }
        guard planner.version == version else {
            var failure = RequestFailure(
                .conflict, localized("The import would no longer do what its preview showed."),
                hint: localized("Nothing was changed. Ask for another preview, then decide again."),
                source: .pointer("/expect"))
            failure.details = [
                "creates": .int(planner.creates), "updates": .int(planner.updates), "refused": .int(planner.refused),
            ]
            throw failure
        }
        guard planner.creates + planner.updates > 0 else {
            throw RequestFailure(
                .conflict, localized("Every row is refused."),
                hint: localized("Correct the file and send it again, or change the mapping."))
        }
    }

    /// Plans each row, and stores the plans.
    private func planned(_ draft: ImportDraft, _ connection: PostgresConnection) async throws -> ImportPlanner {
        var planner = ImportPlanner(draft.mapping, draft.choices)
        var after: Int64 = 0
        while true {
            let rows = try await Self.rows(of: draft.job, after: after, connection)
            guard let last = rows.last else { return planner }
            after = last.number
            try await JobStore.plan(try await planner.add(rows, connection), of: draft.id, connection)
        }
    }

    private static func isAtomic(_ json: JSON?) throws -> Bool {
        switch json {
        case nil, .null?: return false
        case .bool(let wanted)?: return wanted
        default:
            throw RequestFailure(.badRequest, "'atomic' must be true or false.", source: .pointer("/atomic"))
        }
    }
}
