internal import Synchronization

/// Answers many requests together, where that costs little more than answering one. Requests that arrive while others
/// are being answered wait and form the next batch, with turns by lane. So batches grow with the load, and a single
/// request is answered at once. A batch only answers requests that were made before it began.
///
/// A request that is given up stops waiting, and its batch continues without it. A batch whose requests were all
/// given up is cancelled.
package final class RequestBatcher<Request: Sendable, Answer: Sendable>: Sendable {
    /// Answers the requests in order. If it throws, every request gets the error.
    package typealias Serve = @Sendable ([Request]) async throws -> [Result<Answer, any Error>]

    private final class Member: BatchQueue.Member, @unchecked Sendable {
        let request: Request
        let continuation: CheckedContinuation<Answer, any Error>

        init(_ request: Request, number: UInt64, _ continuation: CheckedContinuation<Answer, any Error>) {
            self.request = request
            self.continuation = continuation
            super.init(number: number)
        }

        /// Safe, because only this class puts members into the queue.
        static func of(_ member: BatchQueue.Member) -> Member { unsafeDowncast(member, to: Member.self) }
    }

    private let overload: any Error
    private let executor: @Sendable () -> (any TaskExecutor)?
    private let serve: Serve
    private let queue: Mutex<BatchQueue>

    /// - Parameters:
    ///   - overload: the error for a request that finds the queue full, or has to leave it.
    ///   - executor: where to answer a batch. It is called in the task of the request that begins the batch. Nil for
    ///     Swift's pool, where anything that computes for long belongs.
    package init(
        _ bounds: BatchBounds, overload: any Error,
        on executor: @escaping @Sendable () -> (any TaskExecutor)? = { nil },
        serve: @escaping Serve
    ) {
        self.overload = overload
        self.executor = executor
        self.serve = serve
        queue = Mutex(BatchQueue(bounds))
    }

    /// The number of waiting requests.
    package var waitingCount: Int { queue.withLock { $0.waitingCount } }

    /// - Parameter lane: who asks, for the turns.
    /// - Throws: the request's error, or `CancellationError` in a cancelled task.
    package func answer(_ request: Request, lane: String = "") async throws -> Answer {
        let number = queue.withLock { $0.makeNumber() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let member = Member(request, number: number, continuation)
                let admission = queue.withLock { queue -> FairQueue<BatchQueue.Member>.Admission? in
                    // Checked under the lock, so that a later cancellation finds the request.
                    Task.isCancelled ? nil : queue.append(member, to: lane)
                }
                switch admission {
                case nil: continuation.resume(throwing: CancellationError())
                case .added: startNext()
                case .addedInPlaceOf(let other): Member.of(other).continuation.resume(throwing: overload)
                case .refused: continuation.resume(throwing: overload)
                }
            }
        } onCancel: {
            guard let (member, work) = queue.withLock({ $0.remove(number, from: lane) }) else { return }
            work?.cancel()
            Member.of(member).continuation.resume(throwing: CancellationError())
        }
    }

    /// A batch has its own task, because none of its requests may stop it for the others.
    private func startNext() {
        guard let number = queue.withLock({ $0.prepare() }) else { return }
        let task = Task(executorPreference: executor()) { await self.run(number) }
        if !queue.withLock({ $0.note(task, of: number) }) { task.cancel() }
    }

    private func run(_ number: UInt64) async {
        let requests = queue.withLock { $0.begin(number) }.map { Member.of($0).request }
        guard !requests.isEmpty else { return }
        let answers: [Result<Answer, any Error>]
        do {
            answers = try await serve(requests)
            precondition(answers.count == requests.count, "every request has an answer")
        } catch {
            answers = requests.map { _ in .failure(error) }
        }
        let members = queue.withLock { $0.end(number) }
        startNext()
        for (member, answer) in zip(members, answers) {
            if let member { Member.of(member).continuation.resume(with: answer) }
        }
    }
}
