import Synchronization
import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncSession

@testable import GatewayService

@Suite(.timeLimit(.minutes(15)))
struct UploadPaceTests {
    private let start = ContinuousClock.now

    @Test("transactions become as large as a slice of time allows, within bounds")
    func sizes() {
        var pace = UploadPace()
        // Ten instructions take a millisecond.
        for _ in 0..<50 {
            let count = pace.instructionCount
            pace.finish(["ann": count], took: .microseconds(100 * count), at: start)
        }
        #expect(pace.instructionCount == UploadPace.instructionCounts.lowerBound)
        for _ in 0..<50 {
            let count = pace.instructionCount
            pace.finish(["ann": count], took: .microseconds(10 * count), at: start)
        }
        let wanted = UploadPace.slice / Duration.microseconds(10)
        #expect(abs(Double(pace.instructionCount) - wanted) < wanted / 10)
        for _ in 0..<50 { pace.finish(["ann": pace.instructionCount], took: .microseconds(1), at: start) }
        #expect(pace.instructionCount == UploadPace.instructionCounts.upperBound)
    }

    @Test("a quick small transaction says nothing about larger ones")
    func smallTransactions() {
        var pace = UploadPace()
        for _ in 0..<3 { pace.finish(["ann": pace.instructionCount], took: .microseconds(1), at: start) }
        let count = pace.instructionCount
        for _ in 0..<50 { pace.finish(["ann": 1], took: .microseconds(1), at: start) }
        #expect(pace.instructionCount == count)
        pace.finish(["ann": 1], took: .seconds(1), at: start)
        #expect(pace.instructionCount < count)
    }

    @Test("beyond a burst, a user waits for a multiple of what their transactions took, and nobody else does")
    func debts() throws {
        var pace = UploadPace()
        var now = start
        let took = Duration.milliseconds(100)
        var count = 0
        while pace.wait(of: "ann", at: now) == nil {
            pace.finish(["ann": 1_000], took: took, at: now)
            count += 1
        }
        #expect(took * count * UploadPace.costFactor > UploadPace.burst)
        #expect(took * (count - 1) * UploadPace.costFactor <= UploadPace.burst)
        #expect(pace.wait(of: "bob", at: now) == nil)
        now = try #require(pace.wait(of: "ann", at: now))
        #expect(pace.wait(of: "ann", at: now) == nil)
        pace.finish(["ann": 1_000], took: took, at: now)
        #expect(pace.wait(of: "ann", at: now) == now + took * UploadPace.costFactor)
    }

    @Test("users share the cost of a transaction in proportion to what they had in it")
    func sharedCost() {
        var pace = UploadPace()
        for _ in 0..<8 { pace.finish(["ann": 9_900, "bob": 100], took: .milliseconds(100), at: start) }
        #expect(pace.wait(of: "ann", at: start) != nil)
        #expect(pace.wait(of: "bob", at: start) == nil)
    }

    @Test("waiting for rows costs little, no debt lasts forever, and paid debts are forgotten")
    func bounds() throws {
        var pace = UploadPace()
        pace.finish(["waiting": 1], took: .seconds(30), at: start)
        #expect(pace.wait(of: "waiting", at: start) == nil)
        for _ in 0..<100 { pace.finish(["greedy": 1_000_000], took: .seconds(60), at: start) }
        let end = try #require(pace.wait(of: "greedy", at: start))
        #expect(start.duration(to: end) == UploadPace.maximumDebt)
        #expect(pace.userCount == 2)
        pace.finish(["ann": 1], took: .zero, at: end + UploadPace.burst)
        #expect(pace.userCount == 1)
    }

    @Test("a large changeset with few instructions costs the time that it took")
    func largeChangesets() throws {
        var pace = UploadPace()
        let took = Duration.milliseconds(300)
        let load = UploadPace.load(instructionCount: 1, byteCount: 15 << 20)
        pace.finish(["ann": load], took: took, at: start)
        #expect(pace.wait(of: "ann", at: start) == start + took * UploadPace.costFactor - UploadPace.burst)
        #expect(UploadPace.load(instructionCount: 50, byteCount: 5_000) == 50)
    }

    // MARK: In the queue

