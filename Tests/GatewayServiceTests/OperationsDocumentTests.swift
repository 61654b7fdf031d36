import Foundation
import Testing

@testable import GatewayService

/// Figures in the operators' guide that must match the code.
@Suite struct OperationsDocumentTests {
    @Test("the guide says how many connections to PostgreSQL each kind of gateway opens")
    func connections() throws {
        let guide = try String(contentsOf: Observability.root.appending(path: "docs/operations.md"), encoding: .utf8)
        func most(_ servesDevices: Bool, _ runsSequencer: Bool, _ hearsTicks: Bool) -> Int {
            GatewayServer.maximumDatabaseConnections(
                servesDevices: servesDevices, runsSequencer: runsSequencer, hearsTicks: hearsTicks)
        }
        for line in [
            "| `sync-gateway --no-sequencer` | \(most(true, false, true)); \(most(true, false, false)) with Redis |",
            "| `sync-gateway` | \(most(true, true, true)) |",
            "| `sync-gateway --sequencer-only` | \(most(false, true, false)), and one more at its start |",
        ] {
            #expect(guide.contains(line), "docs/operations.md lacks: \(line)")
        }
    }
}
