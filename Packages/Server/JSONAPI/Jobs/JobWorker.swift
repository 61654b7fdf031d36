import Foundation
import PostgresClient
import Synchronization
import TomboloHTTP
import TomboloLocalization
import TomboloModel
import TomboloRules

/// Processes single rows of a job in the caller's transaction, on behalf of the user who requested it, by the current
/// rules and with the same checks as a request about one resource.
struct JobWorker: Sendable {
    let kind: Job.Kind
    let type: ResourceType
    let view: CallerView
    let trash: BulkTrash
    /// The change of an update.
    private let change: ResourceChange?
    private let names: Set<String>
    /// The reason for moving something to the trash.
    private let reason: TrashReason?
    private let loader: ImportWorker?

    /// - Throws: ``RequestFailure`` for arguments that don't fit the model or the caller's rights.
    init(_ kind: Job.Kind, _ arguments: JSON, of type: ResourceType, for view: CallerView, _ trash: BulkTrash) throws {
        self.kind = kind
        self.type = type
        self.view = view
        self.trash = trash
        if kind == .update {
            let (change, names) = try Self.change(arguments["data"] ?? .null, type, view)
            (self.change, self.names) = (change, names)
        } else {
            (change, names) = (nil, [])
        }
        reason = try kind == .trash ? TrashReason(arguments["reason"]) : nil
        loader = kind == .load ? ImportWorker(mapping: try ImportMapping(arguments, of: type, for: view)) : nil
        try loader?.checkRights()
    }

    private static func change(
        _ data: JSON, _ type: ResourceType, _ view: CallerView
    ) throws -> (ResourceChange, names: Set<String>) {
        var change = ResourceChange(type, view)
        change.read(data, at: RequestPointer("/data"))
        try change.check()
        let names = ResourceMembers(data).names
        guard !names.isEmpty else {
            throw RequestFailure(
                .badRequest, Wording("There is nothing to change."),
                hint: Wording(untranslated: "Send \"data\": {\"attributes\": {…}} or \"relationships\"."),
                pageHint: localized("Choose at least one field."), source: .pointer("/data"))
        }
        return (change, names)
    }

    private var reader: ResourceReader { ResourceReader(view: view) }

    /// - Throws: ``RequestFailure`` for a refused row; the database's errors.
    func perform(_ row: JobRow, _ connection: PostgresConnection) async throws -> JobOutcome {
        if let loader {
            do {
                return try await loader.perform(row, connection)
            } catch let failure as RequestFailure {
                throw loader.mapping.located(failure)
            }
        }
        guard let key = row.key.flatMap({ type.keyValue($0) }) else { throw JSONAPIRoutes.noSuchResource(type) }
        switch kind {
        case .update: return try await update(key, connection)
        case .trash, .delete: return try await remove(key, connection)
        case .restore: return try await restore(key, nil, connection)
        case .undo: return try await undo(row, key, connection)
        case .load: throw RequestFailure(.internalError, "The import has no mapping.")
        }
    }

    /// Why the app keeps what a row has just moved to the trash from being purged; nil if it doesn't, or if the caller
    /// may not list it there.
    func reasonToKeep(_ outcome: JobOutcome, _ connection: PostgresConnection) async throws -> String? {
        guard kind == .trash, outcome.kind == .done, case .string(let text)? = outcome.old?["group"],
            let group = UUID(uuidString: text)
        else { return nil }
        return try await trash.keep(connection, view.rules, view.subject, type.item.name, group)
    }

    // MARK: Kinds

    private func update(_ key: Value, _ connection: PostgresConnection) async throws -> JobOutcome {
        guard let change, let old = try await reader.lockedMembers(names, of: type, key: key, connection) else {
            throw JSONAPIRoutes.noSuchResource(type)
        }
        try old.checkHave(change)
        let writer = ResourceWriter(view: view) { _, _, _, _, _, _ in }
        let after = try await writer.update(change, key: key, at: RequestPointer("/data"), connection)
        guard let after else { return .done(old: old.json, reason: Wording("You can no longer see it.")) }
        let new = try ResourceMembers(after, named: names)
        if new.same(as: old) == old.names { return .left(Wording("It already had these values.")) }
        return .done(old: old.json, new: new.json)
    }

