import Foundation
import HTTPTypes
import Hummingbird
public import TomboloAuthentication
import TomboloModel

extension Routes {
    /// Everything about accounts beside logins: sessions, the account itself, registration and API keys.
    public func addAccounts(_ authenticator: Authenticator) {
        addSessions(authenticator)
        addAccount(authenticator)
        addRegistration(authenticator)
        addAPIKeys(authenticator)
    }

    /// A user's own account. Logins with an API key may only read it:
    ///
    ///     GET    /account   name, identities, profile, custom data
    ///     DELETE /account   deletes it with its identities, logins and keys
    ///     POST   /link      credentials → the account, which can log in with them too
    ///     POST   /password  current and new password, and a code if the account has a second factor → tokens; all
    ///                       other logins end
    func addAccount(_ authenticator: Authenticator) {
        on(.get, "/account", access: .own("account")) { _, _, user in
            JSONAnswer(try AccountAnswer(try await authenticator.details(of: user)))
        }
        on(.delete, "/account", access: .own("account")) { request, _, user in
            try await authenticator.requireOwner(BearerToken.of(request))
            try await authenticator.deleteAccount(user)
            return HTTPResponse.Status.noContent
        }
        on(.post, "/link", access: .own("account")) { request, context, user in
            try await authenticator.requireOwner(BearerToken.of(request))
            let credentials = try await request.json(CredentialsRequest.self, context).credentials()
            try await authenticator.link(credentials, to: user, address: context.remoteAddress)
            return JSONAnswer(try AccountAnswer(try await authenticator.details(of: user)))
        }
        on(.post, "/password", access: .own("account")) { request, context, _ in
            try await authenticator.requireOwner(BearerToken.of(request))
            let body = try await request.json(PasswordRequest.self, context)
            do {
                let login = try await authenticator.changePassword(
                    of: try await authenticator.caller(BearerToken.of(request)), from: body.currentPassword,
                    to: body.password, code: body.code, address: context.remoteAddress)
                return JSONAnswer(LoginAnswer(login))
            } catch AuthenticationError.secondFactorRequired where body.code == nil {
                throw PasswordRequest.codeRequired
            }
        }
    }
}

private struct PasswordRequest: Decodable {
    var currentPassword: String
    var password: String
    /// Of the account's second factor.
    var code: String?

    /// The code of the error is the admin server's; another log-in, which its hint advises, wouldn't help here.
    static var codeRequired: RequestFailure {
        var failure = RequestFailure(AuthenticationError.secondFactorRequired)
        failure.message = "This account has a second factor: changing the password takes a code of it."
        failure.hint = "Send \"code\" too: what the authenticator app shows, or a recovery code."
        return failure
    }
}

private struct AccountAnswer: Encodable {
    struct Identity: Encodable {
        let provider: String
        let identifier: String
    }

    let userID: String
    let name: String
    let email: String?
    let createdAt: Date
    let identities: [Identity]
    let profile: [String: String]
    let customData: JSON

    init(_ details: AccountDetails) throws {
        userID = details.userID.stringValue
        name = details.name
        email = details.email
        createdAt = details.createdAt
        identities = details.identities.map { Identity(provider: $0.provider, identifier: $0.identifier) }
        profile = details.profile
        customData = try JSONDecoder().decode(JSON.self, from: Data(details.customData.utf8))
    }
}
