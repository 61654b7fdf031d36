import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import PostgresClient
import Synchronization
import Testing
import TomboloModel

/// A box of the permission matrix is changed while devices are connected: real processes, two gateways, PostgreSQL.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct MatrixChangeTests {
    /// Calls to the admin server as the platform's owner.
    private struct Admin {
        let url: String
        let token: String

        /// - Returns: the new ETag.
        func set(update isAllowed: Bool, tag: String) async throws -> String {
            try await set(
                #"{"role": "coorganizer", "service": "sessions", "operation": "update", "allowed": \#(isAllowed)}"#,
                tag: tag)
        }

        func set(_ body: String, tag: String) async throws -> String {
            var request = HTTPClientRequest(url: url + "/admin/permissions")
            request.method = .PATCH
            request.headers.add(name: "Authorization", value: "Bearer \(token)")
            request.headers.add(name: "Content-Type", value: "application/json")
            request.headers.add(name: "If-Match", value: tag)
            request.body = .bytes(ByteBuffer(string: body))
            return try await self.tag(of: request)
        }

        func tag() async throws -> String {
            var request = HTTPClientRequest(url: url + "/admin/permissions")
            request.headers.add(name: "Authorization", value: "Bearer \(token)")
            return try await tag(of: request)
        }

        private func tag(of request: HTTPClientRequest) async throws -> String {
            let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
            let text = String(buffer: try await response.body.collect(upTo: 1 << 20))
            guard response.status == .ok, let tag = response.headers.first(name: "ETag") else {
                throw EndToEndFailure("The admin server answered \(response.status): \(text)")
            }
            return tag
        }
    }

    @Test(
        "a write that an unticked box forbids is undone on devices that stay connected, and kept once the box is ticked again"
    )
    func untickWhileConnected() async throws {
        try await Platform.with(gateways: 2) { platform in
            for (user, role, event) in [
                ("attendee", "superAdmin", ObjectId?.none), ("stranger", "coorganizer", Optional(platform.event)),
            ] {
                try await platform.sql(
                    #"INSERT INTO role_assignment (_id, "user", role, event) VALUES ($1, $2, $3, $4)"#,
                    [
                        .bytea(ObjectId.generate().bytes), .bytea(try platform.id(of: user).bytes), .text(role),
                        .bytea(event?.bytes),
                    ])
            }
            let session = ObjectId.generate()
            try await platform.sql(
                "INSERT INTO session (_id, event, title, state) VALUES ($1, $2, 'Before', 'accepted')",
                [.bytea(session.bytes), .bytea(platform.event.bytes)])
            let title = { @Sendable () async throws -> String in
                try await platform.sql("SELECT title FROM session WHERE _id = $1", [.bytea(session.bytes)])[0, 0].string
            }
            let devices = [
                try await platform.device("A", of: "stranger", gateway: 0),
                try await platform.device("B", of: "stranger", gateway: 1),
            ]
            for device in devices {
                try await device.ask("subscribe", "Session")
                try await device.ask("set", "Session", session.stringValue, "title=s:By \(device.name)")
                try await device.ask("upload")
                #expect(try await title() == "By \(device.name)")
            }
            try await AdminProcess.with(platform) { url in
                let admin = Admin(url: url, token: try platform.token(of: "attendee"))
                let unticked = try await admin.set(update: false, tag: try await admin.tag())
                for device in devices {
                    var number = 0
                    while try await !device.ask("problems").contains("writeRejected") {
                        number += 1
                        let text = "\(device.name) \(number)"
                        try await device.ask("set", "Session", session.stringValue, "title=s:\(text)")
                        try await device.ask("upload")
                    }
                    let kept = try await title()
                    try await platform.eventually("the write is undone on device \(device.name)") {
                        try await device.ask("get", "Session", session.stringValue, "title") == kept
                    }
                    #expect(try await device.ask("problems").contains("writeRejected"))
                }
                _ = try await admin.set(update: true, tag: unticked)
                for device in devices {
                    try await platform.eventually("a write of device \(device.name) counts again") {
                        try await device.ask("set", "Session", session.stringValue, "title=s:Again \(device.name)")
                        try await device.ask("upload")
                        return try await title() == "Again \(device.name)"
                    }
                }
            }
            for device in devices { try await device.kill9() }
        }
    }

    @Test("the right to create without a role follows its box on a connected device, and the objects are the user's")
    func userPermissionWhileConnected() async throws {
        try await Platform.with { platform in
            try await platform.sql(
                #"INSERT INTO role_assignment (_id, "user", role) VALUES ($1, $2, 'superAdmin')"#,
                [.bytea(ObjectId.generate().bytes), .bytea(try platform.id(of: "attendee").bytes)])
            let user = try platform.id(of: "stranger")
            let device = try await platform.device("A", of: "stranger")
            try await device.ask("subscribe", "Event", "Track")
            @Sendable func make(_ id: ObjectId, state: String = "draft") async throws {
                try await device.ask(
                    "create", "Event", id.stringValue, "name=s:Own", "identifier=s:\(id)", "state=s:\(state)",
                    "creator=k:\(user)")
                try await device.ask("upload")
            }
            @Sendable func isThere(_ id: ObjectId) async throws -> Bool {
                try await platform.sql("SELECT count(*) FROM event WHERE _id = $1", [.bytea(id.bytes)])[0, 0].int64 == 1
            }
            let refused = ObjectId.generate()
            try await make(refused)
            #expect(try await !isThere(refused))
            #expect(try await device.ask("problems").contains("writeRejected"))
            try await AdminProcess.with(platform) { url in
                let admin = Admin(url: url, token: try platform.token(of: "attendee"))
                _ = try await admin.set(
                    #"{"permission": "createEvent", "group": "unverified", "allowed": true}"#,
                    tag: try await admin.tag())
            }
            let published = ObjectId.generate()
            try await make(published, state: "published")
            #expect(try await !isThere(published), "The write needs another permission")
            let made = Mutex<ObjectId?>(nil)
            try await platform.eventually("an event that the box permits") {
                let id = ObjectId.generate()
                try await make(id)
                guard try await isThere(id) else { return false }
                made.withLock { $0 = id }
                return true
            }
            let event = try #require(made.withLock { $0 })
            let owners = try await platform.sql(
                #"SELECT "user", role FROM role_assignment WHERE event = $1"#, [.bytea(event.bytes)])
            #expect(owners.count == 1)
            #expect(try owners[0, 0].bytes == user.bytes && owners[0, 1].string == "owner")
            try await platform.eventually("a track in their own event") {
                let track = ObjectId.generate()
                try await device.ask(
                    "create", "Track", track.stringValue, "name=s:T", "event=o:Event:\(event)")
                try await device.ask("upload")
                return try await platform.sql(
                    "SELECT count(*) FROM track WHERE _id = $1", [.bytea(track.bytes)])[0, 0].int64 == 1
            }
            try await device.kill9()
        }
    }
}
