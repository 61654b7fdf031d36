import Foundation
import HTTPTypes
import Hummingbird
import TomboloAuthentication
import TomboloLocalization
import TomboloModel

extension Routes {
    /// A user's own logins. A login with an API key may only list them:
    ///
    ///     GET    /sessions                 the live ones, most recently used first
    ///     DELETE /sessions/{id}            ends one
    ///     DELETE /sessions                 ends all
    ///     DELETE /sessions?except=current  ends all others
    func addSessions(_ authenticator: Authenticator) {
        on(.get, "/sessions", access: .own(localized("logins"))) { request, _, user in
            let current = try await authenticator.caller(BearerToken.of(request)).sessionID
            return JSONAnswer(
                SessionsAnswer(
                    sessions: try await authenticator.sessions(of: user).map {
                        SessionsAnswer.Session($0, isCurrent: $0.id == current)
                    }))
        }
        on(.delete, "/sessions/{id}", access: .own(localized("logins"))) { request, context, user in
            try await authenticator.requireOwner(BearerToken.of(request))
            try await authenticator.endSession(context.id(), of: user)
            return HTTPResponse.Status.noContent
        }
        on(.delete, "/sessions", access: .own(localized("logins"))) { request, _, user in
            try await authenticator.requireOwner(BearerToken.of(request))
            var kept: ObjectId?
            if let except = request.uri.queryParameters["except"] {
                guard except == "current" else {
                    throw RequestFailure(.badRequest, "'except' can only be 'current'.")
                }
                kept = try await authenticator.caller(BearerToken.of(request)).sessionID
            }
            try await authenticator.endSessions(of: user, but: kept)
            return HTTPResponse.Status.noContent
        }
    }
}

private struct SessionsAnswer: Encodable {
    struct Session: Encodable {
        let id: String
        let device: DeviceRequest
        let provider: String
        let createdAt: Date
        let lastUsedAt: Date
        let isCurrent: Bool

        init(_ session: LoginSession, isCurrent: Bool) {
            id = session.id.stringValue
            device = DeviceRequest(session.device)
            provider = session.provider
            createdAt = session.createdAt
            lastUsedAt = session.lastUsedAt
            self.isCurrent = isCurrent
        }
    }

    let sessions: [Session]
}
