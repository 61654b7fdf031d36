import AsyncHTTPClient
import Foundation
import PostgresClient
import RandomValues
import Testing
import TomboloAuthentication
import TomboloModel

/// A hundred administrators and organizers edit, trash, restore, delete for ever and change the matrix at once, while
/// devices sync. No update is lost, no group is torn, and every change of the matrix makes its own version.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct CrowdOfAdminsTests {
    private static let crowdCount = 100
    /// Transactions per device.
    private static let actionCount = ProcessInfo.processInfo.environment["TOMBOLO_LONG_TESTS"] == "1" ? 50 : 5

    /// Super administrators, administrators and organizers of the event. All of them may write listings.
    private static func crowd(
        _ stage: CrowdStage, at url: String, _ client: HTTPClient
    ) async throws -> [CrowdMember] {
        let platform = stage.platform
        let authenticator = await Authenticator(
            pool: platform.pool, tokens: try TokenConfiguration(secret: Platform.secret),
            hasher: PasswordHasher(parameters: .weakForTests))
        var crowd: [CrowdMember] = []
        for number in 0..<crowdCount {
            let role: CrowdMember.Role =
                switch number {
                case ..<(crowdCount / 3): .superAdmin
                case ..<(crowdCount / 2): .admin
                default: .organizer
                }
            let email = "crowd.\(number)@example.org"
            let id = try await authenticator.register(email: email, password: Platform.password, displayName: email)
            try await AccountRegistry(pool: platform.pool).setCustomData(#"{"isAgent": true}"#, email: email)
            try await platform.sql(
                #"INSERT INTO role_assignment (_id, "user", role, event) VALUES ($1, $2, $3, $4)"#,
                [
                    .bytea(ObjectId.generate().bytes), .bytea(id.bytes), .text(role.rawValue),
                    .bytea(role == .organizer ? platform.event.bytes : nil),
                ])
            let token = try await authenticator.login(email: email, password: Platform.password).token
            crowd.append(
                CrowdMember(
                    role: role, call: AdminClient(url: url, token: token, client: client, repeatsWhenBusy: true),
                    stage: stage))
        }
        return crowd
    }

    @Test("a hundred administrators and organizers at once lose no update and tear no group, while devices sync")
    func crowd() async throws {
        var generator = SeededGenerator.printed(for: "a crowd of administrators")
        let seed = generator.next()
        try await Platform.with(settings: ["TOMBOLO_CONNECTIONS_PER_ADDRESS": "1000"]) { platform in
            let stage = try await CrowdStage(platform)
            let versions = "SELECT count(*) FROM tombolo.document WHERE app = 'conference' AND kind = 'rules'"
            let before = try await platform.count(versions)
            var devices: [DeviceProcess] = []
            for name in ["A", "B"] {
                let device = try await platform.device(name, of: "organizer")
                try await device.ask("subscribe", "Listing", "Ticket", "Speaker", "SpeakerContact", "Track", "Session")
                devices.append(device)
            }
            try await platform.quiet(devices)
            try await AdminProcess.with(platform) { url in
                try await AdminClient.withClient(connections: Self.crowdCount) { client in
                    let crowd = try await Self.crowd(stage, at: url, client)
                    for (index, device) in devices.enumerated() {
                        try await device.ask(
                            ["edit", "\(seed &+ UInt64(index))"] + stage.counters.map(\.stringValue))
                    }
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for (number, person) in crowd.enumerated() {
                            group.addTask { try await person.act(Self.actionCount, seed: seed &+ UInt64(number)) }
                        }
                        try await group.waitForAll()
                    }
                }
                for device in devices { try await device.ask("rest") }
            }
            try await platform.quiet(devices)
            try await stage.checkUpdates(versions: try await platform.count(versions) - before)
            try await stage.checkGroups()
            try await platform.checkAudit()
            for device in devices {
                try await Self.check(device, stage)
                try await device.kill9()
            }
        }
    }

    /// A device has the same rows as the database.
    private static func check(_ device: DeviceProcess, _ stage: CrowdStage) async throws {
        for ticket in stage.tickets {
            let quantity = try await stage.platform.sql(
                "SELECT quantity FROM ticket WHERE _id = $1", [.bytea(ticket.bytes)])[0, 0].int64
            #expect(try await device.ask("get", "Ticket", ticket.stringValue, "quantity") == "\(quantity)")
        }
        for listing in stage.counters {
            let price = try await stage.platform.sql(
                "SELECT price FROM listing WHERE _id = $1", [.bytea(listing.bytes)])[0, 0].int64
            #expect(try await device.ask("get", "Listing", listing.stringValue, "price") == "\(price)")
        }
        for speaker in stage.speakers {
            let isLive = try await stage.platform.sql(
                "SELECT count(*) FROM speaker WHERE _id = $1 AND trashed_at IS NULL", [.bytea(speaker.bytes)])[0, 0]
                .int64
            let has = (try? await device.ask("get", "Speaker", speaker.stringValue, "name")) != nil
            #expect(has == (isLive == 1), "speaker \(speaker) on device \(device.name)")
        }
    }
}
