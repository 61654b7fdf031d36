public import Foundation
internal import PostgresClient
public import TomboloModel

extension Authenticator {
    /// - Throws: ``AuthenticationError/unknownUser``, or the database's error.
    public func details(of userID: ObjectId) async throws -> AccountDetails {
        guard let details = try await Accounts.details(userID, pool) else { throw AuthenticationError.unknownUser }
        return details
    }

    /// Deletes an account with its identities, sessions and keys. What it wrote into an app's classes stays.
    /// - Parameters:
    ///   - code: a code of the account's second factor, if it has one.
    ///   - address: where the request came from, for the limit on wrong codes.
    /// - Throws: ``AuthenticationError/codeRequired``, ``AuthenticationError/wrongCode``,
    ///   ``AuthenticationError/unknownUser``.
    public func deleteAccount(
        _ userID: ObjectId, code: String? = nil, address: String = "", now: Date = Date()
    ) async throws {
        try await demand(code: code, of: userID, address: address, now: now)
        let result = try await pool.query(
            "DELETE FROM tombolo.account WHERE id = $1 RETURNING id", [.bytea(userID.bytes)])
        guard !result.isEmpty else { throw AuthenticationError.unknownUser }
        forget(userID)
    }

    /// Adds an identity to an account, as another way to log in.
    ///
    /// An e-mail address with its password can be added if they were registered but never used to log in. If addresses
    /// need no confirmation, a free address can be added too.
    /// - Parameter code: a code of the second factor of `userID`, if it has one. It's used up before the credentials
    ///   are checked, since a function's credentials may be valid only once.
    /// - Throws: ``AuthenticationError/identityTaken`` if another account has the identity,
    ///   ``AuthenticationError/notLinkable`` for anonymous credentials and API keys;
    ///   ``AuthenticationError/codeRequired``; the errors of a login.
    public func link(
        _ credentials: LoginCredentials, to userID: ObjectId, code: String? = nil, address: String = "",
        now: Date = Date()
    ) async throws {
        try await demand(code: code, of: userID, address: address, now: now)
        switch credentials {
        case .anonymous, .apiKey: throw AuthenticationError.notLinkable
        case .token, .function:
            let outsider = try await outsider(credentials, address: address, now: now)
            try await Identities.link(
                credentials.provider, outsider.identifier, to: userID, profile: outsider.profile, pool)
        case .emailPassword(let email, let password):
            let settings = try await providers.settings(of: Provider.emailPassword, as: EmailPasswordSettings.self)
            do {
                let other = try await check(email: email, password: password, address: address)
                try await take(over: other, by: userID, email: AccountRegistry.normalized(email))
            } catch AuthenticationError.wrongCredentials
                where settings.registration == true && settings.confirmation == EmailPasswordSettings.Confirmation.none
            {
                try await addEmail(email, password, to: userID, lane: AddressGroup(address).text)
            }
        }
        forget(userID)
    }

    /// Takes over the address and password of a registration that was never used to log in.
    private func take(over other: Accounts.Account, by userID: ObjectId, email: String) async throws {
        guard other.userID != userID else { return }
        guard let hash = other.hash else { throw AuthenticationError.identityTaken }
        try await pool.transaction { connection in
            let deleted = try await connection.query(
                """
                DELETE FROM tombolo.account a WHERE a.id = $1
                    AND EXISTS (SELECT 1 FROM tombolo.credential c WHERE c.user_id = a.id AND c.is_unused)
                    AND NOT EXISTS (SELECT 1 FROM tombolo.identity i WHERE i.user_id = a.id)
                RETURNING a.id
                """, [.bytea(other.userID.bytes)])
            guard !deleted.isEmpty else { throw AuthenticationError.identityTaken }
            try await Accounts.setEmail(email, of: userID, connection)
            try await Accounts.setPassword(hash, of: userID, connection)
        }
    }

    /// - Throws: ``AuthenticationError/wrongCredentials`` if another account has the address.
    private func addEmail(_ email: String, _ password: String, to userID: ObjectId, lane: String) async throws {
        let email = try AccountRegistry.validated(email: email)
        let name = try await Accounts.details(userID, pool)?.name ?? ""
        try accounts.validate(password: password, of: PasswordOwner(email: email, name: name))
        let hash = try await hasher.hash(password, lane: lane)
        try await pool.transaction { connection in
            try await Accounts.setEmail(email, of: userID, connection)
            try await Accounts.setPassword(hash, of: userID, connection)
        }
    }
}

extension Accounts {
    /// Gives an address to an account that has none.
    /// - Throws: ``AuthenticationError/identityTaken`` if it has one. If another account has this one, it throws
    ///   ``AuthenticationError/wrongCredentials``, like for a wrong password.
    fileprivate static func setEmail(
        _ email: String, of userID: ObjectId, _ connection: PostgresConnection
    ) async throws {
        do {
            let result = try await connection.query(
                "UPDATE tombolo.account SET email = $2 WHERE id = $1 AND email IS NULL RETURNING id",
                [.bytea(userID.bytes), .text(email)])
            guard !result.isEmpty else { throw AuthenticationError.identityTaken }
        } catch let error as PostgresError where error.code == .uniqueViolation {
            throw AuthenticationError.wrongCredentials
        }
    }
}
