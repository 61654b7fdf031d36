import Foundation
import TomboloHTTP
import TomboloMetrics

@testable import GatewayService

/// Every metric of every Tombolo server.
enum Observability {
    static let definitions =
        GatewayMetrics.definitions + GatewayFigures.definitions + GatewayFigures.ofSequencer + GatewayFigures.ofStandby
        + HTTPMetrics.definitions
        + DatabaseMetrics.definitions + ProcessMetrics.definitions + [MetricRegistry.droppedSeries]

    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
}
