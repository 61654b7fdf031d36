import PostgresClient
import Synchronization
import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession
import TomboloWebSocket

@testable import GatewayService

@Suite(.serialized, .timeLimit(.minutes(15)))
struct UploadTests {
    @Test
    func `One upload is always admitted, and the next ones in order as there is room`() async throws {
        let budget = UploadBudget(maximumByteCount: 10)
        try await budget.admit(25, of: Peer("ann"))
        let (order, addToOrder) = AsyncStream.makeStream(of: Int.self)
        var waiting: [Task<Void, any Error>] = []
        for size in [6, 7, 1] {
            waiting.append(
                Task {
                    try await budget.admit(size, of: Peer("user \(size)"))
                    addToOrder.yield(size)
                })
            while await budget.waitingCount < waiting.count { await Task.yield() }
        }
        #expect(await budget.byteCount == 25)
        await budget.release(25, of: Peer("ann"))
        try await waiting[0].value
        #expect(await budget.byteCount == 6)
        await budget.release(6, of: Peer("user 6"))
        for task in waiting { try await task.value }
        #expect(await budget.byteCount == 8)
        let first = await order.first { _ in true }
        #expect(first == 6)
    }

    @Test
    func `An upload that stops waiting for room lets those behind it go on`() async throws {
        let budget = UploadBudget(maximumByteCount: 10)
        try await budget.admit(6, of: Peer("ann"))
        let long = Task { try await budget.admit(9, of: Peer("bob")) }
        while await budget.waitingCount < 1 { await Task.yield() }
        let short = Task { try await budget.admit(2, of: Peer("eve")) }
        while await budget.waitingCount < 2 { await Task.yield() }
        long.cancel()
        await #expect(throws: CancellationError.self) { try await long.value }
        try await short.value
        #expect(await budget.byteCount == 8)
    }

    @Test("one user's uploads take at most half of the room, and keep nobody else waiting")
    func fairBudget() async throws {
        let budget = UploadBudget(maximumByteCount: 10)
        for _ in 0..<2 { try await budget.admit(2, of: Peer("ann")) }
        let greedy = Task { try await budget.admit(2, of: Peer("ann")) }
        while await budget.waitingCount < 1 { await Task.yield() }
        try await budget.admit(5, of: Peer("bob"))
        #expect(await budget.byteCount == 9)
        await budget.release(2, of: Peer("ann"))
        try await greedy.value
        #expect(await budget.byteCount == 9)
    }

    @Test("uploads from accounts at one address take at most half of the room while others are connected")
    func fairBudgetOfPlaces() async throws {
        let users = ConnectedUsers()
        let accounts = (0..<64).map { Peer("account \($0)", from: "2001:db8::\($0)") }
        let budget = UploadBudget(maximumByteCount: 64, users: users)
        users.enter(accounts[0])
        for account in accounts.prefix(40) { try await budget.admit(1, of: account) }
        let victim = Peer("victim", from: "2001:db8:1::1")
        users.enter(victim)
        let greedy = Task { try await budget.admit(1, of: accounts[40]) }
        while await budget.waitingCount < 1 { await Task.yield() }
        try await budget.admit(24, of: victim)
        #expect(await budget.byteCount == 64)
        for account in accounts.prefix(9) { await budget.release(1, of: account) }
        try await greedy.value
        #expect(await budget.byteCount == 56)
    }

    @Test("thousands of small messages after an upload are handled one after another")
    func manyMessages() async throws {
        try await GatewayFixture.with(try Schema.of([Note.self])) { fixture in
            try await DeviceSocket.with(fixture.schema, port: fixture.port) { device in
                try await device.sayHello()
                #expect(try await device.firstEnd() != nil)
                let codec = device.codec
                let applied = codec.encode(ClientMessage.applied(tick: 1))
                // Sent in one piece, so that they are read while the gateway is still busy with the first.
                try await device.writer.write(
                    [codec.encode(ClientMessage.upload([]))] + Array(repeating: applied, count: 10_000))
                let set = SubscriptionSet(version: 2, subscriptions: [])
                try await device.send(.subscribe(set))
                #expect(try await device.firstEnd { $0.position.subscriptionVersion == 2 } != nil)
            }
        }
    }

    @Test
    func `Long changesets do not share a transaction`() async throws {
        let store = RecordingStore(schema: try Schema.of([Note.self]))
        let queue = UploadQueue(store: store, onCommit: {})
        let long = String(repeating: "x", count: UploadQueue.maximumGroupByteCount / 2)
        let uploads = (1...6).map { number in
            Upload(
                client: ClientID(rawValue: 1), changeset: Self.changeset(Int64(number), number > 4 ? "short" : long),
                permit: { _ in nil })
        }
        let results = try await queue.upload(uploads, user: "ann")
        #expect(results.count == 6)
        #expect(store.groups == [[1], [2], [3], [4, 5, 6]])
    }

