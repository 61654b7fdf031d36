import Testing
import Tombolo
import TomboloModel

@MainActor
@Suite(.serialized, .timeLimit(.minutes(15)))
struct SuspendedSessionTests {
    @Test("a session does what it was told last, however quickly calls follow each other")
    func lastCall() async throws {
        try await GatewayFixture.with(try Schema.of([Note.self])) { fixture in
            let realm = try await fixture.device("A", [Note.self])
            let session = try #require(realm.syncSession)
            for _ in 0..<50 {
                session.suspend()
                session.resume()
            }
            try realm.write { realm.add(Note(value: ["_id": 1, "text": "written online"])) }
            try await session.waitForUpload()
            for _ in 0..<50 {
                session.resume()
                session.suspend()
            }
            while session.connectionState != .disconnected { try await Task.sleep(for: .milliseconds(5)) }
            #expect(session.state == .inactive)
        }
    }
}
