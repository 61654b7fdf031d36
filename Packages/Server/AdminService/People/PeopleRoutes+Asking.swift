import Foundation
import TomboloAuthentication
package import TomboloHTTP
import TomboloLocalization
package import TomboloModel
package import TomboloRules

/// Requests about people and their roles, for JSON routes and pages alike. Responses have the forms in
/// docs/people.md. Each request asks the rules about the caller as the database has them at that moment.
extension PeopleRoutes {
    /// Access for callers whom the rules permit an operation on some objects that give roles.
    package static func access(
        to operation: TomboloRules.Operation, _ rules: LiveRules
    ) -> RouteAccess<ModelGrant> {
        .anyObjects(operation.verb, ofAny: localized("roles"), by: rules, operations(operation, rules))
    }

    private func desk(_ rules: Rules) -> InvitationDesk {
        InvitationDesk(pool: pool, authenticator: authenticator, rules: rules, options: options)
    }

    // MARK: Inviting

    /// - Parameters:
    ///   - className: may be left out if only one class gives roles.
    ///   - address: where the request came from.
    package func invite(
        email: String, role: String, scope: String?, className: String?, _ grant: ModelGrant, _ address: String
    ) async throws -> JSON {
        try await invite(
            InvitationDesk.Wish(email: email, role: role, scope: scope, class: className), grant, address)
    }

    func invite(_ wish: InvitationDesk.Wish, _ grant: ModelGrant, _ address: String) async throws -> JSON {
        answer(try await desk(grant.rules).invite(wish, by: try await fresh(grant.subject), address: address))
    }

    package func resend(_ id: ObjectId, _ grant: ModelGrant, _ address: String) async throws -> JSON {
        answer(try await desk(grant.rules).resend(id, by: try await fresh(grant.subject), address: address))
    }

    package func revoke(_ id: ObjectId, _ grant: ModelGrant) async throws -> JSON {
        let revoked = try await desk(grant.rules).revoke(id, by: try await fresh(grant.subject))
        return answer(InvitationDesk.Sent(invitation: revoked, token: nil))
    }

    /// A page of the invitations that the caller made or could make.
    /// - Parameters:
    ///   - scope: nil for all of them.
    ///   - isEverywhere: only invitations to roles that apply everywhere.
    ///   - last: the `next` of the previous page.
    package func invitations(
        className: String?, scope: String?, isEverywhere: Bool = false, onlyOpen: Bool, after last: ObjectId? = nil,
        _ grant: ModelGrant
    ) async throws -> JSON {
        let found = try await desk(grant.rules).list(
            className: className, scope: scope, isEverywhere: isEverywhere, onlyOpen: onlyOpen, after: last,
            for: grant.subject)
        return [
            "invitations": .array(found.page.map { .object(members($0)) }),
            "next": found.next.map { .string($0.stringValue) } ?? .null,
        ]
    }

    /// Those of the given roles that the caller may invite others to.
    package func roles(
        among roles: [String], className: String, scope: String?, _ grant: ModelGrant
    ) throws -> [String] {
        try desk(grant.rules).roles(among: roles, className: className, scope: scope, for: grant.subject)
    }

    // MARK: Accepting

    /// The content of an open invitation, found by its token: `email`, `role`, `inviter`, `expiresAt`, `makesAccounts`, and
    /// `scopeClass` and `scope` for a role within an object.
    package func look(_ token: String, _ address: String) async throws -> JSON {
        let offered = try await desk(rules.current).look(token, address: address)
        return [
            "email": .string(offered.invitation.email), "role": .string(offered.invitation.role),
            "inviter": .string(offered.inviter), "makesAccounts": .bool(offered.makesAccounts),
            "expiresAt": .string(JSON.timestamp(offered.invitation.expiresAt.microsecondsSince1970)),
            "scopeClass": offered.scopeClass.map { .string($0) } ?? .null,
            "scope": offered.invitation.scope.map { .string($0) } ?? .null,
        ]
    }

    package func accept(_ token: String, by user: ObjectId, _ address: String) async throws -> JSON {
        answer(try await desk(rules.current).accept(token, by: user, address: address))
    }

    package func join(_ token: String, _ password: String, name: String?, _ address: String) async throws -> JSON {
        answer(try await desk(rules.current).join(token, password: password, name: name, address: address))
    }

    // MARK: Handing over

    package func transfer(
        className: String?, role: String?, scope: String, to user: String, _ grant: ModelGrant
    ) async throws -> JSON {
        try await transfer(RoleTransfer.Wish(class: className, role: role, scope: scope, to: user), grant)
    }

    func transfer(_ wish: RoleTransfer.Wish, _ grant: ModelGrant) async throws -> JSON {
        // The cached roles may be a second old, and could be those of a former owner.
        let subject = try await fresh(grant.subject)
        let outcome = try await RoleTransfer(pool: pool, subject: subject, rules: grant.rules).perform(wish)
        for user in [outcome.from, outcome.to].compactMap({ $0 }) { authenticator.forget(user) }
        return [
            "class": .string(outcome.className), "role": .string(outcome.role), "scope": .string(outcome.scope),
            "from": outcome.from.map { .string($0.stringValue) } ?? .null, "to": .string(outcome.to.stringValue),
            "left": .string(outcome.left),
        ]
    }

    // MARK: Answers

    private func members(_ invitation: Invitation) -> [String: JSON] {
        [
            "id": .string(invitation.id.stringValue), "email": .string(invitation.email),
            "class": .string(invitation.className), "role": .string(invitation.role),
            "scope": invitation.scope.map { .string($0) } ?? .null,
            "invitedBy": .string(invitation.invitedBy.stringValue),
            "state": .string(invitation.state(at: options.now()).rawValue),
            "createdAt": .string(JSON.timestamp(invitation.createdAt.microsecondsSince1970)),
            "sentAt": .string(JSON.timestamp(invitation.sentAt.microsecondsSince1970)),
            "expiresAt": .string(JSON.timestamp(invitation.expiresAt.microsecondsSince1970)),
            "sendCount": .int(Int64(invitation.sendCount)), "isMailed": .bool(invitation.isMailed),
        ]
    }

    private func answer(_ sent: InvitationDesk.Sent) -> JSON {
        var content = members(sent.invitation)
        if let token = sent.token {
            content["token"] = .string(token.text)
            if let link = options.invitationLink {
                content["link"] = .string("\(link)\(link.contains("?") ? "&" : "?")token=\(token.text)")
            }
        }
        return .object(content)
    }

    private func answer(_ accepted: InvitationDesk.Accepted) -> JSON {
        authenticator.forget(accepted.user)
        return [
            "userID": .string(accepted.user.stringValue), "class": .string(accepted.invitation.className),
            "role": .string(accepted.invitation.role),
            "scope": accepted.invitation.scope.map { .string($0) } ?? .null, "isNew": .bool(accepted.isNew),
        ]
    }
}
