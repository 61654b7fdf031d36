import Foundation
public import PostgresClient
package import TomboloHTTP

/// The log of requests in the database: what all admin servers answered in the last few days. Each server writes its
/// own requests with a ``RequestWriter``.
public struct KeptRequests: Sendable {
    /// The number of this process's requests that may wait to be written, about 6 MB.
    static let queueCapacity = 20_000

    /// The requests of this process, which queues them.
    package let log = RequestLog(queueCapacity: queueCapacity)
    package let days: Int
    /// This process's name among all servers: its host's name and its own number.
    package let server: String
    let pool: PostgresPool

    /// - Returns: nil if no requests are to be kept.
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
