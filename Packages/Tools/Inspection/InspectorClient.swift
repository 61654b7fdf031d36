import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
public import TomboloHTTP
import ToolSupport

/// Asks a gateway over HTTP. Every failure is a ``ToolSupport/ToolError`` that says what to do.
public struct InspectorClient: Sendable {
    public static let defaultAddress = "http://127.0.0.1:8080"
    /// How long to wait for a response.
    static let timeout = TimeAmount.seconds(30)
    /// The longest response in bytes. A page of the inspector has at most 100 sessions.
    public static let maximumByteCount = 16 << 20

    /// A gateway's response.
    public struct Answer: Sendable {
        /// The unchanged text.
        public let text: String
        public let json: JSON
    }

    /// A login, to be ended after use.
    public struct Login: Sendable {
        public let accessToken: String
        let refreshToken: String
    }

    private let client: HTTPClient
    private let address: String

    /// - Parameters:
    ///   - address: the gateway's address: `https://sync.example.org`.
    ///   - authority: a PEM file with the only certificate authorities to trust, or nil for the system's.
    nonisolated(nonsending) public static func with<Result: Sendable>(
        _ address: String, trusting authority: String?,
        _ body: nonisolated(nonsending) (InspectorClient) async throws -> Result
    ) async throws -> Result {
        guard let url = URL(string: address), ["http", "https"].contains(url.scheme), url.host()?.isEmpty == false,
            url.query() == nil, url.user() == nil
        else {
            throw ToolError(
                "'\(address)' is not a gateway's address.",
                fix: "Write http://HOST:PORT or https://HOST:PORT, with --gateway or in TOMBOLO_GATEWAY_URL.")
        }
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        // Report it immediately rather than after several attempts.
        configuration.connectionPool.retryConnectionEstablishment = false
        if let authority {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .file(authority)
            configuration.tlsConfiguration = tls
        }
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let gateway = InspectorClient(
            client: client, address: address.hasSuffix("/") ? String(address.dropLast()) : address)
        do {
            let result = try await body(gateway)
            try await client.shutdown()
            return result
        } catch {
            try? await client.shutdown()
            throw error
        }
    }

    /// - Parameters:
    ///   - query: query parameters. Those without a value are left out.
    ///   - token: an access token.
    public func get(_ path: String, _ query: [(name: String, value: String?)], token: String) async throws -> Answer {
        let parameters = query.compactMap { name, value in value.map { "\(name)=\(Self.escape($0))" } }
        let end = parameters.isEmpty ? "" : "?" + parameters.joined(separator: "&")
        var request = HTTPClientRequest(url: address + path + end)
        request.headers.add(name: "Authorization", value: "Bearer \(token)")
        request.headers.add(name: "Accept", value: "application/json")
        return try await send(request)
    }

    /// - Parameter credentials: members of the body of `POST /login`.
    public func logIn(_ credentials: [String: String]) async throws -> Login {
        var request = HTTPClientRequest(url: address + "/login")
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        let members = credentials.mapValues { JSON.string($0) }
        let body = JSON.object(members.merging(["device": ["name": "tombolo inspect"]]) { $1 })
        request.body = .bytes(ByteBuffer(bytes: try JSONEncoder().encode(body)))
        let answer = try await send(request).json
        guard let access = answer["accessToken"]?.text, let refresh = answer["refreshToken"]?.text else {
            throw notAGateway("its answer to the login has no tokens")
        }
        return Login(accessToken: access, refreshToken: refresh)
    }

    /// Ends a login if possible.
    public func logOut(_ login: Login) async {
        var request = HTTPClientRequest(url: address + "/session")
        request.method = .DELETE
        request.headers.add(name: "Authorization", value: "Bearer \(login.refreshToken)")
        _ = try? await client.execute(request, timeout: Self.timeout)
    }

    // MARK: Answers

    private func send(_ request: HTTPClientRequest) async throws -> Answer {
        let (status, text): (Int, String)
        do {
            let response = try await client.execute(request, timeout: Self.timeout)
            status = Int(response.status.code)
            text = String(buffer: try await response.body.collect(upTo: Self.maximumByteCount))
        } catch {
            throw unreachable(error)
        }
        guard let json = try? JSONDecoder().decode(JSON.self, from: Data(text.utf8)) else {
            throw notAGateway("it answered with status \(status) and without JSON")
        }
        guard (200...299).contains(status) else { throw refusal(status, json) }
        return Answer(text: text, json: json)
    }

    private func refusal(_ status: Int, _ json: JSON) -> ToolError {
        guard let message = json["message"]?.text else { return notAGateway("it answered with status \(status)") }
        // Hints are written for people who send requests by hand.
        let hint = json["hint"]?.text?.replacing("GET /inspector/sessions", with: "'tombolo inspect sessions'")
        let fix =
            switch (status, json["code"]?.text) {
            case (401, "wrong_credentials"?): "Check the address and the password, or the API key."
            case (401, _):
                "The access token is invalid or has expired: use another one, or log in with --email."
            case (403, _):
                "The rules must permit the account's role to inspect objects: operations: {inspect: true}; see "
                    + "docs/rules.md and docs/observability.md."
            case (404, _) where message.contains("no session"): hint ?? "'tombolo inspect sessions' lists them."
            case (404, _): "Ask a gateway of this version: other servers don't have an inspector."
            case (400, _): hint ?? "Correct the question: 'tombolo inspect why --help' has an example."
            default: hint ?? "Try again; the gateway's log says more."
            }
        return ToolError(message.terminalSafe, fix: fix.terminalSafe)
    }

    private func notAGateway(_ reason: String) -> ToolError {
        ToolError(
            "The server at \(address) isn't a gateway: \(reason).",
            fix: "Correct --gateway or TOMBOLO_GATEWAY_URL: it's the address that devices connect to.")
    }

    private func unreachable(_ error: any Error) -> ToolError {
        switch error {
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError:
            ToolError(
                "The certificate of the gateway at \(address) isn't accepted: \(error)",
                fix: "Use the name that the certificate is for. If it has its own authority, pass --authority FILE.")
        case is NIOTooManyBytesError: notAGateway("its answer has more than \(Self.maximumByteCount) bytes")
        default:
            ToolError(
                "Can't reach the gateway at \(address): \(Self.reason(error))",
                fix: "Check --gateway or TOMBOLO_GATEWAY_URL, and that sync-gateway runs: curl \(address)/health")
        }
    }

    private static func reason(_ error: any Error) -> String {
        guard let error = error as? NIOConnectionError else { return "\(error)" }
        if let first = error.connectionErrors.first { return "\(first.error)" }
        return "can't find the host '\(error.host)'"
    }

    /// Escapes everything that isn't unreserved (RFC 3986, section 2.3).
    private static func escape(_ text: String) -> String {
        let unreserved = CharacterSet(
            charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        return text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }
}
