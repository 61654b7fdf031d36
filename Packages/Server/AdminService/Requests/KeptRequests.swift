import Foundation
public import PostgresClient
package import TomboloHTTP

/// The log of requests in the database: what all admin servers answered in the last days. Each writes its own by a
/// ``RequestWriter``.
public struct KeptRequests: Sendable {
    /// Requests of this process that may wait until they're written, about 6 MB of them.
    static let queueCapacity = 20_000

    /// The requests of this process, which queues them.
    package let log = RequestLog(queueCapacity: queueCapacity)
    package let days: Int
    /// What this process is called among all servers: its host's name and a number of its own.
    package let server: String
    let pool: PostgresPool

    /// - Returns: nil if none are to be kept.
    public init?(_ retention: RequestRetention, pool: PostgresPool) {
        guard retention.days > 0 else { return nil }
        self.pool = pool
        days = retention.days
        var name = [CChar](repeating: 0, count: 256)
        gethostname(&name, name.count - 1)
        let host = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        server = "\(host)-\(String(UInt16.random(in: 0x1000...0xffff), radix: 16))"
    }
}
