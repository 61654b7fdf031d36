import Foundation
import PostgresClient
import TomboloAuthentication
import TomboloHTTP
import TomboloModel
import TomboloRules
import TomboloLocalization

extension InvitationDesk {
    struct Accepted: Sendable {
        let invitation: Invitation
        let user: ObjectId
        /// False if the user had the role already.
        let isNew: Bool
    }

    /// What the page of an open invitation shows.
    struct Offered: Sendable {
        let invitation: Invitation
        let inviter: String
        /// The class of the object that the role is within, if any.
        let scopeClass: String?
        /// Whether the token can be used to create an account for the address.
        let makesAccounts: Bool
    }

    /// - Throws: `RequestFailure`: 404 for a token that is invalid or was replaced; 409 if the invitation is no
    ///   longer open.
    func look(_ text: String, address: String) async throws -> Offered {
        let token = try token(text, address: address)
        let found = try await pool.transaction { try await usable(token, $0) }
        let (item, _) = try grantClass(of: found)
        var makesAccounts = found.isMailed
        if !makesAccounts { makesAccounts = try await authenticator.registersUnproven() }
        return Offered(
            invitation: found, inviter: try await authenticator.details(of: found.invitedBy).name,
            scopeClass: found.scope == nil ? nil : item.scopeClass?.name, makesAccounts: makesAccounts)
    }

    /// Gives the role to the user who is logged in with the invited address.
    /// - Throws: `RequestFailure`: 404 for a token that is invalid or was replaced; 403 if the account has another
    ///   address; 409 if the invitation is no longer open, or can't be honoured any more.
    func accept(_ text: String, by user: ObjectId, address: String) async throws -> Accepted {
        let token = try token(text, address: address)
        let email = try await authenticator.details(of: user).email
        // The next request must see the new role, and perhaps the newly verified address.
        defer { authenticator.forget(user) }
        return try await explained {
            try await pool.transaction { connection in
                let found = try await usable(token, connection)
                // Two addresses that only look the same may belong to two people.
                guard let email, email.hasBytes(of: found.email) else {
                    throw RequestFailure(
                        .forbidden,
                        localized("You are logged in with a different address than the invited one."),
                        hint: localized("Log in with that address, or create an account from the invitation's link."))
                }
                return try await give(found, to: user, connection)
            }
        }
    }

    /// Creates an account for the invited address, and gives it the role.
    /// - Throws: as ``accept(_:by:address:)``; 409 if the address has an account; 422 for a password that can't be
    ///   used.
    func join(_ text: String, password: String, name: String?, address: String) async throws -> Accepted {
        let token = try token(text, address: address)
        // Before the password is hashed, which is expensive.
        let found = try await pool.transaction { try await usable(token, $0) }
        if !found.isMailed, try await !authenticator.registersUnproven() {
            throw RequestFailure(
                .conflict,
                localized("This invitation wasn't sent by e-mail, so it doesn't prove that the address is yours."),
                hint: localized("Log in with an account that has the address, then accept the invitation."))
        }
        let account = try await authenticator.prepareJoining(
            email: found.email, password: password, name: name, address: address)
        return try await explained {
            try await pool.transaction { connection in
                let found = try await usable(token, connection)
                let user = try await authenticator.join(account, by: token, connection)
                return try await give(found, to: user, connection)
            }
        }
    }

    // MARK: Steps

    private func token(_ text: String, address: String) throws -> InvitationToken {
        try authenticator.beginProof(address: address)
        guard let token = InvitationToken(text) else { throw Self.badToken }
        return token
    }

    private static var badToken: RequestFailure {
        RequestFailure(
            .notFound,
            localized("This invitation isn't valid: its link is incomplete, or a newer invitation has replaced it."),
            hint: localized("Use the link in the newest mail."))
    }

    /// The open invitation that belongs to a token, locked.
    nonisolated(nonsending) private func usable(
        _ token: InvitationToken, _ connection: PostgresConnection
    ) async throws -> Invitation {
        guard let found = try await Invitations.find(token, connection) else { throw Self.badToken }
        let now = options.now()
        try Self.requireUnused(found, now: now)
        guard found.state(at: now) == .open else {
            throw RequestFailure(
                .conflict, localized("The invitation has expired."), hint: localized("Ask for a new one."))
        }
        return found
    }

    /// Checks everything again: the rules, the scope, and the inviter, whose grants are locked until the commit.
    nonisolated(nonsending) private func give(
        _ invitation: Invitation, to user: ObjectId, _ connection: PostgresConnection
    ) async throws -> Accepted {
        let (item, scope) = try grantClass(of: invitation)
        do {
            try item.check(invitation.role, in: scope)
        } catch let failure as RequestFailure {
            throw RequestFailure(
                .conflict, localized("The role '\(invitation.role)' no longer exists."),
                hint: localized("Ask for a new invitation."),
                cause: failure)
        }
        try await checkInviter(invitation, item, scope, to: user, connection)
        try await item.lockScope(scope, connection)
        try await item.lock(invitation.role, of: user, in: scope, connection)
        let had = try await !item.grants(of: invitation.role, to: user, in: scope, connection).isEmpty
        if !had {
            if item.columns.exclusive[invitation.role] != nil,
                try await !item.grants(of: invitation.role, in: scope, connection).isEmpty
            {
                throw Self.taken(invitation.role, nil)
            }
            try await item.insert(item.grant(invitation.role, to: user, in: scope), connection)
        }
        try await Invitations.accept(invitation.id, by: user, now: options.now(), connection)
        try await authenticator.noteProof(of: user, by: invitation, connection)
        return Accepted(invitation: invitation, user: user, isNew: !had)
    }

    nonisolated(nonsending) private func checkInviter(
        _ invitation: Invitation, _ item: GrantClass, _ scope: Value?, to user: ObjectId,
        _ connection: PostgresConnection
    ) async throws {
        do {
            for columns in rules.grantColumns {
                try await GrantClass(rules: rules, columns: columns).lockGrants(of: invitation.invitedBy, connection)
            }
            let inviter = try await authenticator.subject(of: invitation.invitedBy, connection)
            try authorize(inviter, item, invitation.role, to: user, in: scope)
        } catch let error where error is AuthenticationError || (error as? RequestFailure)?.code == .forbidden {
            throw RequestFailure(
                .conflict, localized("The person who invited you may no longer grant the role '\(invitation.role)'."),
                hint: localized("Ask somebody else for an invitation."), cause: error)
        }
    }

    private static func taken(_ role: String, _ cause: (any Error)?) -> RequestFailure {
        RequestFailure(
            .conflict, localized("Somebody else has the role '\(role)' here, and only one person can have it."),
            hint: localized("They can hand it over to you."), cause: cause)
    }

    /// Translates the database's error when two requests accept at the same time.
    private func explained(_ body: () async throws -> Accepted) async throws -> Accepted {
        do {
            return try await body()
        } catch AuthenticationError.emailTaken {
            throw RequestFailure(
                .conflict, localized("This address already has an account."),
                hint: localized("Log in, then accept the invitation."))
        } catch AuthenticationError.badMailToken {
            throw Self.badToken
        } catch let error as PostgresError where error.code == .uniqueViolation {
            throw RequestFailure(
                .conflict, localized("Somebody else got the role at the same time."),
                hint: localized("Check who has it now."), cause: error)
        }
    }
}
