import CLibPQ

/// Owns a `PGresult`.
///
/// Unchecked because the compiler can't see into C: a `PGresult` is read-only once libpq has returned it, and the libpq
/// manual (section 34.20, threaded programs) allows passing it freely between threads. Nothing here modifies it, and
/// it's freed once, with the last reference.
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
