import EventModels
import OpenEventImport
import PostgresClient
import TomboloModel

/// A conference large enough to show how lists, the trash and long jobs behave: 200 sessions, 150 speakers, 280
/// orders and 5,000 users, and a trash with typical contents. The rows are always the same; dates are relative to the
/// day of loading.
enum LargeSample {
    static let sessionCount = 200
    static let speakerCount = 150
    static let userCount = 5_000
    static let orderCount = 280
    /// Additional users and sessions that are in the trash, each in a group of its own. The oldest are about to be
    /// purged.
    static let trashedUserCount = 60
    static let trashedSessionCount = 12

    static let event = OpenEventIdentity.id("large sample")
    /// This event is in the trash, with everything that belongs to it.
    static let canceledEvent = OpenEventIdentity.id("large sample, canceled")

    /// Writes the sample in one transaction, unless it exists. So anything changed, restored or deleted since then
    /// stays that way.
    /// - Parameter trashedBy: the user who seems to have trashed what is in the trash.
    /// - Returns: whether anything was written.
    static func load(trashedBy: ObjectId, _ pool: PostgresPool) async throws -> Bool {
        try await pool.transaction { connection in
            guard try await connection.query("SELECT 1 FROM event WHERE _id = $1", [.bytea(event.bytes)]).isEmpty else {
                return false
            }
            for statement in statements(trashedBy: trashedBy.stringValue) { try await connection.execute(statement) }
            return true
        }
    }

    // MARK: SQL

    /// An SQL expression for the id of a row, by its kind and number.
    private static func id(_ kind: String, _ number: String) -> String {
        "substring(sha256(convert_to('large sample \(kind) ' || (\(number)), 'UTF8')) FOR \(ObjectId.byteCount))"
    }

    private static func bytes(_ id: ObjectId) -> String { "decode('\(id.stringValue)', 'hex')" }

    /// One of several texts, by a number that starts at 0.
    private static func pick(_ texts: [String], _ number: String) -> String {
        "(ARRAY[\(texts.map(PostgresSQL.quoteLiteral).joined(separator: ", "))])[(\(number)) % \(texts.count) + 1]"
    }

    /// The origin of all dates: midnight of the day of loading.
    private static let today = "date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'"

    private static func statements(trashedBy: String) -> [String] {
        people + events + programme + orders + roles + trash(by: trashedBy)
    }

    private static var people: [String] {
        let all = userCount + trashedUserCount
        return [
            """
            INSERT INTO users (_id, email, display_name, details)
            SELECT \(id("user", "n")), 'attendee-' || lpad(n::text, 5, '0') || '@example.org',
                \(pick(LargeSampleText.givenNames, "n * 7")) || ' ' || \(pick(LargeSampleText.familyNames, "n * 11 + n / 60")),
                CASE WHEN n % 9 = 0 THEN 'Works with ' || \(pick(LargeSampleText.topics, "n / 9")) || '.' END
            FROM generate_series(1, \(all)) AS n
            """
        ]
    }

    private static var events: [String] {
        let head =
            "INSERT INTO event (_id, name, identifier, details, starts_at, ends_at, timezone, location_name, state, privacy, organizer_name, topic)"
        return [
            """
            \(head) VALUES (\(bytes(event)), 'Tombolo World Conference', 'tombolo-world',
                'Three days about software that keeps working without a network.',
                \(today) + interval '30 days 8 hours', \(today) + interval '32 days 18 hours', 'Europe/Berlin',
                'Congress Centre, Hall 3', 'published', 'public', 'The Tombolo Foundation', 'Technology')
            """,
            """
            \(head) VALUES (\(bytes(canceledEvent)), 'Spring Meetup', 'spring-meetup', 'Called off: the venue was flooded.',
                \(today) + interval '9 days 17 hours', \(today) + interval '9 days 21 hours', 'Europe/Lisbon',
                'Town Library', 'draft', 'private', 'Meetup Lisbon', 'Technology')
            """,
        ]
    }