    private func remove(_ key: Value, _ connection: PostgresConnection) async throws -> JobOutcome {
        let moved = Mutex<(group: UUID, count: Int)?>(nil)
        let trash = trash
        let writer = ResourceWriter(view: view) { connection, schema, className, key, user, reason in
            let group = try await trash.move(connection, schema, className, key, user, reason)
            moved.withLock { $0 = group }
        }
        try await writer.remove(type, key: key, because: reason, connection)
        guard let group = moved.withLock({ $0 }) else { return .done() }
        return .done(old: ["group": .string(group.group.uuidString), "count": .int(Int64(group.count))])
    }

    /// - Parameter group: the group that it must still be in.
    private func restore(_ key: Value, _ group: UUID?, _ connection: PostgresConnection) async throws -> JobOutcome {
        let count = try await trash.restore(connection, view.rules, view.subject, type.item.name, key, group)
        guard let count else {
            return .left(
                group == nil
                    ? Wording("It's no longer in the trash.")
                    : Wording("Somebody has since restored or deleted it."))
        }
        return .done(old: ["restored": .int(Int64(count))])
    }

    /// Undoes what a job did to a row, unless somebody has changed it since.
    private func undo(_ row: JobRow, _ key: Value, _ connection: PostgresConnection) async throws -> JobOutcome {
        if let text = row.old?["group"], case .string(let id) = text {
            return try await restore(key, UUID(uuidString: id), connection)
        }
        if row.old?["restored"] != nil || row.old == JSON.null { return try await undoMaking(row, key, connection) }
        let (old, new) = (ResourceMembers(row.old), ResourceMembers(row.new))
        guard let now = try await reader.lockedMembers(old.names, of: type, key: key, connection) else {
            return .left(Wording("It no longer exists, or you can no longer see it."))
        }
        // What the job didn't change needs no undo.
        let changed = old.names.subtracting(old.same(as: new))
        let untouched = changed.intersection(now.same(as: new))
        let kept = changed.subtracting(untouched).subtracting(now.same(as: old)).sorted()
        let names = kept.joined(separator: ", ")
        guard !untouched.isEmpty else {
            return .left(
                kept.isEmpty
                    ? Wording("It already has its old values.")
                    : Wording("Somebody has since changed \(names)."))
        }
        var change = ResourceChange(type, view)
        change.isOwn = true
        change.read(ResourceMembers(row.old, named: untouched).json, at: RequestPointer("/data"))
        try change.check()
        let writer = ResourceWriter(view: view) { _, _, _, _, _, _ in }
        _ = try await writer.update(change, key: key, at: RequestPointer("/data"), connection)
        return .done(
            reason: kept.isEmpty ? nil : Wording("Left \(names), which somebody has since changed."))
    }

    /// Removes what a job created or restored.
    private func undoMaking(_ row: JobRow, _ key: Value, _ connection: PostgresConnection) async throws -> JobOutcome {
        let new = ResourceMembers(row.new)
        guard let now = try await reader.lockedMembers(new.names, of: type, key: key, connection) else {
            return .left(Wording("It no longer exists, or you can no longer see it."))
        }
        let kept = new.names.subtracting(now.same(as: new)).sorted()
        guard kept.isEmpty else {
            return .left(Wording("Somebody has since changed \(kept.joined(separator: ", "))."))
        }
        _ = try await remove(key, connection)
        return .done()
    }
}

extension RequestFailure {
    /// Stops a job whose user has lost a right that it needs.
    static func revoked(_ denial: Decision.Denial) -> RequestFailure {
        RequestFailure(.forbidden, Wording("You no longer have permission to do this: \(denial.wording)"))
    }
}
