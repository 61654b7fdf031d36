@testable import AdminService
import Foundation
import HTTPTypes
import HummingbirdTesting
import Logging
import NIOCore
import PostgresClient
import ServiceTestSupport
import TestSupport
import Testing
import TomboloAuthentication
import TomboloHTTP
@testable import TomboloJSONAPI
import TomboloMigration
import TomboloModel
import TomboloRules
import TomboloServerModel

@Suite("The trash handles objects with any kind of primary key")
struct TrashKeyTests {
    final class Ship: Object {
        @Persisted(primaryKey: true) var _id: String
        @Persisted var name: String

        override static func isTrashable() -> Bool { true }
        override static func uniqueProperties() -> [[String]] { [["name"]] }
    }

    final class Cabin: Object {
        @Persisted(primaryKey: true) var _id: Int
        @Persisted var ship: Ship?
        @Persisted var paintedAt: Date?

        override static func isTrashable() -> Bool { true }
        override static func uniqueProperties() -> [[String]] { [["paintedAt"]] }
    }

    final class Voyage: Object {
        @Persisted(primaryKey: true) var _id: UUID
        @Persisted var ship: Ship?

        override static func isTrashable() -> Bool { true }
    }

    final class Note: Object {
        @Persisted(primaryKey: true) var _id: ObjectId
        @Persisted var voyage: Voyage?

        override static func isTrashable() -> Bool { true }
    }

    /// Keys that must be encoded in addresses, and that look like another kind of key.
    static let ship = "North: 1/2 ü"
    static let number = "7"
    static let voyage = "0b0e5f0c-7a55-4c1c-9d58-9a4f4d0e5a11"
    static let note = "6a05d3fa0123456789abcdef"

    private static func run(_ body: @escaping @Sendable (AppSite) async throws -> Void) async throws {
        let documents = AppDocuments(
            models: try ModelDocument(
                app: "harbour", objectTypes: [Ship.self, Cabin.self, Voyage.self, Note.self]),
            rules: """
                version: 1
                defaultRoles:
                  - name: everybody
                    applyWhen: {}
                    read: true
                    write: true
                    operations: {trash: true, listTrash: true, restore: true, restoreWithValues: true, purge: true}

                """)
        try await AppSite.run(documents) { site in
            let link: JSON = ["type": "ships", "id": .string(ship)]
            try await site.make("ships", .string(ship), ["name": "Nora"])
            try await site.make("ships", "other", ["name": "Otto"])
            try await site.make("cabins", .string(number), to: ("ship", link))
            try await site.make("cabins", "8")
            try await site.make("voyages", .string(voyage), to: ("ship", link))
            try await site.make(
                "notes", .string(note), to: ("voyage", ["type": "voyages", "id": .string(voyage)]))
            try await body(site)
        }
    }

    private static func encode(_ text: String) -> String { RequestParameters.encode(text) }

    @Test("objects trashed together are listed by their keys, and restored together")
    func group() async throws {
        try await Self.run { site in
            let moved = try await site.call(.delete, "/api/ships/\(Self.encode(Self.ship))")
            #expect(moved.status == 204, "\(moved.text)")
            #expect(try await site.live() == [1, 1, 0, 0])
            let items = try await site.items()
            #expect(
                Set(items.compactMap { $0["address"]?.text }) == [
                    "Ship:\(Self.ship)", "Cabin:\(Self.number)", "Voyage:\(Self.voyage)", Self.note,
                ])
            #expect(
                Set(items.compactMap { $0["_id"]?.text }) == [Self.ship, Self.number, Self.voyage, Self.note])
            #expect(items.allSatisfy { $0["object"] != .null } && Set(items.map { $0["group"] }).count == 1)

            // One object alone, while the object it belongs to stays in the trash.
            let cabin = "/admin/trash/\(Self.encode("Cabin:\(Self.number)"))/restore"
            let alone = try await site.call(.post, cabin)
            #expect(alone.status == 409, "\(alone.text)")
            #expect(alone.json["details"]?["parent"]?["address"]?.text == "Ship:\(Self.ship)")
            #expect(try await site.call(.post, "/admin/trash/\(Self.encode("Cabin:x"))/restore").status == 404)
            #expect(try await site.call(.post, "/admin/trash/\(Self.encode("Cabin:8"))/restore").status == 404)
            #expect(try await site.call(.post, "/admin/trash/\(Self.number)/restore").status == 400)

