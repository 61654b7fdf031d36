import Foundation
import HTTPTypes
import Hummingbird
public import TomboloAuthentication
import TomboloLocalization
import TomboloModel

extension Routes {
    /// Logging in, exchanging a refresh token, and logging out:
    ///
    ///     POST   /login    credentials → tokens
    ///     POST   /session  Authorization: Bearer REFRESH_TOKEN → the next tokens
    ///     DELETE /session  Authorization: Bearer REFRESH_TOKEN
    ///
    /// Wrong credentials get 401, which doesn't say what was wrong. Too many failed attempts get 429.
    public func addLogin(_ authenticator: Authenticator) {
        on(.post, "/login", access: .open(because: localized("this is where access tokens come from"))) {
            request, context, _ in
            let body = try await request.json(CredentialsRequest.self, context)
            let login = try await authenticator.login(
                body.credentials(), code: body.code, address: context.remoteAddress,
                device: body.device?.device ?? LoginDevice())
            return JSONAnswer(LoginAnswer(login))
        }
        on(.post, "/session", access: .open(because: localized("it asks for a refresh token"))) { request, context, _ in
            JSONAnswer(
                LoginAnswer(
                    try await authenticator.refresh(RefreshBearer.of(request), address: context.remoteAddress)))
        }
        on(.delete, "/session", access: .open(because: localized("it asks for a refresh token"))) { request, _, _ in
            try await authenticator.logOut(RefreshBearer.of(request))
            return HTTPResponse.Status.noContent
        }
    }
}

/// The refresh token of a request. Without one, the login counts as ended.
private enum RefreshBearer {
    static func of(_ request: Request) throws -> String {
        do {
            return try BearerToken.of(request)
        } catch var failure as RequestFailure {
            failure.message = failure.message.replacing("an access token", with: "a refresh token")
            failure.hint = "Send the refreshToken of the last answer as Authorization: Bearer TOKEN."
            throw failure
        }
    }
}
