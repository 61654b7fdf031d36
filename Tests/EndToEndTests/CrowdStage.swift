import PostgresClient
import Synchronization
import Testing
import TomboloModel

/// What a crowd of administrators works on, and a record of what they did to it.
struct CrowdStage: Sendable {
    /// Something that goes into the trash together with what belongs to it.
    struct Thing: Sendable {
        let collection: String
        let table: String
        let id: ObjectId
    }

    /// What the database must show in the end.
    struct Deeds {
        /// The number of increments, by ticket.
        var additions: [ObjectId: Int] = [:]
        /// The numbers written to the `bedrooms` of listings that devices increment.
        var bedrooms: [ObjectId: Set<Int>] = [:]
        var renamings = 0
        var matrixChanges = 0
        /// Ids of tracks.
        var made: Set<ObjectId> = []
        var purged: Set<ObjectId> = []
        /// Things that were deleted for ever while another caller tried to restore them.
        var gone: Set<ObjectId> = []
        var unexpected: [String] = []
    }

    private final class DeedBook: Sendable {
        let deeds = Mutex(Deeds())
    }

    /// The classes of an event's parts. Each names a property without a default, and a property that must be unique
    /// within an event, if there is one.
    private static let parts: [(className: String, property: String, unique: String?)] = [
        ("Ticket", "name", "rank"), ("Order", "currency", "identifier"), ("Track", "name", nil),
        ("Session", "title", nil), ("Speaker", "name", nil), ("SpeakerContact", "mobile", nil),
        ("Microlocation", "name", nil), ("Sponsor", "name", nil), ("SocialLink", "name", nil),
    ]
    private static let (ticketCount, speakerCount, eventCount) = (6, 24, 6)

    let platform: Platform
    let tickets: [ObjectId]
    /// Each has two contacts.
    let speakers: [ObjectId]
    /// Each has one object of every other class.
    let events: [ObjectId]
    /// Listings whose prices devices increment while organizers change another property.
    let counters: [ObjectId]
    private let book = DeedBook()

    var things: [Thing] {
        speakers.map { Thing(collection: "speakers", table: "speaker", id: $0) }
            + events.map { Thing(collection: "events", table: "event", id: $0) }
    }

    init(_ platform: Platform) async throws {
        self.platform = platform
        tickets = (0..<Self.ticketCount).map { _ in ObjectId.generate() }
        speakers = (0..<Self.speakerCount).map { _ in ObjectId.generate() }
        events = (0..<Self.eventCount).map { _ in ObjectId.generate() }
        counters = [try await platform.insertListing("counter"), try await platform.insertListing("counter")]
        for (index, id) in tickets.enumerated() {
            try await platform.sql(
                "INSERT INTO ticket (_id, event, name, rank, quantity) VALUES ($1, $2, 'Ticket', $3, 0)",
                [.bytea(id.bytes), .bytea(platform.event.bytes), .text("a\(index)")])
        }
        for id in speakers {
            try await platform.sql(
                "INSERT INTO speaker (_id, event, name) VALUES ($1, $2, 'Ada')",
                [.bytea(id.bytes), .bytea(platform.event.bytes)])
            for _ in 0..<2 {
                try await platform.sql(
                    "INSERT INTO speaker_contact (_id, event, speaker) VALUES ($1, $2, $3)",
                    [.bytea(ObjectId.generate().bytes), .bytea(platform.event.bytes), .bytea(id.bytes)])
            }
        }
        for id in events { try await insert(event: id) }
    }

    private func insert(event: ObjectId) async throws {
        try await platform.sql(
            """
            INSERT INTO event (_id, name, identifier, state, privacy, starts_at, ends_at)
            VALUES ($1, 'Torn or whole', $2, 'draft', 'public', now(), now())
            """, [.bytea(event.bytes), .text(event.stringValue)])
        for part in Self.parts {
            let (column, value) = part.unique.map { (", \($0)", ", '\(event.stringValue)'") } ?? ("", "")
            // The part gets the event's own id, so that leftovers can be traced to it.
            try await platform.sql(
                "INSERT INTO \(Self.table(part.className)) (_id, event, \(part.property)\(column)) VALUES ($1, $1, 'before'\(value))",
                [.bytea(event.bytes)])
        }
    }

    private static func table(_ className: String) -> String { Platform.schema[className]?.table ?? "" }

    // MARK: Deeds

    var deeds: Deeds { book.deeds.withLock { $0 } }

    func note(_ change: @Sendable (inout Deeds) -> Void) { book.deeds.withLock { change(&$0) } }

    func expect(_ answer: AdminClient.Answer, _ statuses: [Int], _ what: String) {
        guard !statuses.contains(answer.status) else { return }
        note { $0.unexpected.append("\(what): \(answer.status) \(answer.content)") }
    }

