import Foundation
import TomboloAuthentication

/// The body of a login or a link. The provider decides which members are required.
struct CredentialsRequest: Decodable {
    var provider: String?
    var email: String?
    var password: String?
    var token: String?
    var key: String?
    /// The code of the second factor.
    var code: String?
    var payload: JSON?
    var device: DeviceRequest?

    /// - Throws: ``RequestFailure`` with status 400 for a missing member, or 404 for an unknown provider.
    func credentials() throws -> LoginCredentials {
        switch provider ?? Provider.emailPassword {
        case Provider.emailPassword:
            .emailPassword(email: try given(email, "email"), password: try given(password, "password"))
        case Provider.anonymous: .anonymous
        case Provider.apiKey: .apiKey(try given(key, "key"))
        case Provider.function: .function(payload: try Self.text(try given(payload, "payload")))
        case let name where Provider.isIssuer(name): .token(provider: name, token: try given(token, "token"))
        default: throw RequestFailure(AuthenticationError.noSuchProvider)
        }
    }

    private func given<Value>(_ value: Value?, _ name: String) throws -> Value {
        guard let value else { throw RequestFailure(.badRequest, "'\(name)' is missing.") }
        return value
    }

    private static func text(_ payload: JSON) throws -> String {
        guard case .object = payload else { throw RequestFailure(.badRequest, "'payload' is not a JSON object.") }
        return String(decoding: try JSONEncoder().encode(payload), as: UTF8.self)
    }
}
