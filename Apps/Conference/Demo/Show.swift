import Foundation

/// The five steps of the demo, each of them checked.
struct Show: Sendable {
    let stage: Stage
    /// How long devices may take until they have what the server has.
    static let patience = Duration.seconds(30)

    func run() async throws {
        let event = try await stage.sql("SELECT encode(_id, 'hex') FROM event ORDER BY _id LIMIT 1")
        try await devicesSubscribe(to: event)
        try await editsMerge(in: event)
        try await homeListings()
        try await ticketMoves(of: event)
        try await sessionGoesToTheTrash(of: event)
    }

    // MARK: 2

    private func devicesSubscribe(to event: String) async throws {
        say("\n2. Devices A and B log in and subscribe to the event's sessions, speakers and rooms\n")
        for device in [stage.a, stage.b] {
            _ = try await device.ask("login", stage.gateway, Stage.organizer.email, Stage.organizer.password)
            let summary = try await device.ask("subscribe-event", event)
            say("   \(device.name) has \(summary)")
        }
        let schedules = try await (stage.a.ask("schedule"), stage.b.ask("schedule"))
        try require(schedules.0 == schedules.1, "A and B show different schedules")
        let lines = schedules.0.split(separator: "\t")
        try require(!lines.isEmpty, "the schedule is empty")
        say("\n   Both show the same schedule of \(lines.count) sessions, with rooms and speakers:")
        for line in lines.prefix(4) { say("     \(line)") }
        say("     …")
        try await proveEqual(event, showSQL: true)
    }

    // MARK: 3

    private func editsMerge(in event: String) async throws {
        say("\n3. B goes offline; A, B and plain SQL edit; B comes back\n")
        let sessions = try await stage.sql(
            "SELECT encode(_id, 'hex') FROM session WHERE event = '\\x\(event)' ORDER BY _id LIMIT 3"
        ).split(separator: "\n").map(String.init)
        try require(sessions.count == 3, "the event has fewer than three sessions")
        let room = try await stage.sql(
            "SELECT encode(_id, 'hex') FROM microlocation WHERE event = '\\x\(event)' "
                + "AND _id <> coalesce((SELECT room FROM session WHERE _id = '\\x\(sessions[0])'), '') "
                + "ORDER BY _id LIMIT 1")
        _ = try await stage.b.ask("offline")
        _ = try await stage.a.ask("rename", sessions[0], "Renamed by A")
        _ = try await stage.b.ask("move-to-room", sessions[0], room)
        _ = try await stage.b.ask("rename", sessions[1], "Renamed by B, offline")
        let moved =
            "UPDATE session SET starts_at = starts_at + interval '1 hour', ends_at = ends_at + interval '1 hour' "
            + "WHERE _id = '\\x\(sessions[2])'"
        say("   A renames a session. B, offline, moves the same session to another room and renames another.")
        say("   psql: \(moved)")
        try await stage.sql(moved)
        _ = try await stage.b.ask("online")
        _ = try await stage.b.ask("wait-for-upload")
        _ = try await stage.a.ask("wait-for-upload")
        try await eventually("A's title and B's room on one session, and B's title on another") {
            try await stage.sql(
                "SELECT count(*) FROM session WHERE (_id = '\\x\(sessions[0])' AND title = 'Renamed by A' "
                    + "AND room = '\\x\(room)') OR (_id = '\\x\(sessions[1])' AND title = 'Renamed by B, offline')"
            ) == "2"
        }
        say("   B is back: both edits of the one session are kept, field by field.")
        try await proveEqual(event, showSQL: false)
    }

    // MARK: 4

    private func homeListings() async throws {
        say("\n4. Home listings, as in the announcement of Flexible Sync\n")
        let onServer = "SELECT count(*) FROM listing WHERE location = 'dallas' AND price < 300000 AND bedrooms >= 3"
        let server = try await stage.sql(onServer)
        let subscribed = try await stage.a.ask("subscribe-homes")
        say("   after subscribing:             \(subscribed) listings on the device")
        let removed = try await stage.a.ask("unsubscribe-homes")
        say("   after removing it:             \(removed)")
        let still = try await stage.sql(onServer)
        say("   still on the server:           \(still)    \(onServer)")
        try require(subscribed == "100" && server == "100", "expected 100 Dallas listings")
        try require(removed == "0", "listings stayed on the device")
        try require(still == "100", "listings left the server")
    }