    @Test("a client whose changesets are stuck doesn't affect the outcome of other clients")
    func stuckClient() async throws {
        struct Stuck: Error {}
        final class Course: Sendable {
            let isReleased = Atomic(false)
            let commits = Atomic(0)
        }
        let course = Course()
        let store = RecordingStore(schema: try Schema.of([Note.self])) { uploads in
            while !course.isReleased.load(ordering: .relaxed) { await Task.yield() }
            guard uploads.count == 3 else { return }
            throw UnfinishedUploads(
                results: [.applied(lost: 1), nil, .applied(lost: 2)], causes: [ClientID(rawValue: 1): Stuck()])
        }
        // With a stopped clock, no transaction counts as slow.
        let now = ContinuousClock.now
        let queue = UploadQueue(
            store: store, onCommit: { course.commits.add(1, ordering: .relaxed) }, now: { now })
        func upload(_ client: Int64, _ numbers: ClosedRange<Int64>) -> [Upload] {
            numbers.map { number in
                Upload(
                    client: ClientID(rawValue: client), changeset: Self.changeset(number, ""), permit: { _ in nil })
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            // Occupy all transactions that users share, so that the uploads that follow wait for the same one.
            for client in 1...UploadQueue.maximum.shared {
                group.addTask { _ = try await queue.upload(upload(10 + Int64(client), 9...9), user: "other \(client)") }
            }
            while await queue.transactionCount < UploadQueue.maximum.shared { await Task.yield() }
            group.addTask {
                await #expect(throws: Stuck.self) { _ = try await queue.upload(upload(1, 1...2), user: "stuck") }
            }
            while await queue.waitingCount < 1 { await Task.yield() }
            group.addTask {
                let results = try await queue.upload(upload(2, 3...3), user: "ann")
                #expect(results == [.applied(lost: 2)])
            }
            while await queue.waitingCount < 2 { await Task.yield() }
            course.isReleased.store(true, ordering: .relaxed)
            try await group.waitForAll()
        }
        #expect(store.groups.last == [1, 2, 3])
        #expect(course.commits.load(ordering: .relaxed) == UploadQueue.maximum.shared + 1)
    }

    @Test("slow uploads delay other uploads of their user, and nobody else's")
    func slowUploads() async throws {
        let clock = Mutex(ContinuousClock.now)
        let isReleased = Atomic(false)
        let store = RecordingStore(schema: try Schema.of([Note.self])) { uploads in
            // Clients 1 to 8 are the slow user's.
            guard uploads[0].client.rawValue <= 8 else { return }
            while !isReleased.load(ordering: .relaxed) { await Task.yield() }
        }
        let queue = UploadQueue(store: store, onCommit: {}, now: { clock.withLock { $0 } })
        func upload(_ client: Int64, _ user: String) async throws -> Int {
            try await queue.upload(
                [
                    Upload(
                        client: ClientID(rawValue: client), changeset: Self.changeset(client, ""), permit: { _ in nil })
                ],
                user: user
            ).count
        }
        try await withThrowingTaskGroup(of: Int.self) { group in
            for client: Int64 in 1...2 {
                group.addTask { try await upload(client, "slow") }
                while store.groups.count < client { await Task.yield() }
            }
            clock.withLock { $0 += UploadQueue.patience }
            for client: Int64 in 3...8 { group.addTask { try await upload(client, "slow") } }
            for client: Int64 in 11...30 { #expect(try await upload(client, "ann") == 1) }
            #expect(store.groups.filter { $0[0] <= 8 }.count == UploadQueue.maximum.apartOfUser)
            isReleased.store(true, ordering: .relaxed)
            for try await count in group { #expect(count == 1) }
        }
        let together = store.groups.filter { $0.contains { $0 <= 8 } && $0.contains { $0 > 8 } }
        #expect(together.isEmpty)
        #expect(store.groups.joined().count == 28)
    }

    @Test
    func `Uploads are all applied even if they are more than may wait at once`() async throws {
        try await GatewayFixture.with(try Schema.of([Note.self])) { fixture in
            try await DeviceSocket.with(fixture.schema, port: fixture.port) { device in
                try await device.sayHello()
                _ = try await device.firstEnd()
                // A changeset that the session drops as a duplicate gives back its room too.
                for number: Int64 in [1, 2, 2, 3, 4] {
                    let text = String(repeating: "\(number)", count: Gateway.maximumWaitingUploadByteCount / 3)
                    try await device.send(.upload([Self.changeset(number, text)]))
                }
                let end = try await device.firstEnd { $0.acknowledged == 4 }
                #expect(end != nil)
            }
        }
    }

    @Test
    func `A changeset that names a class the server does not have is refused, and those behind it are applied`()
        async throws
    {
        let other = MessageCodec(
            schema: try Schema([
                ClassSchema(name: "Ghost", columns: [Column(name: "_id", type: .int(bits: 64), isPrimaryKey: true)])
            ]))
        let unknown = Changeset(
            number: 1, base: 0, stamp: Stamp(microseconds: 1),
            instructions: [.erase(ObjectReference(classIndex: 0, key: .int(1)))])
        try await GatewayFixture.with(try Schema.of([Note.self])) { fixture in
            try await DeviceSocket.with(fixture.schema, port: fixture.port) { device in
                try await device.sayHello()
                _ = try await device.firstEnd()
                try await device.writer.write(other.encode(.upload([unknown])))
                try await device.send(.upload([Self.changeset(2, "two")]))
                var refused: [Int64] = []
                let end = try await device.firstEnd {
                    refused += $0.refusals.map(\.number)
                    return $0.acknowledged == 2
                }
                #expect(end != nil && refused == [1])
            }
        }
    }

    @Test
    func `Changes that the database refuses to apply stay on the device, and the error says so`() async throws {
        try await GatewayFixture.with(try Schema.of([Note.self])) { fixture in
            try await DeviceSocket.with(fixture.schema, port: fixture.port) { device in
                try await device.sayHello()
                _ = try await device.firstEnd()
                try await fixture.pool.execute("ALTER TABLE note RENAME COLUMN text TO other")
                try await device.send(.upload([Self.changeset(1, "one")]))
                let failure = try await device.failure()
                #expect(failure?.isRetryable == true)
                #expect(failure?.message.contains("refused to apply this device's changes") == true)
            }
        }
    }

    private static func changeset(_ number: Int64, _ text: String) -> Changeset {
        Changeset(
            number: number, base: 0, stamp: Stamp(microseconds: number),
            instructions: [
                .create(
                    ObjectReference(classIndex: 0, key: .int(number)),
                    [FieldWrite(column: 1, value: .string(text))])
            ])
    }
}
