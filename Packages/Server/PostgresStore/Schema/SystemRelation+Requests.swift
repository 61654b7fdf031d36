/// The requests in `tombolo.request_entry` that people most often look for. Each condition is that of a partial
/// index, so a query that repeats it literally reads only matching requests.
package enum NotableRequest {
    /// Requests that took at least this long, in microseconds.
    package static let slowMicroseconds = 1_000_000
    package static let slow = "took_microseconds >= \(slowMicroseconds)"
    package static let refused = "status >= 400 AND status < 500"
    package static let failed = "status >= 500"
}

/// The log of requests that admin servers keep for some days.
extension SystemRelation {
    /// The primary key has the order in which requests are listed, counted by time and deleted. The partial indexes
    /// cost nothing for requests that went well. The indexes by user and by request find a few rows among millions.
    /// The other columns (route, method, address, server) have no index: every request would have to be added to it,
    /// and people rarely search by them.
    static let requests: [SystemRelation] = [
        SystemRelation(
            name: "request_entry",
            sql: """
                CREATE TABLE IF NOT EXISTS tombolo.request_entry (
                    at timestamptz NOT NULL,
                    id bigint NOT NULL,
                    server text COLLATE "C" NOT NULL,
                    request_id text COLLATE "C" NOT NULL,
                    method text COLLATE "C" NOT NULL,
                    route text COLLATE "C",
                    status integer NOT NULL,
                    took_microseconds bigint NOT NULL,
                    user_id bytea,
                    address text COLLATE "C" NOT NULL,
                    PRIMARY KEY (at, id)
                );
                CREATE INDEX IF NOT EXISTS request_entry_slow ON tombolo.request_entry (at, id) \
                WHERE \(NotableRequest.slow);
                CREATE INDEX IF NOT EXISTS request_entry_refused ON tombolo.request_entry (at, id) \
                WHERE \(NotableRequest.refused);
                CREATE INDEX IF NOT EXISTS request_entry_failed ON tombolo.request_entry (at, id) \
                WHERE \(NotableRequest.failed);
                CREATE INDEX IF NOT EXISTS request_entry_user ON tombolo.request_entry (user_id, at, id) \
                WHERE user_id IS NOT NULL;
                CREATE INDEX IF NOT EXISTS request_entry_request ON tombolo.request_entry (request_id);
                COMMENT ON TABLE tombolo.request_entry IS \
                'The requests that admin servers answered in the last days, by route: no paths, no queries.';
                COMMENT ON COLUMN tombolo.request_entry.id IS \
                'Of the server, so that a batch that is written twice counts once.'
                """)
    ]
}
