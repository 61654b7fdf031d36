import Foundation
import Hummingbird
import TomboloAuthentication
import TomboloHTTP
import TomboloLocalization
import TomboloModel
import TomboloRules

/// - `POST /invitations`: `{"email", "role", "scope"?, "class"?}`
/// - `GET /invitations?class=&scope=&state=open&after=`: those that the caller made or could make
/// - `POST /invitations/{id}/resend`, `POST /invitations/{id}/revoke`
/// - `POST /invitations/accept`: `{"token"}`, by the user who is logged in with the address
/// - `POST /invitations/join`: `{"token", "password", "name"?}`, which creates an account for the address
extension PeopleRoutes {
    func addInvitations(to routes: Routes) {
        let inviting = Self.access(to: .create, rules)
        routes.on(.post, "/invitations", access: inviting) { request, context, grant in
            let wish = try await request.json(InvitationDesk.Wish.self, context)
            return JSONAnswer(try await invite(wish, grant, context.remoteAddress), status: .created)
        }
        routes.on(.get, "/invitations", access: inviting) { request, _, grant in
            JSONAnswer(try await list(request, grant))
        }
        routes.on(.post, "/invitations/{id}/resend", access: inviting) { _, context, grant in
            JSONAnswer(try await resend(context.id(), grant, context.remoteAddress))
        }
        routes.on(.post, "/invitations/{id}/revoke", access: inviting) { _, context, grant in
            JSONAnswer(try await revoke(context.id(), grant))
        }
        routes.on(.post, "/invitations/accept", access: .loggedIn) { request, context, user in
            let body = try await request.json(Acceptance.self, context)
            return JSONAnswer(try await accept(body.token, by: user, context.remoteAddress))
        }
        routes.on(.post, "/invitations/join", access: .open(because: localized("it requires an invitation's token"))) {
            request, context, _ in
            let body = try await request.json(Joining.self, context)
            return JSONAnswer(
                try await join(body.token, body.password, name: body.name, context.remoteAddress), status: .created)
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

    private func list(_ request: Request, _ grant: ModelGrant) async throws -> JSON {
        var values: [String: String] = [:]
        for (name, value) in request.uri.queryParameters {
            guard ["class", "scope", "state", "after"].contains(String(name)),
                values.updateValue(String(value), forKey: String(name)) == nil
            else {
                throw RequestFailure(
                    .badRequest, "A parameter is unknown or occurs twice.",
                    hint: "The parameters are class, scope, state and after.")
            }
        }
        guard ["open", "all", nil].contains(values["state"]) else {
            throw RequestFailure(
                .badRequest, "'state' must be 'open' or 'all'.", source: .parameter("state"))
        }
        var last: ObjectId?
        if let text = values["after"] {
            guard let id = try? ObjectId(string: text) else {
                throw RequestFailure(
                    .badRequest, "'after' must be the 'next' value of an earlier response.",
                    source: .parameter("after"))
            }
            last = id
        }
        return try await invitations(
            className: values["class"], scope: values["scope"], onlyOpen: values["state"] != "all", after: last, grant)
    }
}

extension RouteAccess where Grant == ObjectId {
    /// Access for everybody who is logged in. The content of the request decides the rest.
    fileprivate static var loggedIn: RouteAccess {
        RouteAccess(
            summary: localized("anyone who is logged in and has a token for their address"),
            forecast: { $0.isAnonymous ? .refused : .allowed }
        ) { subject, _, _ in
            guard let user = subject.userID else {
                throw RequestFailure.needsUser
            }
            return user
        }
    }
}
