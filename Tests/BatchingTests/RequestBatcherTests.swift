import Batching
import Synchronization
import Testing

@Suite struct RequestBatcherTests {
    private struct Overload: Error {}

    /// Serves batches that the test lets go one by one, and keeps what they had.
    private final class Desk: Sendable {
        let batches = Mutex<[[Int]]>([])
        let (gates, gate) = AsyncStream<Void>.makeStream()

        func batcher(waiting: Int = 100, batch: Int = 3, concurrent: Int = 1) -> RequestBatcher<Int, Int> {
            RequestBatcher(
                .init(waitingCount: waiting, batchCount: batch, concurrentCount: concurrent), overload: Overload()
            ) { [self] requests in
                batches.withLock { $0.append(requests) }
                for await _ in gates { break }
                return requests.map { $0 < 0 ? .failure(Overload()) : .success($0 * 10) }
            }
        }

        func waitForBatch(_ count: Int) async {
            while batches.withLock({ $0.count }) < count { await Task.yield() }
        }
    }

    @Test("what comes while a batch is served makes up the next one, in turns by lane")
    func batches() async throws {
        let desk = Desk()
        let batcher = desk.batcher()
        async let first = batcher.answer(1, lane: "a")
        await desk.waitForBatch(1)
        var others: [Task<Int, any Error>] = []
        for (request, lane) in [(2, "a"), (3, "a"), (4, "a"), (5, "b")] {
            others.append(Task { try await batcher.answer(request, lane: lane) })
            while batcher.waitingCount < others.count { await Task.yield() }
        }
        for _ in 0..<3 { desk.gate.yield() }
        #expect(try await first == 10)
        var answers: [Int] = []
        for other in others { answers.append(try await other.value) }
        #expect(answers == [20, 30, 40, 50])
        #expect(desk.batches.withLock { $0 } == [[1], [2, 5, 3], [4]])
    }

    @Test("a request that fails leaves the others of its batch alone")
    func failures() async throws {
        let desk = Desk()
        let batcher = desk.batcher()
        async let first = batcher.answer(1, lane: "a")
        await desk.waitForBatch(1)
        let good = Task { try await batcher.answer(2, lane: "a") }
        let bad = Task { try await batcher.answer(-1, lane: "b") }
        while batcher.waitingCount < 2 { await Task.yield() }
        for _ in 0..<2 { desk.gate.yield() }
        _ = try await first
        #expect(try await good.value == 20)
        await #expect(throws: Overload.self) { try await bad.value }
    }

    @Test("a request beyond the bound takes the place of the longest lane's newest, or is refused")
    func overload() async throws {
        let desk = Desk()
        let batcher = desk.batcher(waiting: 2)
        async let first = batcher.answer(1, lane: "a")
        await desk.waitForBatch(1)
        let kept = Task { try await batcher.answer(2, lane: "a") }
        while batcher.waitingCount < 1 { await Task.yield() }
        let evicted = Task { try await batcher.answer(3, lane: "a") }
        while batcher.waitingCount < 2 { await Task.yield() }
        let other = Task { try await batcher.answer(4, lane: "b") }
        await #expect(throws: Overload.self) { try await evicted.value }
        await #expect(throws: Overload.self) { try await batcher.answer(5, lane: "b") }
        for _ in 0..<2 { desk.gate.yield() }
        _ = try await first
        #expect(try await kept.value == 20)
        #expect(try await other.value == 40)
    }

    @Test("a request that is given up is not served")
    func cancelling() async throws {
        let desk = Desk()
        let batcher = desk.batcher()
        async let first = batcher.answer(1, lane: "a")
        await desk.waitForBatch(1)
        let given = Task { try await batcher.answer(2, lane: "a") }
        while batcher.waitingCount < 1 { await Task.yield() }
        given.cancel()
        await #expect(throws: CancellationError.self) { try await given.value }
        desk.gate.yield()
        _ = try await first
        let late = Task { try await batcher.answer(3, lane: "a") }
        await desk.waitForBatch(2)
        desk.gate.yield()
        #expect(try await late.value == 30)
        #expect(desk.batches.withLock { $0 } == [[1], [3]])
    }

    @Test("a batch in which everybody gave up is cancelled")
    func abandonedBatches() async throws {
        let isCancelled = Mutex(false)
        let desk = Desk()
        let batcher = RequestBatcher<Int, Int>(
            .init(waitingCount: 10, batchCount: 10, concurrentCount: 1), overload: Overload()
        ) { requests in
            desk.batches.withLock { $0.append(requests) }
            await withTaskCancellationHandler {
                for await _ in desk.gates { break }
            } onCancel: {
                isCancelled.withLock { $0 = true }
            }
            return requests.map { .success($0 * 10) }
        }
        let alone = Task { try await batcher.answer(1, lane: "a") }
        await desk.waitForBatch(1)
        alone.cancel()
        await #expect(throws: CancellationError.self) { try await alone.value }
        #expect(isCancelled.withLock { $0 })
    }

    @Test("who gives up while others of the batch wait for the answer waits no longer")
    func givingUpInABatch() async throws {
        let desk = Desk()
        let batcher = desk.batcher()
        async let first = batcher.answer(1, lane: "a")
        await desk.waitForBatch(1)
        let stays = Task { try await batcher.answer(2, lane: "a") }
        let leaves = Task { try await batcher.answer(3, lane: "b") }
        while batcher.waitingCount < 2 { await Task.yield() }
        desk.gate.yield()
        await desk.waitForBatch(2)
        leaves.cancel()
        await #expect(throws: CancellationError.self) { try await leaves.value }
        desk.gate.yield()
        #expect(try await first == 10)
        #expect(try await stays.value == 20)
    }

    @Test("many requests from many tasks are each answered once")
    func many() async throws {
        let batcher = RequestBatcher<Int, Int>(
            .init(waitingCount: 10_000, batchCount: 7, concurrentCount: 2), overload: Overload()
        ) { requests in
            await Task.yield()
            return requests.map { .success($0 + 1) }
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
