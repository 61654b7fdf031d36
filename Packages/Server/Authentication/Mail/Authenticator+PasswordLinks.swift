package import Foundation
internal import PostgresClient
package import TomboloModel

/// An account that was added for somebody else.
package struct AddedAccount: Hashable, Sendable {
    package let userID: ObjectId
    package let email: String
    /// Whether the mail with a link to choose its password is on its way.
    package let isMailed: Bool
}

/// For administrators of other people's accounts. They can't set passwords: the owner of the address gets a link by
/// mail, which nobody else sees. The caller decides who may do this.
extension Authenticator {
    /// Makes an account without a password and without roles, and mails its owner a link to choose a password. The
    /// address is verified once they have chosen one.
    /// - Parameters:
    ///   - link: where the mail's link leads; nil for no mail.
    ///   - address: where the request came from.
    /// - Throws: ``AuthenticationError/emailTaken``, ``AuthenticationError/noSuchProvider`` if logins with a password
    ///   are off, errors about unusable values, and about limits.
    package func addAccount(
        email: String, displayName: String, link: String?, address: String = "", now: Date = Date()
    ) async throws -> AddedAccount {
        try await requirePasswords()
        let email = try AccountRegistry.validated(email: email)
        let name = try AccountRegistry.validated(displayName: displayName)
        let userID = ObjectId.generate()
        try await pool.transaction { connection in
            try await Accounts.insert(userID, email: email, displayName: name, connection)
            // Counted here, so that only accounts that are made count, and not refusals.
            try await beginInvitation(to: email, address: address, connection)
        }
        guard let link, hasMail else { return AddedAccount(userID: userID, email: email, isMailed: false) }
        do throws(AuthenticationError) {
            try mailLink(to: userID, at: email, lifetimeSeconds: MailTokens.welcomeLifetimeSeconds, now: now) {
                .welcome(email, $0, link: link)
            }
        } catch {
            // The account exists: its owner can be mailed later.
            guard error == .busy else { throw error }
            return AddedAccount(userID: userID, email: email, isMailed: false)
        }
        return AddedAccount(userID: userID, email: email, isMailed: true)
    }

    /// Mails the owner of an account a link to set its password, whether or not it has one. Until the link is used, the
    /// password and all logins stay as they are.
    /// - Parameters:
    ///   - link: where the mail's link leads.
    ///   - address: where the request came from.
    /// - Returns: the account's e-mail address.
    /// - Throws: ``AuthenticationError/unknownUser``, also for an account that is disabled or has no e-mail address;
    ///   ``AuthenticationError/noMail``, ``AuthenticationError/noSuchProvider``, and errors about limits.
    @discardableResult
    package func sendPasswordLink(
        to userID: ObjectId, link: String, address: String = "", now: Date = Date()
    ) async throws -> String {
        try await requirePasswords()
        _ = try mailRoom()
        let disabledAt = try await disabledAt(userID)
        guard disabledAt == nil, let email = try await details(of: userID).email else {
            throw AuthenticationError.unknownUser
        }
        try begin(.mail, address: address)
        // This doesn't count towards the mails that anybody can request: otherwise strangers could suppress it.
        try await attempts.addMail(attempts.key(.invitation, email))
        try mailLink(to: userID, at: email, lifetimeSeconds: MailTokens.lifetimeSeconds, now: now) {
            .passwordLink(email, $0, link: link)
        }
        return email
    }

    private func requirePasswords() async throws {
        _ = try await providers.settings(of: Provider.emailPassword, as: EmailPasswordSettings.self)
    }

    /// - Throws: ``AuthenticationError/noMail``, ``AuthenticationError/busy``: nothing is changed then.
    private func mailLink(
        to userID: ObjectId, at email: String, lifetimeSeconds: Int64, now: Date,
        _ mail: @escaping @Sendable (MailTokens.Secret) -> Mail
    ) throws(AuthenticationError) {
        let (room, pool) = (try mailRoom(), pool)
        try room.post {
            guard try await Accounts.account(email: email, pool)?.userID == userID else { return nil }
            let secret = MailTokens.Secret()
            try await pool.transaction {
                try await MailTokens.insert(
                    secret, to: .reset, email: email, user: userID, lifetimeSeconds: lifetimeSeconds,
                    now: now.microseconds, $0)
            }
            return mail(secret)
        }
    }
}
