import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import PostgresClient
import TestSupport
import Testing
import TomboloAuthentication
import TomboloHTTP
import TomboloModel

/// Twelve roles, one of them added within events and one everywhere, × every class of the permission matrix × four operations, call by call: over HTTP at an admin server, and by
/// devices that synchronise, each against the matrix that the server says is stored. Real processes, PostgreSQL.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct MatrixCrawlTests {
    /// A class, with the collection in addresses and a property that is written.
    private struct Kind {
        let name: String
        let service: String
        let property: String
        /// A text that no two objects of an event share.
        var unique: String?

        var table: String { Platform.schema[name]?.table ?? "" }
        var collection: String { ClassSchema.collectionName(of: name) }
    }

    private static let event = Kind(name: "Event", service: "events", property: "name")
    private static let kinds = [
        Kind(name: "Ticket", service: "tickets", property: "name", unique: "rank"),
        Kind(name: "Order", service: "orders", property: "currency", unique: "identifier"),
        Kind(name: "Track", service: "tracks", property: "name"),
        Kind(name: "Session", service: "sessions", property: "title"),
        Kind(name: "Speaker", service: "speakers", property: "name"),
        Kind(name: "SpeakerContact", service: "speakerContacts", property: "mobile"),
        Kind(name: "Microlocation", service: "microlocations", property: "name"),
        Kind(name: "Sponsor", service: "sponsors", property: "name"),
        Kind(name: "SocialLink", service: "socialLinks", property: "name"),
    ]

    private static let platformRoles = ["superAdmin", "admin", "sales"]
    private static let roles =
        platformRoles + ["owner", "organizer", "coorganizer", "trackOrganizer", "moderator", "registrar"]
        + ["herald", "attendee", "anonymous"]

    /// A role's draft event, with objects of each class to read, to change and to delete.
    private struct Site {
        let role: String
        /// Nil for nobody.
        let token: String?
        let event = ObjectId.generate()
        private(set) var objects: [String: [ObjectId]] = [:]

        init(_ role: String, token: String?) {
            self.role = role
            self.token = token
            for kind in MatrixCrawlTests.kinds { objects[kind.name] = (0..<3).map { _ in ObjectId.generate() } }
        }

        func insert(_ platform: Platform) async throws {
            try await platform.sql(
                """
                INSERT INTO event (_id, name, identifier, state, privacy, starts_at, ends_at)
                VALUES ($1, 'before', $2, 'draft', 'public', now(), now())
                """, [.bytea(event.bytes), .text(event.stringValue)])
            for kind in MatrixCrawlTests.kinds {
                for id in objects[kind.name] ?? [] {
                    let unique = kind.unique.map { (", \($0)", ", '\(id.stringValue)'") } ?? ("", "")
                    try await platform.sql(
                        "INSERT INTO \(kind.table) (_id, event, \(kind.property)\(unique.0)) VALUES ($1, $2, 'before'\(unique.1))",
                        [.bytea(id.bytes), .bytea(event.bytes)])
                }
            }
        }
    }

    // MARK: What is stored

    /// As letters, by service: what the matrix says of a role, and what the platform's own roles may do.
    private static func expected(_ role: String, _ stored: [String: Any]) -> [String: String] {
        let services = [event.service] + kinds.map(\.service)
        let cells = (stored["permissions"] as? [String: Any])?[role] as? [String: [String: Bool]]
        return Dictionary(
            uniqueKeysWithValues: services.map { service in
                let boxes = cells?[service] ?? [:]
                let letters = [("create", "c"), ("read", "r"), ("update", "u"), ("delete", "d")]
                return (service, letters.map { boxes[$0.0] == true ? $0.1 : "-" }.joined())
            })
    }

    /// Adds a role within events and one that counts everywhere, and gives administrators a box more.
    private static func change(_ url: String, as token: String) async throws {
        func send(_ method: HTTPMethod, _ path: String, _ body: String) async throws -> Int {
            var request = HTTPClientRequest(url: "\(url)\(path)")
            request.method = method
            request.headers.add(name: "Authorization", value: "Bearer \(token)")
            request.headers.add(name: "Content-Type", value: "application/json")
            request.headers.add(name: "If-Match", value: "*")
            request.body = .bytes(ByteBuffer(string: body))
            let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
            _ = try await response.body.collect(upTo: 1 << 20)
            return Int(response.status.code)
        }
        let roles = "/admin/permissions/roles"
        let herald =
            #"{"name": "herald", "permissions": {"events": ["read"], "sessions": ["read", "update"], "tracks": ["create", "read", "delete"]}}"#
        #expect(try await send(.POST, roles, herald) == 201)
        let sales =
            #"{"name": "sales", "everywhere": true, "permissions": {"events": ["read"], "tickets": ["create", "read", "update", "delete"], "sponsors": ["read", "update"]}}"#
        #expect(try await send(.POST, roles, sales) == 201)
        for operation in ["read", "delete"] {
            let box = #"{"role": "admin", "service": "speakers", "operation": "\#(operation)", "allowed": true}"#
            #expect(try await send(.PATCH, "/admin/permissions", box) == 200)
        }
    }

    // MARK: HTTP

    private static func status(
        _ method: HTTPMethod, _ url: String, _ token: String?, _ body: String? = nil
    ) async throws -> Int {
        var request = HTTPClientRequest(url: url)
        request.method = method
        if let token { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
        if let body {
            request.headers.add(name: "Content-Type", value: "application/vnd.api+json")
            request.body = .bytes(ByteBuffer(string: body))
        }
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        _ = try await response.body.collect(upTo: 1 << 20)
        return Int(response.status.code)
    }

    /// What a new object must say besides the property that is written.
    private static func required(_ kind: Kind) -> String {
        let state = kind.name == "Order" ? "placed" : "draft"
        let known = ["state": state, "privacy": "public", "kind": "free", "currency": "EUR", "timezone": "UTC"]
        let columns = Platform.schema[kind.name]?.columns ?? []
        return columns.filter { !$0.isOptional && !$0.isPrimaryKey && $0.name != kind.property }.map { column in
            switch column.type {
            case .string: #", "\#(column.name)": "\#(known[column.name] ?? "made")""#
            case .date: #", "\#(column.name)": "2030-01-01T00:00:00Z""#
            default: ""
            }
        }.joined()
    }

    private static func document(_ kind: Kind, id: ObjectId? = nil, in event: ObjectId? = nil) -> String {
        let type = #""type": "\#(kind.collection)""#
        let key = id.map { #", "id": "\#($0)""# } ?? ""
        let more = id == nil ? required(kind) : ""
        let link =
            event.map { #", "relationships": {"event": {"data": {"type": "events", "id": "\#($0)"}}}"# } ?? ""
        return #"{"data": {\#(type)\#(key), "attributes": {"\#(kind.property)": "after"\#(more)}\#(link)}}"#
    }

    /// What the calls of a role come to, as letters by service.
    private static func crawl(_ site: Site, at url: String) async throws -> [String: String] {
        var found: [String: String] = [:]
        func letters(_ kind: Kind, _ ids: [ObjectId]) async throws -> String {
            let path = "\(url)/api/\(kind.collection)"
            let created = try await status(
                .POST, path, site.token, document(kind, in: kind.name == "Event" ? nil : site.event))
            let read = try await status(.GET, "\(path)/\(ids[0])", site.token)
            let updated = try await status(.PATCH, "\(path)/\(ids[1])", site.token, document(kind, id: ids[1]))
            let deleted = try await status(.DELETE, "\(path)/\(ids[2])", site.token)
            for (status, permitted) in [(created, 201), (read, 200), (updated, 200), (deleted, 204)]
            where status != permitted && ![401, 403, 404].contains(status) {
                throw EndToEndFailure("\(site.role) \(kind.name): the server answered \(status)")
            }
            return (created == 201 ? "c" : "-") + (read == 200 ? "r" : "-") + (updated == 200 ? "u" : "-")
                + (deleted == 204 ? "d" : "-")
        }
        for kind in kinds { found[kind.service] = try await letters(kind, site.objects[kind.name] ?? []) }
        // Last, for everything goes with an event.
        found[event.service] = try await letters(event, [site.event, site.event, site.event])
        return found
    }

    // MARK: Sync

    /// What a device's edits come to in the database, as letters by service.
    private static func synchronise(_ site: Site, _ token: String, _ platform: Platform) async throws -> [String:
        String]
    {
        let device = DeviceProcess(
            name: site.role, file: platform.folder.appending(path: "\(site.role).realm"),
            url: await platform.gateways[0].url, token: token)
        try await device.start()
        try await device.ask(["subscribe"] + ([event] + kinds).map(\.name))
        func has(_ name: String, _ id: ObjectId, _ property: String) async -> Bool {
            (try? await device.ask("get", name, id.stringValue, property)) != nil
        }
        let seesEvent = await has("Event", site.event, "name")
        var made: [String: ObjectId] = [:]
        var found: [String: String] = [:]
        for kind in kinds {
            let ids = site.objects[kind.name] ?? []
            let id = ObjectId.generate()
            made[kind.name] = id
            var words = ["create", kind.name, id.stringValue, "\(kind.property)=s:after"]
            if let unique = kind.unique { words.append("\(unique)=s:made") }
            if seesEvent { words.append("event=o:Event:\(site.event)") }
            try await device.ask(words)
            let isRead = await has(kind.name, ids[0], kind.property)
            if isRead {
                try await device.ask("set", kind.name, ids[1].stringValue, "\(kind.property)=s:after")
                try await device.ask("erase", kind.name, ids[2].stringValue)
            }
            found[kind.service] = isRead ? "r" : "-"
        }
        let newEvent = ObjectId.generate()
        try await device.ask("create", "Event", newEvent.stringValue, "name=s:after", "identifier=s:\(newEvent)")
        if seesEvent { try await device.ask("set", "Event", site.event.stringValue, "name=s:after") }
        try await device.ask("upload")
        func holds(_ sql: String, _ id: ObjectId) async throws -> Bool {
            try await platform.sql(sql, [.bytea(id.bytes)])[0, 0].int64 > 0
        }
        func letters(_ kind: Kind, made: ObjectId, _ isRead: String, _ updated: ObjectId, _ deleted: ObjectId)
            async throws
            -> String
        {
            let isCreated = try await holds("SELECT count(*) FROM \(kind.table) WHERE _id = $1", made)
            let isUpdated = try await holds(
                "SELECT count(*) FROM \(kind.table) WHERE _id = $1 AND \(kind.property) = 'after'", updated)
            let isDeleted = try await holds(
                "SELECT count(*) FROM \(kind.table) WHERE _id = $1 AND trashed_at IS NOT NULL", deleted)
            return (isCreated ? "c" : "-") + isRead + (isUpdated ? "u" : "-") + (isDeleted ? "d" : "-")
        }
        for kind in kinds {
            let ids = site.objects[kind.name] ?? []
            found[kind.service] = try await letters(
                kind, made: made[kind.name] ?? site.event, found[kind.service] ?? "-", ids[1], ids[2])
        }
        // Last, for everything goes with an event.
        if seesEvent {
            try await device.ask("erase", "Event", site.event.stringValue)
            try await device.ask("upload")
        }
        found[event.service] = try await letters(
            event, made: newEvent, seesEvent ? "r" : "-", site.event, site.event)
        try await device.kill9()
        return found
    }

    // MARK: Tests

    /// A user for each role, with an event of their own for each way; nobody has none.
    private static func sites(_ platform: Platform, of roles: [String], ways: Int) async throws -> [String: [Site]] {
        let authenticator = await Authenticator(
            pool: platform.pool, tokens: try TokenConfiguration(secret: Platform.secret),
            hasher: PasswordHasher(parameters: .weakForTests))
        var sites: [String: [Site]] = [:]
        for role in roles {
            var token: String?
            var user: ObjectId?
            if role != "anonymous" {
                let email = "crawl.\(role.lowercased())@example.org"
                user = try await authenticator.register(
                    email: email, password: Platform.password, displayName: role)
                token = try await authenticator.login(email: email, password: Platform.password).token
            }
            for _ in 0..<ways {
                let site = Site(role, token: token)
                try await site.insert(platform)
                sites[role, default: []].append(site)
                guard let user, role != "attendee" else { continue }
                let scope = platformRoles.contains(role) ? nil : site.event
                let isGiven = scope == nil && (sites[role] ?? []).count > 1
                guard !isGiven else { continue }
                try await platform.sql(
                    #"INSERT INTO role_assignment (_id, "user", role, event) VALUES ($1, $2, $3, $4)"#,
                    [
                        .bytea(ObjectId.generate().bytes), .bytea(user.bytes), .text(role), .bytea(scope?.bytes),
                    ])
            }
        }
        return sites
    }

    @Test("every role gets, over HTTP and over sync, what the stored matrix says of every class and operation")
    func everyCall() async throws {
        try await Platform.with { platform in
            try await AdminProcess.with(platform) { url in
                let first = try await Self.sites(platform, of: ["superAdmin"], ways: 2)
                let owner = try #require(first["superAdmin"]?.first?.token)
                // Before anybody has them: a name that grants give already isn't a new role's.
                try await Self.change(url, as: owner)
                let others = Self.roles.filter { $0 != "superAdmin" }
                let sites = try await Self.sites(platform, of: others, ways: 2).merging(first) { $1 }
                var request = HTTPClientRequest(url: "\(url)/admin/permissions")
                request.headers.add(name: "Authorization", value: "Bearer \(owner)")
                let answer = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
                let body = try await answer.body.collect(upTo: 1 << 20)
                let stored = try #require(
                    JSONSerialization.jsonObject(with: Data(body.readableBytesView)) as? [String: Any])
                var decided = 0
                for role in Self.roles {
                    let expected = Self.expected(role, stored)
                    let site = try #require(sites[role])
                    let http = try await Self.crawl(site[0], at: url)
                    #expect(http == expected, "\(role) over HTTP")
                    decided += http.count * 4
                    guard let token = site[1].token else { continue }
                    let sync = try await Self.synchronise(site[1], token, platform)
                    #expect(sync == expected, "\(role) over sync")
                    decided += sync.count * 4
                }
                #expect(decided == (2 * Self.roles.count - 1) * (Self.kinds.count + 1) * 4)
                // Nobody synchronises without a login.
                let anonymous = DeviceProcess(
                    name: "anonymous", file: platform.folder.appending(path: "anonymous.realm"),
                    url: await platform.gateways[0].url, token: "nobody")
                await #expect(throws: (any Error).self) { try await anonymous.start() }
                try await anonymous.kill9()
            }
        }
    }
}
