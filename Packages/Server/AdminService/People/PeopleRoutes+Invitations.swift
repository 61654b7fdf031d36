import Foundation
import Hummingbird
import TomboloAuthentication
import TomboloHTTP
import TomboloModel
import TomboloRules

/// - `POST /invitations`: `{"email", "role", "scope"?, "class"?}`
/// - `GET /invitations?class=&scope=&state=open&after=`: those that the caller made, or could make
/// - `POST /invitations/{id}/resend`, `POST /invitations/{id}/revoke`
/// - `POST /invitations/accept`: `{"token"}`, by whoever is logged in with the address
/// - `POST /invitations/join`: `{"token", "password", "name"?}`, which makes an account for the address
extension PeopleRoutes {
    func addInvitations(to routes: Routes) {
        let inviting = RouteAccess<ModelGrant>.anyObjects(
            "create", ofAny: "roles", by: rules, Self.operations(.create, rules))
        routes.on(.post, "/invitations", access: inviting) { request, context, grant in
            let wish = try await request.json(InvitationDesk.Wish.self, context)
            let sent = try await desk(grant.rules).invite(
                wish, by: try await fresh(grant.subject), address: context.remoteAddress)
            return JSONAnswer(answer(sent), status: .created)
        }
        routes.on(.get, "/invitations", access: inviting) { request, _, grant in
            JSONAnswer(try await list(request, grant))
        }
        routes.on(.post, "/invitations/{id}/resend", access: inviting) { _, context, grant in
            let sent = try await desk(grant.rules).resend(
                context.id(), by: try await fresh(grant.subject), address: context.remoteAddress)
            return JSONAnswer(answer(sent))
        }
        routes.on(.post, "/invitations/{id}/revoke", access: inviting) { _, context, grant in
            let revoked = try await desk(grant.rules).revoke(context.id(), by: try await fresh(grant.subject))
            return JSONAnswer(answer(InvitationDesk.Sent(invitation: revoked, token: nil)))
        }
        routes.on(.post, "/invitations/accept", access: .loggedIn) { request, context, user in
            let body = try await request.json(Acceptance.self, context)
            return JSONAnswer(
                answer(try await desk(rules.current).accept(body.token, by: user, address: context.remoteAddress)))
        }
        routes.on(.post, "/invitations/join", access: .open(because: "it asks for an invitation's token")) {
            request, context, _ in
            let body = try await request.json(Joining.self, context)
            return JSONAnswer(
                answer(
                    try await desk(rules.current).join(
                        body.token, password: body.password, name: body.name, address: context.remoteAddress)),
                status: .created)
        }
    }

    private struct Acceptance: Decodable {
        let token: String
    }

    private struct Joining: Decodable {
        let token: String
        let password: String
        var name: String?
    }

    private func desk(_ rules: Rules) -> InvitationDesk {
        InvitationDesk(pool: pool, authenticator: authenticator, rules: rules, options: options)
    }

    private func list(_ request: Request, _ grant: ModelGrant) async throws -> JSON {
        var values: [String: String] = [:]
        for (name, value) in request.uri.queryParameters {
            guard ["class", "scope", "state", "after"].contains(String(name)),
                values.updateValue(String(value), forKey: String(name)) == nil
            else {
                throw RequestFailure(
                    .badRequest, "There is a parameter that isn't known, or one that occurs twice.",
                    hint: "Possible are class, scope, state and after.")
            }
        }
        guard ["open", "all", nil].contains(values["state"]) else {
            throw RequestFailure(
                .badRequest, "'state' is neither 'open' nor 'all'.", source: .parameter("state"))
        }
        var last: ObjectId?
        if let text = values["after"] {
            guard let id = try? ObjectId(string: text) else {
                throw RequestFailure(
                    .badRequest, "'after' isn't what an answer gave as 'next'.", source: .parameter("after"))
            }
            last = id
        }
        let found = try await desk(grant.rules).list(
            className: values["class"], scope: values["scope"], onlyOpen: values["state"] != "all", after: last,
            for: grant.subject)
        return [
            "invitations": .array(found.page.map { .object(members($0)) }),
            "next": found.next.map { .string($0.stringValue) } ?? .null,
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

extension RouteAccess where Grant == ObjectId {
    /// For everybody who is logged in: what the request shows besides decides.
    fileprivate static var loggedIn: RouteAccess {
        RouteAccess(
            summary: "whoever is logged in, with a token for their address",
            forecast: { $0.isAnonymous ? .refused : .allowed }
        ) { subject, _, _ in
            guard let user = subject.userID else {
                throw RequestFailure(.unauthenticated, "This needs a user.", hint: "Log in with POST /login.")
            }
            return user
        }
    }
}
