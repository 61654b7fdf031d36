internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOHTTP1

/// A request to an address that an administrator configured. It's bounded in time and size, and never follows
/// redirects, so that only the allowed address is contacted.
struct OutgoingRequest: Sendable {
    struct Answer: Sendable {
        let status: Int
        let body: [UInt8]
    }

    private static let client: HTTPClient = {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.timeout.connect = .seconds(5)
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    let url: String
    var body: [UInt8]?
    var bearer: String?
    var timeoutSeconds: Double = 5
    var maximumByteCount = 256 << 10

    /// HTTPS to any host, plain HTTP to this machine only.
    static func isAllowed(_ text: String) -> Bool {
        guard let url = URL(string: text), let host = url.host(), !host.isEmpty else { return false }
        if url.scheme == "https" { return true }
        return url.scheme == "http" && ["127.0.0.1", "::1", "[::1]", "localhost"].contains(host)
    }

    /// - Throws: ``AuthenticationError/unreachable`` for anything but an answer within the bounds.
    func send() async throws -> Answer {
        do {
            return try await answer()
        } catch is OutgoingFailure {
            throw AuthenticationError.unreachable
        }
    }

    /// The same for callers that report why there is no answer.
    /// - Throws: ``OutgoingFailure`` for anything but an answer within the bounds.
    func answer() async throws -> Answer {
        guard Self.isAllowed(url) else { throw OutgoingFailure.failed }
        var request = HTTPClientRequest(url: url)
        request.headers.add(name: "Accept", value: "application/json")
        if let body {
            request.method = .POST
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(body)
        }
        if let bearer { request.headers.add(name: "Authorization", value: "Bearer \(bearer)") }
        do {
            return try await Self.within(timeoutSeconds) { [request, maximumByteCount] in
                let response = try await Self.client.execute(request, deadline: .distantFuture)
                let bytes = try await response.body.collect(upTo: maximumByteCount)
                return Answer(status: Int(response.status.code), body: Array(bytes.readableBytesView))
            }
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw OutgoingFailure(error)
        }
    }

    /// Runs `body`, and cancels it when it takes longer. The client's own deadline ends with the head of the answer, so
    /// it wouldn't stop a body that trickles in byte by byte.
    private static func within(
        _ seconds: Double, _ body: @escaping @Sendable () async throws -> Answer
    ) async throws -> Answer {
        try await withThrowingTaskGroup(of: Answer?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await Task.sleep(for: .seconds(seconds))
                return nil
            }
            defer { group.cancelAll() }
            guard let answer = try await group.next() ?? nil else { throw OutgoingFailure.timeout }
            return answer
        }
    }
}
