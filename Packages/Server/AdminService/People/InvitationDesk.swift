import Foundation
import PostgresClient
import TomboloAuthentication
import TomboloHTTP
import TomboloModel
import TomboloRules
import TomboloLocalization

/// Invites people to roles. The rules must permit the inviter to give exactly this role, both when inviting and when
/// the invitation is accepted.
struct InvitationDesk: Sendable {
    /// The body of an invitation. The class may be left out if only one class gives roles.
    struct Wish: Decodable, Sendable {
        let email: String
        let role: String
        var scope: String?
        var `class`: String?
    }

    /// What the inviter gets. It's the same whether or not the address has an account.
    struct Sent: Sendable {
        let invitation: Invitation
        /// For the inviter to pass on if no mail can be sent; nil otherwise.
        let token: InvitationToken?
    }

    let pool: PostgresPool
    let authenticator: Authenticator
    let rules: Rules
    let options: PeopleOptions

    // MARK: Inviting

    /// - Parameters:
    ///   - subject: the inviter, as the database has them now.
    ///   - address: where the request came from.
    /// - Throws: `RequestFailure`: 403 if the rules don't let the caller give the role, 409 if the same invitation is
    ///   open, there are too many, or the scope is in the trash, 422 for an invalid invitation, 429 for too many
    ///   mails.
    func invite(_ wish: Wish, by subject: Subject, address: String) async throws -> Sent {
        let item = try GrantClass.find(wish.class, in: rules)
        let scope = try item.scope(wish.scope)
        try item.check(wish.role, in: scope)
        try authorize(subject, item, wish.role, to: .generate(), in: scope)
        let (email, user) = (try authenticator.validated(email: wish.email), try Self.userID(subject))
        let offer = Invitations.Offer(
            email: email, className: item.item.name, role: wish.role, scope: GrantClass.text(scope), invitedBy: user)
        let (isMailed, now) = (authenticator.hasMail, options.now())
        let made = try await pool.transaction { connection in
            try await item.lockScope(scope, connection)
            let made = try await Invitations.insert(offer, isMailed: isMailed, now: now, connection)
            // Counts only invitations that are sent, not those that are refused.
            try await authenticator.beginInvitation(to: email, address: address, connection)
            return made
        }
        return try send(made.invitation, made.token, by: subject)
    }

    /// Replaces an invitation's token with a new one.
    func resend(_ id: ObjectId, by subject: Subject, address: String) async throws -> Sent {
        let user = try Self.userID(subject)
        let (isMailed, now) = (authenticator.hasMail, options.now())
        let made = try await pool.transaction { connection in
            let found = try await visible(id, to: subject, connection)
            let (item, scope) = try grantClass(of: found)
            try item.check(found.role, in: scope)
            try authorize(subject, item, found.role, to: .generate(), in: scope)
            try Self.requireUnused(found, now: now)
            try await item.lockScope(scope, connection)
            let made = try await Invitations.renew(found, by: user, isMailed: isMailed, now: now, connection)
            try await authenticator.beginInvitation(to: found.email, address: address, connection)
            return made
        }
        return try send(made.invitation, made.token, by: subject)
    }

    func revoke(_ id: ObjectId, by subject: Subject) async throws -> Invitation {
        let (user, now) = (try Self.userID(subject), options.now())
        return try await pool.transaction { connection in
            let found = try await visible(id, to: subject, connection)
            try Self.requireUnused(found, now: now)
            try await Invitations.revoke(id, by: user, now: now, connection)
            guard let revoked = try await Invitations.find(id, connection) else { throw Self.nothing }
            return revoked
        }
    }

    /// Sends the mail after the invitation is committed. If the mail is lost, the inviter can resend it.
    private func send(_ invitation: Invitation, _ token: InvitationToken, by subject: Subject) throws -> Sent {
        guard authenticator.hasMail else { return Sent(invitation: invitation, token: token) }
        let name: String? = if case .string(let name)? = subject.data["name"] { name } else { nil }
        try authenticator.mailInvitation(invitation, token, from: name, link: options.invitationLink)
        return Sent(invitation: invitation, token: nil)
    }

