import Foundation
import PostgresClient
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import Testing

@Suite(.serialized)
struct HostileDeviceTests {
    /// Texts that must never reach an attendee's device.
    private static let secrets = [
        "stranger@example.org", "organizer@example.org", "contact-k3q9@secret.example", "+49 555 k3q9 mobile",
        "Draft Days", "draft-session-k3q9", "pending-session-k3q9", "hidden-ticket-k3q9", "draft-speaker-k3q9",
        "The stranger", "order-k3q9",
    ]

    private struct Planted {
        let session: ObjectId
        let pending: ObjectId
        let listing: ObjectId
        let ticket: ObjectId
        let contact: ObjectId
        /// The attendee's own order.
        let order: ObjectId
    }

    private func plant(_ platform: Platform) async throws -> Planted {
        func insert(_ table: String, _ values: [(String, PostgresParameter)]) async throws -> ObjectId {
            let id = ObjectId.generate()
            let names = ["_id"] + values.map(\.0)
            let places = names.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
            try await platform.sql(
                "INSERT INTO \(table) (\(names.joined(separator: ", "))) VALUES (\(places))",
                [.bytea(id.bytes)] + values.map(\.1))
            return id
        }
        let event = ("event", PostgresParameter.bytea(platform.event.bytes))
        let draft = ("event", PostgresParameter.bytea(platform.draft.bytes))
        let session = try await insert("session", [event, ("title", "Opening"), ("state", "accepted")])
        let pending = try await insert("session", [event, ("title", "pending-session-k3q9"), ("state", "pending")])
        _ = try await insert("session", [draft, ("title", "draft-session-k3q9"), ("state", "accepted")])
        let ticket = try await insert(
            "ticket", [event, ("name", "Regular"), ("rank", "a1"), ("price", 1_000), ("quantity", 10)])
        _ = try await insert("ticket", [event, ("name", "hidden-ticket-k3q9"), ("rank", "a2"), ("is_hidden", true)])
        let speaker = try await insert(
            "speaker", [event, ("name", "Ada"), (#""user""#, .bytea(try platform.id(of: "stranger").bytes))])
        let hidden = try await insert("speaker", [draft, ("name", "draft-speaker-k3q9")])
        let contact = try await insert(
            "speaker_contact",
            [
                event, ("speaker", .bytea(speaker.bytes)), ("email", "contact-k3q9@secret.example"),
                ("mobile", "+49 555 k3q9 mobile"),
            ])
        // A speaker of another event, linked before the database refused such links.
        try await platform.sql("ALTER TABLE session_speakers DISABLE TRIGGER tombolo_within_event")
        for (rank, target) in [("a1", speaker), ("a2", hidden)] {
            _ = try await insert(
                "session_speakers",
                [("owner", .bytea(session.bytes)), ("rank", .text(rank)), ("target", .bytea(target.bytes))])
        }
        try await platform.sql("ALTER TABLE session_speakers ENABLE ALWAYS TRIGGER tombolo_within_event")
        func order(_ identifier: String, of buyer: String) async throws -> ObjectId {
            try await insert(
                "orders",
                [
                    event, ("ticket", .bytea(ticket.bytes)), ("identifier", .text(identifier)), ("state", "placed"),
                    ("buyer", .bytea(try platform.id(of: buyer).bytes)), ("amount", 1_000),
                ])
        }
        _ = try await order("order-k3q9", of: "stranger")
        let own = try await order("own", of: "attendee")
        let listing = try await platform.insertListing("public", price: 1)
        return Planted(
            session: session, pending: pending, listing: listing, ticket: ticket, contact: contact, order: own)
    }

    /// Every row of every class, credentials and roles included, except those that the attendee may edit.
    private func protected(_ platform: Platform) async throws -> [String] {
        let own = try platform.id(of: "attendee").stringValue
        let queries =
            Platform.schema.classes.map(\.table).filter { $0 != "listing" }.map { table in
                let condition = table == "users" ? "_id <> '\\x\(own)'" : "true"
                return "SELECT '\(table) ' || t::text FROM \(PostgresSQL.quoteIdentifier(table)) t WHERE \(condition)"
            } + ["SELECT 'credential ' || t::text FROM tombolo.credential t"]
        var rows: [String] = []
        for query in queries { rows += try await platform.sql(query).map { try $0[0].string } }
        return rows.sorted()
    }

    @Test
    func `An attendee's device that asks for everything and writes everything gets and changes only what it may`()
        async throws
    {
        try await Platform.with { platform in
            let planted = try await plant(platform)
            let before = try await protected(platform)
            let classes = Platform.schema.classes.filter { $0.owner == nil }.map(\.name)
            let device = try await platform.device("hostile", of: "attendee")
            try await device.ask(["subscribe"] + classes)
            #expect(try await device.ask("count", "Session") == "1")
            #expect(try await device.ask("count", "User") == "1")
            #expect(try await device.ask("count", "SpeakerContact") == "0")
            #expect(try await device.ask("count", "Order") == "1")

            try await write(on: device, platform, planted)
            let own = try platform.id(of: "attendee").stringValue
            try await device.ask("set", "User", own, "displayName=s:Renamed by its owner")
            try await platform.quiet([device])
            try await forge(platform, planted)

            #expect(try await protected(platform) == before)
            let price = try await platform.sql(
                "SELECT price FROM listing WHERE _id = $1", [.bytea(planted.listing.bytes)])
            #expect(try price[0, 0].int == 1)
            let name = try await platform.sql(
                "SELECT display_name, email FROM users WHERE _id = $1", [.bytea(try platform.id(of: "attendee").bytes)])
            #expect(try name[0, 0].string == "Renamed by its owner")
            #expect(try name[0, 1].string == Platform.email("attendee"))

            try await platform.quiet([device])
            let comparison = Comparison(platform: platform)
            #expect(try await comparison.differences("Listing", on: device) == [])
            #expect(
                try await comparison.differences("Session", where: "state = 'accepted' AND is_public", on: device) == []
            )
            #expect(
                try await comparison.differences("Ticket", where: "NOT is_hidden AND is_public", on: device) == [])
            #expect(try await comparison.differences("User", where: "_id = '\\x\(own)'", on: device) == [])
            try await expectNoSecrets(platform, device)
            try await device.kill9()
        }
    }

    /// Attempts that the app's interface allows on a device. Each is a transaction that the server refuses.
    private func write(on device: DeviceProcess, _ platform: Platform, _ planted: Planted) async throws {
        let own = try platform.id(of: "attendee").stringValue
        let stranger = try platform.id(of: "stranger").stringValue
        let event = platform.event.stringValue
        let link = "event=o:Event:\(event)"
        let session = planted.session.stringValue
        func new() -> String { ObjectId.generate().stringValue }
        let attempts: [[String]] = [
            ["set", "Session", session, "title=s:Taken over"],
            ["set", "Event", event, "name=s:Taken over"],
            ["set", "Listing", planted.listing.stringValue, "price=i:77"],
            ["create", "Listing", new(), "location=s:mine"],
            ["erase", "Listing", planted.listing.stringValue],
            ["set", "Ticket", planted.ticket.stringValue, "price=i:0"],
            ["create", "Session", new(), "title=s:Smuggled in", link],
            ["create", "Ticket", new(), "name=s:Free for me", "rank=s:a0", link],
            ["create", "Order", new(), "identifier=s:for me", "state=s:completed", "buyer=o:User:\(own)", link],
            ["set", "Order", planted.order.stringValue, "amount=i:0", "state=s:completed"],
            ["create", "Event", new(), "name=s:My event"],
            ["create", "RoleAssignment", new(), "user=o:User:\(own)", "role=s:superAdmin"],
            ["create", "RoleAssignment", new(), "user=o:User:\(own)", "role=s:owner", link],
            ["create", "SpeakerContact", new(), "email=s:mine@example.org", link],
            ["create", "User", stranger, "email=s:taken@example.org", "displayName=s:Taken over"],
            ["create", "User", new(), "email=s:second@example.org", "displayName=s:A second account"],
            ["create", "SpeakerContact", planted.contact.stringValue, "email=s:taken@example.org"],
            ["create", "Session", planted.pending.stringValue, "title=s:Taken over", "state=s:accepted"],
            ["erase", "Session", session],
            ["erase", "Ticket", planted.ticket.stringValue],
            ["erase", "Order", planted.order.stringValue],
            ["erase", "Event", event],
        ]
        for attempt in attempts { try await device.ask(attempt) }
        try await device.ask("upload")
        let problems = try await device.ask("problems").split(separator: "\t")
        let refused = problems.flatMap { problem -> [Substring] in
            let numbers = problem.split(separator: "[").dropFirst().first?.split(separator: "]").first
            return problem.hasPrefix("writeRejected") ? numbers?.split(separator: ",") ?? [] : []
        }
        #expect(Set(refused).count == attempts.count, "\(problems)")
    }

    /// Instructions that a device without our code can upload, for objects that it doesn't have.
    private func forge(_ platform: Platform, _ planted: Planted) async throws {
        let schema = Platform.schema
        let codec = MessageCodec(schema: schema)
        func reference(_ name: String, _ id: ObjectId) throws -> ObjectReference {
            ObjectReference(classIndex: try #require(schema.index(of: name)), key: .objectId(id))
        }
        func set(_ name: String, _ id: ObjectId, _ property: String, _ value: Value) throws -> Instruction {
            let column = try #require(schema[name]?.columnIndex(property))
            return .set(try reference(name, id), [FieldWrite(column: column, value: value)])
        }
        let elements = try await platform.sql("SELECT _id FROM session_speakers ORDER BY rank")
        let element = try #require(ObjectId(bytes: try elements[0, 0].bytes))
        let role = try await platform.sql("SELECT _id FROM role_assignment")
        let assignment = try #require(ObjectId(bytes: try role[0, 0].bytes))
        let price = try #require(schema["Ticket"]?.columnIndex("price"))
        let instructions: [Instruction] = [
            .erase(try reference("User", try platform.id(of: "stranger"))),
            .erase(try reference("SpeakerContact", planted.contact)),
            .erase(try reference("Session.speakers", element)),
            try set("User", try platform.id(of: "stranger"), "email", .string("forged@example.org")),
            try set("RoleAssignment", assignment, "user", .objectId(try platform.id(of: "attendee"))),
            try set("Session", planted.pending, "state", .string("accepted")),
            try set("Session.speakers", element, "rank", .string("z")),
            try set("Event", platform.draft, "state", .string("published")),
            .add(try reference("Ticket", planted.ticket), column: price, amount: -1_000),
        ]
        let changesets = instructions.enumerated().map { index, instruction in
            Changeset(
                number: Int64(index + 1), base: 0, stamp: Stamp(microseconds: 1), instructions: [instruction])
        }
        let token = try platform.token(of: "attendee")
        let subscriptions = schema.classes.filter { $0.owner == nil }.map {
            Subscription(name: nil, className: $0.name, predicate: .constant(true))
        }
        let received = try await RawSocket.with(platform.gateways[0]) { socket in
            var received: [UInt8] = []
            var isUploaded = false
            try await socket.send(
                Greeting.hello(schema, token: token, client: Greeting.newClient(), subscriptions: subscriptions),
                codec: codec)
            while case .message(let bytes) = try await socket.next() {
                received += bytes
                guard case .end(let end) = try codec.decodeServerMessage(bytes) else { continue }
                if end.acknowledged >= Int64(changesets.count) { break }
                try await socket.send(.applied(tick: end.position.tick), codec: codec)
                if !isUploaded {
                    isUploaded = true
                    let based = changesets.map { changeset in
                        var changeset = changeset
                        changeset.base = end.position.tick
                        return changeset
                    }
                    try await socket.send(.upload(based), codec: codec)
                }
            }
            return received
        }
        for secret in Self.secrets { #expect(!Data(received).contains(secret), "\(secret) was sent") }
    }

    private func expectNoSecrets(_ platform: Platform, _ device: DeviceProcess) async throws {
        let bytes = try DeviceFile.bytes(device.file)
        #expect(bytes.contains("Opening"), "the search doesn't find a text that is there")
        for secret in Self.secrets { #expect(!bytes.contains(secret), "\(secret) is in the device's file") }
        for user in ["attendee", "organizer", "stranger"] {
            #expect(!bytes.contains(try platform.token(of: user)), "a token is in the device's file")
        }
        for row in try await platform.sql("SELECT key, salt FROM tombolo.credential") {
            for cell in [row[0], row[1]] {
                let secret = Data(try cell.bytes)
                #expect(bytes.range(of: secret) == nil, "a password hash is in the device's file")
                #expect(!bytes.contains(secret.map { String(format: "%02x", $0) }.joined()))
            }
        }
    }
}

extension Data {
    fileprivate func contains(_ text: String) -> Bool { range(of: Data(text.utf8)) != nil }
}
