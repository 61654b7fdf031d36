public import Logging
public import ServiceLifecycle
import TomboloHTTP

/// Writes a server's requests into the database every few seconds, and the rest at shutdown. In a service group, list
/// it before the server, so that it ends after the server.
public struct RequestWriterService: Service {
    static let interval = Duration.seconds(2)
    /// The time limit at shutdown. Requests that aren't written by then are lost.
    static let lastTimeout = Duration.seconds(5)

    private let writer: RequestWriter

    public init(_ requests: KeptRequests, logger: Logger) { writer = RequestWriter(requests, logger: logger) }

    public func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                _ = await writer.writeAll()
                try? await Task.sleep(for: Self.interval)
            }
        }
        _ = try? await withTimeout(Self.lastTimeout.patient) { await writer.writeAll() }
    }
}
