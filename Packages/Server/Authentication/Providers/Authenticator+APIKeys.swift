public import Foundation
internal import PostgresClient
public import TomboloModel

extension Authenticator {
    /// Makes a key for a user.
    /// - Parameters:
    ///   - code: a code of the account's second factor, if it has one.
    ///   - address: where the request came from, for the limit on wrong codes.
    /// - Returns: the key, and its text, which isn't stored.
    /// - Throws: ``AuthenticationError/apiKeyNameTaken``, ``AuthenticationError/tooManyAPIKeys``,
    ///   ``AuthenticationError/invalidDisplayName(reason:)``, ``AuthenticationError/noSuchProvider`` if keys are off;
    ///   ``AuthenticationError/codeRequired``, ``AuthenticationError/wrongCode``.
    public func makeAPIKey(
        named name: String, for userID: ObjectId, code: String? = nil, address: String = "", now: Date = Date()
    ) async throws -> (key: APIKey, text: String) {
        _ = try await providers.settings(of: Provider.apiKey, as: NoSettings.self)
        _ = try APIKey.validated(name: name)
        try await demand(code: code, of: userID, address: address, now: now)
        return try await accounts.makeAPIKey(named: name, for: userID)
    }

    /// Refuses a login made with an API key. Otherwise somebody who found a key could make more keys, which would
    /// outlive it, or take over the account.
    /// - Throws: ``AuthenticationError/keyLogin``.
    public func requireOwner(_ token: String) async throws {
        let caller = try await caller(token)
        let found = try await pool.withConnection { connection in
            try await connection.query(
                "SELECT api_key IS NULL FROM tombolo.login_session WHERE id = $1", [.bytea(caller.sessionID.bytes)])
        }
        guard try found.first?[0].bool == true else { throw AuthenticationError.keyLogin }
    }

    /// A user's keys, oldest first.
    public func apiKeys(of userID: ObjectId) async throws -> [APIKey] { try await APIKeys.list(of: userID, pool) }

    /// Lets a key log its user in again. That outlasts the caller's login, as a new key does.
    /// - Parameters:
    ///   - code: a code of the account's second factor, if it has one.
    ///   - address: where the request came from, for the limit on wrong codes.
    /// - Throws: ``AuthenticationError/noSuchAPIKey``; ``AuthenticationError/codeRequired``,
    ///   ``AuthenticationError/wrongCode``.
    public func enableAPIKey(
        _ id: ObjectId, of userID: ObjectId, code: String? = nil, address: String = "", now: Date = Date()
    ) async throws {
        try await demand(code: code, of: userID, address: address, now: now)
        try await APIKeys.change(id, of: userID, .enable, pool)
        forget(userID)
    }

    /// Ends the logins made with a key, and prevents further ones.
    /// - Throws: ``AuthenticationError/noSuchAPIKey``.
    public func disableAPIKey(_ id: ObjectId, of userID: ObjectId) async throws {
        try await APIKeys.change(id, of: userID, .disable, pool)
        forget(userID)
    }

    /// - Throws: ``AuthenticationError/noSuchAPIKey``.
    public func deleteAPIKey(_ id: ObjectId, of userID: ObjectId) async throws {
        try await APIKeys.change(id, of: userID, .delete, pool)
        forget(userID)
    }
}

extension AccountRegistry {
    /// Makes a key for a user, whether or not the provider is on.
    public func makeAPIKey(named name: String, for userID: ObjectId) async throws -> (key: APIKey, text: String) {
        let name = try APIKey.validated(name: name)
        let secret = [UInt8].random(count: APIKey.secretByteCount)
        let key = APIKey(id: .generate(), name: name, isDisabled: false, createdAt: Date())
        try await APIKeys.insert(key, secret: secret, of: userID, pool)
        return (key, APIKey.text(key.id, secret))
    }

    /// Makes an account that only a program logs in to, with a key.
    public func makeServerKey(named name: String) async throws -> (userID: ObjectId, text: String) {
        let userID = ObjectId.generate()
        let name = try Self.validated(displayName: name)
        try await pool.query(
            "INSERT INTO tombolo.account (id, display_name) VALUES ($1, $2)", [.bytea(userID.bytes), .text(name)])
        return (userID, try await makeAPIKey(named: name, for: userID).text)
    }
}
