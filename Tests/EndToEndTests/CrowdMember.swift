import Foundation
import NIOHTTP1
import PostgresClient
import RandomValues
import TomboloModel

/// One of a crowd: a user with a role who does random things at an admin server.
struct CrowdMember: Sendable {
    enum Role: String, Sendable {
        case superAdmin, admin, organizer
    }

    let role: Role
    let call: AdminClient
    let stage: CrowdStage

    func act(_ count: Int, seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<count {
            let ticket = stage.tickets[Int.random(in: 0..<stage.tickets.count, using: &generator)]
            let speaker = stage.speakers[Int.random(in: 0..<stage.speakers.count, using: &generator)]
            let counter = stage.counters[Int.random(in: 0..<stage.counters.count, using: &generator)]
            let thing = stage.things[Int.random(in: 0..<stage.things.count, using: &generator)]
            switch (role, Int.random(in: 0..<7, using: &generator)) {
            case (.superAdmin, 0): try await changeMatrix("create")
            case (.superAdmin, 1): try await makeAndPurge()
            case (.superAdmin, 2), (.admin, 2): try await restore(thing)
            case (.superAdmin, 3), (.admin, 3): try await trash(thing)
            case (.superAdmin, 4): try await purgeAndRestore(thing, atOnce: Bool.random(using: &generator))
            case (.admin, 0): try await tryWhatOnlySuperAdministratorsMay(thing)
            case (.admin, _): try await rename()
            case (.organizer, 0): try await deleteByAPI(speaker)
            case (.organizer, 1): try await change(counter, to: Int.random(in: 2..<99, using: &generator))
            default: try await add(ticket)
            }
        }
    }

    // MARK: Edits

    /// Adds one to a ticket's quantity optimistically: reads it, adds one, and writes it if nobody else has written
    /// meanwhile.
    private func add(_ ticket: ObjectId) async throws {
        for _ in 0..<200 {
            let found = try await call(.GET, "/api/tickets/\(ticket)")
            stage.expect(found, [200], "GET a ticket")
            guard let tag = found.tag, let quantity = found.number("data.attributes.quantity") else { return }
            let body =
                #"{"data": {"type": "tickets", "id": "\#(ticket)", "attributes": {"quantity": \#(quantity + 1)}}}"#
            let changed = try await call(.PATCH, "/api/tickets/\(ticket)", body, ifMatch: tag)
            stage.expect(changed, [200, 412], "PATCH a ticket")
            if changed.status == 200 {
                stage.note { $0.additions[ticket, default: 0] += 1 }
                return
            }
        }
        stage.note { $0.unexpected.append("a ticket was changed 200 times by others meanwhile") }
    }

    /// Changes a property that devices don't write, in a row that they increment all the time.
    private func change(_ counter: ObjectId, to number: Int) async throws {
        stage.note { $0.bedrooms[counter, default: []].insert(number) }
        let body = #"{"data": {"type": "listings", "id": "\#(counter)", "attributes": {"bedrooms": \#(number)}}}"#
        stage.expect(try await call(.PATCH, "/api/listings/\(counter)", body), [200], "PATCH a counter")
    }

    /// Increments the number in the event's name.
    private func rename() async throws {
        let path = "/api/events/\(stage.platform.event)"
        for _ in 0..<200 {
            let found = try await call(.GET, path)
            stage.expect(found, [200], "GET the event")
            guard let tag = found.tag, let name = found.text("data.attributes.name") else { return }
            let number = name.split(separator: " ").last.flatMap { Int($0) } ?? 0
            let body =
                #"{"data": {"type": "events", "id": "\#(stage.platform.event)", "#
                + #""attributes": {"name": "Island Days \#(number + 1)"}}}"#
            let changed = try await call(.PATCH, path, body, ifMatch: tag)
            stage.expect(changed, [200, 412], "PATCH the event")
            if changed.status == 200 {
                stage.note { $0.renamings += 1 }
                return
            }
        }
        stage.note { $0.unexpected.append("the event was changed 200 times by others meanwhile") }
    }

    private func changeMatrix(_ operation: String) async throws {
        for _ in 0..<100 {
            let found = try await call(.GET, "/admin/permissions?app=conference")
            stage.expect(found, [200], "GET the matrix")
            guard let tag = found.tag else { return }
            let isAllowed =
                ((try? JSONSerialization.jsonObject(with: found.body) as? [String: Any])?["permissions"]
                as? [String: [String: [String: Bool]]])?["moderator"]?["sponsors"]?[operation] ?? false
            let changed = try await call(
                .PATCH, "/admin/permissions?app=conference", Self.box(operation, !isAllowed), ifMatch: tag)
            stage.expect(changed, [200, 412], "PATCH the matrix")
            if changed.status == 200 {
                stage.note { $0.matrixChanges += 1 }
                return
            }
        }
        stage.note { $0.unexpected.append("the matrix was changed 100 times by others meanwhile") }
    }