    // MARK: Listing

    /// The number of invitations on a page, and the most that one request examines.
    static let pageSize = 100
    static let lookedAtCount = 2_000

    /// The invitations that the caller made or could make.
    /// - Returns: a page, newest first, and the id after which the next page begins, or nil at the end.
    func list(
        className: String?, scope: String?, isEverywhere: Bool, onlyOpen: Bool, after last: ObjectId?,
        for subject: Subject
    ) async throws -> (page: [Invitation], next: ObjectId?) {
        let now = options.now()
        let found = try await pool.withConnection { connection in
            try await Invitations.list(
                className: className, scope: scope, isEverywhere: isEverywhere, openAt: onlyOpen ? now : nil,
                after: last, limit: Self.lookedAtCount, connection)
        }
        var page: [Invitation] = []
        for invitation in found where isVisible(invitation, to: subject) {
            if page.count == Self.pageSize { return (page, page.last?.id) }
            page.append(invitation)
        }
        return (page, found.count == Self.lookedAtCount ? found.last?.id : nil)
    }

    private func isVisible(_ invitation: Invitation, to subject: Subject) -> Bool {
        if invitation.invitedBy == subject.userID { return true }
        guard let (item, scope) = try? grantClass(of: invitation) else { return false }
        return (try? authorize(subject, item, invitation.role, to: .generate(), in: scope)) != nil
    }

    nonisolated(nonsending) private func visible(
        _ id: ObjectId, to subject: Subject, _ connection: PostgresConnection
    ) async throws -> Invitation {
        guard let found = try await Invitations.find(id, connection), isVisible(found, to: subject) else {
            throw Self.nothing
        }
        return found
    }

    /// Those of the given roles that a user may invite others to.
    /// - Throws: `RequestFailure` with status 422 for a class that gives no roles, or a scope that isn't one of the
    ///   class's.
    func roles(among roles: [String], className: String, scope: String?, for subject: Subject) throws -> [String] {
        let item = try GrantClass.find(className, in: rules)
        let scope = try item.scope(scope)
        return roles.filter { role in
            (try? item.check(role, in: scope)) != nil
                && (try? authorize(subject, item, role, to: .generate(), in: scope)) != nil
        }
    }

    // MARK: Steps

    static var nothing: RequestFailure {
        RequestFailure(
            .notFound, localized("There is no such invitation."),
            hint: "GET /invitations lists those that you may see.",
            pageHint: localized("It may have been withdrawn."))
    }

    private static func userID(_ subject: Subject) throws -> ObjectId {
        guard let user = subject.userID else {
            throw RequestFailure.needsUser
        }
        return user
    }

    static func requireUnused(_ invitation: Invitation, now: Date) throws {
        switch invitation.state(at: now) {
        case .accepted:
            throw RequestFailure(
                .conflict, localized("The invitation has already been accepted."),
                hint: localized("There is nothing to do.")
            )
        case .revoked:
            throw RequestFailure(
                .conflict, localized("The invitation was revoked."), hint: localized("Ask for a new one."))
        case .open, .expired: break
        }
    }

    /// - Throws: `RequestFailure` with status 409 if the rules no longer have the class.
    func grantClass(of invitation: Invitation) throws -> (item: GrantClass, scope: Value?) {
        do {
            let item = try GrantClass.find(invitation.className, in: rules)
            return (item, try item.scope(invitation.scope))
        } catch let failure as RequestFailure {
            throw RequestFailure(
                .conflict, localized("Nothing grants this invitation's role any more."),
                hint: localized("The app's rules have changed: ask for a new invitation."), cause: failure)
        }
    }

    /// Checks that the rules let a subject give a role to a user.
    func authorize(
        _ subject: Subject, _ item: GrantClass, _ role: String, to user: ObjectId, in scope: Value?
    ) throws {
        let grant = try item.grant(role, to: user, in: scope)
        let resource = Resource.object(classIndex: item.columns.classIndex, old: nil, new: grant.row)
        if case .denied(let denial) = rules.authorize(subject, .create, resource) { throw RequestFailure(denial) }
    }
}