    @Test("with others connected, a user gets small transactions, one at a time, and others' uploads go in between")
    func turns() async throws {
        let held = Atomic(true)
        let store = RecordingStore(schema: try Schema.of([Note.self])) { uploads in
            guard uploads[0].client.rawValue <= 8 else { return }
            while held.load(ordering: .relaxed) { await Task.yield() }
        }
        let users = ConnectedUsers()
        for user in ["flood", "ann"] { users.enter(Peer(user)) }
        let clock = ContinuousClock.now
        let backlog = UploadBacklog()
        let queue = UploadQueue(
            store: store, backlog: backlog, users: users, onCommit: {},
            onGroup: { _ in _ = backlog.tell(backlog.mark) },
            now: { clock })
        try await withThrowingTaskGroup(of: Int.self) { group in
            for client: Int64 in 1...8 {
                group.addTask { try await queue.upload(Self.uploads(client, count: 10), user: "flood").count }
            }
            while await queue.waitingCount < 7 { await Task.yield() }
            #expect(await queue.transactionCount == 1)
            #expect(try await queue.upload(Self.uploads(9, count: 1), user: "ann").count == 1)
            #expect(store.groups.count == 2)
            held.store(false, ordering: .relaxed)
            for try await count in group { #expect(count == 10) }
        }
        #expect(store.groups[0].count < 10)
        #expect(store.groups.joined().count == 81)
    }

    @Test("a user who has used up their burst waits while others are connected, and continues when alone")
    func pause() async throws {
        let clock = Mutex(ContinuousClock.now)
        let store = RecordingStore(schema: try Schema.of([Note.self])) { uploads in
            if uploads[0].client.rawValue == 1 { clock.withLock { $0 += .milliseconds(80) } }
        }
        let users = ConnectedUsers()
        for user in ["flood", "flood", "ann"] { users.enter(Peer(user)) }
        let backlog = UploadBacklog()
        let queue = UploadQueue(
            store: store, backlog: backlog, users: users, onCommit: {},
            onGroup: { _ in _ = backlog.tell(backlog.mark) },
            now: { clock.withLock { $0 } })
        async let flood = queue.upload(Self.uploads(1, count: 500), user: "flood")
        var isPaused = false
        while !isPaused {
            await Task.yield()
            let (waiting, transactions) = (await queue.waitingCount, await queue.transactionCount)
            isPaused = waiting == 1 && transactions == 0 && !store.groups.isEmpty
        }
        let before = store.groups.count
        #expect(store.groups.joined().count < 500)
        #expect(try await queue.upload(Self.uploads(2, count: 1), user: "ann").count == 1)
        #expect(store.groups.count == before + 1)
        users.leave(Peer("ann"))
        await queue.goOn()
        #expect(try await flood.count == 500)
        #expect(Array(store.groups.joined().filter { $0 != 501 }) == Array(1...500))
    }

    @Test("64 accounts at one address delay uploads from another by no more than eight turns")
    func accountsInBulk() async throws {
        let flood: Int64 = 64
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let held = Atomic(0)
        let store = RecordingStore(schema: try Schema.of([Note.self])) { uploads in
            // The test lets the flood's transactions end one after another.
            guard uploads.contains(where: { $0.client.rawValue >= 100 }) else { return }
            held.add(1, ordering: .relaxed)
            for await _ in ends { break }
            held.subtract(1, ordering: .relaxed)
        }
        let users = ConnectedUsers()
        let victim = Peer("victim", from: "198.51.100.7")
        let accounts = (0..<flood).map { Peer("account \($0)", from: "192.0.2.1") }
        for peer in accounts + [victim] { users.enter(peer) }
        let clock = ContinuousClock.now
        let backlog = UploadBacklog()
        let queue = UploadQueue(
            store: store, backlog: backlog, users: users, onCommit: {},
            onGroup: { _ in _ = backlog.tell(backlog.mark) }, now: { clock })
        try await withThrowingTaskGroup(of: Int.self) { group in
            for (index, account) in accounts.enumerated() {
                for copy in 0..<8 {
                    let client = Int64(100 + index * 8 + copy)
                    group.addTask { try await queue.upload(Self.uploads(client, count: 1), of: account).count }
                }
            }
            while await queue.callCount < flood * 8 { await Task.yield() }
            for round in 0..<3 {
                // The flood holds all transactions that users share.
                while held.load(ordering: .relaxed) < UploadQueue.maximum.shared { await Task.yield() }
                let begun = store.groups.count
                let calls = await queue.callCount
                let isDone = Atomic(false)
                async let count = {
                    defer { isDone.store(true, ordering: .relaxed) }
                    return try await queue.upload(Self.uploads(2, count: 1), of: victim).count
                }()
                while await queue.callCount == calls { await Task.yield() }
                while !isDone.load(ordering: .relaxed) {
                    let before = store.groups.count
                    end.yield()
                    while store.groups.count == before, !isDone.load(ordering: .relaxed) { await Task.yield() }
                }
                #expect(try await count == 1)
                let turn = store.groups.dropFirst(begun).firstIndex { $0.contains(501) }.map { $0 - begun }
                #expect(try #require(turn) <= (round == 0 ? 0 : PlaceTurns.maximumWeight))
            }
            end.finish()
            for try await count in group { #expect(count == 1) }
        }
        #expect(store.groups.joined().count == flood * 8 + 3)
    }

    private static func uploads(_ client: Int64, count: Int) -> [Upload] {
        let first: Int64 = client == 2 ? 501 : 1
        return (first..<first + Int64(count)).map { number in
            let instructions = (0..<100).map { index -> Instruction in
                .erase(ObjectReference(classIndex: 0, key: .int(Int64(index))))
            }
            return Upload(
                client: ClientID(rawValue: client),
                changeset: Changeset(
                    number: number, base: 0, stamp: Stamp(microseconds: number), instructions: instructions),
                permit: { _ in nil })
        }
    }
}
