internal import Foundation
internal import NIOHTTP1
public import TomboloModel

/// A key with which a program logs in as the user who created the key.
public struct UserAPIKey: Hashable, Sendable {
    public let objectId: ObjectId
    public let name: String
    /// The key itself. The server reveals it only once, when the key is created.
    public let key: String?
    public let disabled: Bool
}

extension UserAPIKey: CustomStringConvertible, CustomReflectable {
    /// Doesn't contain the key itself.
    public var description: String { "API key '\(name)'\(disabled ? ", disabled" : "")" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A user's API keys. Every call throws, or completes with, an ``AppError``. Completion handlers are called on any
/// thread.
public struct APIKeyAuth: Sendable {
    let user: User

    private struct Key: Decodable {
        var id: String
        var name: String
        var disabled: Bool
        var key: String?

        func made() throws -> UserAPIKey {
            UserAPIKey(objectId: try ObjectId(string: id), name: name, key: key, disabled: disabled)
        }
    }

    private struct Keys: Decodable { var keys: [Key] }

    /// - Parameter code: if the account has a second factor (see ``AppError/requiresCode``), a code from the user's
    ///   authenticator app or a recovery code.
    public func createAPIKey(named name: String, code: String? = nil) async throws -> UserAPIKey {
        var body: [String: AnyBSON] = ["name": .string(name)]
        if let code { body["code"] = .string(code) }
        return try await get(Key.self, .POST, "/api-keys", body).made()
    }

    public func createAPIKey(
        named name: String, code: String? = nil, completion: @escaping @Sendable (Result<UserAPIKey, any Error>) -> Void
    ) {
        Task { completion(await result { try await createAPIKey(named: name, code: code) }) }
    }

    public func fetchAPIKey(_ id: ObjectId) async throws -> UserAPIKey {
        try await get(Key.self, .GET, "/api-keys/\(id.stringValue)").made()
    }

    public func fetchAPIKey(_ id: ObjectId, _ completion: @escaping @Sendable (Result<UserAPIKey, any Error>) -> Void) {
        Task { completion(await result { try await fetchAPIKey(id) }) }
    }

    public func fetchAPIKeys() async throws -> [UserAPIKey] {
        try await get(Keys.self, .GET, "/api-keys").keys.map { try $0.made() }
    }

    public func fetchAPIKeys(_ completion: @escaping @Sendable (Result<[UserAPIKey], any Error>) -> Void) {
        Task { completion(await result { try await fetchAPIKeys() }) }
    }

    public func deleteAPIKey(_ id: ObjectId) async throws { try await send(.DELETE, "/api-keys/\(id.stringValue)") }

    public func deleteAPIKey(_ id: ObjectId, completion: @escaping @Sendable ((any Error)?) -> Void) {
        Task { completion(await failure { try await deleteAPIKey(id) }) }
    }

    /// - Parameter code: if the account has a second factor (see ``AppError/requiresCode``), a code from the user's
    ///   authenticator app or a recovery code.
    public func enableAPIKey(_ id: ObjectId, code: String? = nil) async throws {
        try await send(.PUT, "/api-keys/\(id.stringValue)/enable", code.map { ["code": .string($0)] })
    }

    public func enableAPIKey(
        _ id: ObjectId, code: String? = nil, completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        Task { completion(await failure { try await enableAPIKey(id, code: code) }) }
    }

    public func disableAPIKey(_ id: ObjectId) async throws {
        try await send(.PUT, "/api-keys/\(id.stringValue)/disable")
    }

    public func disableAPIKey(_ id: ObjectId, completion: @escaping @Sendable ((any Error)?) -> Void) {
        Task { completion(await failure { try await disableAPIKey(id) }) }
    }

    private func get<Answer: Decodable>(
        _ type: Answer.Type, _ method: HTTPMethod, _ path: String, _ body: [String: AnyBSON]? = nil
    ) async throws -> Answer {
        let token = try await user.freshAccessToken()
        return try await user.app.client.get(type, method, path, body, token: token)
    }

    private func send(_ method: HTTPMethod, _ path: String, _ body: [String: AnyBSON]? = nil) async throws {
        try await user.app.client.send(method, path, body, token: try await user.freshAccessToken())
    }
}
