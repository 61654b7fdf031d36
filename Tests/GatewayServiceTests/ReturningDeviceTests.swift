import PostgresClient
import Testing
import TomboloChangesets
import TomboloMetrics
import TomboloModel
import TomboloSyncProtocol

@testable import GatewayService

/// Devices that upload, leave before their uploads are done, and come back.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct ReturningDeviceTests {
    /// More than half of the share that a user has while others are connected, so there's no room for a second note.
    private static let largeLength = Gateway.maximumWaitingUploadByteCount * 3 / (4 * UploadBudget.shares.besideOthers)

    /// Makes insertions of notes wait until `held` is empty.
    private static let hold = """
        CREATE TABLE held AS SELECT 1 AS one;
        CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN WHILE EXISTS (SELECT FROM held) LOOP PERFORM pg_sleep(0.01); END LOOP; RETURN NEW; END';
        CREATE TRIGGER wait BEFORE INSERT ON note FOR EACH ROW EXECUTE FUNCTION wait()
        """

    private struct Figures {
        let uploadBytes: Int
        let waitingDevices: Int
        let waitingCalls: Int
        let transactions: Int
        let sessions: Int
        let duplicates: Int
    }

    private static func figures(_ registry: MetricRegistry) async -> Figures {
        let lines = await registry.exposition().split(separator: "\n")
        func sum(_ name: String) -> Int {
            lines.filter { $0.hasPrefix("\(name) ") || $0.hasPrefix("\(name){") }.reduce(0) { sum, line in
                sum + (line.split(separator: " ").last.flatMap { Double($0) }.map { Int($0) } ?? 0)
            }
        }
        return Figures(
            uploadBytes: sum("tombolo_upload_bytes"), waitingDevices: sum("tombolo_upload_devices_waiting"),
            waitingCalls: sum("tombolo_uploads_waiting"), transactions: sum("tombolo_upload_transactions"),
            sessions: sum("tombolo_sessions"),
            duplicates: sum("tombolo_uploaded_changesets_total{result=\"duplicate\"}"))
    }

    /// Reads the figures until `isWanted` accepts them or the time is up.
    private static func figures(
        _ registry: MetricRegistry, until isWanted: @Sendable (Figures) -> Bool
    ) async throws -> Figures {
        let deadline = ContinuousClock.now + .seconds(240)
        while true {
            let figures = await figures(registry)
            if isWanted(figures) || ContinuousClock.now > deadline { return figures }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// An upload of notes with the same numbers as their changesets, which follow what the device has uploaded before.
    private static func notes(_ count: Int64, after last: Int64 = 0, length: Int = 10) -> ClientMessage {
        .upload(
            (last + 1...last + count).map { number in
                Changeset(
                    number: number - last, base: 0, stamp: Stamp(microseconds: number),
                    instructions: [
                        .create(
                            ObjectReference(classIndex: 0, key: .int(number)),
                            [FieldWrite(column: 1, value: .string(String(repeating: "x", count: length)))])
                    ])
            })
    }

    /// A device that uploads, and leaves when `body` has returned.
    private static func upload(
        _ message: ClientMessage, as client: Int64, _ fixture: GatewayFixture,
        _ body: @escaping @Sendable (DeviceSocket) async throws -> Void
    ) async throws {
        try await DeviceSocket.with(fixture.schema, port: fixture.port) { device in
            try await device.sayHello(as: ClientID(rawValue: client), wanting: [])
            _ = try await device.first { if case .welcome = $0 { true } else { nil } }
            try await device.send(message)
            try await body(device)
        }
    }

    private static func keys(_ fixture: GatewayFixture) async throws -> [Int] {
        try await fixture.pool.query("SELECT _id FROM note ORDER BY _id").map { try $0[0].int }
    }

    @Test("a device that uploads, leaves and comes back gets no room for more until its first upload is done")
    func memory() async throws {
        let registry = MetricRegistry()
        try await GatewayFixture.with(
            try Schema.of([Note.self]), metrics: registry, authorize: { .everything(for: $0) }
        ) { fixture in
            try await fixture.pool.execute(Self.hold)
            // Another user, who stays connected.
            try await DeviceSocket.with(fixture.schema, port: fixture.port) { other in
                try await other.sayHello(wanting: [], token: "other")
                _ = try await other.firstEnd()
                try await Self.comeBack(fixture, registry)
            }
        }
    }

    private static func comeBack(_ fixture: GatewayFixture, _ registry: MetricRegistry) async throws {
        func note(_ client: Int64) -> ClientMessage { notes(1, after: client - 1, length: largeLength) }
        try await upload(note(1), as: 1, fixture) { _ in
            let begun = try await figures(registry) { $0.transactions == 1 }
            #expect(begun.transactions == 1)
        }
        // The same device, which sends its note again, and another device of the same user.
        for client: Int64 in [1, 2] {
            let left = try await figures(registry) { $0.sessions == 1 }
            #expect(left.sessions == 1)
            try await upload(note(client), as: client, fixture) { _ in
                let figures = try await figures(registry) {
                    $0.waitingDevices == 1 || $0.transactions + $0.waitingCalls > 1
                }
                #expect(figures.waitingDevices == 1 && figures.transactions == 1 && figures.waitingCalls == 0)
                #expect((largeLength..<2 * largeLength).contains(figures.uploadBytes))
            }
        }
        let left = try await figures(registry) { $0.sessions == 1 && $0.waitingDevices == 0 }
        #expect(left.sessions == 1 && left.waitingDevices == 0)
        #expect(left.uploadBytes >= largeLength, "The upload's outcome isn't known yet.")

        try await fixture.pool.execute("DELETE FROM held")
        let done = try await figures(registry) { $0.uploadBytes == 0 }
        #expect(done.uploadBytes == 0)
        // Only the first upload was taken while its device was connected.
        #expect(try await keys(fixture) == [1])
        // There is room again.
        for client: Int64 in [1, 2] {
            try await upload(note(client), as: client, fixture) { device in
                let end = try await device.firstEnd { $0.acknowledged == 1 }
                #expect(end != nil)
            }
        }
        #expect(try await keys(fixture) == [1, 2])
    }

    @Test("changesets that a device left waiting and sends again, with more, are applied once")
    func duplicates() async throws {
        let registry = MetricRegistry()
        try await GatewayFixture.with(try Schema.of([Note.self]), metrics: registry) { fixture in
            try await fixture.pool.execute(Self.hold)
            // As many transactions as one user may have in progress.
            for client: Int64 in 1...2 {
                try await Self.upload(Self.notes(1, after: client - 1), as: client, fixture) { _ in
                    let begun = try await Self.figures(registry) { $0.transactions == client }
                    #expect(begun.transactions == client)
                }
            }
            let held = await Self.figures(registry).uploadBytes
            try await Self.upload(Self.notes(2, after: 10), as: 3, fixture) { _ in
                let waiting = try await Self.figures(registry) { $0.waitingCalls == 1 }
                #expect(waiting.waitingCalls == 1)
            }
            let left = try await Self.figures(registry) { $0.sessions == 0 }
            #expect(left.sessions == 0 && left.waitingCalls == 1 && left.uploadBytes > held)

            let more = Self.notes(3, after: 10)
            try await Self.upload(more, as: 3, fixture) { device in
                let wanted = held + device.codec.encode(more).count
                let figures = try await Self.figures(registry) { $0.uploadBytes == wanted || $0.waitingCalls == 2 }
                #expect(figures.uploadBytes == wanted && figures.waitingCalls == 1 && figures.transactions == 2)
                try await fixture.pool.execute("DELETE FROM held")
                let end = try await device.firstEnd { $0.acknowledged == 3 }
                #expect(end != nil)
            }
            #expect(try await Self.keys(fixture) == [1, 2, 11, 12, 13])
            #expect(await Self.figures(registry).duplicates == 0)
        }
    }
}
