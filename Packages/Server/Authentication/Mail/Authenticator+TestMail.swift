extension Authenticator {
    /// Sends a mail that only shows that mails arrive, and waits for what the carrier says. It's offered once, and counts
    /// among the mails to its address.
    /// - Parameters:
    ///   - email: of the caller's own account.
    ///   - address: where the request came from.
    /// - Throws: ``AuthenticationError/noMail``, ``AuthenticationError/tooManyAttempts(retryAfterSeconds:)``, or
    ///   ``MailDeliveryError``.
    public func sendTestMail(to email: String, address: String = "") async throws {
        let room = try mailRoom()
        try await beginMail(to: email, address: address)
        try await room.deliver(.test(email))
    }
}
