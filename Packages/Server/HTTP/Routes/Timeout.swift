import TomboloLocalization

/// Runs `body`, and cancels it when it takes longer than `limit`. It waits for `body` to end, even if that ignores
/// cancellation.
/// - Parameter executor: where `body` prefers to run; nil for Swift's pool.
/// - Throws: what `body` throws, or a ``RequestFailure`` with ``RequestFailure/Code/timeout``.
package func withTimeout<Result: Sendable>(
    _ limit: Duration, on executor: (any TaskExecutor)? = nil, _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    // There is no timer and no task group for each request: either would take longer than many requests do.
    let work = Task(executorPreference: executor ?? globalConcurrentExecutor, operation: body)
    let deadline = Deadlines.shared.add(after: limit) { work.cancel() }
    let outcome = await withTaskCancellationHandler {
        await work.result
    } onCancel: {
        work.cancel()
    }
    guard Deadlines.shared.remove(deadline) else {
        // The result is late, but it's there.
        if case .success(let result) = outcome { return result }
        var failure = RequestFailure(
            .timeout, localized("The request took longer than \(limit) and was cancelled."),
            hint: localized("Try it again, or ask for less at once."))
        if case .failure(let late as RequestFailure) = outcome { failure.session = late.session }
        throw failure
    }
    return try outcome.get()
}
