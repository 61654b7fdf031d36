import Dispatch
import Foundation

/// The machine's monotonic clock, shared by all its processes.
enum Monotonic {
    static var nanoseconds: Int64 { Int64(DispatchTime.now().uptimeNanoseconds) }

    /// The CPU time that this process has used, in user and system mode.
    static var processCPUNanoseconds: Int64 {
        Int64(Double(clock()) / Double(CLOCKS_PER_SEC) * 1e9)
    }

    /// How long `body` takes, in seconds.
    nonisolated(nonsending) static func seconds(_ body: nonisolated(nonsending) () async throws -> Void) async rethrows
        -> Double
    {
        let start = nanoseconds
        try await body()
        return Double(nanoseconds - start) / 1e9
    }
}
