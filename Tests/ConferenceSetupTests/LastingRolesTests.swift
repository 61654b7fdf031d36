import ConferenceSetup
import PostgresClient
import TestSupport
import Testing
import TomboloMigration
import TomboloModel
import TomboloPostgresStore

/// Roles that the database makes sure somebody keeps, whoever writes.
@Suite struct LastingRolesTests {
    /// The users ann and bea, who can log in, an event that isn't over, and one that is.
    private struct Place: Sendable {
        let pool: PostgresPool
        let ann = ObjectId(high: 1, low: 1)
        let bea = ObjectId(high: 1, low: 2)
        let event = ObjectId(high: 2, low: 1)
        let past = ObjectId(high: 2, low: 2)

        func give(
            _ role: String, to user: ObjectId, in event: ObjectId? = nil, id: ObjectId = .generate()
        ) async throws {
            try await pool.query(
                #"INSERT INTO role_assignment (_id, "user", role, event) VALUES ($1, $2, $3, $4)"#,
                [.bytea(id.bytes), .bytea(user.bytes), .text(role), .bytea(event?.bytes)])
        }

        /// The rule that the database names, or nil if it accepted the statement.
        func refusal(_ sql: String, _ parameters: [PostgresParameter] = []) async throws -> String? {
            do {
                try await pool.query(sql, parameters)
                return nil
            } catch let error as PostgresError {
                return error.constraintName ?? error.message
            }
        }

        func count(_ what: String) async throws -> Int {
            try await pool.query("SELECT count(*) FROM role_assignment WHERE \(what)")[0, 0].int
        }
    }

    private static func run(_ body: (Place) async throws -> Void) async throws {
        try await Databases.withConference { pool in
            let place = Place(pool: pool)
            for (user, name) in [(place.ann, "ann"), (place.bea, "bea")] {
                try await pool.query(
                    "INSERT INTO users (_id, email, display_name) VALUES ($1, $2, $2)",
                    [.bytea(user.bytes), .text("\(name)@example.org")])
            }
            for (event, end) in [(place.event, "1 day"), (place.past, "-1 day")] {
                try await pool.query(
                    "INSERT INTO event (_id, name, ends_at) VALUES ($1, 'E', now() + $2::text::interval)",
                    [.bytea(event.bytes), .text(end)])
            }
            try await body(place)
        }
    }

    /// Each statement would leave no super administrator; `$1` is the user.
    private static let removals = [
        #"DELETE FROM role_assignment WHERE "user" = $1"#,
        #"UPDATE role_assignment SET role = 'admin' WHERE "user" = $1"#,
        #"UPDATE role_assignment SET "user" = NULL WHERE "user" = $1"#,
        #"UPDATE role_assignment SET event = (SELECT _id FROM event ORDER BY _id LIMIT 1) WHERE "user" = $1"#,
        "UPDATE tombolo.account SET disabled_at = now() WHERE id = $1",
        "UPDATE users SET trashed_at = now() WHERE _id = $1",
        "SELECT tombolo.trash('User', encode($1, 'hex'), 'x', NULL)",
        "DELETE FROM tombolo.account WHERE id = $1",
        "DELETE FROM users WHERE _id = $1",
    ]

