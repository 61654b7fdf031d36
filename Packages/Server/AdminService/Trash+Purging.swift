import PostgresClient
package import TomboloHTTP
import TomboloModel
import TomboloPostgresStore
import TomboloRules
import TomboloLocalization

extension Trash {
    /// Permanently deletes objects in the trash, all or none.
    /// - Parameters:
    ///   - address: the id of a group, for all that is in it, or the id of one object, for it alone.
    ///   - isTrial: whether to roll everything back. The function then always throws.
    ///   - deciding: the properties that `check` looks at.
    ///   - check: throws for an object that the caller may not delete.
    /// - Returns: what was deleted.
    /// - Throws: `RequestFailure`: 404 if there is nothing in the trash, 409 naming the object that the app or the
    ///   database keeps; and what `check` throws.
    func purge(
        _ address: TrashAddress, isTrial: Bool = false, deciding: @escaping Deciding,
        check: @Sendable (Member) throws -> Void
    ) async throws -> [Member] {
        do {
            return try await pool.transaction { connection in
                let members = try await members(of: address, deciding: deciding, connection)
                guard !members.isEmpty else { throw Self.nothing }
                try members.forEach(check)
                try await purge(members, connection)
                if isTrial { throw PurgeTrial() }
                return members
            }
        } catch let error as PostgresError where error.keepsRow {
            throw try await keeper(of: address, error)
        }
    }

    /// The same, if the rules permit it to the caller for each of the objects.
    /// - Throws: `RequestFailure` with status 403 as well.
    package func purge(_ address: TrashAddress, by caller: Restorer) async throws -> [Member] {
        try await purge(address, deciding: caller.deciding) { try Self.check($0, caller) }
    }

    /// How ``purge(_:by:)`` would currently refuse this address; nil if it wouldn't, or if the objects are larger
    /// than the caller may read. Changes nothing.
    package func refusalToPurge(_ address: TrashAddress, by caller: Restorer) async throws -> RequestFailure? {
        do {
            _ = try await purge(address, isTrial: true, deciding: caller.deciding) { try Self.check($0, caller) }
            return nil
        } catch is PurgeTrial {
            return nil
        } catch let failure as RequestFailure where [.conflict, .forbidden].contains(failure.code) {
            return failure
        } catch let error as PostgresError where error.code == .resultTooLarge {
            // A page may not read that much, but deleting it is allowed.
            return nil
        }
    }

    private static func check(_ member: Member, _ caller: Restorer) throws {
        guard caller.may(.purge, member.className, member.row) else {
            throw RequestFailure(.forbidden, localized("Not permitted to delete all the objects permanently."))
        }
    }

    /// Objects by class, with the texts of their keys.
    typealias Keys = [String: [String]]

    nonisolated(nonsending) private func purge(_ members: [Member], _ connection: PostgresConnection) async throws {
        let keys = Dictionary(grouping: members, by: \.className).mapValues { $0.map(\.key.keyText) }
        if let kept = try await Self.keptByApp(of: keys, connection) {
            throw Self.keeps(kept.className, kept.key, because: kept.reason)
        }
        try await purge(keys, connection)
    }

    nonisolated(nonsending) func purge(_ keys: Keys, _ connection: PostgresConnection) async throws {
        for (name, keys) in keys.sorted(by: { $0.key < $1.key }) {
            try await connection.query(
                "SELECT count(*) FILTER (WHERE tombolo.purge($1, k)) FROM unnest($2::text[]) AS k",
                [.text(name), .textArray(keys)])
        }
    }

    private func keeper(of address: TrashAddress, _ error: PostgresError) async throws -> RequestFailure {
        let found = try await pool.transaction { try await members(of: address, deciding: { _ in [] }, $0) }
        let keys = Dictionary(grouping: found, by: \.className).mapValues { $0.map(\.key.keyText) }
        guard let first = try await firstKept(of: keys) else { return RequestFailure(error) }
        return Self.keeps(first.className, first.key, because: first.error.reasonToKeep, cause: first.error)
    }

    private static func keeps(
        _ className: String, _ key: String, because reason: String, cause: (any Error)? = nil
    ) -> RequestFailure {
        RequestFailure(
            .conflict,
            localized("\(className) \(key) can't be deleted permanently: \(reason)."),
            hint: localized("Remove whatever prevents it, or delete the other objects of the group one by one."),
            cause: cause)
    }

    /// Finds the object that the database keeps, by deleting one after the other in a transaction that is rolled
    /// back.
    func firstKept(of keys: Keys) async throws -> (className: String, key: String, error: PostgresError)? {
        try await pool.withConnection { connection in
            try await connection.execute("BEGIN")
            do {
                for (name, keys) in keys.sorted(by: { $0.key < $1.key }) {
                    for key in keys {
                        do {
                            try await purge([name: [key]], connection)
                        } catch let error as PostgresError where error.keepsRow {
                            try await connection.execute("ROLLBACK")
                            return (name, key, error)
                        }
                    }
                }
                try await connection.execute("ROLLBACK")
                return nil
            } catch {
                await connection.rollback()
                throw error
            }
        }
    }
}

/// Rolls back the transaction of a trial purge.
private struct PurgeTrial: Error {}

extension PostgresError {
    /// Whether the database keeps a row for a reason that a retry would meet too: a foreign key, or a service's
    /// trigger.
    var keepsRow: Bool { !isRetryable && !isMissingName }

    /// The reason in words, for callers who may delete permanently.
    var reasonToKeep: String {
        if code == .foreignKeyViolation {
            return tableName.map { localized("'\($0)' refers to it") } ?? localized("another table refers to it")
        }
        if isRefusal, let constraintName { return localized("it would break '\(constraintName)'") }
        return localized("the database says '\(message.shortened(toByteCount: Self.reasonByteCount))'")
    }

    private static let reasonByteCount = 500
}
