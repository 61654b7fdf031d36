import Foundation
import HTTPTypes
import HummingbirdTesting
import Logging
import NIOCore
import TomboloHTTP

@testable import TomboloAuthentication

/// Sends requests to a server's account routes.
struct AccountClient: Sendable {
    struct Answer: Sendable {
        let status: Int
        let text: String
        let json: JSON

        /// The strings among the members of the answer's object.
        subscript(_ name: String) -> String? {
            if case .string(let text) = json[name] { text } else { nil }
        }
    }

    let client: any TestClientProtocol

    static func with(_ place: AccountPlace, _ body: @Sendable (AccountClient) async throws -> Void) async throws {
        try await application(place.authenticator).test(.router) { try await body(AccountClient(client: $0)) }
    }

    static func application(_ authenticator: Authenticator) -> HTTPApplication {
        var logger = Logger(label: "accounts")
        logger.logLevel = .critical
        return HTTPApplication(
            name: "accounts", host: "127.0.0.1", port: 0, logger: logger, authenticator: authenticator
        ) {
            $0.addLogin(authenticator)
            $0.addAccounts(authenticator)
        }
    }

    /// - Parameters:
    ///   - token: access token or refresh token.
    /// - languages: the `Accept-Language` header.
    ///   - body: JSON text.
    func callAsFunction(
        _ method: HTTPRequest.Method, _ path: String, token: String? = nil, languages: String? = nil,
        _ body: String? = nil
    ) async throws -> Answer {
        var headers: HTTPFields = [:]
        headers[.acceptLanguage] = languages
        if let token { headers[.authorization] = "Bearer \(token)" }
        if body != nil { headers[.contentType] = "application/json" }
        let response = try await client.execute(
            uri: path, method: method, headers: headers, body: body.map { ByteBuffer(string: $0) })
        let text = String(buffer: response.body)
        return Answer(
            status: response.status.code, text: text,
            json: (try? JSONDecoder().decode(JSON.self, from: Data(text.utf8))) ?? .null)
    }

    /// Logs in with email and password.
    func login(_ email: String = AccountPlace.email, device: String = "{}") async throws -> Answer {
        try await self(
            .post, "/login", #"{"email": "\#(email)", "password": "\#(AccountPlace.password)", "device": \#(device)}"#)
    }
}

extension JSON {
    var list: [JSON] { if case .array(let values) = self { values } else { [] } }
    var text: String? { if case .string(let value) = self { value } else { nil } }
}
