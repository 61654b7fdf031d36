import AsyncHTTPClient
import Foundation
import NIOHTTP1
import PostgresClient
import RandomValues
import Synchronization
import Testing
import TomboloAuthentication
import TomboloModel

/// A hundred administrators and organizers edit, trash, restore, delete for ever and change the matrix at once, while
/// devices synchronise: no update is lost, no group is torn, and every change of the matrix is a version of its own.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct CrowdOfAdminsTests {
    private static let crowdCount = 100
    /// Of each.
    private static let actionCount = ProcessInfo.processInfo.environment["TOMBOLO_LONG_TESTS"] == "1" ? 50 : 5
    private static let (ticketCount, speakerCount) = (6, 6)

    /// What must be found in the end.
    private struct Deeds {
        /// By ticket, how often one was added.
        var additions: [ObjectId: Int] = [:]
        var matrixChanges = 0
        var purged: Set<ObjectId> = []
        var made: Set<ObjectId> = []
        var unexpected: [String] = []
    }

    private struct Stage: Sendable {
        let platform: Platform
        let url: String
        let tickets: [ObjectId]
        let speakers: [ObjectId]
        let deeds = DeedBook()
    }

    private final class DeedBook: Sendable {
        private let deeds = Mutex(Deeds())

        var all: Deeds { deeds.withLock { $0 } }

        func note(_ change: @Sendable (inout Deeds) -> Void) { deeds.withLock { change(&$0) } }

        func expect(_ answer: AdminClient.Answer, _ statuses: [Int], _ what: String) {
            guard !statuses.contains(answer.status) else { return }
            let text = String(decoding: answer.body.prefix(500), as: UTF8.self)
            note { $0.unexpected.append("\(what): \(answer.status) \(text)") }
        }
    }

    // MARK: Actions

    /// Adds one to a ticket's quantity, as somebody does who reads, adds, and writes if nobody was faster.
    private static func add(_ ticket: ObjectId, _ call: AdminClient, _ stage: Stage) async throws {
        for _ in 0..<200 {
            let found = try await call(.GET, "/api/tickets/\(ticket)")
            stage.deeds.expect(found, [200], "GET a ticket")
            guard let tag = found.tag, let quantity = found.number("data.attributes.quantity") else { return }
            let body =
                #"{"data": {"type": "tickets", "id": "\#(ticket)", "attributes": {"quantity": \#(quantity + 1)}}}"#
            let changed = try await call(.PATCH, "/api/tickets/\(ticket)", body, ifMatch: tag)
            stage.deeds.expect(changed, [200, 412], "PATCH a ticket")
            if changed.status == 200 {
                stage.deeds.note { $0.additions[ticket, default: 0] += 1 }
                return
            }
        }
        stage.deeds.note { $0.unexpected.append("a ticket was changed 200 times by others meanwhile") }
    }

    private static func trash(_ speaker: ObjectId, _ call: AdminClient, _ stage: Stage) async throws {
        let answer = try await call(.POST, "/admin/speakers/\(speaker)/trash")
        stage.deeds.expect(answer, [200, 404], "trash a speaker")
    }

    private static func restore(_ speaker: ObjectId, _ call: AdminClient, _ stage: Stage) async throws {
        let found = try await stage.platform.sql(
            "SELECT trash_group::text FROM speaker WHERE _id = $1", [.bytea(speaker.bytes)])
        guard let group = try found.first?[0].nonNull?.string else { return }
        let answer = try await call(.POST, "/admin/trash/\(group)/restore")
        stage.deeds.expect(answer, [200, 404], "restore a speaker")
    }

    /// Makes a track, and deletes it for ever by way of the trash.
    private static func makeAndPurge(_ call: AdminClient, _ stage: Stage) async throws {
        let event = stage.platform.event
        let made = try await call(
            .POST, "/api/tracks",
            #"{"data": {"type": "tracks", "attributes": {"name": "Passing"}, "relationships": {"event": {"data": "#
                + #"{"type": "events", "id": "\#(event)"}}}}}"#)
        stage.deeds.expect(made, [201], "make a track")
        guard let id = made.text("data.id").flatMap({ try? ObjectId(string: $0) }) else { return }
        stage.deeds.note { $0.made.insert(id) }
        let trashed = try await call(.DELETE, "/api/tracks/\(id)")
        stage.deeds.expect(trashed, [204], "delete a track")
        let purged = try await call(.DELETE, "/admin/trash/\(id)")
        // Somebody may have emptied the trash.
        stage.deeds.expect(purged, [200, 404], "delete a track for ever")
        stage.deeds.note { $0.purged.insert(id) }
    }

    private static func changeMatrix(_ operation: String, _ call: AdminClient, _ stage: Stage) async throws {
        for _ in 0..<100 {
            let found = try await call(.GET, "/admin/permissions?app=conference")
            stage.deeds.expect(found, [200], "GET the matrix")
            guard let tag = found.tag else { return }
            let isAllowed =
                ((try? JSONSerialization.jsonObject(with: found.body) as? [String: Any])?["permissions"]
                as? [String: [String: [String: Bool]]])?["moderator"]?["sponsors"]?[operation] ?? false
            let body =
                #"{"role": "moderator", "service": "sponsors", "operation": "\#(operation)", "allowed": \#(!isAllowed)}"#
            let changed = try await call(.PATCH, "/admin/permissions?app=conference", body, ifMatch: tag)
            stage.deeds.expect(changed, [200, 412], "PATCH the matrix")
            if changed.status == 200 {
                stage.deeds.note { $0.matrixChanges += 1 }
                return
            }
        }
        stage.deeds.note { $0.unexpected.append("the matrix was changed 100 times by others meanwhile") }
    }

    private static func act(
        _ number: Int, _ call: AdminClient, isSuperAdmin: Bool, seed: UInt64, _ stage: Stage
    ) async throws {
        var generator = SeededGenerator(seed: seed &+ UInt64(number))
        for _ in 0..<actionCount {
            let ticket = stage.tickets[Int.random(in: 0..<ticketCount, using: &generator)]
            let speaker = stage.speakers[Int.random(in: 0..<speakerCount, using: &generator)]
            switch (Int.random(in: 0..<6, using: &generator), isSuperAdmin) {
            case (0, true): try await changeMatrix("create", call, stage)
            case (1, true): try await makeAndPurge(call, stage)
            case (2, true): try await restore(speaker, call, stage)
            case (2, false): try await deleteByAPI(speaker, call, stage)
            case (3, true): try await trash(speaker, call, stage)
            default: try await add(ticket, call, stage)
            }
        }
    }

    private static func deleteByAPI(_ speaker: ObjectId, _ call: AdminClient, _ stage: Stage) async throws {
        let answer = try await call(.DELETE, "/api/speakers/\(speaker)")
        stage.deeds.expect(answer, [204, 404], "delete a speaker")
    }

    // MARK: The stage

    /// Tickets to add to, and speakers with two contacts each.
    private static func insert(_ platform: Platform) async throws -> (tickets: [ObjectId], speakers: [ObjectId]) {
        let tickets = (0..<ticketCount).map { _ in ObjectId.generate() }
        let speakers = (0..<speakerCount).map { _ in ObjectId.generate() }
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
        return (tickets, speakers)
    }

    /// - Returns: access tokens, those of super administrators first.
    private static func crowd(_ platform: Platform) async throws -> [(token: String, isSuperAdmin: Bool)] {
        let authenticator = await Authenticator(
            pool: platform.pool, tokens: try TokenConfiguration(secret: Platform.secret),
            hasher: PasswordHasher(parameters: .weakForTests))
        var crowd: [(String, Bool)] = []
        for number in 0..<crowdCount {
            let isSuperAdmin = number < crowdCount / 3
            let email = "crowd.\(number)@example.org"
            let id = try await authenticator.register(email: email, password: Platform.password, displayName: email)
            try await platform.sql(
                #"INSERT INTO role_assignment (_id, "user", role, event) VALUES ($1, $2, $3, $4)"#,
                [
                    .bytea(ObjectId.generate().bytes), .bytea(id.bytes),
                    .text(isSuperAdmin ? "superAdmin" : "organizer"),
                    .bytea(isSuperAdmin ? nil : platform.event.bytes),
                ])
            crowd.append(
                (try await authenticator.login(email: email, password: Platform.password).token, isSuperAdmin))
        }
        return crowd
    }

    @Test("a hundred administrators and organizers at once lose no update and tear no group, while devices synchronise")
    func crowd() async throws {
        var generator = SeededGenerator.printed(for: "a crowd of administrators")
        let seed = generator.next()
        try await Platform.with(settings: ["TOMBOLO_CONNECTIONS_PER_ADDRESS": "1000"]) { platform in
            let (tickets, speakers) = try await Self.insert(platform)
            let crowd = try await Self.crowd(platform)
            let versions = "SELECT count(*) FROM tombolo.document WHERE app = 'conference' AND kind = 'rules'"
            let before = try await platform.count(versions)
            var devices: [DeviceProcess] = []
            for name in ["A", "B"] {
                let device = try await platform.device(name, of: "organizer")
                try await device.ask("subscribe", "Listing", "Ticket", "Speaker", "SpeakerContact", "Track", "Session")
                devices.append(device)
            }
            let counters = [try await platform.insertListing("counter"), try await platform.insertListing("counter")]
            try await platform.quiet(devices)
            for (index, device) in devices.enumerated() {
                try await device.ask(
                    ["edit", "\(seed &+ UInt64(index))"] + counters.map(\.stringValue))
            }
            try await AdminProcess.with(platform) { url in
                let stage = Stage(platform: platform, url: url, tickets: tickets, speakers: speakers)
                try await AdminClient.withClient(connections: Self.crowdCount) { client in
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for (number, person) in crowd.enumerated() {
                            group.addTask {
                                try await Self.act(
                                    number, AdminClient(url: url, token: person.token, client: client),
                                    isSuperAdmin: person.isSuperAdmin, seed: seed, stage)
                            }
                        }
                        try await group.waitForAll()
                    }
                }
                for device in devices { try await device.ask("rest") }
                try await Self.check(stage, versions: try await platform.count(versions) - before)
            }
            try await platform.quiet(devices)
            try await platform.checkAudit()
            for device in devices {
                for (ticket, speaker) in zip(tickets, speakers) {
                    let quantity = try await platform.sql(
                        "SELECT quantity FROM ticket WHERE _id = $1", [.bytea(ticket.bytes)])[0, 0].int64
                    #expect(try await device.ask("get", "Ticket", ticket.stringValue, "quantity") == "\(quantity)")
                    let isLive = try await platform.sql(
                        "SELECT trashed_at IS NULL FROM speaker WHERE _id = $1", [.bytea(speaker.bytes)])[0, 0].bool
                    let has = (try? await device.ask("get", "Speaker", speaker.stringValue, "name")) != nil
                    #expect(has == isLive, "speaker \(speaker) on device \(device.name)")
                }
                try await device.kill9()
            }
        }
    }

    private static func check(_ stage: Stage, versions: Int64) async throws {
        let deeds = stage.deeds.all
        #expect(deeds.unexpected.isEmpty, "\(deeds.unexpected.prefix(5))")
        #expect(deeds.additions.values.reduce(0, +) > 100 && deeds.matrixChanges > 5 && deeds.purged.count > 5)
        for ticket in stage.tickets {
            let quantity = try await stage.platform.sql(
                "SELECT quantity FROM ticket WHERE _id = $1", [.bytea(ticket.bytes)])[0, 0].int
            #expect(quantity == deeds.additions[ticket] ?? 0, "ticket \(ticket)")
        }
        #expect(versions == Int64(deeds.matrixChanges))
        let torn = try await stage.platform.sql(
            """
            SELECT count(*) FROM speaker s JOIN speaker_contact c ON c.speaker = s._id
            WHERE (s.trashed_at, s.trash_group) IS DISTINCT FROM (c.trashed_at, c.trash_group)
            """)[0, 0].int
        #expect(torn == 0, "contacts that went another way than their speaker")
        let left = try await stage.platform.sql(
            "SELECT count(*) FROM track WHERE _id = ANY ($1)", [.byteaArray(deeds.made.map(\.bytes))])[0, 0].int
        #expect(left == 0, "tracks that were deleted for ever")
    }
}
