import NIOHTTP1
import PostgresClient
import Testing
import TomboloModel

/// Boxes of the permission matrix are changed at one admin server, and another admin server, the ticket API and open
/// sync sessions at two gateways follow. Real processes, PostgreSQL.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct MatrixNodesTests {
    /// A change that hasn't arrived by then never will. The actual time is printed: at most a second, unless the
    /// machine is busy.
    private static let limit = Duration.seconds(600)

    /// A server or an open session, and what a moderator may currently do with tickets there.
    private struct Node: Sendable {
        let name: String
        let mayRead: @Sendable () async throws -> Bool
        let mayUpdate: @Sendable () async throws -> Bool

        init(
            _ name: String, read mayRead: @escaping @Sendable () async throws -> Bool,
            update mayUpdate: @escaping @Sendable () async throws -> Bool
        ) {
            self.name = name
            self.mayRead = mayRead
            self.mayUpdate = mayUpdate
        }

        static func admin(_ name: String, _ call: AdminClient, _ ticket: ObjectId) -> Node {
            Node(name) {
                try isPermitted(try await call(.GET, "/api/tickets/\(ticket)"))
            } update: {
                let attributes = #""attributes": {"name": "\#(ObjectId.generate())"}"#
                return try isPermitted(
                    try await call(
                        .PATCH, "/api/tickets/\(ticket)",
                        #"{"data": {"type": "tickets", "id": "\#(ticket)", \#(attributes)}}"#))
            }
        }

        static func ticketAPI(_ call: AdminClient, _ ticket: ObjectId, of event: ObjectId) -> Node {
            Node("ticket API") {
                let list = try await call(.GET, "/events/\(event)/tickets")
                return try isPermitted(list) && list.holds(ticket.stringValue)
            } update: {
                try isPermitted(try await call(.POST, "/tickets/\(ticket)/move", #"{"last": true}"#))
            }
        }

        static func device(_ device: DeviceProcess, _ ticket: ObjectId, _ platform: Platform) -> Node {
            Node("device \(device.name)") {
                try DeviceFile(device.file).has("ticket", ticket)
            } update: {
                let text = "\(device.name) \(ObjectId.generate())"
                try await device.ask("set", "Ticket", ticket.stringValue, "name=s:\(text)")
                try await device.ask("upload")
                let kept = try await platform.sql("SELECT name FROM ticket WHERE _id = $1", [.bytea(ticket.bytes)])
                return try kept[0, 0].string == text
            }
        }

        private static func isPermitted(_ answer: AdminClient.Answer) throws -> Bool {
            switch answer.status {
            case 200: true
            case 403, 404: false
            default: throw EndToEndFailure("A server answered \(answer.status): \(answer.content)")
            }
        }
    }

    /// Changes a box at an admin server, and waits until every node has followed.
    private static func set(
        _ operation: String, to isAllowed: Bool, by admin: AdminClient, _ nodes: [Node], _ platform: Platform
    ) async throws {
        let began = ContinuousClock.now
        let box =
            #"{"role": "moderator", "service": "tickets", "operation": "\#(operation)", "allowed": \#(isAllowed)}"#
        let answer = try await admin(.PATCH, "/admin/permissions", box, ifMatch: "*")
        #expect(answer.status == 200, "\(answer.content)")
        let what = "\(operation) \(isAllowed ? "given" : "taken away")"
        let times = try await withThrowingTaskGroup(of: (name: String, time: Duration).self) { group in
            for node in nodes {
                group.addTask {
                    try await platform.eventually("\(what) at \(node.name)", within: limit) {
                        let isPermitted = try await operation == "read" ? node.mayRead() : node.mayUpdate()
                        return isPermitted == isAllowed
                    }
                    return (node.name, ContinuousClock.now - began)
                }
            }
            return try await group.reduce(into: [String: Duration]()) { $0[$1.name] = $1.time }
        }
        let parts = times.sorted { $0.key < $1.key }.map { "\($0.key) \(Int($0.value / .milliseconds(1))) ms" }
        print("matrix change: \(what): \(parts.joined(separator: ", "))")
    }

    /// Tickets of the draft event, which only users with a suitable role may read.
    private static func tickets(_ count: Int, _ platform: Platform) async throws -> [ObjectId] {
        var tickets: [ObjectId] = []
        for number in 0..<count {
            let id = ObjectId.generate()
            try await platform.sql(
                "INSERT INTO ticket (_id, event, name, rank, is_public) VALUES ($1, $2, 'Before', $3, false)",
                [.bytea(id.bytes), .bytea(platform.draft.bytes), .text("a\(number)")])
            tickets.append(id)
        }
        return tickets
    }

    @Test("giving and taking a read box and a write box counts at every server and in open sync sessions")
    func everyNode() async throws {
        try await Platform.with(gateways: 2) { platform in
            for (user, role, event) in [
                ("attendee", "superAdmin", ObjectId?.none), ("stranger", "moderator", Optional(platform.draft)),
            ] {
                try await platform.sql(
                    #"INSERT INTO role_assignment (_id, "user", role, event) VALUES ($1, $2, $3, $4)"#,
                    [
                        .bytea(ObjectId.generate().bytes), .bytea(try platform.id(of: user).bytes), .text(role),
                        .bytea(event?.bytes),
                    ])
            }
            // One ticket per node, so that no node changes another's.
            let tickets = try await Self.tickets(5, platform)
            let admins = try await platform.servers(2, kind: .admin)
            let ticketAPI = try await platform.servers(1, kind: .tickets)[0]
            let servers = admins + [ticketAPI]
            do {
                for server in servers { try await server.start() }
                let devices = [
                    try await platform.device("A", of: "stranger", gateway: 0),
                    try await platform.device("B", of: "stranger", gateway: 1),
                ]
                for device in devices { try await device.ask("subscribe", "Ticket") }
                let token = try platform.token(of: "stranger")
                func client(_ server: Server, _ token: String) async -> AdminClient {
                    AdminClient(url: await server.url, token: token, repeatsWhenBusy: true)
                }
                let nodes = [
                    Node.admin("admin server 1", await client(admins[0], token), tickets[0]),
                    Node.admin("admin server 2", await client(admins[1], token), tickets[1]),
                    Node.ticketAPI(await client(ticketAPI, token), tickets[2], of: platform.draft),
                    Node.device(devices[0], tickets[3], platform), Node.device(devices[1], tickets[4], platform),
                ]
                for node in nodes {
                    try await platform.eventually("\(node.name) has its ticket") { try await node.mayRead() }
                    #expect(try await !node.mayUpdate(), "\(node.name)")
                }
                let admin = await client(admins[0], try platform.token(of: "attendee"))
                for (operation, isAllowed) in [("update", true), ("update", false), ("read", false), ("read", true)] {
                    try await Self.set(operation, to: isAllowed, by: admin, nodes, platform)
                }
                for device in devices { try await device.kill9() }
            } catch {
                for server in servers { try? await server.kill9() }
                throw error
            }
            for server in servers { try await server.kill9() }
        }
    }
}
