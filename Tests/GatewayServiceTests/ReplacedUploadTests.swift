import Synchronization
import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncSession

@testable import GatewayService

/// What a client's new session uploads replaces what an earlier session, now gone, left waiting in an ``UploadQueue``.
@Suite(.timeLimit(.minutes(15)))
struct ReplacedUploadTests {
    private static let device: Int64 = 7

    /// A queue whose transactions stay open until a test releases their clients.
    private final class Held: Sendable {
        let store: RecordingStore
        let queue: UploadQueue

        private final class Released: Sendable {
            let clients = Mutex<Set<Int64>>([])
        }

        private let released = Released()

        init() throws {
            store = RecordingStore(schema: try Schema.of([Note.self])) { [released] uploads in
                let clients = Set(uploads.map(\.client.rawValue))
                while !released.clients.withLock({ clients.isSubset(of: $0) }) {
                    try? await Task.sleep(for: .milliseconds(1))
                }
            }
            // With a stopped clock, no transaction counts as slow.
            let now = ContinuousClock.now
            queue = UploadQueue(store: store, onCommit: {}, now: { now })
        }

        func release(_ clients: Int64...) { released.clients.withLock { $0.formUnion(clients) } }

        /// Uploads changesets of a client with these numbers. Returns once they are waiting or in progress.
        func upload(_ numbers: ClosedRange<Int64>, of client: Int64) async -> Task<Int, any Error> {
            let before = await queue.callCount
            let task = Task {
                try await queue.upload(
                    numbers.map { number in
                        Upload(
                            client: ClientID(rawValue: client),
                            changeset: Changeset(
                                number: number, base: 0, stamp: Stamp(microseconds: number), instructions: []),
                            permit: { _ in nil })
                    }, user: "user \(client)"
                ).count
            }
            while await queue.callCount == before { await Task.yield() }
            return task
        }
    }

    /// Occupies `count` of the transactions that users share, by default all, with changesets numbered from 1,001.
    private func occupy(_ held: Held, _ count: Int = UploadQueue.maximum.shared) async -> [Task<Int, any Error>] {
        var tasks: [Task<Int, any Error>] = []
        for number in 1...Int64(count) {
            tasks.append(await held.upload(1_000 + number...1_000 + number, of: 1_000 + number))
        }
        #expect(await held.queue.transactionCount == count)
        return tasks
    }

    @Test("changesets that a departed client left waiting are replaced by the same ones from its next session")
    func replaced() async throws {
        let held = try Held()
        let others = await occupy(held)
        let left = await held.upload(1...3, of: Self.device)
        let behind = await held.upload(11...11, of: 8)
        left.cancel()
        let back = await held.upload(1...5, of: Self.device)
        #expect(await held.queue.waitingCount == 2)
        held.release(1_001, 1_002, Self.device, 8)
        await #expect(throws: CancellationError.self) { try await left.value }
        for task in others + [behind] { #expect(try await task.value == 1) }
        #expect(try await back.value == 5)
        #expect(held.store.groups.dropFirst(2) == [[1, 2, 3, 4, 5, 11]])
    }

    @Test("one upload replaces several that a client left behind, and is applied even if the client never comes back")
    func leftForGood() async throws {
        let held = try Held()
        let others = await occupy(held)
        let first = await held.upload(1...5, of: Self.device)
        first.cancel()
        let second = await held.upload(1...3, of: Self.device)
        second.cancel()
        #expect(await held.queue.waitingCount == 2)
        let third = await held.upload(1...6, of: Self.device)
        third.cancel()
        #expect(await held.queue.waitingCount == 1)
        held.release(1_001, 1_002, Self.device)
        for task in [first, second] { await #expect(throws: CancellationError.self) { try await task.value } }
        for task in others { #expect(try await task.value == 1) }
        #expect(try await third.value == 6)
        #expect(held.store.groups.dropFirst(2) == [[1, 2, 3, 4, 5, 6]])
    }

    @Test(
        "nothing is replaced while the client is still connected, by other changesets, or by other clients",
        arguments: [(hasLeft: false, back: 1...5, client: 7), (true, 1...2, 7), (true, 4...5, 7), (true, 1...5, 8)]
            as [(hasLeft: Bool, back: ClosedRange<Int64>, client: Int64)])
    func kept(_ hasLeft: Bool, _ numbers: ClosedRange<Int64>, _ client: Int64) async throws {
        let held = try Held()
        let others = await occupy(held)
        let left = await held.upload(1...3, of: Self.device)
        if hasLeft { left.cancel() }
        let back = await held.upload(numbers, of: client)
        #expect(await held.queue.waitingCount == 2)
        held.release(1_001, 1_002, Self.device, client)
        for task in others { #expect(try await task.value == 1) }
        #expect(try await left.value == 3)
        #expect(try await back.value == numbers.count)
        #expect(held.store.groups.joined().filter { $0 < 1_000 }.sorted() == ([1, 2, 3] + numbers).sorted())
    }

    @Test("if some changesets of an upload are already in progress, the rest are replaced")
    func rest() async throws {
        let held = try Held()
        let count = Int64(UploadQueue.maximumGroupSize)
        let others = await occupy(held, UploadQueue.maximum.shared - 1)
        let left = await held.upload(1...count + 50, of: Self.device)
        #expect(await held.queue.transactionCount == UploadQueue.maximum.shared)
        left.cancel()
        let back = await held.upload(1...count + 60, of: Self.device)
        #expect(await held.queue.waitingCount == 1)
        held.release(Self.device)
        await #expect(throws: CancellationError.self) { try await left.value }
        #expect(try await back.value == Int(count) + 60)
        held.release(1_001, 1_002)
        for task in others { #expect(try await task.value == 1) }
        let numbers = held.store.groups.joined().filter { $0 < 1_000 }
        #expect(numbers == Array(1...count) + Array(1...count + 60))
    }
}
