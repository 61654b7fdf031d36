/// Limits how much the server may send in response to one call.
///
/// libpq keeps a whole response in memory. A limit on rows doesn't bound that memory, because users decide how large
/// rows are.
public enum PostgresResultLimit {
    /// The limit in bytes, or nil for none. It applies separately to each query, statement of a transaction and
    /// pipeline of the task. COPY and streams, which are read in parts, have no limit.
    ///
    /// A larger response fails with ``PostgresSQLState/resultTooLarge``. The connection is closed as soon as the
    /// limit is exceeded, since reading on would take as long as the response itself. By then, a few times the limit
    /// may have been read, or one whole row of any size up to PostgreSQL's 1 GB: libpq allocates memory for a whole
    /// row at once and reads all that the server sends meanwhile.
    @TaskLocal public static var bytes: Int?
}

/// Counts the bytes read for one operation.
struct PostgresReceived {
    /// The least that libpq reads at a time, in bytes, if that much has arrived.
    static let leastReadByteCount = 8 << 10

    private let limit: Int?
    /// The approximate number of bytes read. Bytes that arrived while libpq was reading may be missing.
    private(set) var bytes = 0

    init(limit: Int?) { self.limit = limit }

    var isCounted: Bool { limit != nil }

    /// Records a read by libpq.
    /// - Parameters:
    ///   - before: the bytes that had arrived but weren't read before the call.
    ///   - after: the same after the call. libpq leaves the bytes that don't fit into its buffer.
    mutating func note(waiting before: Int, left after: Int) {
        bytes += max(before - after, min(before, Self.leastReadByteCount))
    }

    func isTooLarge(_ count: Int) -> Bool { limit.map { count > $0 } ?? false }
}
