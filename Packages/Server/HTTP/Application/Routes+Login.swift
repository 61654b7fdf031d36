import Foundation
import HTTPTypes
public import TomboloAuthentication
import TomboloModel

extension Routes {
    /// `POST /login` with `{"email": …, "password": …}` answers `{"accessToken": …, "expiresAt": …, "userID": …}`.
    ///
    /// 401 for a wrong e-mail or password, without saying which; 429 after too many failed attempts.
    public func addLogin(_ authenticator: Authenticator) {
        on(.post, "/login", access: .open(because: "this is where access tokens come from")) { request, context, _ in
            let body = try await request.json(LoginRequest.self, context)
            let token = try await authenticator.login(
                email: body.email, password: body.password, address: context.remoteAddress)
            return JSONAnswer(
                LoginAnswer(
                    accessToken: token.token, expiresAt: token.expiresAt, userID: token.userID.stringValue))
        }
    }
}

private struct LoginRequest: Decodable {
    var email: String
    var password: String
}

private struct LoginAnswer: Encodable {
    var accessToken: String
    /// ISO 8601.
    var expiresAt: Date
    var userID: String
}
