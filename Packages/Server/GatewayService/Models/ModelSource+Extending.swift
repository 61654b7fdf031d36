internal import TomboloSyncProtocol
internal import TomboloSyncSession

extension ModelSource {
    /// Like ``extend(by:)``, but waits no longer than a device may. After that the work continues without the device,
    /// which finds it done when it reconnects.
    /// - Throws: ``SessionFailure`` `.unavailable` when the time is over, or `CancellationError` when the device has
    ///   gone.
    func extend(by classes: [HelloClass], within limit: Duration) async throws -> Bool {
        let (outcomes, outcome) = AsyncStream.makeStream(of: Result<Bool, any Error>?.self)
        Task {
            do {
                outcome.yield(.success(try await extend(by: classes)))
            } catch {
                outcome.yield(.failure(error))
            }
        }
        let timer = Task {
            try await Task.sleep(for: limit)
            outcome.yield(nil)
        }
        defer { timer.cancel() }
        for await first in outcomes {
            if let first { return try first.get() }
            throw SessionFailure(
                .unavailable,
                "The server is still adding the device's classes, perhaps because the tables are in use. The device "
                    + "will try again.", isRetryable: true)
        }
        throw CancellationError()
    }
}
