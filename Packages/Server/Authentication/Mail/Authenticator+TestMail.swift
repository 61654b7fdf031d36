extension Authenticator {
    /// Sends a mail that only shows that mail arrives, and waits for the carrier's answer. It's tried once, and counts
    /// among the mails to its address.
    /// - Parameters:
    ///   - email: the address of the caller's own account.
    ///   - address: where the request came from.
    /// - Throws: ``AuthenticationError/noMail``, ``AuthenticationError/tooManyAttempts(retryAfterSeconds:)``, or
    ///   ``MailDeliveryError``.
    public func sendTestMail(to email: String, address: String = "") async throws {
        let room = try mailRoom()
        try await beginMail(to: email, address: address)
        try await room.deliver(.test(email))
    }
}
