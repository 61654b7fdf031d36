public import Foundation
import TomboloLocalization
internal import PostgresClient
internal import TomboloModel

extension Authenticator {
    /// Registers an e-mail address with a password.
    ///
    /// If addresses are confirmed, the answer and the work are the same even if the address has an account: its owner
    /// gets a mail that says so. Otherwise the answer reveals it, since there is no other way to say that no account
    /// was made.
    /// - Parameter name: the name to show; the address's first part if it is nil.
    /// - Returns: whether the account can log in at once.
    /// - Throws: ``AuthenticationError/noSuchProvider`` if strangers can't register,
    ///   ``AuthenticationError/emailTaken``, errors about unusable values, and about limits.
    public func requestRegistration(
        email: String, password: String, name: String?, address: String = "", now: Date = Date()
    ) async throws -> Bool {
        let settings = try await providers.settings(of: Provider.emailPassword, as: EmailPasswordSettings.self)
        guard settings.registration == true else { throw AuthenticationError.noSuchProvider }
        let email = try AccountRegistry.validated(email: email)
        let name = try AccountRegistry.validated(displayName: name ?? String(email.prefix { $0 != "@" }))
        try accounts.validate(password: password, of: PasswordOwner(email: email, name: name))
        let isMailed = settings.confirmation != EmailPasswordSettings.Confirmation.none
        let room = isMailed ? try mailRoom() : nil
        try await beginMail(to: email, address: address)
        let hash = try await hasher.hash(password, lane: AddressGroup(address).text)
        guard let room else {
            try await accounts.insert(ObjectId.generate(), email: email, displayName: name, hash, isUnused: true)
            return true
        }
        let pool = pool
        try room.post {
            if try await Accounts.exists(email: email, pool) { return .alreadyRegistered(email) }
            let secret = MailTokens.Secret()
            try await pool.transaction {
                try await MailTokens.insert(
                    secret, to: .confirm, email: email,
                    registration: MailTokens.Registration(displayName: name, hash: hash), now: now.microseconds, $0)
            }
            return .confirm(email, secret, link: settings.confirmURL)
        }
        return false
    }

    /// Makes the account of a registration, once its mail was read.
    /// - Throws: ``AuthenticationError/badMailToken``.
    public func confirm(token: String, tokenID: String, address: String = "", now: Date = Date()) async throws {
        try begin(.proof, address: address)
        try await pool.transaction { connection in
            guard
                let taken = try await MailTokens.take(
                    id: tokenID, text: token, for: .confirm, now: now.microseconds, connection),
                let registration = taken.registration
            else { throw AuthenticationError.badMailToken }
            let userID = ObjectId.generate()
            do {
                try await Accounts.insert(
                    userID, email: taken.email, displayName: registration.displayName, isVerified: true, connection)
            } catch AuthenticationError.emailTaken {
                throw AuthenticationError.badMailToken
            }
            try await Accounts.setPassword(registration.hash, of: userID, isUnused: true, connection)
        }
    }

    /// Mails another token for a pending registration, if there is one.
    public func resendConfirmation(email: String, address: String = "", now: Date = Date()) async throws {
        let settings = try await providers.settings(of: Provider.emailPassword, as: EmailPasswordSettings.self)
        let (room, pool) = (try mailRoom(), pool)
        let email = try Self.bounded(AccountRegistry.normalized(email))
        try await beginMail(to: email, address: address)
        try room.post {
            let secret = MailTokens.Secret()
            let isWaiting = try await pool.transaction { connection in
                guard
                    let registration = try await MailTokens.registration(
                        email: email, now: now.microseconds, connection)
                else { return false }
                try await MailTokens.insert(
                    secret, to: .confirm, email: email, registration: registration, now: now.microseconds, connection)
                return true
            }
            return isWaiting ? .confirm(email, secret, link: settings.confirmURL) : nil
        }
    }

    /// Mails a token to replace a forgotten password, if the address has an account.
    /// - Parameter link: where the mail's link leads; nil to use the provider's settings.
    public func sendReset(
        email: String, link: String? = nil, address: String = "", now: Date = Date()
    ) async throws {
        let settings = try await providers.settings(of: Provider.emailPassword, as: EmailPasswordSettings.self)
        let (room, pool) = (try mailRoom(), pool)
        let email = try Self.bounded(AccountRegistry.normalized(email))
        try await beginMail(to: email, address: address)
        try room.post {
            guard !email.utf8.contains(0), let account = try await Accounts.account(email: email, pool) else {
                return nil
            }
            let secret = MailTokens.Secret()
            try await pool.transaction {
                try await MailTokens.insert(
                    secret, to: .reset, email: email, user: account.userID, now: now.microseconds, $0)
            }
            return .reset(email, secret, link: link ?? settings.resetURL)
        }
    }

    /// The address of the account whose password a mailed token can replace, for a form that password managers
    /// understand. Revealing it is safe: somebody who has the token has read the mail. Nil for an invalid token. This
    /// doesn't use up the token.
    public func resetEmail(token: String, tokenID: String, now: Date = Date()) async throws -> String? {
        try await MailTokens.owner(id: tokenID, text: token, for: .reset, now: now.microseconds, pool)?.email
    }

    /// Replaces a forgotten password, and ends all logins.
    /// - Throws: ``AuthenticationError/badMailToken``, ``AuthenticationError/invalidPassword(reason:)``.
    public func reset(
        password: String, token: String, tokenID: String, address: String = "", now: Date = Date()
    ) async throws {
        try begin(.proof, address: address)
        // A hash is expensive, and others have to wait for it: an invented token isn't enough to get one.
        guard
            let owner = try await MailTokens.owner(
                id: tokenID, text: token, for: .reset, now: now.microseconds, pool)
        else { throw AuthenticationError.badMailToken }
        try accounts.validate(password: password, of: owner)
        let hash = try await hasher.hash(password, lane: AddressGroup(address).text)
        let userID = try await pool.transaction { connection in
            guard
                let taken = try await MailTokens.take(
                    id: tokenID, text: token, for: .reset, now: now.microseconds, connection), let userID = taken.user
            else { throw AuthenticationError.badMailToken }
            try await Accounts.setPassword(hash, of: userID, connection)
            try await Accounts.revokeTokens(of: userID, connection)
            try await Accounts.noteProof(of: userID, email: taken.email, connection)
            return userID
        }
        forget(userID)
        tell(.passwordChanged, userID, at: now)
    }

    /// Counts a requested mail by the address that requests it and by the one that receives it, whether or not that has
    /// an account.
    /// - Throws: ``AuthenticationError/tooManyAttempts(retryAfterSeconds:)``.
    func beginMail(to email: String, address: String) async throws {
        try begin(.mail, address: address)
        try await attempts.addMail(attempts.key(.mail, email))
    }

    /// Refuses text that is too long for an address: limits and the mail room keep it for a while.
    private static func bounded(_ email: String) throws(AuthenticationError) -> String {
        guard email.utf8.count <= AccountRegistry.maximumEmailByteCount else {
            throw .invalidEmail(reason: localized("it is longer than \(AccountRegistry.maximumEmailByteCount) bytes."))
        }
        return email
    }

    func mailRoom() throws(AuthenticationError) -> MailRoom {
        guard let mail, mail.hasCarrier else { throw .noMail }
        return mail
    }
}
