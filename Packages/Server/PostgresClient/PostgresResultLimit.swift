/// How much the server may send as the answer to one call.
///
/// libpq keeps a whole answer in memory. A limit on rows doesn't bound that memory, because users decide how large rows are.
public enum PostgresResultLimit {
    /// In bytes; nil for what ``PostgresBorrower/byteLimit`` says. Queries, transactions' statements and pipelines of the
    /// task have it, each by itself; COPY and streams, which are read in parts, have none.
    ///
    /// An answer with more fails with ``PostgresSQLState/resultTooLarge``. As soon as it's clear, the connection is closed: to
    /// read on would take as long as the answer. What was read by then can be a few times the limit, or a whole row of any
    /// size, which PostgreSQL bounds at 1 GB: libpq makes room for a row at once and takes all that the server sends meanwhile.
    @TaskLocal public static var bytes: Int?

    static var current: Int? { bytes ?? PostgresBorrower.current?.byteLimit }
}

/// Counts what arrives for one operation.
struct PostgresReceived {
    private let limit: Int?
    private(set) var bytes = 0

    init(limit: Int?) { self.limit = limit }

    var isCounted: Bool { limit != nil }

    /// - Returns: whether that is more than may be.
    mutating func note(_ count: Int) -> Bool {
        bytes += count
        return isTooLarge(bytes)
    }

    func isTooLarge(_ count: Int) -> Bool { limit.map { count > $0 } ?? false }
}
