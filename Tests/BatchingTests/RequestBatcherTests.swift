import Batching
import Synchronization
import Testing

@Suite("RequestBatcher", .timeLimit(.minutes(15))) struct RequestBatcherTests {
    private struct Overload: Error {}
    private struct Negative: Error {}
    private struct Zero: Error {}

    /// Answers each request with ten times its value once the test releases its batch. A negative request fails alone;
    /// zero makes the whole batch fail.
    private final class Work: Sendable {
        private struct State {
            var batches: [[Int]] = []
            var wereCancelled: [Bool] = []
            var gates: [CheckedContinuation<Void, Never>] = []
        }

        private let state = Mutex(State())

        var batches: [[Int]] { state.withLock { $0.batches } }
        /// Whether each finished batch had been cancelled, in the order in which they finished.
        var wereCancelled: [Bool] { state.withLock { $0.wereCancelled } }

        func serve(_ requests: [Int]) async throws -> [Result<Int, any Error>] {
            await withCheckedContinuation { gate in
                state.withLock {
                    $0.batches.append(requests)
                    $0.gates.append(gate)
                }
            }
            state.withLock { $0.wereCancelled.append(Task.isCancelled) }
            if requests.contains(0) { throw Zero() }
            return requests.map { $0 < 0 ? .failure(Negative()) : .success($0 * 10) }
        }

        /// Releases the batch that has waited longest, waiting for one if necessary.
        func finish() async {
            while true {
                if let gate = state.withLock({ $0.gates.isEmpty ? nil : $0.gates.removeFirst() }) {
                    return gate.resume()
                }
                await Task.yield()
            }
        }
    }

    private let work: Work
    private let batcher: RequestBatcher<Int, Int>

    init() { self.init(BatchBounds(size: 3)) }

    private init(_ bounds: BatchBounds) {
        let work = Work()
        self.work = work
        batcher = RequestBatcher(bounds, overload: Overload()) { try await work.serve($0) }
    }

    private func ask(_ request: Int, _ lane: String = "") -> Task<Int, any Error> {
        Task { [batcher] in try await batcher.answer(request, lane: lane) }
    }

    /// Sends a request that starts a new batch.
    private func begin(_ request: Int, _ lane: String = "") async -> Task<Int, any Error> {
        let count = work.batches.count
        let answer = ask(request, lane)
        await began(count + 1)
        return answer
    }

    private func began(_ count: Int) async { while work.batches.count < count { await Task.yield() } }

    /// Sends a request that has to wait for a batch.
    private func queue(_ request: Int, _ lane: String = "") async -> Task<Int, any Error> {
        let count = batcher.waitingCount
        let answer = ask(request, lane)
        while batcher.waitingCount == count { await Task.yield() }
        return answer
    }

    @Test("requests that arrive while a batch is served form the next ones, with lanes taking turns")
    func batches() async throws {
        var answers = [await begin(1, "a")]
        for (request, lane) in [(2, "a"), (3, "a"), (4, "a"), (5, "b")] { answers.append(await queue(request, lane)) }
        for _ in 0..<3 { await work.finish() }
        for (place, answer) in answers.enumerated() { #expect(try await answer.value == (place + 1) * 10) }
        #expect(work.batches == [[1], [2, 5, 3], [4]])
    }

    @Test("as many batches run at the same time as the bound allows")
    func concurrency() async throws {
        let test = RequestBatcherTests(BatchBounds(size: 3, concurrency: 2))
        var answers = [await test.begin(1), await test.begin(2), await test.queue(3)]
        await test.work.finish()
        await test.began(3)
        answers.append(await test.queue(4))
        for _ in 0..<3 { await test.work.finish() }
        for (place, answer) in answers.enumerated() { #expect(try await answer.value == (place + 1) * 10) }
        #expect(test.work.batches == [[1], [2], [3], [4]])
    }

    @Test("a failing request doesn't affect the others in its batch, unless the whole batch fails")
    func failures() async throws {
        let (first, good, bad) = (await begin(1), await queue(2), await queue(-1))
        for _ in 0..<2 { await work.finish() }
        #expect(try await first.value == 10)
        #expect(try await good.value == 20)
        await #expect(throws: Negative.self) { try await bad.value }
        let (second, zero, other) = (await begin(1), await queue(0), await queue(2))
        for _ in 0..<2 { await work.finish() }
        #expect(try await second.value == 10)
        await #expect(throws: Zero.self) { try await zero.value }
        await #expect(throws: Zero.self) { try await other.value }
    }

    @Test("a request beyond the bound replaces the newest of the longest lane, or is refused")
    func overload() async throws {
        let test = RequestBatcherTests(BatchBounds(size: 3, waiting: 2))
        let (first, kept, evicted) = (await test.begin(1, "a"), await test.queue(2, "a"), await test.queue(3, "a"))
        let other = test.ask(4, "b")
        await #expect(throws: Overload.self) { try await evicted.value }
        await #expect(throws: Overload.self) { try await test.batcher.answer(5, lane: "b") }
        for _ in 0..<2 { await test.work.finish() }
        #expect(try await first.value == 10)
        #expect(try await kept.value == 20)
        #expect(try await other.value == 40)
    }

    @Test("a request that is cancelled before its turn isn't served")
    func givingUp() async throws {
        let (first, leaves, stays) = (await begin(1), await queue(2), await queue(3))
        leaves.cancel()
        await #expect(throws: CancellationError.self) { try await leaves.value }
        let late = Task { [batcher] in
            withUnsafeCurrentTask { $0?.cancel() }
            return try await batcher.answer(4)
        }
        await #expect(throws: CancellationError.self) { try await late.value }
        for _ in 0..<2 { await work.finish() }
        #expect(try await first.value == 10)
        #expect(try await stays.value == 30)
        #expect(work.batches == [[1], [3]])
    }

    @Test("a batch continues without requests that are cancelled, and is cancelled once all of them are")
    func givingUpInABatch() async throws {
        let (alone, leaves, stays) = (await begin(1), await queue(2), await queue(3))
        alone.cancel()
        await #expect(throws: CancellationError.self) { try await alone.value }
        await work.finish()
        await began(2)
        leaves.cancel()
        await #expect(throws: CancellationError.self) { try await leaves.value }
        await work.finish()
        #expect(try await stays.value == 30)
        #expect(work.batches == [[1], [2, 3]])
        #expect(work.wereCancelled == [true, false])
    }

    @Test("each of many requests from many tasks is answered once")
    func many() async throws {
        let batcher = RequestBatcher<Int, Int>(BatchBounds(size: 7, concurrency: 2), overload: Overload()) {
            await Task.yield()
            return $0.map { .success($0 + 1) }
        }
        let sum = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<2_000 {
                group.addTask { try await batcher.answer(number, lane: "\(number % 13)") - number }
            }
            return try await group.reduce(0, +)
        }
        #expect(sum == 2_000)
        #expect(batcher.waitingCount == 0)
    }
}
