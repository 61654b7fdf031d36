import Synchronization
import TestSupport
import Testing

@testable import TomboloHTTP

@Suite("Batches", .timeLimit(.minutes(1))) struct BatchesTests {
    /// Batches that wait until they are let go.
    private final class Gate: Sendable {
        private let state = Mutex<(batches: [[Int]], waiting: [CheckedContinuation<Void, Never>])>(([], []))

        var batches: [[Int]] { state.withLock { $0.batches } }

        func pass(_ items: [Int]) async {
            await withCheckedContinuation { continuation in
                state.withLock {
                    $0.batches.append(items)
                    $0.waiting.append(continuation)
                }
            }
        }

        /// Lets the batch go that has waited longest, once there is one.
        func open() async {
            while true {
                if let first = state.withLock({ $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }) {
                    return first.resume()
                }
                await Task.yield()
            }
        }

        func began(_ count: Int) async { while batches.count < count { await Task.yield() } }
    }

    private static func doubling(_ gate: Gate, size: Int = 10, concurrency: Int = 1, waiting: Int = 100)
        -> Batches<Int, Int, Never>
    {
        Batches(BatchBounds(size: size, concurrency: concurrency, waiting: waiting)) { items in
            await gate.pass(items)
            return items.map { $0 < 0 ? .failure(RequestFailure(.conflict, "negative")) : .success(2 * $0) }
        }
    }

    @Test("What comes while a batch is at work is in the next, in order, with an outcome for each")
    func gathering() async throws {
        let gate = Gate()
        let batches = Self.doubling(gate, size: 3)
        async let first = batches.outcome(of: 1)
        await gate.began(1)
        var others: [Task<Int, any Error>] = []
        for item in [2, -3, 4, 5] {
            others.append(Task { try await batches.outcome(of: item) })
            // Each is in the queue before the next comes.
            while batches.waitingCount < others.count { await Task.yield() }
        }
        await gate.open()
        #expect(try await first == 2)
        await gate.open()
        await gate.open()
        #expect(gate.batches == [[1], [2, -3, 4], [5]])
        #expect(try await others[0].value == 4)
        await #expect(throws: RequestFailure.self) { try await others[1].value }
        #expect(try await others[2].value == 8)
        #expect(try await others[3].value == 10)
    }

    @Test("Items of one key are in one batch at a time; others don't wait for them")
    func keys() async throws {
        let gate = Gate()
        let batches = Batches<Int, Int, Int>(BatchBounds(size: 10, concurrency: 2), by: { $0 % 10 }) { items in
            await gate.pass(items)
            return items.map { .success($0) }
        }
        async let first = batches.outcome(of: 1)
        await gate.began(1)
        async let same = batches.outcome(of: 11)
        while batches.waitingCount < 1 { await Task.yield() }
        async let other = batches.outcome(of: 2)
        await gate.began(2)
        #expect(gate.batches == [[1], [2]])
        await gate.open()
        await gate.began(3)
        #expect(gate.batches == [[1], [2], [11]])
        await gate.open()
        await gate.open()
        #expect(try await [first, same, other] == [1, 11, 2])
    }

    @Test("A request that is given up leaves the others alone, and nobody's batch is cancelled")
    func cancellation() async throws {
        let gate = Gate()
        let wasCancelled = Mutex<[Bool]>([])
        let batches = Batches<Int, Int, Never>(BatchBounds(size: 10)) { items in
            await gate.pass(items)
            wasCancelled.withLock { $0.append(Task.isCancelled) }
            return items.map { .success($0) }
        }
        let first = Task { try await batches.outcome(of: 1) }
        await gate.began(1)
        let waiting = Task { try await batches.outcome(of: 2) }
        let staying = Task { try await batches.outcome(of: 3) }
        while batches.waitingCount < 2 { await Task.yield() }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        await gate.open()
        await gate.began(2)
        #expect(gate.batches == [[1], [3]])
        await gate.open()
        #expect(try await staying.value == 3)
        #expect(wasCancelled.withLock { $0 } == [true, false])
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await batches.outcome(of: 4)
        }
        await #expect(throws: CancellationError.self) { try await late.value }
        #expect(gate.batches.count == 2)
    }

    @Test("More than the bound are refused with 503, and an error is everybody's of the batch")
    func bounds() async throws {
        let gate = Gate()
        let batches = Self.doubling(gate, waiting: 1)
        let first = Task { try await batches.outcome(of: 1) }
        await gate.began(1)
        let second = Task { try await batches.outcome(of: 2) }
        while batches.waitingCount < 1 { await Task.yield() }
        let refusal = await #expect(throws: RequestFailure.self) { try await batches.outcome(of: 3) }
        #expect(refusal?.code == .unavailable)
        await gate.open()
        await gate.open()
        #expect(try await first.value + second.value == 6)

        struct Broken: Error {}
        let broken = Batches<Int, Int, Never>(BatchBounds(size: 2)) { _ in throw Broken() }
        await #expect(throws: Broken.self) { try await broken.outcome(of: 1) }
    }
}
