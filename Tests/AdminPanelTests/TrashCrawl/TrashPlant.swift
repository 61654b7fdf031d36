import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules

/// One object of each class that has a trash, with unique texts, and live objects that link to them.
struct TrashPlant: Sendable {
    /// Every text of a planted object begins with this.
    static let word = "zq7"
    /// No text begins with this, and it sorts at the same place.
    static let absentWord = "zq8"

    struct Planted: Sendable {
        let type: ResourceType
        let id: ObjectId
        /// An id that doesn't exist.
        let absent: ObjectId
        /// Its texts, with their fields' names.
        let texts: [(field: String, value: String)]

        /// Part of all of its texts, and of no other object's.
        var marker: String { TrashPlant.marker(type.item.name) }
        var title: (field: String, value: String) { texts[0] }

        /// The same question about an object that never existed.
        func twin(_ text: String) -> String {
            text.replacing(TrashPlant.word, with: TrashPlant.absentWord)
                .replacing(id.stringValue, with: absent.stringValue)
        }

        /// Converts an answer about the twin into the answer that this object should get.
        func original(_ text: String) -> String {
            text.replacing(TrashPlant.absentWord, with: TrashPlant.word)
                .replacing(absent.stringValue, with: id.stringValue)
        }
    }

    /// Live objects, which link to nothing at first.
    private struct Linking {
        let session: ObjectId
        let speaker: ObjectId
        let order: ObjectId
        let sponsor: ObjectId
        let assignment: ObjectId
    }

    private let fixture: ServiceFixture
    let types: ResourceTypes
    private let linking: Linking
    private(set) var all: [Planted] = []

    static func marker(_ className: String) -> String { "\(word)\(className.lowercased())-" }

    /// Live objects by type name: the targets of links, and the objects that will link to planted ones.
    var parents: [String: ObjectId] {
        var found = [
            "events": fixture.event, "microlocations": fixture.room, "sessions": linking.session,
            "speakers": linking.speaker, "tickets": fixture.tickets[0], "orders": linking.order,
            "sponsors": linking.sponsor,
        ]
        found["users"] = fixture.users["attendee"]
        return found
    }

    subscript(className: String) -> Planted? { all.first { $0.type.item.name == className } }

    init(_ fixture: ServiceFixture) async throws {
        self.fixture = fixture
        types = ResourceTypes(fixture.rules.schema)
        let rows = fixture.rows()
        let event: [String: Value] = ["event": .objectId(fixture.event)]
        linking = Linking(
            session: try await rows.insert("Session", event.merging(["title": "Linking", "state": "accepted"]) { $1 }),
            speaker: try await rows.insert("Speaker", event.merging(["name": "Linking"]) { $1 }),
            order: try await rows.insert("Order", event.merging(["identifier": "LIVE", "state": "placed"]) { $1 }),
            sponsor: try await rows.insert("Sponsor", ["name": "Linking"]),
            assignment: try await rows.insert("RoleAssignment", event.merging(["role": "registrar"]) { $1 }))
    }

    // MARK: Planting

    /// Creates the objects, all of them live, and links live objects to them.
    mutating func plant() async throws {
        for type in types.all where type.item.isTrashable {
            let texts = Self.texts(type)
            var values = try extras(type.item.name)
            for text in texts {
                let field = try #require(type.field(text.field))
                values[field.property] = .string(text.value)
            }
            if type.item.name != "Event", type.item.columnIndex("event") != nil {
                values["event"] = .objectId(fixture.event)
            }
            let id = try await fixture.rows().insert(type.item.name, values)
            all.append(Planted(type: type, id: id, absent: .generate(), texts: texts))
        }
        try await link()
    }

    /// The texts that a planted object will have, with their fields' names.
    static func texts(_ type: ResourceType) -> [(field: String, value: String)] {
        let fields = type.fields.filter { field in
            if case .value(_, .string) = field.content { field.allowedValues == nil } else { false }
        }
        return fields.map { field in
            let text = marker(type.item.name) + field.property.lowercased()
            return (field.name, field.property == "email" ? "\(text)@example.org" : text)
        }
    }

    private func extras(_ className: String) throws -> [String: Value] {
        let attendee = Value.objectId(try #require(fixture.users["attendee"]))
        switch className {
        case "Event":
            return [
                "state": "published", "privacy": "public", "startsAt": .date(1_778_745_600_000_000),
                "endsAt": .date(1_778_774_400_000_000),
            ]
        case "Session": return ["state": "accepted", "room": .objectId(fixture.room)]
        case "Ticket": return ["kind": "free"]
        case "Order": return ["state": "placed", "buyer": attendee, "ticket": .objectId(fixture.tickets[0])]
        case "Speaker": return ["user": attendee]
        case "SpeakerContact": return ["speaker": .objectId(fixture.speakers[0])]
        default: return [:]
        }
    }

    private func link() async throws {
        func id(_ className: String) throws -> Value { .objectId(try #require(self[className]).id) }
        let rows = fixture.rows()
        try await rows.set("Session", linking.session, "track", id("Track"))
        try await rows.set("Session", linking.session, "room", id("Microlocation"))
        try await rows.set("Speaker", linking.speaker, "user", id("User"))
        try await rows.set("Order", linking.order, "ticket", id("Ticket"))
        try await rows.set("Order", linking.order, "buyer", id("User"))
        for (owner, speaker) in [
            (linking.session, try id("Speaker")),
            (try #require(self["Session"]).id, .objectId(fixture.speakers[0])),
        ] {
            try await rows.insert("Session.speakers", ["owner": .objectId(owner), "rank": "z", "target": speaker])
        }
        try await rows.set("RoleAssignment", linking.assignment, "user", id("User"))
        let organizer = try #require(fixture.users["organizer"])
        try await rows.insert(
            "RoleAssignment", ["user": .objectId(organizer), "role": "moderator", "event": try id("Event")])
    }

    /// Trashes the objects, each in its own group.
    func trash() async throws {
        for object in all {
            try await fixture.pool.query(
                "SELECT tombolo.trash($1, $2, 'ada', NULL, $3)",
                [.text(object.type.item.name), .text(object.id.stringValue), .text("\(object.marker)reason")])
        }
    }

    /// The trashed objects' rows, as stored in their tables.
    func rows() async throws -> [String] {
        var rows: [String] = []
        for object in all {
            let table = PostgresSQL.quoteIdentifier(object.type.item.table)
            rows += try await fixture.pool.query(
                "SELECT t::text FROM \(table) t WHERE t._id = $1 AND t.trashed_at IS NOT NULL",
                [.bytea(object.id.bytes)]
            ).map { try $0[0].string }
        }
        return rows
    }
}
