import CLibPQ
import Logging

/// Sends a connection's notices to the log. The session that owns the connection keeps it alive.
final class PostgresNotices: Sendable {
    private let logger: Logger

    init(_ logger: Logger) { self.logger = logger }

    func receive(from handle: OpaquePointer) {
        PQsetNoticeProcessor(
            handle,
            { context, message in
                guard let context, let message else { return }
                let notices = Unmanaged<PostgresNotices>.fromOpaque(context).takeUnretainedValue()
                notices.logger.debug("PostgreSQL: \(String(cString: message).trimmedLines)")
            }, Unmanaged.passUnretained(self).toOpaque())
    }
}
