/// Runs `body`, and cancels it when it takes longer than `limit`. Work that ignores cancellation is waited for.
/// - Throws: what `body` throws, or a ``RequestFailure`` with ``RequestFailure/Code/timeout``.
func withTimeout<Result: Sendable>(
    _ limit: Duration, _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    try await withThrowingTaskGroup(of: Result?.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await Task.sleep(for: limit)
            return nil
        }
        defer { group.cancelAll() }
        guard let result = try await group.next() ?? nil else {
            throw RequestFailure(
                .timeout, "The request took longer than \(limit) and was given up.",
                hint: "Try it again; ask for less at once.")
        }
        return result
    }
}
