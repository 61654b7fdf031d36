internal import Synchronization

/// Answers many requests at once where that costs little more than answering one: those that come while others are being
/// answered wait, and make up the next batch, in turns by lane. A request that comes alone is answered at once. Who gives up
/// waits no longer; a batch in which everybody gave up is cancelled.
package final class RequestBatcher<Request: Sendable, Answer: Sendable>: Sendable {
    package struct Bounds: Sendable {
        /// Requests that wait. Beyond that the lane that has most gives way.
        package let waitingCount: Int
        /// Requests that are answered together.
        package let batchCount: Int
        /// Batches at a time.
        package let concurrentCount: Int

        package init(waitingCount: Int, batchCount: Int, concurrentCount: Int) {
            self.waitingCount = waitingCount
            self.batchCount = batchCount
            self.concurrentCount = concurrentCount
        }
    }

    private struct Waiting: Sendable {
        let number: UInt64
        let request: Request
        let continuation: CheckedContinuation<Answer, any Error>
    }

    private struct State: Sendable {
        var queue: FairQueue<Waiting>
        var lastNumber: UInt64 = 0
        var runningCount = 0
        /// Requests that are being answered and are still wanted, with their batches.
        var served: [UInt64: (waiting: Waiting, batch: Batch)] = [:]
    }

    /// Requests that are answered together.
    private final class Batch: Sendable {
        struct State {
            var wantedCount: Int
            var task: Task<Void, Never>?
        }

        let members: [Waiting]
        let state: Mutex<State>

        init(_ members: [Waiting]) {
            self.members = members
            state = Mutex(State(wantedCount: members.count))
        }

        func begin(_ task: Task<Void, Never>) {
            let isWanted = state.withLock { state -> Bool in
                state.task = task
                return state.wantedCount > 0
            }
            if !isWanted { task.cancel() }
        }

        /// The last to give up ends the batch.
        func giveUp() {
            let task = state.withLock { state -> Task<Void, Never>? in
                state.wantedCount -= 1
                return state.wantedCount == 0 ? state.task : nil
            }
            task?.cancel()
        }
    }

    private let bounds: Bounds
    private let overload: any Error
    private let serve: @Sendable ([Request]) async -> [Result<Answer, any Error>]
    private let state: Mutex<State>

    /// - Parameters:
    ///   - overload: what a request gets that finds the queue full, or has to leave it.
    ///   - serve: answers each request, in order. What the requests wanted was asked for before it began.
    package init(
        _ bounds: Bounds, overload: any Error,
        serve: @escaping @Sendable ([Request]) async -> [Result<Answer, any Error>]
    ) {
        self.bounds = bounds
        self.overload = overload
        self.serve = serve
        state = Mutex(State(queue: FairQueue(maximumCount: bounds.waitingCount)))
    }

    /// Requests that wait.
    package var waitingCount: Int { state.withLock { $0.queue.count } }

    /// - Parameter lane: who asks, for the turns.
    /// - Throws: what `serve` has for the request; `CancellationError` when the task is cancelled before the answer.
    package func answer(_ request: Request, lane: String) async throws -> Answer {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let waiting = Waiting(number: number, request: request, continuation: continuation)
                let (admission, mustRun) = state.withLock { state in
                    // Checked under the lock, so that a later cancellation finds the request.
                    guard !Task.isCancelled else { return (nil as FairQueue<Waiting>.Admission?, false) }
                    let admission = state.queue.append(waiting, number: number, to: lane)
                    let mustRun = state.runningCount < bounds.concurrentCount
                    if mustRun { state.runningCount += 1 }
                    return (admission, mustRun)
                }
                switch admission {
                case nil: continuation.resume(throwing: CancellationError())
                case .added: break
                case .addedInPlaceOf(let other): other.continuation.resume(throwing: overload)
                case .refused: continuation.resume(throwing: overload)
                }
                if mustRun { Task { await self.run() } }
            }
        } onCancel: {
            giveUp(number, lane)
        }
    }

    private func giveUp(_ number: UInt64, _ lane: String) {
        let (waiting, batch) = state.withLock { state -> (Waiting?, Batch?) in
            if let waiting = state.queue.remove(number, from: lane) { return (waiting, nil) }
            let served = state.served.removeValue(forKey: number)
            return (served?.waiting, served?.batch)
        }
        batch?.giveUp()
        waiting?.continuation.resume(throwing: CancellationError())
    }

    private func run() async {
        while let batch = next() {
            let task = Task {
                let answers = await self.serve(batch.members.map(\.request))
                precondition(answers.count == batch.members.count, "every request has an answer")
                self.finish(batch, answers)
            }
            batch.begin(task)
            await task.value
        }
    }

    private func finish(_ batch: Batch, _ answers: [Result<Answer, any Error>]) {
        let wanted = state.withLock { state in
            batch.members.map { state.served.removeValue(forKey: $0.number)?.waiting }
        }
        for (waiting, answer) in zip(wanted, answers) { waiting?.continuation.resume(with: answer) }
    }

    /// - Returns: nil when nobody waits: the run ends.
    private func next() -> Batch? {
        state.withLock { state -> Batch? in
            var members: [Waiting] = []
            while members.count < bounds.batchCount, let waiting = state.queue.next() { members.append(waiting) }
            guard !members.isEmpty else {
                state.runningCount -= 1
                return nil
            }
            let batch = Batch(members)
            for waiting in members { state.served[waiting.number] = (waiting, batch) }
            return batch
        }
    }
}
