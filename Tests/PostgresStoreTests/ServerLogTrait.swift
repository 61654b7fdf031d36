import Foundation
import PostgresClient
import TestSupport
import Testing

/// Reports what a cluster's server logged when a test loses a connection to it: whether the server crashed, or the connection was
/// closed on the way.
struct ServerLogTrait: TestTrait, SuiteTrait, TestScoping {
    /// How many bytes from the end of the log are shown.
    private static let shownByteCount = 4_000

    private let cluster: @Sendable () async throws -> TestCluster

    var isRecursive: Bool { true }

    fileprivate init(_ cluster: @escaping @Sendable () async throws -> TestCluster) { self.cluster = cluster }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        do {
            try await function()
        } catch let error as PostgresError where error.code == .connectionFailure {
            let log = (try? await String(contentsOfFile: cluster().logFile, encoding: .utf8)) ?? "(no log)"
            Issue.record("\(error)\nThe server's log ends with:\n\(log.suffix(Self.shownByteCount))")
        }
    }
}

extension Trait where Self == ServerLogTrait {
    /// - Parameter cluster: The cluster that the tests run on.
    static func serverLog(of cluster: @escaping @Sendable () async throws -> TestCluster) -> Self {
        ServerLogTrait(cluster)
    }
}
