import Foundation
import HTTPTypes
import Hummingbird
import TomboloAuthentication
import TomboloLocalization
import TomboloModel

extension Routes {
    /// A user's own API keys. A login with such a key may only list them:
    ///
    ///     POST   /api-keys               {"name"}, with "code" if the account has a second factor → the key, with its
    ///                                    secret this once
    ///     GET    /api-keys               all, oldest first
    ///     GET    /api-keys/{id}
    ///     PUT    /api-keys/{id}/enable   may have a body with "code", which is needed as for making a key
    ///     PUT    /api-keys/{id}/disable  ends the logins made with it
    ///     DELETE /api-keys/{id}          the same
    func addAPIKeys(_ authenticator: Authenticator) {
        on(.post, "/api-keys", access: .own(localized("API keys"))) { request, context, user in
            try await authenticator.requireOwner(BearerToken.of(request))
            let body = try await request.json(NewKeyRequest.self, context)
            let made = try await authenticator.makeAPIKey(
                named: body.name, for: user, code: body.code, address: context.remoteAddress)
            return JSONAnswer(KeyAnswer(made.key, text: made.text), status: .created)
        }
        on(.get, "/api-keys", access: .own(localized("API keys"))) { _, _, user in
            JSONAnswer(["keys": try await authenticator.apiKeys(of: user).map { KeyAnswer($0) }])
        }
        on(.get, "/api-keys/{id}", access: .own(localized("API keys"))) { _, context, user in
            let id = try context.id()
            guard let key = try await authenticator.apiKeys(of: user).first(where: { $0.id == id }) else {
                throw AuthenticationError.noSuchAPIKey
            }
            return JSONAnswer(KeyAnswer(key))
        }
        on(.put, "/api-keys/{id}/enable", access: .own(localized("API keys"))) { request, context, user in
            try await authenticator.requireOwner(BearerToken.of(request))
            let body = try await request.optionalJSON(CodeRequest.self, context)
            try await authenticator.enableAPIKey(
                context.id(), of: user, code: body?.code, address: context.remoteAddress)
            return HTTPResponse.Status.noContent
        }
        on(.put, "/api-keys/{id}/disable", access: .own(localized("API keys"))) { request, context, user in
            try await authenticator.requireOwner(BearerToken.of(request))
            try await authenticator.disableAPIKey(context.id(), of: user)
            return HTTPResponse.Status.noContent
        }
        on(.delete, "/api-keys/{id}", access: .own(localized("API keys"))) { request, context, user in
            try await authenticator.requireOwner(BearerToken.of(request))
            try await authenticator.deleteAPIKey(context.id(), of: user)
            return HTTPResponse.Status.noContent
        }
    }
}

private struct NewKeyRequest: Decodable {
    var name: String
    /// The code of the account's second factor.
    var code: String?
}

private struct KeyAnswer: Encodable {
    let id: String
    let name: String
    let disabled: Bool
    let createdAt: Date
    let key: String?

    init(_ key: APIKey, text: String? = nil) {
        id = key.id.stringValue
        name = key.name
        disabled = key.isDisabled
        createdAt = key.createdAt
        self.key = text
    }
}
