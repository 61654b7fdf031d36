internal import Synchronization

/// Answers many requests at once where that costs little more than answering one: those that come while others are being
/// answered wait, and make up the next batch, in turns by lane. So batches grow with the load, and a request that comes
/// alone is answered at once. What a batch answers was asked for before it began.
///
/// A request that is given up waits no longer, and the others of its batch go on without it; a batch in which all were
/// given up is cancelled.
package final class RequestBatcher<Request: Sendable, Answer: Sendable>: Sendable {
    /// Gives the answer to each request, in their order. What it throws is the answer to all.
    package typealias Serve = @Sendable ([Request]) async throws -> [Result<Answer, any Error>]

    private struct Waiting: Sendable {
        let number: UInt64
        let request: Request
        let continuation: CheckedContinuation<Answer, any Error>
    }

    /// Requests that are answered together. Its task takes them when it gets to run, so that a burst makes one batch.
    private struct Batch: Sendable {
        /// Nil for one that was given up. Empty before the batch has begun.
        var members: [Waiting?] = []
        var task: Task<Void, Never>?

        var isAbandoned: Bool { !members.isEmpty && members.allSatisfy { $0 == nil } }
    }

    private struct State: Sendable {
        var queue: FairQueue<Waiting>
        var batches: [UInt64: Batch] = [:]
        var lastNumber: UInt64 = 0

        mutating func makeNumber() -> UInt64 {
            lastNumber += 1
            return lastNumber
        }

        /// The number of another batch, if one may begin for those who wait and for whom no batch is about to.
        mutating func prepare(_ bounds: BatchBounds) -> UInt64? {
            let placeCount = batches.values.count { $0.members.isEmpty } * bounds.size
            guard queue.count > placeCount, batches.count < bounds.concurrency else { return nil }
            let number = makeNumber()
            batches[number] = Batch()
            return number
        }

        /// A prepared batch begins.
        /// - Returns: nothing if those that it was for were given up; the batch is over then.
        mutating func begin(_ number: UInt64, _ bounds: BatchBounds) -> [Request] {
            var members: [Waiting] = []
            while members.count < bounds.size, let waiting = queue.next() { members.append(waiting) }
            if members.isEmpty { batches[number] = nil } else { batches[number]?.members = members }
            return members.map(\.request)
        }

        /// - Returns: false if all requests of the batch were given up already.
        mutating func note(_ task: Task<Void, Never>, of number: UInt64) -> Bool {
            batches[number]?.task = task
            return batches[number]?.isAbandoned != true
        }

        /// Nobody wants a request's answer any more.
        /// - Returns: the request, unless it was answered, and the batch's work if that is in vain now.
        mutating func remove(_ number: UInt64, _ lane: String) -> (Waiting, inVain: Task<Void, Never>?)? {
            if let waiting = queue.remove(number, from: lane) { return (waiting, nil) }
            for (batch, content) in batches {
                guard let place = content.members.firstIndex(where: { $0?.number == number }),
                    let waiting = content.members[place]
                else { continue }
                batches[batch]?.members[place] = nil
                return (waiting, batches[batch]?.isAbandoned == true ? content.task : nil)
            }
            return nil
        }
    }

    private let bounds: BatchBounds
    private let overload: any Error
    private let serve: Serve
    private let state: Mutex<State>

    /// - Parameter overload: what a request gets that finds the queue full, or has to leave it.
    package init(_ bounds: BatchBounds, overload: any Error, serve: @escaping Serve) {
        self.bounds = bounds
        self.overload = overload
        self.serve = serve
        state = Mutex(State(queue: FairQueue(maximumCount: bounds.waiting)))
    }

    /// Requests that wait.
    package var waitingCount: Int { state.withLock { $0.queue.count } }

    /// - Parameter lane: who asks, for the turns.
    /// - Throws: the request's error, or `CancellationError` in a cancelled task.
    package func answer(_ request: Request, lane: String = "") async throws -> Answer {
        let number = state.withLock { $0.makeNumber() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let waiting = Waiting(number: number, request: request, continuation: continuation)
                let admission = state.withLock { state -> FairQueue<Waiting>.Admission? in
                    // Checked under the lock, so that a later cancellation finds the request.
                    Task.isCancelled ? nil : state.queue.append(waiting, number: number, to: lane)
                }
                switch admission {
                case nil: continuation.resume(throwing: CancellationError())
                case .added: startNext()
                case .addedInPlaceOf(let other): other.continuation.resume(throwing: overload)
                case .refused: continuation.resume(throwing: overload)
                }
            }
        } onCancel: {
            guard let (waiting, work) = state.withLock({ $0.remove(number, lane) }) else { return }
            work?.cancel()
            waiting.continuation.resume(throwing: CancellationError())
        }
    }

    /// A batch has a task of its own, for none of its requests may stop it for the others.
    private func startNext() {
        guard let number = state.withLock({ $0.prepare(bounds) }) else { return }
        let task = Task { await run(number) }
        if !state.withLock({ $0.note(task, of: number) }) { task.cancel() }
    }

    private func run(_ number: UInt64) async {
        let requests = state.withLock { $0.begin(number, bounds) }
        guard !requests.isEmpty else { return }
        let answers: [Result<Answer, any Error>]
        do {
            answers = try await serve(requests)
            precondition(answers.count == requests.count, "every request has an answer")
        } catch {
            answers = requests.map { _ in .failure(error) }
        }
        let members = state.withLock { $0.batches.removeValue(forKey: number)?.members ?? [] }
        startNext()
        for (waiting, answer) in zip(members, answers) { waiting?.continuation.resume(with: answer) }
    }
}
