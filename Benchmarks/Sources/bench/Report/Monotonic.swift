import Dispatch

/// The machine's steady clock, the same for all its processes.
enum Monotonic {
    static var nanoseconds: Int64 { Int64(DispatchTime.now().uptimeNanoseconds) }

    /// How long `body` takes, in seconds.
    nonisolated(nonsending) static func seconds(_ body: nonisolated(nonsending) () async throws -> Void) async rethrows
        -> Double
    {
        let start = nanoseconds
        try await body()
        return Double(nanoseconds - start) / 1e9
    }
}
