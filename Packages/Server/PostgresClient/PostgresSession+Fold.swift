import CLibPQ

extension PostgresSession {
    /// Runs one statement with the extended protocol, and passes on each row as it arrives; see
    /// ``PostgresConnection/fold(_:_:format:into:file:line:_:)``.
    nonisolated(nonsending) func fold<R>(
        _ statement: PostgresStatement, format: PostgresResultFormat, into value: inout R, _ site: CallSite,
        _ add: (inout R, PostgresResult) -> Bool
    ) async throws {
        _ = try ready(site)
        try check(try send(statement, .unnamed, format), site)
        guard let handle, PQsetSingleRowMode(handle) == 1 else { throw lost(site) }
        try await flush(site)
        while let raw = try await nextResult(site) {
            switch PQresultStatus(raw) {
            case PGRES_SINGLE_TUPLE, PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY:
                // libpq may have read a whole row before its bytes were counted.
                if let error = excess(raw, site) {
                    PQclear(raw)
                    close()
                    throw error
                }
                guard add(&value, PostgresResult(raw)) else {
                    // The rest may be of any size.
                    try? await cancelFromOwner(site)
                    return close()
                }
            case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH:
                PQclear(raw)
                close()
                throw PostgresError(
                    code: .featureNotSupported, message: "COPY has no rows to read; connection closed",
                    hint: "Use SELECT.", sql: site.sql, file: site.file, line: site.line)
            default:
                let error = failure(raw, site)
                PQclear(raw)
                while let rest = try? await nextResult(site) { PQclear(rest) }
                throw error
            }
        }
    }
}
