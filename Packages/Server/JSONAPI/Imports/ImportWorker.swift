import PostgresClient
import TomboloHTTP
import TomboloModel
import TomboloRules

/// Performs single rows of an import in the caller's transaction, on behalf of the user who requested it, with the same
/// checks as a request about one resource. The plan made before the import began says which resource a row is about,
/// and whether it exists.
struct ImportWorker: Sendable {
    let mapping: ImportMapping
    private var type: ResourceType { mapping.type }
    private var view: CallerView { mapping.view }
    // An import removes nothing.
    private var writer: ResourceWriter { ResourceWriter(view: mapping.view) { _, _, _, _, _, _ in } }

    /// - Throws: ``RequestFailure`` if the user may no longer do what any of the rows needs.
    func checkRights() throws {
        let operations: [TomboloRules.Operation] =
            switch mapping.mode {
            case .create: [.create]
            case .update: [.update]
            case .upsert: [.create, .update]
            }
        let denials = operations.compactMap { view.refusal($0, type) }
        guard denials.count == operations.count, let denial = denials.first else { return }
        throw RequestFailure.revoked(denial)
    }

    /// - Throws: ``RequestFailure`` for a refused row, with places as in a request; the database's errors.
    func perform(_ row: JobRow, _ connection: PostgresConnection) async throws -> JobOutcome {
        guard let source = row.source, let key = row.key.flatMap({ type.keyValue($0) }) else {
            throw RequestFailure(.unprocessable, row.reason ?? Wording("The row can't be read."))
        }
        switch row.plan {
        case .create:
            return try await create(try mapping.parse(ImportSource(source, isTable: mapping.isTable)), key, connection)
        case .update:
            return try await update(try mapping.parse(ImportSource(source, isTable: mapping.isTable)), key, connection)
        case .refuse, nil:
            // The plan found out why, and stored it with the row.
            throw RequestFailure(.unprocessable, row.reason ?? Wording("The row can't be read."))
        }
    }

    private func create(
        _ parsed: ImportMapping.Parsed, _ key: Value, _ connection: PostgresConnection
    ) async throws -> JobOutcome {
        let change = try mapping.change(mapping.creation(parsed))
        let made = try await writer.create(change, key: key, at: RequestPointer(), connection)
        // All members count: any change by somebody else keeps an undo from removing the resource.
        let all = Set(view.fields(of: type).map(\.name))
        return .done(old: .null, new: try made.map { try ResourceMembers($0, named: all).json })
    }

    private func update(
        _ parsed: ImportMapping.Parsed, _ key: Value, _ connection: PostgresConnection
    ) async throws -> JobOutcome {
        let reader = ResourceReader(view: view)
        guard let old = try await reader.lockedMembers(mapping.names, of: type, key: key, connection) else {
            var failure = JSONAPIRoutes.noSuchResource(type)
            failure.source = .pointer("/id")
            throw failure
        }
        let difference = mapping.difference(parsed, from: old)
        let names = difference.names
        if let match = mapping.match, !names.isDisjoint(with: match.names) {
            throw RequestFailure(
                .conflict, Wording("Somebody has since given the resource a different \(match.text)."),
                hint: Wording("Import the row again, and check what it matches now."))
        }
        guard !names.isEmpty else { return .left(Wording("It already had these values.")) }
        let change = try mapping.change(difference.json)
        try old.checkHave(change)
        let after = try await writer.update(change, key: key, at: RequestPointer(), connection)
        let before = ResourceMembers(old.json, named: names).json
        guard let after else { return .done(old: before, reason: Wording("You can no longer see it.")) }
        let new = try ResourceMembers(after, named: names)
        if new.same(as: old) == names { return .left(Wording("It already had these values.")) }
        return .done(old: before, new: new.json)
    }
}
