/// Row counts and hashes, computed by `psql` and `sqlite3` with the SQL that is printed.
struct Proof {
    /// A query that returns one text for each row, in both dialects.
    let name: String
    let postgres: String
    let sqlite: String

    /// Sessions of an event: title, room and start.
    static func sessions(of event: String) -> Proof {
        Proof(
            name: "sessions (id, title, room, start)",
            postgres: """
                SELECT encode(_id, 'hex') || '|' || title || '|' || coalesce(encode(room, 'hex'), '') || '|'
                    || coalesce((extract(epoch FROM starts_at) * 1000000)::bigint::text, '') AS line
                FROM session WHERE event = '\\x\(event)' AND trashed_at IS NULL
                """,
            sqlite: """
                SELECT lower(hex(_id)) || '|' || title || '|' || coalesce(lower(hex(room)), '') || '|'
                    || coalesce(starts_at, '') AS line
                FROM session WHERE event = x'\(event)'
                """)
    }

    /// Which speaker speaks where in which session.
    static func speakers(of event: String) -> Proof {
        Proof(
            name: "speakers of sessions (session, rank, speaker)",
            postgres: """
                SELECT encode(owner, 'hex') || '|' || rank || '|' || encode(target, 'hex') AS line
                FROM session_speakers JOIN session ON session._id = owner
                WHERE event = '\\x\(event)' AND trashed_at IS NULL
                """,
            sqlite: """
                SELECT lower(hex(owner)) || '|' || rank || '|' || lower(hex(target)) AS line
                FROM session_speakers JOIN session ON session._id = owner
                WHERE event = x'\(event)'
                """)
    }

    /// The number of rows, and the sum of a polynomial hash of each row's text, in SQL that both databases can run.
    var postgresSQL: String { Self.hash(postgres, codePoint: "ascii", type: "bigint") }
    var sqliteSQL: String { Self.hash(sqlite, codePoint: "unicode", type: "integer") }

    private static func hash(_ query: String, codePoint: String, type: String) -> String {
        """
        WITH RECURSIVE lines AS (
            \(query.split(separator: "\n").joined(separator: "\n    "))
        ), step(line, i, h) AS (
            SELECT line, 0, CAST(7 AS \(type)) FROM lines
            UNION ALL
            SELECT line, i + 1, (h * 31 + \(codePoint)(substr(line, i + 1, 1))) % 2147483647
            FROM step WHERE i < length(line)
        )
        SELECT count(*) || ' rows, hash ' || coalesce(sum(h), 0) FROM step WHERE i = length(line)
        """
    }
}
