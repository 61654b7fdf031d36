import Foundation
import TestSupport
import Testing
import Tombolo
import TomboloModel

@Suite("A gateway whose database is replaced while it runs", .timeLimit(.minutes(15)))
struct RestoredRulesTests {
    private static let closed = """
        version: 1
        rules:
          ResetNote:
            - { name: everybody, applyWhen: {}, read: { text: shown }, write: false }
        """

    @Test("goes by the backup's older rules and documents, and serves devices accordingly")
    func rules() async throws {
        try await ResetServer.with { stage in
            try await stage.insert("old")
            let device = try await ResetDevice(.recover, stage.server)
            try await device.open()
            try await device.eventually("the note") { device.ids == ["old"] }
            let backup = try await stage.cluster.dump(stage.database)

            try await stage.server.apply([(try ModelDocument(app: "reset", objectTypes: [ResetNote.self]), Self.closed)]
            )
            try await device.eventually("nothing by the new rules") { device.ids.isEmpty }
            try await stage.cluster.restore(backup, as: stage.database)
            try await device.eventually("the note by the old rules") { device.ids == ["old"] }
            try device.write("new")
            try await device.upload()
            #expect(try await stage.ids() == ["old", "new"])
        }
    }
}
