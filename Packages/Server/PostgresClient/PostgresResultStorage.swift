import CLibPQ

/// Owns a `PGresult`.
///
/// Unchecked because the compiler cannot see into C: a `PGresult` is read-only once libpq returned it, and the libpq
/// manual (section 34.20, threaded programs) allows passing it between threads freely. Nothing here changes it;
/// it is freed once, when the last reference goes.
final class PostgresResultStorage: @unchecked Sendable {
    let raw: OpaquePointer
    let rowCount: Int
    let columnCount: Int

    init(_ raw: OpaquePointer) {
        self.raw = raw
        rowCount = Int(PQntuples(raw))
        columnCount = Int(PQnfields(raw))
    }

    deinit {
        PQclear(raw)
    }

    func columnName(_ column: Int) -> String {
        PQfname(raw, Int32(column)).map { String(cString: $0) } ?? ""
    }
}