            let group = try #require(items.first?["group"]?.text)
            let back = try await site.call(.post, "/admin/trash/\(group)/restore")
            #expect(back.status == 200 && back.json["count"] == 4, "\(back.text)")
            #expect(try await site.live() == [2, 2, 1, 1])
            #expect(
                try await site.pool.query(
                    "SELECT 1 FROM cabin c JOIN voyage v USING (ship) JOIN note n ON n.voyage = v._id"
                ).count == 1)
        }
    }

    @Test("a clash names the object's address, which is used for each choice")
    func clashes() async throws {
        try await Self.run { site in
            let path = "/admin/trash/\(Self.encode("Ship:\(Self.ship)"))/restore"
            #expect(try await site.call(.post, "/admin/ships/\(Self.encode(Self.ship))/trash").status == 200)
            try await site.make("ships", "third", ["name": "Nora"])
            let group = try #require(try await site.items().first?["group"]?.text)
            let clash = try await site.call(.post, "/admin/trash/\(group)/restore")
            let found = try #require(clash.json["details"]?["clashes"]?.list.first)
            #expect(found["address"]?.text == "Ship:\(Self.ship)" && found["live"] == "third", "\(clash.text)")
            #expect(found["choices"] == ["values", "leave", "swap"])
            let address = "Ship:\(Self.ship)"
            let renamed = try await site.call(.post, path, ["values": [address: ["name": "Nora II"]]])
            #expect(renamed.status == 200 && renamed.json["count"] == 1, "\(renamed.text)")

            #expect(try await site.call(.delete, "/ships/\(Self.encode(Self.ship))").status == 200)
            try await site.pool.execute("UPDATE ship SET name = 'Nora' WHERE _id = '\(Self.ship)'")
            let swapped = try await site.call(.post, path, ["swap": [.string(address)]])
            #expect(swapped.status == 200, "\(swapped.text)")
            #expect(
                try await site.pool.query("SELECT _id FROM ship WHERE trashed_at IS NOT NULL").map { try $0[0].string }
                    == ["third"])
        }
    }

    @Test("keys spelled with different code points belong to different objects")
    func spelling() async throws {
        try await Self.run { site in
            let (one, other) = ("Caf\u{E9}", "Cafe\u{301}")
            for (key, name) in [(one, "A"), (other, "B")] {
                try await site.make("ships", .string(key), ["name": .string(name)])
                #expect(try await site.call(.post, "/admin/ships/\(Self.encode(key))/trash").status == 200)
            }
            // Objects without a group of their own are addressed by key.
            try await site.pool.execute("UPDATE ship SET trash_group = NULL WHERE trashed_at IS NOT NULL")
            #expect(Set(try await site.items().map { $0["object"]?["name"]?.text }) == ["A", "B"])
            let groups = try await TrashGroups(schema: site.schema, hidden: [:], pool: site.pool)
                .page(1, filters: ["Ship": .constant(true)])
            #expect(groups.entries.map(\.count) == [1, 1])
            #expect(Set(groups.entries.compactMap { $0.head?.key }) == [.string(one), .string(other)])

            // One object of a group stays in the trash, and the other is restored.
            let group = UUID().uuidString
            try await site.pool.execute("UPDATE ship SET trash_group = '\(group)' WHERE trashed_at IS NOT NULL")
            let stays: JSON = ["leave": [.string("Ship:\(one)")]]
            let back = try await site.call(.post, "/admin/trash/\(group)/restore", stays)
            #expect(back.status == 200 && back.json["count"] == 1, "\(back.text)")
            let left = try await site.pool.query("SELECT octet_length(_id) FROM ship WHERE trashed_at IS NOT NULL")
            #expect(try left.map { try $0[0].int } == [one.utf8.count])

            // Restoring ship A doesn't bring back ship B, which the cabin belongs to.
            try await site.make("cabins", "9", to: ("ship", ["type": "ships", "id": .string(other)]))
            #expect(try await site.call(.post, "/admin/ships/\(Self.encode(other))/trash").status == 200)
            try await site.pool.execute("UPDATE ship SET trash_group = NULL WHERE name = 'B'")
            let mixed = UUID().uuidString
            try await site.pool.execute(
                "UPDATE cabin SET trash_group = '\(mixed)' WHERE _id = 9; "
                    + "UPDATE ship SET trash_group = '\(mixed)' WHERE name = 'A'")
            let orphan = try await site.call(.post, "/admin/trash/\(mixed)/restore")
            #expect(orphan.status == 409, "\(orphan.text)")
        }
    }

    @Test("a unique value of any type can be replaced while restoring")
    func uniqueDates() async throws {
        try await Self.run { site in
            let day = "'2026-05-01T10:00:00Z'"
            try await site.pool.execute("UPDATE cabin SET painted_at = \(day) WHERE _id = 8")
            #expect(try await site.call(.post, "/admin/cabins/8/trash").status == 200)
            try await site.pool.execute("UPDATE cabin SET painted_at = \(day) WHERE _id = 7")
            let path = "/admin/trash/\(Self.encode("Cabin:8"))/restore"
            let clash = try await site.call(.post, path)
            #expect(clash.json["details"]?["clashes"]?.list.first?["choices"] == ["values", "swap"], "\(clash.text)")
            for wrong: JSON in ["soon", 5, true] {
                #expect(try await site.call(.post, path, ["values": ["Cabin:8": ["paintedAt": wrong]]]).status == 422)
            }
            let painted: JSON = ["values": ["Cabin:8": ["paintedAt": "2026-05-02T10:00:00Z"]]]
            let back = try await site.call(.post, path, painted)
            #expect(back.status == 200, "\(back.text)")
            #expect(
                try await site.pool.query(
                    "SELECT 1 FROM cabin WHERE painted_at = '2026-05-02T10:00:00Z' AND trashed_at IS NULL"
                ).count == 1)
        }
    }

    @Test("the automatic purge deletes them when they are due, and each can be deleted by hand")
    func purging() async throws {
        try await Self.run { site in
            #expect(try await site.call(.post, "/admin/cabins/8/trash").status == 200)
            #expect(try await site.call(.delete, "/admin/trash/\(Self.encode("Cabin:8"))").json["count"] == 1)
            #expect(try await site.call(.post, "/admin/voyages/\(Self.voyage)/trash").json["count"] == 2)
            #expect(try await site.call(.post, "/admin/ships/\(Self.encode(Self.ship))/trash").json["count"] == 2)
            let due = Date().microsecondsSince1970 + 31 * PurgeTests.day
            let purge = TrashPurge(schema: site.schema, pool: site.pool)
            let preview = try await purge.preview(now: due)["items"]?.list ?? []
            #expect(preview.map { $0["count"] } == [2, 2])
            let report = try #require(try await purge.run(now: due))
            #expect(report.groups == 2 && report.objects == 4 && report.failed == 0)
            #expect(try await site.items().isEmpty)
            #expect(try await site.pool.query("SELECT 1 FROM cabin").isEmpty)
        }
    }

    @Test("bulk actions move them to the trash and back, and can be undone")
    func bulk() async throws {
        try await Self.run { site in
            func act(_ type: String, _ action: String, _ ids: String...) async throws -> String {
                let ids = JSON.array(ids.map { .string($0) })
                let started = try await site.call(
                    .post, "/bulk/\(type)",
                    ["action": .string(action), "ids": ids, "expect": ["count": .int(Int64(ids.list.count))]])
                #expect(started.status == 202, "\(started.text)")
                while try await site.service.runner.step() {}
                return "/jobs/\(started.json["id"]?.number ?? 0)"
            }
            let job = try await act("cabins", "trash", Self.number, "8")
            #expect(try await site.live() == [2, 0, 1, 1])
            let undone = try await site.call(.post, "\(job)/undo")
            #expect(undone.status == 202, "\(undone.text)")
            while try await site.service.runner.step() {}
            #expect(try await site.live() == [2, 2, 1, 1])

            _ = try await act("ships", "trash", Self.ship)
            #expect(try await site.live() == [1, 1, 0, 0])
            _ = try await act("ships", "restore", Self.ship)
            #expect(try await site.live() == [2, 2, 1, 1])
        }
    }
}

extension AppSite {
    fileprivate func call(_ method: HTTPRequest.Method, _ path: String, _ body: JSON) async throws -> Answer {
        let type = path.hasPrefix("/api/") ? "application/vnd.api+json" : "application/json"
        return try await call(method, path, JobStore.text(body), type: type)
    }

    fileprivate func make(_ type: String, _ id: JSON, _ attributes: JSON = [:], to link: (String, JSON)? = nil)
        async throws
    {
        var data: [String: JSON] = ["type": .string(type), "id": id, "attributes": attributes]
        if let link { data["relationships"] = [link.0: ["data": link.1]] }
        let made = try await call(.post, "/api/\(type)", ["data": .object(data)])
        try #require(made.status == 201, "\(made.text)")
    }

    fileprivate func items() async throws -> [JSON] { try await call(.get, "/admin/trash").json["items"]?.list ?? [] }

    fileprivate func live() async throws -> [Int] {
        var counts: [Int] = []
        for table in ["ship", "cabin", "voyage", "note"] {
            counts.append(
                try await pool.query("SELECT count(*)::int FROM \(table) WHERE trashed_at IS NULL")[0, 0].int)
        }
        return counts
    }
}