    @Test("the last super administrator can't be removed in any way, but one of two can", arguments: removals)
    func superAdministrators(removal: String) async throws {
        try await Self.run { place in
            try await place.give("superAdmin", to: place.ann)
            #expect(
                try await place.refusal(removal, [.bytea(place.ann.bytes)]) == "the_last_super_administrator_stays")
            #expect(try await place.count("role = 'superAdmin' AND event IS NULL") == 1)
            let state = try await place.pool.query(
                "SELECT count(*) FROM tombolo.account a JOIN users u ON u._id = a.id AND u.trashed_at IS NULL "
                    + "WHERE a.disabled_at IS NULL")
            #expect(try state[0, 0].int == 2)
            // A user who can't log in doesn't count.
            try await place.pool.query(
                "UPDATE tombolo.account SET disabled_at = now() WHERE id = $1", [.bytea(place.bea.bytes)])
            try await place.give("superAdmin", to: place.bea)
            #expect(
                try await place.refusal(removal, [.bytea(place.ann.bytes)]) == "the_last_super_administrator_stays")
            try await place.pool.execute("UPDATE tombolo.account SET disabled_at = NULL")
            #expect(try await place.refusal(removal, [.bytea(place.ann.bytes)]) == nil)
        }
    }

    @Test(
        "if two super administrators demote each other at once, one remains",
        arguments: ["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"])
    func demotingEachOther(isolation: String) async throws {
        try await Self.run { place in
            for round in 0..<12 {
                try await place.pool.execute("DELETE FROM role_assignment WHERE role <> 'superAdmin'")
                for user in [place.ann, place.bea]
                where try await place.pool.query(
                    #"SELECT 1 FROM role_assignment WHERE "user" = $1"#, [.bytea(user.bytes)]
                ).isEmpty {
                    try await place.give("superAdmin", to: user)
                }
                try await place.pool.execute("UPDATE tombolo.account SET disabled_at = NULL")
                // By demoting, by disabling, or one of each.
                let ways = [
                    #"UPDATE role_assignment SET role = 'admin' WHERE "user" = $1"#,
                    "UPDATE tombolo.account SET disabled_at = now() WHERE id = $1",
                ]
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for (index, user) in [place.ann, place.bea].enumerated() {
                        let sql = ways[(round >> index) & 1]
                        group.addTask {
                            try await place.pool.withConnection { connection in
                                do {
                                    try await connection.execute("BEGIN ISOLATION LEVEL \(isolation)")
                                    _ = try await connection.query("SELECT count(*) FROM role_assignment")
                                    try await connection.query(sql, [.bytea(user.bytes)])
                                    try await connection.execute("COMMIT")
                                } catch is PostgresError {
                                    try await connection.execute("ROLLBACK")
                                }
                            }
                        }
                    }
                    try await group.waitForAll()
                }
                let left = try await place.pool.query(
                    """
                    SELECT count(*) FROM role_assignment r JOIN tombolo.account a ON a.id = r."user"
                    WHERE r.role = 'superAdmin' AND a.disabled_at IS NULL
                    """)
                #expect(try left[0, 0].int >= 1, "round \(round)")
            }
        }
    }

    @Test("an event that has an owner has exactly one, until it's deleted")
    func owners() async throws {
        try await Self.run { place in
            try await place.give("owner", to: place.ann, in: place.event)
            try await place.give("organizer", to: place.bea, in: place.event)
            for sql in [
                "DELETE FROM role_assignment WHERE role = 'owner'",
                "UPDATE role_assignment SET role = 'organizer' WHERE role = 'owner'",
                #"UPDATE role_assignment SET "user" = NULL WHERE role = 'owner'"#,
                "UPDATE role_assignment SET event = NULL WHERE role = 'owner'",
                "UPDATE role_assignment SET event = (SELECT _id FROM event ORDER BY _id DESC LIMIT 1) WHERE role = 'owner'",
                #"DELETE FROM users WHERE _id IN (SELECT "user" FROM role_assignment WHERE role = 'owner')"#,
                #"DELETE FROM tombolo.account WHERE id IN (SELECT "user" FROM role_assignment WHERE role = 'owner')"#,
            ] {
                #expect(try await place.refusal(sql) == "an_event_keeps_its_owner", "\(sql)")
            }
            let second = "UPDATE role_assignment SET role = 'owner' WHERE role = 'organizer'"
            #expect(try await place.refusal(second) == "an_event_has_one_owner")
            await #expect(throws: PostgresError.self) { try await place.give("owner", to: place.bea, in: place.event) }
            // Transferring the row to somebody else.
            let handOver = #"UPDATE role_assignment SET "user" = $1 WHERE role = 'owner'"#
            #expect(try await place.refusal(handOver, [.bytea(place.bea.bytes)]) == nil)
            #expect(try await place.refusal("DELETE FROM users WHERE _id = $1", [.bytea(place.ann.bytes)]) == nil)
            #expect(try await place.refusal("DELETE FROM event WHERE _id = $1", [.bytea(place.event.bytes)]) == nil)
            #expect(try await place.count("role IN ('owner', 'organizer')") == 0)
        }
    }

    @Test("the owner of an event that is over can be deleted, and the event can get another owner")
    func pastEvents() async throws {
        try await Self.run { place in
            try await place.give("owner", to: place.ann, in: place.past)
            #expect(try await place.refusal("DELETE FROM users WHERE _id = $1", [.bytea(place.ann.bytes)]) == nil)
            try await place.give("owner", to: place.bea, in: place.past)
            #expect(try await place.count(#"role = 'owner' AND "user" IS NOT NULL"#) == 1)
        }
    }

    @Test("if two users become owner of an event at the same time, only one does")
    func twoOwners() async throws {
        try await Self.run { place in
            for _ in 0..<10 {
                let succeeded = try await withThrowingTaskGroup(of: Bool.self) { group in
                    for user in [place.ann, place.bea] {
                        group.addTask {
                            do {
                                try await place.give("owner", to: user, in: place.event)
                                return true
                            } catch is PostgresError {
                                return false
                            }
                        }
                    }
                    return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
                }
                #expect(succeeded == 1)
                #expect(try await place.count("role = 'owner'") == 1)
                // Without the triggers, because otherwise nobody may remove it.
                try await place.pool.execute(
                    """
                    ALTER TABLE role_assignment DISABLE TRIGGER USER; DELETE FROM role_assignment;
                    ALTER TABLE role_assignment ENABLE ALWAYS TRIGGER tombolo_keep_owner
                    """)
            }
        }
    }

    @Test("nobody can get a role in a trashed event, and those who have one keep it")
    func trashedEvents() async throws {
        try await Self.run { place in
            try await place.give("coorganizer", to: place.ann, in: place.event)
            try await place.pool.query(
                "UPDATE event SET trashed_at = now() WHERE _id = $1", [.bytea(place.event.bytes)])
            for sql in [
                #"INSERT INTO role_assignment (_id, "user", role, event) SELECT '\x0102030405060708090a0b0c', _id, 'moderator', $1 FROM users LIMIT 1"#,
                "UPDATE role_assignment SET role = 'owner' WHERE event = $1",
                #"UPDATE role_assignment SET "user" = (SELECT _id FROM users ORDER BY _id DESC LIMIT 1) WHERE event = $1"#,
            ] {
                #expect(
                    try await place.refusal(sql, [.bytea(place.event.bytes)]) == "no_new_roles_in_the_trash", "\(sql)")
            }
            #expect(try await place.refusal("DELETE FROM users WHERE _id = $1", [.bytea(place.ann.bytes)]) == nil)
            try await place.pool.execute("UPDATE event SET trashed_at = NULL")
            try await place.give("moderator", to: place.bea, in: place.event)
        }
    }

    @Test("in an older database with several owners of an event, the first one stays and the others become organizers")
    func anOlderDatabase() async throws {
        try await Self.run { place in
            try await place.pool.execute(
                "DROP INDEX an_event_has_one_owner; DROP FUNCTION tombolo.keep_owner CASCADE")
            for user in [place.ann, place.bea] { try await place.give("owner", to: user, in: place.event, id: user) }
            let names = try await place.pool.withConnection { try await Conference.migrator($0).apply().map(\.name) }
            #expect(names == ["roles that somebody keeps"])
            let rows = try await place.pool.query(#"SELECT "user", role FROM role_assignment ORDER BY role DESC"#)
            #expect(try rows.map { try $0[1].string } == ["owner", "organizer"])
            #expect(try rows[0][0].bytes == place.ann.bytes)
            #expect(try await place.pool.withConnection { try await Conference.migrator($0).apply() }.isEmpty)
        }
    }
}
