import Synchronization

/// Gathers what requests ask for at about the same time, so that one piece of work, such as a statement, serves all of
/// them. While as many batches are at work as may be, what comes gathers for the next: batches grow with the load, and
/// a request that comes alone waits for nobody.
///
/// A batch starts after all its requests were made, so it never reads data older than they are. Items with the same key
/// are handled by one batch at a time, in order; later ones wait until that batch has ended.
public final class Batches<Item: Sendable, Outcome: Sendable, Key: Hashable & Sendable>: Sendable {
    /// Gives the outcome of each item, in their order. What it throws is the outcome of all.
    public typealias Work = @Sendable ([Item]) async throws -> [Result<Outcome, any Error>]

    private typealias Waiter = CheckedContinuation<Outcome, any Error>

    private let work: Work
    private let queue: Mutex<BatchQueue<Item, Key, Waiter>>

    /// - Parameter key: what only one batch at a time may be about; nil for an item that gets in nobody's way.
    public init(_ bounds: BatchBounds, by key: @escaping @Sendable (Item) -> Key?, _ work: @escaping Work) {
        self.work = work
        queue = Mutex(BatchQueue(bounds, key: key))
    }

    /// Requests that wait for a batch.
    var waitingCount: Int { queue.withLock { $0.waitingCount } }

    /// Waits for the outcome of an item in a batch.
    /// - Throws: the item's error, ``RequestFailure`` with status 503 if too many wait, or `CancellationError` in a
    ///   cancelled task. The work of others goes on without it; a batch that nobody waits for any more is cancelled.
    public func outcome(of item: Item) async throws -> Outcome {
        let id = queue.withLock { $0.makeID() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                // Checked under the lock, so that a later cancellation finds the waiter.
                let refusal = queue.withLock { queue -> (any Error)? in
                    if Task.isCancelled { return CancellationError() }
                    return queue.add(item, id: id, continuation) ? nil : Self.refusal
                }
                if let refusal { return continuation.resume(throwing: refusal) }
                startNext()
            }
        } onCancel: {
            switch queue.withLock({ $0.remove(id) }) {
            case .notFound: break
            case .removed(let waiter): waiter.resume(throwing: CancellationError())
            case .emptied(let waiter, let work):
                work?.cancel()
                waiter.resume(throwing: CancellationError())
            }
        }
    }

    private static var refusal: RequestFailure {
        RequestFailure(
            .unavailable, "The server has more requests of this kind than it can hold.",
            hint: RequestFailure.retryHint)
    }

    /// Each batch has a task of its own, for none of its requests may stop it for the others.
    private func startNext() {
        guard let batch = queue.withLock({ $0.next() }) else { return }
        let (number, items) = (batch.number, batch.items)
        let task = Task { await run(number, items) }
        guard queue.withLock({ $0.started(number, task) }) else { return task.cancel() }
    }

    private func run(_ number: UInt64, _ items: [Item]) async {
        let outcomes: [Result<Outcome, any Error>]
        do {
            outcomes = try await work(items)
            precondition(outcomes.count == items.count, "A batch has an outcome for each item.")
        } catch {
            outcomes = items.map { _ in .failure(error) }
        }
        let waiters = queue.withLock { $0.ended(number) }
        startNext()
        for (waiter, outcome) in zip(waiters, outcomes) { waiter?.resume(with: outcome) }
    }
}

extension Batches where Key == Never {
    /// Batches that get in nobody's way.
    public convenience init(_ bounds: BatchBounds, _ work: @escaping Work) { self.init(bounds, by: { _ in nil }, work) }
}
