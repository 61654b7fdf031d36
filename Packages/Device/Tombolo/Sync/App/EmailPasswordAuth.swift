internal import NIOHTTP1

/// Registration and passwords for users who log in with an e-mail address. No user needs to be logged in. Every call
/// throws, or completes with, an ``AppError``. Completion handlers are called on any thread.
public struct EmailPasswordAuth: Sendable {
    let app: App

    /// Registers a user. If the server requires it, the user then confirms the address before logging in.
    public func registerUser(email: String, password: String) async throws {
        try await post("/register", ["email": .string(email), "password": .string(password)])
    }

    public func registerUser(
        email: String, password: String, completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        complete(completion) { try await registerUser(email: email, password: password) }
    }

    /// Confirms an address with the token and token ID from the link in the e-mail.
    public func confirmUser(_ token: String, tokenId: String) async throws {
        try await post("/confirm", ["token": .string(token), "tokenID": .string(tokenId)])
    }

    public func confirmUser(
        _ token: String, tokenId: String, completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        complete(completion) { try await confirmUser(token, tokenId: tokenId) }
    }

    /// Sends the e-mail with the confirmation link again. Also succeeds for an address that the server doesn't know.
    public func resendConfirmationEmail(_ email: String) async throws {
        try await post("/confirm/send", ["email": .string(email)])
    }

    public func resendConfirmationEmail(
        _ email: String, completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        complete(completion) { try await resendConfirmationEmail(email) }
    }

    /// Sends an e-mail with a link for choosing a new password. Also succeeds for an address that the server doesn't
    /// know.
    public func sendResetPasswordEmail(_ email: String) async throws {
        try await post("/reset/send", ["email": .string(email)])
    }

    public func sendResetPasswordEmail(
        _ email: String, completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        complete(completion) { try await sendResetPasswordEmail(email) }
    }

    /// Sets a new password with the token and token ID from the link in the e-mail. Ends all of the user's login
    /// sessions.
    public func resetPassword(to password: String, token: String, tokenId: String) async throws {
        try await post(
            "/reset", ["password": .string(password), "token": .string(token), "tokenID": .string(tokenId)])
    }

    public func resetPassword(
        to password: String, token: String, tokenId: String, completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        complete(completion) { try await resetPassword(to: password, token: token, tokenId: tokenId) }
    }

    private func post(_ path: String, _ body: [String: AnyBSON]) async throws {
        try await app.client.send(.POST, path, body)
    }

    private func complete(
        _ completion: @escaping @Sendable ((any Error)?) -> Void, _ body: @escaping @Sendable () async throws -> Void
    ) {
        Task { completion(await failure(body)) }
    }
}