    // MARK: Checks

    /// Expects that no update was lost.
    /// - Parameter versions: the number of rule versions stored meanwhile.
    func checkUpdates(versions: Int64) async throws {
        let deeds = deeds
        #expect(deeds.unexpected.isEmpty, "\(deeds.unexpected.prefix(5))")
        #expect(deeds.additions.values.reduce(0, +) > 100 && deeds.matrixChanges > 5 && deeds.purged.count > 5)
        #expect(deeds.renamings > 0 && !deeds.gone.isEmpty && deeds.bedrooms.count == counters.count)
        for ticket in tickets {
            let quantity = try await platform.sql(
                "SELECT quantity FROM ticket WHERE _id = $1", [.bytea(ticket.bytes)])[0, 0].int
            #expect(quantity == deeds.additions[ticket] ?? 0, "ticket \(ticket)")
        }
        try await checkCounters()
        let name = try await platform.sql(
            "SELECT name FROM event WHERE _id = $1", [.bytea(platform.event.bytes)])[0, 0].string
        #expect(name == "Island Days \(deeds.renamings)")
        #expect(versions == Int64(deeds.matrixChanges))
    }

    /// Every device transaction made a listing and incremented both counters, while others changed the counters' rows.
    private func checkCounters() async throws {
        let made = try await platform.sql(
            "SELECT count(*) FROM listing WHERE location = $1", [.text("made by \(counters[0])")])[0, 0].int
        #expect(made > 0)
        for counter in counters {
            let row = try await platform.sql(
                "SELECT price::int, bedrooms::int FROM listing WHERE _id = $1", [.bytea(counter.bytes)])[0]
            #expect(try row[0].int == made, "increments by devices to \(counter)")
            #expect(try deeds.bedrooms[counter]?.contains(row[1].int) == true, "bedrooms of \(counter)")
        }
    }

    /// Expects that no group is torn, in any class that has a trash.
    func checkGroups() async throws {
        let deeds = deeds
        let left = try await platform.sql(
            "SELECT count(*) FROM track WHERE _id = ANY ($1)", [.byteaArray(deeds.made.map(\.bytes))])[0, 0].int
        #expect(left == 0, "tracks remain that were deleted for ever")
        let contacts = try await platform.sql(
            """
            SELECT s._id, (s.trashed_at, s.trash_group) IS NOT DISTINCT FROM (c.trashed_at, c.trash_group)
            FROM speaker_contact c LEFT JOIN speaker s ON c.speaker = s._id WHERE c.event = $1
            """, [.bytea(platform.event.bytes)])
        #expect(try contacts.allSatisfy { try $0[1].bool }, "contacts were separated from their speaker")
        let lasting = Set(speakers).subtracting(deeds.gone)
        #expect(contacts.count == 2 * lasting.count, "contacts were lost, or outlived their speaker")
        try await expect(lasting, in: "speaker", among: speakers)
        let lastingEvents = Set(events).subtracting(deeds.gone)
        try await expect(lastingEvents, in: "event", among: events)
        for part in Self.parts {
            let table = Self.table(part.className)
            try await expect(lastingEvents, in: table, among: events)
            let torn = try await platform.sql(
                """
                SELECT count(*) FROM \(table) c LEFT JOIN event e ON c.event = e._id
                WHERE c._id = ANY ($1) AND (e._id IS DISTINCT FROM c._id
                    OR (c.trashed_at, c.trash_group) IS DISTINCT FROM (e.trashed_at, e.trash_group))
                """, [.byteaArray(events.map(\.bytes))])[0, 0].int
            #expect(torn == 0, "\(part.className) objects were separated from their event")
        }
        let classes = Platform.schema.classes.filter(\.isTrashable)
        let all = classes.map {
            "SELECT trash_group, trashed_at FROM \(PostgresSQL.quoteIdentifier($0.table)) WHERE trash_group IS NOT NULL"
        }.joined(separator: " UNION ALL ")
        let broken = try await platform.count(
            """
            SELECT count(*) FROM (SELECT trash_group FROM (\(all)) g GROUP BY trash_group
                HAVING count(DISTINCT trashed_at) > 1 OR count(*) > count(trashed_at)) b
            """)
        #expect(broken == 0, "groups are in the trash only in part, or with several times")
    }

    private func expect(_ ids: Set<ObjectId>, in table: String, among all: [ObjectId]) async throws {
        let rows = try await platform.sql(
            "SELECT encode(_id, 'hex') FROM \(table) WHERE _id = ANY ($1)", [.byteaArray(all.map(\.bytes))])
        #expect(Set(try rows.map { try $0[0].string }) == Set(ids.map(\.stringValue)), "\(table)")
    }
}
