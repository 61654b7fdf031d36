import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL

/// Requests to a gateway from arbitrary addresses, as a trusted proxy forwards them.
struct Requests: Sendable {
    struct Answer: Hashable, Sendable {
        let status: Int
        let text: String

        /// The text of a member of the answer's object.
        subscript(_ name: String) -> String? {
            text.firstRange(of: "\"\(name)\":\"").flatMap { start in
                text[start.upperBound...].firstIndex(of: "\"").map { String(text[start.upperBound..<$0]) }
            }
        }
    }

    /// The setting that makes a gateway trust the addresses in these requests.
    static let environment = ["TOMBOLO_TRUSTED_PROXIES": "127.0.0.1", "TOMBOLO_CONNECTIONS_PER_ADDRESS": "1000"]

    private let client: HTTPClient
    private let base: String

    /// - Parameters:
    ///   - trusted: the authorities to trust; nil for the system's.
    ///   - local: the address to connect from; nil to let the system choose.
    static func with(
        _ base: String, trusting trusted: URL? = nil, from local: String? = nil,
        _ body: (Requests) async throws -> Void
    ) async throws {
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 100
        configuration.localAddress = local
        if let trusted {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .file(trusted.path())
            configuration.tlsConfiguration = tls
        }
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        do {
            try await body(Requests(client: client, base: base))
        } catch {
            try? await client.shutdown()
            throw error
        }
        try await client.shutdown()
    }

    func callAsFunction(
        _ path: String, _ body: String? = nil, token: String? = nil, from address: String = "192.0.2.1"
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: base + path)
        request.method = .POST
        request.headers.add(name: "X-Forwarded-For", value: address)
        if let token { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
        if let body {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(string: body))
        }
        let response = try await client.execute(request, timeout: .seconds(120))
        let bytes = try await response.body.collect(upTo: 1 << 20)
        return Answer(status: Int(response.status.code), text: String(buffer: bytes))
    }

    /// The status of an answer whose body doesn't matter.
    /// - Parameter timeout: also limits attempts to connect to a server that isn't there.
    static func status(_ url: String, timeout: TimeAmount = .seconds(120)) async throws -> Int {
        let response = try await HTTPClient.shared.execute(HTTPClientRequest(url: url), timeout: timeout)
        return Int(response.status.code)
    }

    func login(_ email: String, _ password: String, from address: String) async throws -> Answer {
        try await self("/login", #"{"email": "\#(email)", "password": "\#(password)"}"#, from: address)
    }
}
