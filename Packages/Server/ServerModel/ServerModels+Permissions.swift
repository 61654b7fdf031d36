internal import PostgresClient
internal import TomboloModel
internal import TomboloRuleDocuments
public import TomboloRules
import TomboloLocalization

extension ServerModels {
    /// Ticks or clears one box of an app's permission matrix, by storing a new version of its rule document. This
    /// server uses it at once, every other one with the next tick. Stores nothing if the box already has the wanted
    /// state.
    /// - Parameters:
    ///   - version: the version of the app's rules that the caller saw.
    ///   - subject: who makes the change. The current rules decide whether they may.
    /// - Returns: the model with the change.
    /// - Throws: ``PermissionChangeError``; ``ServerModelError``; the database's error.
    public func set(
        _ box: PermissionMatrix.Box, to isPermitted: Bool, of app: String, at version: Int64, by subject: Subject
    ) async throws -> ServerModel {
        try await store(
            app, version, subject, { text throws(MatrixEditError) in try text.setting(box, to: isPermitted) })
    }

    /// The same for a box of users, for example whether users whose address isn't verified have the permission
    /// `createEvent`.
    /// - Throws: ``PermissionChangeError``; ``ServerModelError``; the database's error.
    public func set(
        _ box: PermissionMatrix.UserBox, to isPermitted: Bool, of app: String, at version: Int64, by subject: Subject
    ) async throws -> ServerModel {
        try await store(
            app, version, subject, { text throws(MatrixEditError) in try text.setting(box, to: isPermitted) })
    }

    /// Applies an edit to the app's rules and stores them if they changed.
    /// - Parameter more: further work in the same transaction, before the document is stored.
    func store(
        _ app: String, _ version: Int64, _ subject: Subject,
        _ change: @escaping @Sendable (RuleText) throws(MatrixEditError) -> RuleText,
        along more: @escaping @Sendable (ServerModel, PostgresConnection) async throws -> Void = { _, _ in }
    ) async throws -> ServerModel {
        let isOpen = isOpen
        try await pool.transaction { connection in
            try await connection.execute("SET LOCAL lock_timeout = \(DocumentTable.lockTimeoutMilliseconds)")
            try await connection.query("SELECT pg_advisory_xact_lock($1)", [.int64(DocumentTable.lockKey)])
            let documents = try await DocumentTable.newest(connection)
            let (text, model) = try Self.edited(documents, app, version, subject, isOpen: isOpen, change)
            if let text {
                try await more(model, connection)
                let account = subject.userID?.stringValue
                let added = try await DocumentTable.addRules(
                    text, app: app, after: version, account: account, connection)
                if added == nil { throw PermissionChangeError.stale(newest: version) }
            }
        }
        return try await refresh()
    }

    /// The app's rules after an edit, checked together with everything else, and the model before it.
    /// - Returns: no text if nothing has to change.
    static func edited(
        _ documents: [StoredDocument], _ app: String, _ version: Int64, _ subject: Subject, isOpen: Bool,
        _ change: (RuleText) throws(MatrixEditError) -> RuleText
    ) throws -> (text: String?, model: ServerModel) {
        let model = try ServerModel(documents, isOpen: isOpen)
        if let denial = model.refusal(subject, .update, ofMatrixOf: app) {
            throw PermissionChangeError.notPermitted(denial)
        }
        let found = documents.first { $0.app == app && $0.kind == .rules }
        guard let document = found, document.version == version else {
            throw PermissionChangeError.stale(newest: model.ruleVersions[app] ?? 0)
        }
        do {
            let edited = try change(try RuleText(document.content, file: ServerModel.ruleFile(app)))
            if edited.text == document.content { return (nil, model) }
            let candidate = StoredDocument(version: model.version + 1, app: app, kind: .rules, content: edited.text)
            _ = try ServerModel(documents.filter { $0 != document } + [candidate], isOpen: isOpen)
            return (edited.text, model)
        } catch let error as MatrixEditError {
            throw PermissionChangeError.notPossible(error.wording.localized)
        } catch ServerModelError.invalid(let problems) {
            throw PermissionChangeError.mistakes(problems)
        }
    }
}
