package import Foundation
internal import PostgresClient
package import TomboloModel
package import TomboloRules

/// An account as administrators of accounts see it.
package struct AccountSummary: Hashable, Sendable {
    package let userID: ObjectId
    package let name: String
    /// Nil for an account that logs in another way.
    package let email: String?
    package let createdAt: Date
    /// Nil for an account that may log in.
    package let disabledAt: Date?
    package let hasPassword: Bool
    /// The number of live logins.
    package let loginCount: Int
    /// When one of these was last used.
    package let lastUsedAt: Date?
}

/// Which accounts to list.
package enum AccountState: String, CaseIterable, Sendable {
    case enabled, disabled
}

/// For administrators of other people's accounts. Their service decides who that is.
extension Authenticator {
    package static let accountPageSize = 50
    /// The most pages that can be requested: the offset of a page costs time.
    package static let accountPageLimit = 2_000

    /// A page of accounts, ordered by e-mail address; those without one come last.
    /// - Parameters:
    ///   - search: a part of the address or the name, ignoring case, or a whole id; nil for all.
    ///   - page: from 1.
    package func accounts(
        search: String?, state: AccountState?, page: Int, now: Date = Date()
    ) async throws -> (accounts: [AccountSummary], hasMore: Bool) {
        let result = try await pool.query(
            """
            SELECT a.id, a.display_name, a.email, a.created_at, a.disabled_at,
                EXISTS (SELECT FROM tombolo.credential c WHERE c.user_id = a.id), l.logins, l.last_used_at
            FROM (
                SELECT a.* FROM tombolo.account a
                WHERE ($1::text IS NULL OR a.email LIKE $1 OR a.display_name ILIKE $1 OR encode(a.id, 'hex') = $2)
                    AND ($3::text IS NULL OR (a.disabled_at IS NULL) = ($3 = 'enabled'))
                ORDER BY a.email, a.id LIMIT \(Self.accountPageSize + 1) OFFSET $4
            ) a CROSS JOIN LATERAL (
                SELECT count(*)::int AS logins, max(s.last_used_at) AS last_used_at
                FROM tombolo.login_session s LEFT JOIN tombolo.token_generation t ON t.user_id = s.user_id
                WHERE s.user_id = a.id AND \(LoginSessions.isLive) AND s.expires_at > $5
            ) l
            ORDER BY a.email, a.id
            """,
            [
                .text(search.map(Self.pattern)), .text(search.map { $0.lowercased() }), .text(state?.rawValue),
                .int64(Int64((page - 1) * Self.accountPageSize)), .timestamptz(microseconds: now.microseconds),
            ])
        let accounts = try result.prefix(Self.accountPageSize).compactMap { row -> AccountSummary? in
            guard let id = ObjectId(bytes: try row[0].bytes) else { return nil }
            return AccountSummary(
                userID: id, name: try row[1].string, email: try row[2].nonNull?.string,
                createdAt: Date(microseconds: try row[3].timestampMicroseconds),
                disabledAt: try row[4].nonNull.map { Date(microseconds: try $0.timestampMicroseconds) },
                hasPassword: try row[5].bool, loginCount: try row[6].int,
                lastUsedAt: try row[7].nonNull.map { Date(microseconds: try $0.timestampMicroseconds) })
        }
        return (accounts, result.count > Self.accountPageSize)
    }

    /// The pattern to search for. Addresses are in lower case.
    private static func pattern(_ search: String) -> String {
        let escaped = search.lowercased().map { "\\%_".contains($0) ? "\\\($0)" : String($0) }.joined()
        return "%\(escaped)%"
    }

    /// The account with this e-mail address or id.
    /// - Throws: ``AuthenticationError/unknownUser``, or the database's error.
    package func userID(_ text: String) async throws -> ObjectId {
        let result = try await pool.query(
            "SELECT id FROM tombolo.account WHERE email = $1 OR encode(id, 'hex') = $1 LIMIT 1",
            [.text(AccountRegistry.normalized(text))])
        guard let row = result.first, let id = ObjectId(bytes: try row[0].bytes) else {
            throw AuthenticationError.unknownUser
        }
        return id
    }

    /// When an account was disabled; nil for an account that isn't.
    /// - Throws: ``AuthenticationError/unknownUser``, or the database's error.
    package func disabledAt(_ userID: ObjectId) async throws -> Date? {
        let result = try await pool.query(
            "SELECT disabled_at FROM tombolo.account WHERE id = $1", [.bytea(userID.bytes)])
        guard let row = result.first else { throw AuthenticationError.unknownUser }
        return try row[0].nonNull.map { Date(microseconds: try $0.timestampMicroseconds) }
    }

    /// A user with their current roles from the database, whether or not their account is disabled. Use it only for
    /// decisions about the account, not for what the user does.
    /// - Throws: ``AuthenticationError/unknownUser``, or the database's error.
    package func subjectEvenIfDisabled(_ userID: ObjectId) async throws -> Subject {
        guard let known = try await Accounts.evenDisabled(userID, grants: grants(), pool) else {
            throw AuthenticationError.unknownUser
        }
        return known.subject
    }

    /// Disables an account or enables it again, like ``AccountRegistry/setEnabled(_:email:)``.
    /// - Throws: ``AuthenticationError/unknownUser``, or the database's error.
    package func setEnabled(_ isEnabled: Bool, _ userID: ObjectId) async throws {
        guard try await Accounts.setEnabled(isEnabled, userID, pool) else { throw AuthenticationError.unknownUser }
        forget(userID)
    }
}