    private static func box(_ operation: String, _ isAllowed: Bool) -> String {
        #"{"role": "moderator", "service": "sponsors", "operation": "\#(operation)", "allowed": \#(isAllowed)}"#
    }

    // MARK: The trash

    private func deleteByAPI(_ speaker: ObjectId) async throws {
        stage.expect(try await call(.DELETE, "/api/speakers/\(speaker)"), [204, 404], "delete a speaker")
    }

    private func trash(_ thing: CrowdStage.Thing) async throws {
        let answer = try await call(.POST, "/admin/\(thing.collection)/\(thing.id)/trash")
        stage.expect(answer, [200, 404], "trash one of \(thing.collection)")
    }

    /// The trash group that a thing is in, or nil if it isn't in the trash.
    private func group(of thing: CrowdStage.Thing) async throws -> String? {
        let found = try await stage.platform.sql(
            "SELECT trash_group::text FROM \(thing.table) WHERE _id = $1", [.bytea(thing.id.bytes)])
        return try found.first?[0].nonNull?.string
    }

    private func restore(_ thing: CrowdStage.Thing) async throws {
        guard let group = try await group(of: thing) else { return }
        let answer = try await call(.POST, "/admin/trash/\(group)/restore")
        stage.expect(answer, [200, 404], "restore one of \(thing.collection)")
    }

    /// Deletes a group for ever and restores it, at the same time or one after the other. One of the two succeeds, or
    /// neither if another caller was faster.
    private func purgeAndRestore(_ thing: CrowdStage.Thing, atOnce: Bool) async throws {
        try await trash(thing)
        guard let group = try await group(of: thing) else { return }
        async let purging = call(.DELETE, "/admin/trash/\(group)")
        // If restoring won every time, nothing would ever be deleted for ever.
        if !atOnce { _ = try await purging }
        async let restoring = call(.POST, "/admin/trash/\(group)/restore")
        let (purged, restored) = (try await purging, try await restoring)
        stage.expect(purged, [200, 404], "delete one of \(thing.collection) for ever")
        stage.expect(restored, [200, 404], "restore one of \(thing.collection) that is deleted for ever")
        stage.note { deeds in
            if purged.status == 200 { deeds.gone.insert(thing.id) }
            if purged.status == 200, restored.status == 200 {
                deeds.unexpected.append("\(thing.collection) \(thing.id) was restored and deleted for ever")
            }
        }
    }

    /// Makes a track, moves it to the trash, and deletes it there for ever.
    private func makeAndPurge() async throws {
        let event = stage.platform.event
        let made = try await call(
            .POST, "/api/tracks",
            #"{"data": {"type": "tracks", "attributes": {"name": "Passing"}, "relationships": {"event": {"data": "#
                + #"{"type": "events", "id": "\#(event)"}}}}}"#)
        stage.expect(made, [201], "make a track")
        guard let id = made.text("data.id").flatMap({ try? ObjectId(string: $0) }) else { return }
        stage.note { $0.made.insert(id) }
        stage.expect(try await call(.DELETE, "/api/tracks/\(id)"), [204], "delete a track")
        stage.expect(try await call(.DELETE, "/admin/trash/\(id)"), [200], "delete a track for ever")
        stage.note { $0.purged.insert(id) }
    }

    private func tryWhatOnlySuperAdministratorsMay(_ thing: CrowdStage.Thing) async throws {
        let box = try await call(
            .PATCH, "/admin/permissions?app=conference", Self.box("delete", true), ifMatch: "*")
        stage.expect(box, [403], "PATCH the matrix as an administrator")
        let purged = try await call(.DELETE, "/admin/trash/\(thing.id)")
        stage.expect(purged, [403], "delete for ever as an administrator")
        let ticket = stage.tickets[0]
        let changed = try await call(
            .PATCH, "/api/tickets/\(ticket)",
            #"{"data": {"type": "tickets", "id": "\#(ticket)", "attributes": {"quantity": 0}}}"#)
        stage.expect(changed, [403, 404], "PATCH a ticket as an administrator")
    }
}
