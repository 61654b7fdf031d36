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

/// Twelve roles, including one added within events and one added everywhere, × every class of the event platform and
/// one of another app × four operations, in the role's event and in another one. Each is tried over HTTP at an admin
/// server and from syncing devices, and compared with the stored matrix as the server reports it and with the rules
/// beside the matrix. Real processes, PostgreSQL.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct MatrixCrawlTests {
    private static let platformRoles = ["superAdmin", "admin", "sales"]
    private static let roles =
        platformRoles + ["owner", "organizer", "coorganizer", "trackOrganizer", "moderator", "registrar"]
        + ["herald", "attendee", "anonymous"]

    // MARK: What is stored

    /// The permitted operations as letters, by service: a role's boxes in the matrix, and the rights of the platform's
    /// own roles.
    /// - Parameter isWithin: whether this is the event in which the role was assigned.
    private static func expected(_ role: String, isWithin: Bool, _ stored: [String: Any]) -> [String: String] {
        let cells = (stored["permissions"] as? [String: Any])?[role] as? [String: [String: Bool]]
        let counts = isWithin || platformRoles.contains(role)
        var letters = Dictionary(
            uniqueKeysWithValues: ([.event] + CrawlKind.ofMatrix).map(\.service).map { service in
                let boxes = counts ? cells?[service] ?? [:] : [:]
                let letters = [("create", "c"), ("read", "r"), ("update", "u"), ("delete", "d")]
                return (service, letters.map { boxes[$0.0] == true ? $0.1 : "-" }.joined())
            })
        let isAdministrator = ["superAdmin", "admin"].contains(role)
        // Accounts of others who aren't administrators. Accounts can't be created in this way.
        letters[CrawlKind.user.service] = isAdministrator ? "-rud" : "----"
        // Assignments of roles below owner.
        letters[CrawlKind.assignment.service] =
            switch role {
            case _ where isAdministrator: "crud"
            case "owner" where isWithin: "crud"
            case "organizer" where isWithin: "-r--"
            default: "----"
            }
        // Every logged-in user may read homes, and only agents may write them. No conference role makes anyone an
        // agent.
        letters[CrawlKind.listing.service] = role == "anonymous" ? "----" : "-r--"
        return letters
    }

    /// Adds a role within events and a role that applies everywhere, and ticks two more boxes for administrators.
    private static func change(_ url: String, as token: String) async throws {
        func send(_ method: HTTPMethod, _ path: String, _ body: String) async throws -> Int {
            let call = AdminClient(url: url, token: token, repeatsWhenBusy: true)
            return try await call(method, path, body, ifMatch: "*").status
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

    /// Waits until the gateway has picked up all changes so far, by making a further change and reverting it.
    private static func untilFollowed(_ platform: Platform, _ url: String, as token: String) async throws {
        let ticket = ObjectId.generate()
        try await platform.sql(
            "INSERT INTO ticket (_id, event, name, rank, is_public) VALUES ($1, $2, 'Hidden', 'a1', false)",
            [.bytea(ticket.bytes), .bytea(platform.draft.bytes)])
        try await platform.sql(
            #"INSERT INTO role_assignment (_id, "user", role, event) VALUES ($1, $2, 'moderator', $3)"#,
            [
                .bytea(ObjectId.generate().bytes), .bytea(try platform.id(of: "stranger").bytes),
                .bytea(platform.draft.bytes),
            ])
        let device = try await platform.device("follower", of: "stranger")
        try await device.ask("subscribe", "Ticket")
        let admin = AdminClient(url: url, token: token, repeatsWhenBusy: true)
        try await platform.eventually("a ticket that is readable") { try DeviceFile(device.file).has("ticket", ticket) }
        for isAllowed in [false, true] {
            let box = #"{"role": "moderator", "service": "tickets", "operation": "read", "allowed": \#(isAllowed)}"#
            #expect(try await admin(.PATCH, "/admin/permissions", box, ifMatch: "*").status == 200)
            try await platform.eventually("a ticket that \(isAllowed ? "is" : "isn't") readable then") {
                try DeviceFile(device.file).has("ticket", ticket) == isAllowed
            }
        }
        try await device.kill9()
    }

    private static func stored(_ url: String, as token: String) async throws -> [String: Any] {
        var request = HTTPClientRequest(url: "\(url)/admin/permissions")
        request.headers.add(name: "Authorization", value: "Bearer \(token)")
        let answer = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        let body = try await answer.body.collect(upTo: 1 << 20)
        return try #require(JSONSerialization.jsonObject(with: Data(body.readableBytesView)) as? [String: Any])
    }

    // MARK: Who calls

    /// The sites for each way of calling: first the event in which the role counts, then another one.
    private struct Ways {
        var http: [CrawlSite] = []
        var sync: [CrawlSite] = []
    }

    /// Makes a user for each role, with events of their own. The anonymous role has no user.
    private static func sites(_ platform: Platform, of roles: [String]) async throws -> [String: Ways] {
        let authenticator = await Authenticator(
            pool: platform.pool, tokens: try TokenConfiguration(secret: Platform.secret),
            hasher: PasswordHasher(parameters: .weakForTests))
        var found: [String: Ways] = [:]
        for role in roles {
            var token: String?
            var user: ObjectId?
            if role != "anonymous" {
                let email = "crawl.\(role.lowercased())@example.org"
                user = try await authenticator.register(
                    email: email, password: Platform.password, displayName: role)
                token = try await authenticator.login(email: email, password: Platform.password).token
            }
            var sites: [CrawlSite] = []
            for _ in 0..<(role == "anonymous" ? 2 : 4) {
                let site = CrawlSite(role, token: token)
                try await site.insert(platform)
                sites.append(site)
            }
            found[role] = Ways(http: Array(sites.prefix(2)), sync: Array(sites.dropFirst(2)))
            guard let user, role != "attendee" else { continue }
            let scopes = platformRoles.contains(role) ? [nil] : [sites[0].event, sites[2].event]
            for scope in scopes {
                try await platform.sql(
                    #"INSERT INTO role_assignment (_id, "user", role, event) VALUES ($1, $2, $3, $4)"#,
                    [.bytea(ObjectId.generate().bytes), .bytea(user.bytes), .text(role), .bytea(scope?.bytes)])
            }
        }
        return found
    }

    // MARK: Tests

    @Test(
        "every role may do, over HTTP and over sync, what is stored for every class and operation, in its event and elsewhere"
    )
    func everyCall() async throws {
        try await Platform.with { platform in
            try await AdminProcess.with(platform) { url in
                let first = try await Self.sites(platform, of: ["superAdmin"])
                let owner = try #require(first["superAdmin"]?.http.first?.token)
                // Before any assignment: a new role can't take a name that is already assigned.
                try await Self.change(url, as: owner)
                let others = Self.roles.filter { $0 != "superAdmin" }
                let sites = try await Self.sites(platform, of: others).merging(first) { $1 }
                try await Self.untilFollowed(platform, url, as: owner)
                let stored = try await Self.stored(url, as: owner)
                var decided = 0
                for role in Self.roles {
                    let expected = [true, false].map { Self.expected(role, isWithin: $0, stored) }
                    let ways = try #require(sites[role])
                    for (site, (expected, place)) in zip(ways.http, zip(expected, ["within", "elsewhere"])) {
                        let http = try await CrawlHTTP(url: url).crawl(site)
                        #expect(http == expected, "\(role) over HTTP, \(place)")
                        decided += http.count * 4
                    }
                    guard let token = ways.sync.first?.token else { continue }
                    let sync = try await CrawlSync(role, token, platform).crawl(ways.sync)
                    #expect(sync == expected, "\(role) over sync, within and elsewhere")
                    decided += sync.reduce(0) { $0 + $1.count * 4 }
                }
                #expect(decided == 2 * (2 * Self.roles.count - 1) * (CrawlKind.all.count + 1) * 4)
                try await Self.expectAgents(platform, url)
                // Sync requires a login.
                let anonymous = DeviceProcess(
                    name: "anonymous", file: platform.folder.appending(path: "anonymous.realm"),
                    url: await platform.gateways[0].url, token: "nobody")
                await #expect(throws: (any Error).self) { try await anonymous.start() }
                try await anonymous.kill9()
            }
        }
    }

    /// Users who may write the other app's class may do so, whatever their role in the conference.
    private static func expectAgents(_ platform: Platform, _ url: String) async throws {
        let site = CrawlSite("agent", token: try platform.token(of: "organizer"))
        try await site.insert(platform)
        #expect(try await CrawlHTTP(url: url).letters(.listing, site) == "crud")
    }
}
