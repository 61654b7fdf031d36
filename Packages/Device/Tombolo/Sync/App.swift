internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import Synchronization

/// How to reach a gateway.
public struct AppConfiguration: Hashable, Sendable {
    /// The gateway's address, `http://host:port` or `https://…`. Logins go there, and synchronisation to its `/sync`.
    public var baseURL: String?

    public init(baseURL: String? = nil) { self.baseURL = baseURL }

    /// The address at which `make up` runs the gateway.
    public static let developmentURL = "http://127.0.0.1:8080"
}

/// A backend: where users log in and with which their Realms synchronise.
///
///     let app = App(id: "listings")
///     let user = try await app.login(credentials: .emailPassword(email: "…", password: "…"))
public final class App: Sendable {
    /// The time limit of a login.
    public static let requestTimeout = Duration.seconds(15)
    /// The maximum size of an answer in bytes.
    static let maximumAnswerByteCount = 64 << 10

    /// The name by which the app knows the backend.
    public let id: String
    /// How to reach the gateway.
    public let configuration: AppConfiguration
    private let users = Mutex<(current: User?, all: [User])>((nil, []))

    public init(id: String, configuration: AppConfiguration = AppConfiguration()) {
        self.id = id
        self.configuration = configuration
    }

    /// The user who logged in last and hasn't logged out.
    public var currentUser: User? { users.withLock { $0.current } }

    /// - Throws: ``AppError`` that says why the login wasn't accepted, or that the gateway can't be reached.
    public func login(credentials: Credentials) async throws -> User {
        let user: User
        switch credentials.kind {
        case .emailPassword(let email, let password):
            let answer = try await post("/login", ["email": email, "password": password])
            user = User(id: answer.userID, accessToken: answer.accessToken, app: self)
        case .jwt(let token):
            user = User(id: try Self.subject(of: token), accessToken: token, app: self)
        }
        users.withLock {
            $0.current = user
            $0.all.append(user)
        }
        return user
    }

    func forget(_ user: User) {
        users.withLock { users in
            users.all.removeAll { $0 === user }
            if users.current === user { users.current = users.all.last }
        }
    }

    /// The gateway's address for synchronisation.
    func syncURL() throws -> URL {
        let base = try baseURL()
        guard var components = URLComponents(url: base, resolvingAgainstBaseURL: false) else {
            throw AppError(.invalidURL, "'\(base)' isn't a valid address.")
        }
        components.scheme = components.scheme == "https" ? "wss" : "ws"
        components.path = "/sync"
        guard let url = components.url else { throw AppError(.invalidURL, "'\(base)' isn't a valid address.") }
        return url
    }

    private func baseURL() throws -> URL {
        let text = configuration.baseURL ?? AppConfiguration.developmentURL
        guard let url = URL(string: text), ["http", "https"].contains(url.scheme), url.host() != nil else {
            throw AppError(
                .invalidURL, "The base URL '\(text)' isn't a valid address: expected http://host:port or https://host.")
        }
        return url
    }

    private struct LoginAnswer: Decodable {
        var accessToken: String
        var userID: String
    }

    private struct FailureAnswer: Decodable {
        var code: String
        var message: String
        var hint: String?
    }

    private func post(_ path: String, _ body: [String: String]) async throws -> LoginAnswer {
        let url = try baseURL().appending(path: path)
        var request = HTTPClientRequest(url: url.absoluteString)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.body = .bytes(try JSONEncoder().encode(body))
        let response: HTTPClientResponse
        let answer: Data
        do {
            response = try await HTTPClient.shared.execute(
                request, timeout: .seconds(Self.requestTimeout.components.seconds))
            answer = Data(try await response.body.collect(upTo: Self.maximumAnswerByteCount).readableBytesView)
        } catch {
            throw AppError(.unreachable, "Can't reach the gateway at \(url): \(error). Is it running?")
        }
        guard response.status == .ok else {
            if let failure = try? JSONDecoder().decode(FailureAnswer.self, from: answer) {
                let code: AppError.Code = response.status == .unauthorized ? .invalidCredentials : .refused
                throw AppError(code, [failure.message, failure.hint].compactMap { $0 }.joined(separator: " "))
            }
            throw AppError(.refused, "The gateway at \(url) answered with status \(response.status.code).")
        }
        do {
            return try JSONDecoder().decode(LoginAnswer.self, from: answer)
        } catch {
            throw AppError(.refused, "The server at \(url) isn't a Tombolo gateway.")
        }
    }

    /// The user's ID in a token, for naming local files. The token isn't verified here; the gateway does that.
    private static func subject(of token: String) throws -> String {
        struct Claims: Decodable { var sub: String }
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else {
            throw AppError(.invalidCredentials, "This is not a JWT: expected three parts separated by dots.")
        }
        var base64 = String(parts[1]).replacing("-", with: "+").replacing("_", with: "/")
        while base64.count % 4 != 0 { base64 += "=" }
        guard let data = Data(base64Encoded: base64), let claims = try? JSONDecoder().decode(Claims.self, from: data)
        else { throw AppError(.invalidCredentials, "The JWT's payload has no 'sub' claim to name the user.") }
        return claims.sub
    }
}
