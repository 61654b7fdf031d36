public import PostgresClient
public import TomboloModel
public import TomboloRules

extension Authenticator {
    /// Whether mails can be sent at all.
    public var hasMail: Bool { mail?.hasCarrier ?? false }

    /// An address in the form that accounts have: in lower case.
    /// - Throws: ``AuthenticationError/invalidEmail(reason:)``.
    public func validated(email: String) throws(AuthenticationError) -> String {
        try AccountRegistry.validated(email: email)
    }

    /// Counts a mail to an address, whether or not it has an account, in the caller's transaction. It doesn't count
    /// towards the mails that anybody can request: otherwise strangers could keep somebody from being invited.
    /// - Parameter address: where the request came from.
    /// - Throws: ``AuthenticationError/tooManyAttempts(retryAfterSeconds:)``.
    nonisolated(nonsending) public func beginInvitation(
        to email: String, address: String, _ connection: PostgresConnection
    ) async throws {
        try begin(.mail, address: address)
        try await attempts.addMail(attempts.key(.invitation, email), connection)
    }

    /// Counts an attempt to use a token.
    public func beginProof(address: String) throws(AuthenticationError) { try begin(.proof, address: address) }

    /// Mails the token to the invited address.
    /// - Parameters:
    ///   - inviter: the inviter's name, for the mail; nil if it isn't known.
    ///   - link: the configured address to which the token is added; nil for a mail with the token alone.
    /// - Throws: ``AuthenticationError/noMail``, or ``AuthenticationError/busy``: the mail isn't sent then.
    public func mailInvitation(
        _ invitation: Invitation, _ token: InvitationToken, from inviter: String?, link: String?
    ) throws(AuthenticationError) {
        try mailRoom().post { .invite(invitation, token, from: inviter, link: link) }
    }

    /// The password of an account that an invitation makes.
    public struct JoiningAccount: Sendable {
        let displayName: String
        let hash: PasswordHash
    }

    /// Checks a password and hashes it. That takes a while, so call it before the transaction.
    /// - Throws: ``AuthenticationError`` if password or name can't be used.
    public func prepareJoining(
        email: String, password: String, name: String?, address: String
    ) async throws -> JoiningAccount {
        let name = try AccountRegistry.validated(displayName: name ?? String(email.prefix { $0 != "@" }))
        try accounts.validate(password: password, of: PasswordOwner(email: email, name: name))
        return JoiningAccount(
            displayName: name, hash: try await hasher.hash(password, lane: AddressGroup(address).text))
    }

    /// Makes the account for an invitation's address, in the caller's transaction. A database function does it, in
    /// exchange for a token.
    /// - Throws: ``AuthenticationError/emailTaken``, ``AuthenticationError/badMailToken``.
    nonisolated(nonsending) public func join(
        _ account: JoiningAccount, by token: InvitationToken, _ connection: PostgresConnection
    ) async throws -> ObjectId {
        let user = ObjectId.generate()
        let parameters = account.hash.parameters
        let result: PostgresResult
        do {
            result = try await connection.query(
                "SELECT tombolo.join_by_invitation($1, $2, $3, $4, $5, $6, $7, $8, $9)",
                [
                    .bytea(token.id.bytes), .bytea(token.hash), .bytea(user.bytes), .text(account.displayName),
                    .int64(Int64(parameters.rounds)), .int64(Int64(parameters.blockSize)),
                    .int64(Int64(parameters.parallelism)), .bytea(account.hash.salt), .bytea(account.hash.key),
                ])
        } catch let error as PostgresError where error.code == .uniqueViolation {
            throw AuthenticationError.emailTaken
        }
        guard try result[0, 0].bool else { throw AuthenticationError.badMailToken }
        return user
    }

    /// Records that the user of an account has read an invitation's mail and used its token: the address is theirs. An
    /// invitation that wasn't mailed proves nothing.
    nonisolated(nonsending) public func noteProof(
        of user: ObjectId, by invitation: Invitation, _ connection: PostgresConnection
    ) async throws {
        guard invitation.isMailed else { return }
        try await Accounts.noteProof(of: user, email: invitation.email, connection)
    }

    /// Whether strangers may register any address without proving that it's theirs.
    public func registersUnproven() async throws -> Bool {
        let settings = try await providers.settings(of: Provider.emailPassword, as: EmailPasswordSettings.self)
        return settings.registration == true && settings.confirmation == EmailPasswordSettings.Confirmation.none
    }

    /// A user with their roles as a transaction sees them.
    /// - Throws: ``AuthenticationError/unknownUser`` for a user whose account is gone or disabled.
    nonisolated(nonsending) public func subject(
        of user: ObjectId, _ connection: PostgresConnection
    ) async throws -> Subject {
        guard let known = try await Accounts.known([user], grants: grants(), connection)[user] else {
            throw AuthenticationError.unknownUser
        }
        return try known.get().subject
    }
}
