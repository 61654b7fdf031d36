import PostgresClient
package import TomboloHTTP
import TomboloLocalization
import TomboloModel

/// The number of requests in a time span.
package struct RequestSpan: Hashable, Sendable {
    /// The start of the span, in microseconds since 1970.
    package let start: Int64
    package var requests = 0
    package var refused = 0
    package var failed = 0

    package init(start: Int64, requests: Int = 0, refused: Int = 0, failed: Int = 0) {
        self.start = start
        self.requests = requests
        self.refused = refused
        self.failed = failed
    }
}

extension KeptRequests {
    package static let pageSize = 100
    /// The time limit for one query. A search that no index helps reads everything that doesn't match.
    package static let statementTimeout = Duration.seconds(5)

    package struct Page: Sendable {
        /// Newest first, each with the server that answered it.
        package let entries: [(entry: RequestLog.Entry, server: String)]
        /// Where the next page begins; nil if there is none.
        package let next: RequestCursor?
    }

    /// - Parameters:
    ///   - since: microseconds since 1970.
    ///   - after: the end of the previous page.
    /// - Throws: ``RequestFailure`` with status 422 if it takes too long.
    package func page(_ filter: RequestFilter, since: Int64, after: RequestCursor? = nil) async throws -> Page {
        var parameters: [PostgresParameter] = [.timestamptz(microseconds: since)]
        var conditions = ["at >= $1"] + filter.conditions(&parameters)
        if let after {
            parameters += [.timestamptz(microseconds: after.at), .int64(after.id)]
            conditions.append("(at, id) < ($\(parameters.count - 1), $\(parameters.count))")
        }
        let rows = try await ask(
            """
            SELECT at, id, server, request_id, method, route, status, took_microseconds, user_id, address
            FROM tombolo.request_entry WHERE \(conditions.joined(separator: " AND "))
            ORDER BY at DESC, id DESC LIMIT \(Self.pageSize + 1)
            """, parameters)
        let entries = try rows.prefix(Self.pageSize).map { row in
            (
                entry: RequestLog.Entry(
                    time: try row[0].timestampMicroseconds, method: try row[4].string,
                    route: try row[5].nonNull?.string, status: try row[6].int,
                    duration: .microseconds(try row[7].int64),
                    userID: try row[8].nonNull.flatMap { ObjectId(bytes: try $0.bytes) },
                    address: try row[9].string, requestID: try row[3].string),
                server: try row[2].string
            )
        }
        guard rows.count > Self.pageSize else { return Page(entries: entries, next: nil) }
        let last = rows[Self.pageSize - 1]
        return Page(
            entries: entries, next: RequestCursor(at: try last[0].timestampMicroseconds, id: try last[1].int64))
    }

    /// The number of requests in each span, oldest first, including empty spans.
    /// - Parameters:
    ///   - since: microseconds since 1970, in the first span.
    ///   - now: a time in the last span.
    ///   - width: the length of a span in seconds. Spans begin at multiples of it since 1970.
    /// - Throws: ``RequestFailure`` with status 422 if it takes too long.
    package func spans(_ filter: RequestFilter, since: Int64, now: Int64, width: Int64) async throws -> [RequestSpan] {
        let step = width * 1_000_000
        let first = since / step * step
        var parameters: [PostgresParameter] = [.timestamptz(microseconds: first), .double(Double(width))]
        let conditions = ["at >= $1"] + filter.conditions(&parameters)
        let rows = try await ask(
            """
            SELECT date_bin(make_interval(secs => $2), at, timestamptz 'epoch'), count(*),
                count(*) FILTER (WHERE status >= 400 AND status < 500), count(*) FILTER (WHERE status >= 500)
            FROM tombolo.request_entry WHERE \(conditions.joined(separator: " AND ")) GROUP BY 1
            """, parameters)
        var spans = stride(from: first, through: max(first, now), by: Int(step)).map { RequestSpan(start: $0) }
        for row in rows {
            let place = Int((try row[0].timestampMicroseconds - first) / step)
            // Another server's clock may be ahead.
            guard spans.indices.contains(place) else { continue }
            spans[place].requests = try row[1].int
            spans[place].refused = try row[2].int
            spans[place].failed = try row[3].int
        }
        return spans
    }

    private func ask(_ sql: String, _ parameters: [PostgresParameter]) async throws -> PostgresResult {
        do {
            return try await pool.transaction(readOnly: true) { connection in
                try await connection.limitStatements(to: Self.statementTimeout.patient)
                return try await connection.query(sql, parameters)
            }
        } catch let error as PostgresError where error.code == .queryCanceled {
            throw RequestFailure(
                .unprocessable,
                localized("The search took longer than \(Self.statementTimeout.components.seconds) seconds."),
                hint: localized("Choose the last day, a user, or the id of a request."), cause: error)
        }
    }
}
