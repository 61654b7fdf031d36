public import Foundation
internal import PostgresClient
public import TomboloModel

/// What a user sees of their own account.
public struct AccountDetails: Sendable {
    public struct Identity: Hashable, Sendable {
        /// Such as `anon-user`.
        public let provider: String
        /// The provider's id for the user: an e-mail address for `local-userpass`.
        public let identifier: String
    }

    public let userID: ObjectId
    public let name: String
    public let email: String?
    public let createdAt: Date
    /// When the user proved that the address is theirs; nil if they haven't.
    public let verifiedAt: Date?
    /// When the account got its second factor; nil if it has none.
    public let secondFactorAt: Date?
    /// In the order in which the account got them.
    public let identities: [Identity]
    /// What outside providers say about the user.
    public let profile: [String: String]
    /// The text of a JSON object, which rules call `%%user.custom_data`.
    public let customData: String
}

extension Accounts {
    /// - Returns: nil if there is no such account.
    static func details(_ userID: ObjectId, _ pool: PostgresPool) async throws -> AccountDetails? {
        let result = try await pool.query(
            """
            SELECT a.display_name, a.email, a.created_at, a.custom_data::text, c.user_id IS NOT NULL,
                i.provider, i.identifier, i.profile::text, a.verified_at, a.second_factor_at
            FROM tombolo.account a LEFT JOIN tombolo.credential c ON c.user_id = a.id
                LEFT JOIN tombolo.identity i ON i.user_id = a.id
            WHERE a.id = $1 ORDER BY i.created_at
            """, [.bytea(userID.bytes)])
        guard let first = result.first else { return nil }
        let email = try first[1].nonNull?.string
        var identities: [AccountDetails.Identity] = []
        var profile: [String: String] = [:]
        for row in result {
            guard let provider = try row[5].nonNull?.string else { continue }
            identities.append(AccountDetails.Identity(provider: provider, identifier: try row[6].string))
            let more = try JSONDecoder().decode([String: String].self, from: Data(try row[7].string.utf8))
            profile.merge(more) { $1 }
        }
        if let email, try first[4].bool {
            identities.append(AccountDetails.Identity(provider: Provider.emailPassword, identifier: email))
        }
        return AccountDetails(
            userID: userID, name: try first[0].string, email: email,
            createdAt: Date(microseconds: try first[2].timestampMicroseconds),
            verifiedAt: try first[8].nonNull.map { Date(microseconds: try $0.timestampMicroseconds) },
            secondFactorAt: try first[9].nonNull.map { Date(microseconds: try $0.timestampMicroseconds) },
            identities: identities, profile: profile,
            customData: try first[3].string)
    }
}
