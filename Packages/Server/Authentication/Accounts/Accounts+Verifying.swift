import Foundation
import PostgresClient
public import TomboloModel

extension Accounts {
    /// Records that an account's address is known to be its user's, or isn't.
    /// - Returns: the account's user; nil if there is no such account, or it has no address.
    static func setVerified(
        _ isVerified: Bool, _ column: String, _ value: PostgresParameter, _ pool: PostgresPool
    ) async throws -> ObjectId? {
        let result = try await pool.query(
            """
            UPDATE tombolo.account
            SET verified_at = CASE WHEN $2 THEN coalesce(verified_at, clock_timestamp()) END
            WHERE \(column) = $1 AND email IS NOT NULL RETURNING id
            """, [value, .bool(isVerified)])
        return try result.first.flatMap { ObjectId(bytes: try $0[0].bytes) }
    }

    /// Records that the user has read the mails of an address, which proves that it's theirs.
    static func noteProof(
        of userID: ObjectId, email: String, _ connection: PostgresConnection
    ) async throws {
        try await connection.query(
            """
            UPDATE tombolo.account SET verified_at = clock_timestamp()
            WHERE id = $1 AND email = $2 AND verified_at IS NULL
            """, [.bytea(userID.bytes), .text(email)])
    }
}

extension AccountRegistry {
    /// Records whether an account's address is known to be its user's. Rules see this as `%%user.data.isVerified`. If
    /// the address changes, it isn't verified any more.
    /// - Returns: the account's user.
    /// - Throws: ``AuthenticationError/unknownUser`` if no account has the e-mail address.
    @discardableResult
    public func setVerified(_ isVerified: Bool, email: String) async throws -> ObjectId {
        guard
            let userID = try await Accounts.setVerified(
                isVerified, "email", .text(Self.normalized(email)), pool)
        else { throw AuthenticationError.unknownUser }
        return userID
    }
}

extension Authenticator {
    /// The same by the user's id. The caller decides who may do this.
    /// - Throws: ``AuthenticationError/unknownUser``, also for an account without an address.
    package func setVerified(_ isVerified: Bool, _ userID: ObjectId) async throws {
        let found = try await Accounts.setVerified(isVerified, "id", .bytea(userID.bytes), pool)
        guard found != nil else { throw AuthenticationError.unknownUser }
        forget(userID)
    }
}