    // MARK: 5

    private func ticketMoves(of event: String) async throws {
        say("\n5. The organizer moves a ticket; the admin server trashes and restores a session\n")
        let token = try await HTTP.login(stage.gateway, Stage.organizer.email, Stage.organizer.password)
        let before = try await stage.a.ask("tickets")
        let list = try await HTTP.tickets(stage.tickets, event, token)
        guard let last = list.last else { throw DemoFailure("the event has no tickets") }
        try await HTTP.call(
            "POST", "\(stage.tickets)/tickets/\(last.id)/move", token, body: #"{"first": true}"#)
        say("   before: \(before)")
        let expected = ([last] + list.dropLast()).map(\.name)
        let page = try await HTTP.page("\(stage.tickets)/events/\(event)")
        try require(HTTP.appear(expected, inOrderIn: page), "the public page doesn't show the new order")
        say("   after:  \(expected.joined(separator: ", "))   (ticket API and public page)")
        for device in [stage.a, stage.b] {
            try await eventually("the new order of tickets on \(device.name)") {
                try await device.ask("tickets") == expected.joined(separator: ", ")
            }
        }
        say("   Both devices show the new order.")
    }

    private func sessionGoesToTheTrash(of event: String) async throws {
        let session = try await stage.sql(
            "SELECT encode(session._id, 'hex') FROM session JOIN session_speakers ON owner = session._id "
                + "WHERE event = '\\x\(event)' ORDER BY session._id LIMIT 1")
        let before = try await stage.a.ask("schedule")
        let token = try await HTTP.login(
            stage.gateway, Stage.administrator.email, Stage.administrator.password)
        try await HTTP.call("POST", "\(stage.admin)/admin/sessions/\(session)/trash", token)
        for device in [stage.a, stage.b] {
            try await eventually("the trashed session off \(device.name)") {
                try await device.ask("has-session", session) == "no"
            }
        }
        say("\n   The admin server trashed a session: it left both devices.")
        try await HTTP.call("POST", "\(stage.admin)/admin/trash/\(session)/restore", token)
        for device in [stage.a, stage.b] {
            try await eventually("the restored session, with room and speakers, on \(device.name)") {
                try await device.ask("schedule") == before
            }
        }
        say("   Restored: it is back with its room and speakers.")
        try await proveEqual(event, showSQL: false)
    }

    // MARK: Checks

    /// Checks, with each database's own tools, that the server and both devices have the same rows.
    private func proveEqual(_ event: String, showSQL: Bool) async throws {
        for proof in [Proof.sessions(of: event), Proof.speakers(of: event)] {
            if showSQL {
                say("\n   psql:\n\(indented(proof.postgresSQL))\n   sqlite3:\n\(indented(proof.sqliteSQL))")
            }
            try await eventually("equal \(proof.name) on the server and both devices") {
                let server = try await stage.sql(proof.postgresSQL)
                let onDevices = [
                    try await stage.sql(proof.sqliteSQL, on: stage.a),
                    try await stage.sql(proof.sqliteSQL, on: stage.b),
                ]
                return onDevices == [server, server]
            }
            say("   \(proof.name)")
            say("     psql      \(try await stage.sql(proof.postgresSQL))")
            say("     sqlite3 A \(try await stage.sql(proof.sqliteSQL, on: stage.a))")
            say("     sqlite3 B \(try await stage.sql(proof.sqliteSQL, on: stage.b))")
        }
    }

    private func indented(_ text: String) -> String {
        text.split(separator: "\n").map { "     \($0)" }.joined(separator: "\n")
    }

    private func require(_ condition: Bool, _ problem: String) throws {
        guard condition else { throw DemoFailure(problem) }
    }

    private func eventually(_ what: String, _ condition: () async throws -> Bool) async throws {
        let deadline = ContinuousClock.now + Self.patience
        while try await !condition() {
            guard ContinuousClock.now < deadline else {
                throw DemoFailure("after \(Self.patience), still waiting for \(what)")
            }
            try await Task.sleep(for: .milliseconds(50))
        }
    }
}
