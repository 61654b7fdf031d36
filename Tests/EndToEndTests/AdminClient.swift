import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// One user's requests to an admin server.
struct AdminClient: Sendable {
    struct Answer: Sendable {
        let status: Int
        let tag: String?
        let body: Data

        /// The text at a path of member names, such as `data.attributes.title`.
        func text(_ path: String) -> String? { member(path) as? String }

        /// The beginning of the body, for failure messages.
        var content: String { String(decoding: body.prefix(500), as: UTF8.self) }

        func holds(_ text: String) -> Bool { String(decoding: body, as: UTF8.self).contains(text) }

        func number(_ path: String) -> Int? { member(path) as? Int }

        private func member(_ path: String) -> Any? {
            var found: Any? = try? JSONSerialization.jsonObject(with: body)
            for name in path.split(separator: ".") { found = (found as? [String: Any])?[String(name)] }
            return found
        }
    }

    let url: String
    let token: String
    var client = HTTPClient.shared
    /// Whether to resend a request that a busy server turned away, which had no effect.
    var repeatsWhenBusy = false

    func callAsFunction(
        _ method: HTTPMethod, _ path: String, _ body: String? = nil, ifMatch tag: String? = nil
    ) async throws -> Answer {
        var answer = try await send(method, path, body, tag)
        while repeatsWhenBusy, answer.status == 503, answer.holds(#""unavailable""#) {
            try await Task.sleep(for: .milliseconds(500))
            answer = try await send(method, path, body, tag)
        }
        return answer
    }

    private func send(
        _ method: HTTPMethod, _ path: String, _ body: String?, _ tag: String?
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: url + path)
        request.method = method
        request.headers.add(name: "Authorization", value: "Bearer \(token)")
        if let tag { request.headers.add(name: "If-Match", value: tag) }
        if let body {
            let type = path.hasPrefix("/api/") ? "application/vnd.api+json" : "application/json"
            request.headers.add(name: "Content-Type", value: type)
            request.body = .bytes(ByteBuffer(string: body))
        }
        let response = try await client.execute(request, timeout: .seconds(120))
        let content = try await response.body.collect(upTo: 1 << 20)
        return Answer(
            status: Int(response.status.code), tag: response.headers.first(name: "ETag"),
            body: Data(content.readableBytesView))
    }

    /// Sends a request to a full URL, anonymously unless there's a token.
    static func send(
        _ url: String, _ body: String, type: String = "application/json", token: String? = nil
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: type)
        if let token { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
        request.body = .bytes(ByteBuffer(string: body))
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        let content = try await response.body.collect(upTo: 1 << 20)
        return Answer(
            status: Int(response.status.code), tag: response.headers.first(name: "ETag"),
            body: Data(content.readableBytesView))
    }

    /// Runs with a client that has one connection per person; the shared client has only a few for everybody.
    static func withClient(connections: Int, _ body: (HTTPClient) async throws -> Void) async throws {
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connections
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        do {
            try await body(client)
        } catch {
            try? await client.shutdown()
            throw error
        }
        try await client.shutdown()
    }
}
