public import HTTPTypes
import HummingbirdTesting
import NIOCore
public import TomboloHTTP

/// Sends requests to a live server over one connection, and waits for each answer as long as a test may take. The client in
/// Hummingbird's own live tests gives up after 20 seconds.
public struct PatientClient: Sendable {
    private let client: TestClient

    public func callAsFunction(
        _ method: HTTPRequest.Method, _ path: String, headers: HTTPFields = [:], body: String? = nil
    ) async throws -> Answer {
        var headers = headers
        headers[.connection] = "keep-alive"
        let response = try await client.execute(
            TestClient.Request(
                path, method: method, authority: "localhost", headers: headers,
                body: body.map { ByteBuffer(string: $0) }))
        return Answer(
            status: response.status.code, text: String(buffer: response.body ?? ByteBuffer()),
            headers: response.headers)
    }

    /// Connects to a server of this process, whose limits should be ``TomboloHTTP/HTTPLimits/unhurried``.
    public static func with<Result: Sendable>(
        _ port: Int, _ body: @Sendable (PatientClient) async throws -> Result
    ) async throws -> Result {
        let client = try await connected(to: port)
        do {
            let result = try await body(PatientClient(client: client))
            try? await client.shutdown()
            return result
        } catch {
            try? await client.shutdown()
            throw error
        }
    }

    /// Retries if the machine stalls for the five seconds that Hummingbird's client allows for connecting.
    private static func connected(to port: Int) async throws -> TestClient {
        while true {
            let client = TestClient(host: "127.0.0.1", port: port, configuration: .init(timeout: .seconds(600)))
            client.connect()
            do {
                _ = try await client.getChannel()
                return client
            } catch ChannelError.connectTimeout {}
        }
    }
}

extension HTTPLimits {
    /// Limits for a live server whose clients may pause before or during a request.
    public static var unhurried: HTTPLimits {
        var limits = HTTPLimits()
        limits.firstRequestTimeout = .seconds(600)
        limits.idleTimeout = .seconds(600)
        limits.stallTimeout = .seconds(600)
        return limits
    }
}
