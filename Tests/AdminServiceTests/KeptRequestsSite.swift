import Foundation
import Logging
import PostgresClient
import ServiceTestSupport
import Synchronization
import Testing
import TomboloHTTP
import TomboloModel

@testable import AdminService

/// A request log in its own database, and its writer.
struct KeptRequestsSite: Sendable {
    static let day: Int64 = 86_400_000_000

    let fixture: ServiceFixture
    let kept: KeptRequests
    let writer: RequestWriter
    let lines = LineRecorder()

    /// - Parameter pool: the writer's pool, if not the admin server's.
    init(_ fixture: ServiceFixture, pool: PostgresPool? = nil) throws {
        self.fixture = fixture
        kept = try #require(KeptRequests(RequestRetention(), pool: pool ?? fixture.adminServer.pool))
        writer = RequestWriter(kept, logger: lines.logger)
    }

    static func entry(
        _ number: Int, time: Int64 = 1_778_749_200_000_000, method: String = "GET", route: String? = "/panel",
        status: Int = 200, took: Duration = .milliseconds(3), user: ObjectId? = nil, address: String = "192.0.2.1"
    ) -> RequestLog.Entry {
        RequestLog.Entry(
            time: time, method: method, route: route, status: status, duration: took, userID: user, address: address,
            requestID: "r\(number)")
    }

    /// Writes everything queued, retrying if the database is too slow.
    func writeAll() async {
        while await !writer.writeAll() {}
    }

    /// The ids of the requests in the database, oldest first.
    func written() async throws -> [String] {
        try await fixture.pool.query("SELECT request_id FROM tombolo.request_entry ORDER BY at, id")
            .map { try $0[0].string }
    }
}

/// Records log lines.
final class LineRecorder: Sendable {
    private let lines = Mutex<[String]>([])

    var text: [String] { lines.withLock { $0 } }

    var logger: Logger { Logger(label: "test") { _ in Handler(recorder: self) } }

    private struct Handler: LogHandler {
        let recorder: LineRecorder
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { recorder.lines.withLock { $0.append("\(event.level) \(event.message)") } }
    }
}
