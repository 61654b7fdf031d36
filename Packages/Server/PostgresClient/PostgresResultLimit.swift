/// How much the server may send as the answer to one call.
///
/// libpq keeps a whole answer in memory. A limit on rows doesn't bound that memory, because users decide how large rows are.
public enum PostgresResultLimit {
    /// In bytes; nil for no limit. Queries, transactions' statements and pipelines of the task have it, each by itself; COPY
    /// and streams, which are read in parts, have none.
    ///
    /// An answer with more fails with ``PostgresSQLState/resultTooLarge``. As soon as it's clear, the connection is closed: to
    /// read on would take as long as the answer. What was read by then can be a few times the limit, or a whole row of any
    /// size, which PostgreSQL bounds at 1 GB: libpq makes room for a row at once and takes all that the server sends meanwhile.
    @TaskLocal public static var bytes: Int?
}

/// Counts what is read for one operation.
struct PostgresReceived {
    /// What libpq reads at a time of what there is, at least, in bytes.
    static let leastReadByteCount = 8 << 10

    private let limit: Int?
    /// About what was read. What arrived while libpq was reading may be missing.
    private(set) var bytes = 0

    init(limit: Int?) { self.limit = limit }

    var isCounted: Bool { limit != nil }

    /// libpq has read.
    /// - Parameters:
    ///   - before: what had arrived and wasn't read, in bytes.
    ///   - after: the same afterwards. libpq leaves what its buffer has no room for.
    mutating func note(waiting before: Int, left after: Int) {
        bytes += max(before - after, min(before, Self.leastReadByteCount))
    }

    func isTooLarge(_ count: Int) -> Bool { limit.map { count > $0 } ?? false }
}
