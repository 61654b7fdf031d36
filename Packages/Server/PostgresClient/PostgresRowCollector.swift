import CLibPQ

/// Collects rows that arrive one at a time into one result.
///
/// Used by one session at a time, which owns the rows until ``finish()`` returns them.
final class PostgresRowCollector {
    private var raw: OpaquePointer?

    deinit { PQclear(raw) }

    /// Bytes that libpq holds for the rows.
    var byteCount: Int { raw.map { PQresultMemorySize($0) } ?? 0 }

    /// Takes over a result with one row.
    /// - Returns: false if there isn't enough memory.
    func append(_ row: OpaquePointer) -> Bool {
        guard let raw else {
            self.raw = row
            return true
        }
        defer { PQclear(row) }
        let position = PQntuples(raw)
        for column in 0..<PQnfields(row) {
            let isNull = PQgetisnull(row, 0, column) == 1
            let isSet = PQsetvalue(
                raw, position, column, isNull ? nil : PQgetvalue(row, 0, column),
                isNull ? -1 : PQgetlength(row, 0, column))
            guard isSet == 1 else { return false }
        }
        return true
    }

    /// The rows so far, or nil if there are none. The next row starts another result.
    func finish() -> PostgresResult? {
        defer { raw = nil }
        return raw.map(PostgresResult.init)
    }
}
