import HTTPTypes
import PostgresClient
import TomboloAuthentication
import TomboloHTTP
import TomboloJSONAPI
import TomboloLocalization
import TomboloModel
import TomboloRules

/// Saves an object with the rows of its form in one transaction: either everything or nothing.
extension EditPage {
    /// Thrown to roll back the transaction; carries the refusals out of it.
    private struct Refused: Error {
        let content: Content
        /// The object as somebody else has saved it in the meantime.
        var theirs: PanelResource?

        /// Whether the only problem is that somebody else changed the object or rows.
        var isConflict: Bool {
            let problems = content.children?.rows.flatMap(\.problems) ?? []
            return content.problems.isEmpty && problems.allSatisfy { $0.code == .preconditionFailed }
        }
    }

    /// Changes the object and the rows.
    func save(_ content: Content, with children: ChildRows, key: Value) async throws -> PanelAnswer {
        if let denial = try await ResourceReader(view: view).refusal(.update, type, key: key, request.core.pool) {
            throw RequestFailure(denial)
        }
        let (document, count) = (document(content), children.count)
        guard document != nil || count > 0 else {
            return .redirect(to: page.path, notice: PanelNotice(localized("Nothing was changed.")))
        }
        do {
            try await request.core.pool.transaction { connection in
                try await update(content, document, children, key: key, connection)
            }
        } catch let refused as Refused where refused.isConflict {
            return try await ConflictPage(edit: self, mine: content, children: refused.content.children).answer()
        } catch let refused as Refused {
            var content = refused.content
            if let theirs = refused.theirs { content = try await rebased(content, onto: theirs) }
            return .page(try await shown(content, title: try await reader.record(type, key: key).title))
        }
        let rows = Counted.objects(count, of: children.type.item.name)
        let notice =
            if document == nil {
                localized(count, one: "\(rows) was saved.", other: "\(rows) were saved.")
            } else {
                count == 0 ? localized("Saved.") : localized("Saved, with \(rows).")
            }
        return .redirect(to: page.path, notice: PanelNotice(notice))
    }

    nonisolated(nonsending) private func update(
        _ content: Content, _ document: JSON?, _ children: ChildRows, key: Value, _ connection: PostgresConnection
    ) async throws {
        var (content, children) = (content, children)
        // Lock the object before its rows, in the same order as everywhere. And check all versions before writing
        // anything: what the database changes in rows when their object changes isn't somebody else's change.
        let reader = ResourceReader(view: view)
        let found = try await reader.locked(
            type, matching: reader.isKey(key, of: type), document == nil ? .share : .update, limit: 1, connection)
        guard let now = found.first else { throw RequestFailure.noSuchObject(ClassTitle.singular(of: type)) }
        try children.check()
        try await children.lock(connection)
        let isDone = document.map { holds(now, $0) } ?? true
        let isStale = !isDone && now.version != content.version
        if let document, !isDone, !isStale {
            let writer = writer
            content.problems = try await Self.refusals(connection) { connection in
                _ = try await writer.update(checked(document), key: key, at: Self.pointer, connection)
            }
        }
        try await children.write(by: writer, connection)
        content.children = children
        if isStale || content.isRefused { throw Refused(content: content, theirs: isStale ? now : nil) }
    }

    /// Creates the object and what its rows ask for.
    /// - Parameter children: rows that have the object's key already.
    func make(_ content: Content, with children: ChildRows, key: Value) async throws -> PanelAnswer {
        do {
            let isVisible = try await request.core.pool.transaction { connection in
                try await create(content, children, key: key, connection)
            }
            let count = children.count
            let rows = Counted.objects(count, of: children.type.item.name)
            let notice = count == 0 ? localized("Created.") : localized("Created, with \(rows).")
            return made(isVisible, key: key, PanelNotice(notice))
        } catch let refused as Refused {
            if try await isMade(key) { return try await madeOnce(key) }
            return .page(try await shown(refused.content, title: nil))
        }
    }

    /// - Returns: whether the caller may see the object.
    nonisolated(nonsending) private func create(
        _ content: Content, _ children: ChildRows, key: Value, _ connection: PostgresConnection
    ) async throws -> Bool {
        var (content, children) = (content, children)
        try children.check()
        var isVisible = false
        let writer = writer
        content.problems = try await Self.refusals(connection) { connection in
            let change = try checked(newDocument(content))
            isVisible = try await writer.create(change, key: key, at: Self.pointer, connection) != nil
        }
        // Without the object, all its rows would be refused.
        if content.problems.isEmpty, children.count > 0 {
            // Creating an object may give its creator a role in it.
            let subject = try await request.core.authenticator.subject(of: request.userID, connection)
            let view = try request.core.view(of: subject, under: view.rules)
            let writer = ResourceWriter(view: view, moveToTrash: Self.move(request.core))
            try await children.write(by: writer, connection)
        }
        content.children = children
        if content.isRefused { throw Refused(content: content) }
        return isVisible
    }

    /// Runs the body in a savepoint, so that the transaction continues after a refusal.
    /// - Returns: why the body was refused; empty if it wasn't.
    nonisolated(nonsending) static func refusals(
        _ connection: PostgresConnection,
        _ body: nonisolated(nonsending) (PostgresConnection) async throws -> Void
    ) async throws -> [RequestFailure] {
        do {
            try await connection.savepoint { try await body($0) }
            return []
        } catch let failure as RequestFailure where failure.code.status.kind == .clientError {
            return [failure] + failure.others
        }
    }
}