    private static var programme: [String] {
        let (event, canceled) = (bytes(event), bytes(canceledEvent))
        // The sessions for the trash are numbered after the 200; the last six belong to the canceled event.
        let sessions = sessionCount + trashedSessionCount
        let start = "\(today) + make_interval(days => 30 + (n / 10) % 21 / 7, hours => 8 + (n / 10) % 7, mins => 30)"
        return [
            """
            INSERT INTO track (_id, event, name, color, font_color)
            SELECT \(id("track", "n")), CASE WHEN n < 8 THEN \(event) ELSE \(canceled) END,
                \(pick(LargeSampleText.tracks, "n")),
                \(pick(["#0B5394", "#38761D", "#7F6000", "#741B47", "#134F5C", "#660000", "#351C75", "#4C1130"], "n")), '#FFFFFF'
            FROM generate_series(0, 9) AS n
            """,
            """
            INSERT INTO microlocation (_id, event, name, floor, room)
            SELECT \(id("room", "n")), \(event), \(pick(LargeSampleText.rooms, "n")), n / 4, chr(65 + n / 4) || (n % 4 + 1)
            FROM generate_series(0, 9) AS n
            """,
            """
            INSERT INTO speaker (_id, event, "user", name, organisation, position, short_biography, city, country, is_featured)
            SELECT \(id("speaker", "n")), CASE WHEN n <= \(speakerCount) THEN \(event) ELSE \(canceled) END, u._id,
                u.display_name, \(pick(LargeSampleText.organisations, "n")), \(pick(LargeSampleText.positions, "n / 3")),
                u.display_name || ' has worked on ' || \(pick(LargeSampleText.topics, "n * 3")) || ' for ' || (n % 17 + 2) || ' years.',
                \(pick(LargeSampleText.cities.map(\.0), "n")), \(pick(LargeSampleText.cities.map(\.1), "n")), n % 25 = 0
            FROM generate_series(1, \(speakerCount + 4)) AS n JOIN users u ON u._id = \(id("user", "n * 13"))
            """,
            """
            INSERT INTO session (_id, event, track, room, title, short_abstract, language, level, session_type, starts_at, ends_at, state)
            SELECT \(id("session", "n")), CASE WHEN n < \(sessions) THEN \(event) ELSE \(canceled) END,
                CASE WHEN n < \(sessions) THEN \(id("track", "n % 8")) ELSE \(id("track", "n % 2 + 8")) END,
                CASE WHEN n < \(sessions) THEN \(id("room", "n % 10")) END,
                \(pick(LargeSampleText.openings, "n")) || ' ' || \(pick(LargeSampleText.topics, "n / \(LargeSampleText.openings.count)")),
                'What went well, what did not, and what we would do again.', \(pick(["en", "en", "en", "de", "pt"], "n")),
                \(pick(["Beginner", "Intermediate", "Advanced"], "n / 4")), \(pick(["Talk", "Talk", "Talk", "Workshop", "Lightning talk"], "n")),
                \(start), \(start) + interval '45 minutes',
                \(pick(["confirmed", "confirmed", "accepted", "confirmed", "pending", "confirmed", "accepted", "draft", "confirmed", "rejected"], "n / 7"))
            FROM generate_series(0, \(sessions + 5)) AS n
            """,
            """
            INSERT INTO session_speakers (_id, owner, rank, target)
            SELECT \(id("session speaker", "n || '/' || k")), \(id("session", "n")), 'a' || k, \(id("speaker", "(n * 3 + k * 50) % \(speakerCount) + 1"))
            FROM generate_series(0, \(sessionCount - 1)) AS n, generate_series(0, 1) AS k WHERE k = 0 OR n % 3 = 0
            """,
            """
            INSERT INTO ticket (_id, event, name, details, kind, price, currency, quantity, min_order, max_order, rank)
            SELECT \(id("ticket", "n")), CASE WHEN n < 4 THEN \(event) ELSE \(canceled) END,
                \(pick(["Early bird", "Regular", "Student", "Livestream"], "n")), 'All three days.',
                CASE WHEN n % 4 = 3 THEN 'free' ELSE 'paid' END, \(pick(["29900", "39900", "9900", "0"], "n"))::int, 'EUR',
                \(pick(["500", "3500", "800", "10000"], "n"))::int, 1, 10, 'a' || n
            FROM generate_series(0, 5) AS n
            """,
        ]
    }

    private static var orders: [String] {
        // The last order belongs to a user in the trash. It keeps that user there, since the event is in the future.
        let buyer = "CASE WHEN n < \(orderCount) THEN n * 17 ELSE \(userCount + trashedUserCount) END"
        let states: [OrderState] = [
            .completed, .completed, .placed, .completed, .cancelled, .completed, .pending, .completed, .expired,
            .initializing,
        ]
        return [
            """
            INSERT INTO orders (_id, event, buyer, ticket, identifier, quantity, amount, currency, state, placed_at)
            SELECT \(id("order", "n")), t.event, \(id("user", buyer)), t._id, 'TWC-' || lpad(n::text, 4, '0'),
                1 + n % 3, t.price * (1 + n % 3), t.currency, s.state,
                CASE WHEN s.state <> 'initializing' THEN \(today) - make_interval(hours => n) END
            FROM generate_series(1, \(orderCount)) AS n JOIN ticket t ON t._id = \(id("ticket", "n % 4"))
            CROSS JOIN LATERAL (SELECT \(pick(states.map(\.rawValue), "n")) AS state) s
            """
        ]
    }

    private static var roles: [String] {
        [
            """
            INSERT INTO role_assignment (_id, "user", role, event)
            SELECT \(id("role", "n")), \(id("user", "n")),
                \(pick(["coorganizer", "trackOrganizer", "moderator", "registrar"], "n")), \(bytes(event))
            FROM generate_series(1, 20) AS n
            """
        ]
    }

    /// Triggers take along everything that belongs to the event, and disable the accounts.
    private static func trash(by user: String) -> [String] {
        func move(_ table: String, _ condition: String, _ age: String, group: String) -> String {
            """
            UPDATE \(table) o SET trashed_at = now() - \(age), trashed_by = '\(user)', trash_group = md5(\(group))::uuid
            FROM generate_series(1, \(trashedUserCount)) AS n WHERE \(condition)
            """
        }
        return [
            // Trashed from a quarter of an hour to nearly 30 days ago. After 30 days, the automatic purge deletes
            // them.
            move(
                "users", "o._id = \(id("user", "\(userCount) + n"))", "interval '11 hours 57 minutes' * n",
                group: "'large sample user ' || n"),
            move(
                "session", "n <= \(trashedSessionCount) AND o._id = \(id("session", "\(sessionCount) - 1 + n"))",
                "interval '47 hours' * n", group: "'large sample session ' || n"),
            move(
                "event", "n = 1 AND o._id = \(bytes(canceledEvent))", "interval '29 days 20 hours'",
                group: "'large sample event'"),
            // Other users have since taken two of the addresses, so restoring these users asks how to resolve the
            // clash.
            """
            UPDATE users o SET email = u.email FROM generate_series(1, 2) AS n, users u
            WHERE o._id = \(id("user", "1 + n")) AND u._id = \(id("user", "\(userCount) + n"))
            """,
        ]
    }
}
