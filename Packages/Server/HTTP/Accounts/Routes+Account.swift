import Foundation
import HTTPTypes
import Hummingbird
public import TomboloAuthentication
import TomboloLocalization
import TomboloModel

extension Routes {
    /// All account routes except logins: sessions, the account itself, registration and API keys.
    public func addAccounts(_ authenticator: Authenticator) {
        addSessions(authenticator)
        addAccount(authenticator)
        addRegistration(authenticator)
        addAPIKeys(authenticator)
    }

    /// A user's own account. A login with an API key may only read it. Changes need a `"code"` if the account has a
    /// second factor:
    ///
    ///     GET    /account   name, identities, profile, custom data
    ///     DELETE /account   deletes it with its identities, logins and keys; may have a body with "code"
    ///     POST   /link      credentials → the account, which can log in with them too
    ///     POST   /password  current and new password → tokens; all other logins end
    func addAccount(_ authenticator: Authenticator) {
        on(.get, "/account", access: .own(localized("account"))) { _, _, user in
            JSONAnswer(try AccountAnswer(try await authenticator.details(of: user)))
        }
        on(.delete, "/account", access: .own(localized("account"))) { request, context, user in
            try await authenticator.requireOwner(BearerToken.of(request))
            let body = try await request.optionalJSON(CodeRequest.self, context)
            try await authenticator.deleteAccount(user, code: body?.code, address: context.remoteAddress)
            return HTTPResponse.Status.noContent
        }
        on(.post, "/link", access: .own(localized("account"))) { request, context, user in
            try await authenticator.requireOwner(BearerToken.of(request))
            let body = try await request.json(CredentialsRequest.self, context)
            try await authenticator.link(
                body.credentials(), to: user, code: body.code, address: context.remoteAddress)
            return JSONAnswer(try AccountAnswer(try await authenticator.details(of: user)))
        }
        on(.post, "/password", access: .own(localized("account"))) { request, context, _ in
            try await authenticator.requireOwner(BearerToken.of(request))
            let body = try await request.json(PasswordRequest.self, context)
            let login = try await authenticator.changePassword(
                of: try await authenticator.caller(BearerToken.of(request)), from: body.currentPassword,
                to: body.password, code: body.code, address: context.remoteAddress)
            return JSONAnswer(LoginAnswer(login))
        }
    }
}

private struct PasswordRequest: Decodable {
    var currentPassword: String
    var password: String
    /// The code of the account's second factor.
    var code: String?
}

struct CodeRequest: Decodable {
    /// The code of the account's second factor.
    var code: String?
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
