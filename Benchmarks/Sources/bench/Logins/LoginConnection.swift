import Foundation

/// A device's requests to the gateway on one connection, one at a time. Not thread-safe; calls block.
final class LoginConnection {
    private let http: RawHTTP

    init(port: Int) throws { http = try RawHTTP(port: port) }

    /// - Returns: the refresh token.
    func logIn(_ account: LoginAccount) throws -> String {
        try Self.refreshToken(http.request("POST", "/login", body: account.credentials))
    }

    /// Exchanges a refresh token.
    /// - Returns: the new refresh token.
    func refresh(_ token: String) throws -> String {
        let next = try Self.refreshToken(http.request("POST", "/session", bearer: token))
        guard next != token else { throw BenchError("A refresh returned the same token.") }
        return next
    }

    /// An empty request.
    func health() throws { _ = try http.request("GET", "/health") }

    private static func refreshToken(_ answer: Data) throws -> String {
        struct Answer: Decodable {
            var refreshToken: String
        }
        return try JSONDecoder().decode(Answer.self, from: answer).refreshToken
    }
}
