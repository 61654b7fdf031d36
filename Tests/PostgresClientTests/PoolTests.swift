import PostgresClient
import Synchronization
import TestSupport
import Testing

@Suite struct PoolTests {
    /// A pool whose requests wait longer than a test may stall.
    private func pool(
        _ maximumConnections: Int = 3, maximumWaiters: Int = PostgresPool.Options.defaultMaximumWaiters,
        acquireTimeout: Duration = .seconds(600)
    ) async throws -> PostgresPool {
        PostgresPool(
            configuration: try await TestCluster.shared().createDatabase(),
            options: .init(
                maximumConnections: maximumConnections, maximumWaiters: maximumWaiters, acquireTimeout: acquireTimeout))
    }

    @Test("A pool reuses connections and never opens more than its maximum")
    func poolBound() async throws {
        let pool = try await pool()
        let processes = try await withThrowingTaskGroup(of: Int64.self) { group in
            for _ in 0..<100 {
                group.addTask { try await pool.query("SELECT pg_backend_pid(), pg_sleep(0.001)")[0, 0].int64 }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(processes.count <= 3)
        #expect(pool.statistics.inUse == 0 && pool.statistics.waiting == 0)
        #expect(pool.statistics.idle == processes.count)
        await pool.shutdown()
        await #expect(throws: PostgresPoolError.shutDown) { try await pool.query("SELECT 1") }
    }

    @Test("The number of waiters is bounded")
    func waiterCount() async throws {
        let pool = try await pool(1, maximumWaiters: 1)
        try await pool.withConnection { _ in
            let waiting = Task { try await pool.query("SELECT 1") }
            while pool.statistics.waiting < 1 { await Task.yield() }
            await #expect(throws: PostgresPoolError.tooManyWaiters(limit: 1)) { try await pool.query("SELECT 1") }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
        }
        #expect(try await pool.query("SELECT 1").count == 1)
    }

    @Test("How long a request waits is bounded")
    func waitingTime() async throws {
        let limit = Duration.milliseconds(200)
        let pool = try await pool(1, acquireTimeout: limit)
        try await pool.withConnection { _ in
            await #expect(throws: PostgresPoolError.timedOut(after: limit, size: 1)) {
                try await pool.query("SELECT 1")
            }
        }
        #expect(try await pool.query("SELECT 1").count == 1)
    }

    @Test("Waiters get connections in the order they asked")
    func waiterOrder() async throws {
        let pool = try await pool(1)
        let order = OrderRecorder()
        try await withThrowingTaskGroup(of: Void.self) { group in
            try await pool.withConnection { _ in
                for number in 0..<10 {
                    group.addTask { try await pool.withConnection { _ in await order.add(number) } }
                    while pool.statistics.waiting < number + 1 { await Task.yield() }
                }
            }
            try await group.waitForAll()
        }
        #expect(await order.numbers == Array(0..<10))
    }

    /// Holds connections for a borrower until the gate is opened.
    private func hold(
        _ count: Int, of pool: PostgresPool, for borrower: PostgresBorrower,
        _ group: inout ThrowingTaskGroup<Void, any Error>, _ gate: Gate
    ) {
        for _ in 0..<count {
            group.addTask {
                try await PostgresBorrower.$current.withValue(borrower) {
                    try await pool.withConnection { _ in await gate.wait() }
                }
            }
        }
    }

    private func until(_ inUse: Int, _ waiting: Int, _ pool: PostgresPool) async {
        while pool.statistics.inUse != inUse || pool.statistics.waiting != waiting { await Task.yield() }
    }

    @Test("A user holds half of the connections, users of an address three quarters, and the last is for somebody else")
    func shares() async throws {
        let pool = try await pool(4)
        let (one, others) = (Gate(), Gate())
        try await withThrowingTaskGroup(of: Void.self) { group in
            let ada = PostgresBorrower(user: "ada", address: "1")
            hold(5, of: pool, for: ada, &group, one)
            await until(2, 3, pool)
            hold(2, of: pool, for: PostgresBorrower(user: "bob", address: "1"), &group, others)
            await until(3, 4, pool)
            hold(1, of: pool, for: PostgresBorrower(address: "1"), &group, others)
            await until(3, 5, pool)
            hold(1, of: pool, for: PostgresBorrower(user: "bob", address: "2"), &group, others)
            await until(3, 6, pool)
            try await PostgresBorrower.$current.withValue(PostgresBorrower(user: "eve", address: "2")) {
                _ = try await pool.query("SELECT 1")
            }
            _ = try await pool.query("SELECT 1")
            one.open()
            others.open()
            try await group.waitForAll()
        }
        #expect(pool.statistics.inUse == 0 && pool.statistics.waiting == 0)
        await pool.shutdown()
    }

    @Test("A connection that is borrowed while holding another isn't subject to shares")
    func nestedBorrowing() async throws {
        let pool = try await pool(2)
        try await PostgresBorrower.$current.withValue(PostgresBorrower(user: "ada", address: "1")) {
            try await pool.withConnection { _ in _ = try await pool.query("SELECT 1") }
            #expect(try await pool.query("SELECT 1").count == 1)
        }
        await pool.shutdown()
    }

    @Test("A cancelled waiter leaves the queue")
    func cancelledWaiter() async throws {
        let pool = try await pool(1)
        try await pool.withConnection { _ in
            let task = Task { try await pool.query("SELECT 1") }
            while pool.statistics.waiting < 1 { await Task.yield() }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(pool.statistics.waiting == 0)
        }
        #expect(try await pool.query("SELECT 1").count == 1)
    }

    @Test("The pool replaces a connection whose backend was terminated")
    func replacedBackend() async throws {
        let pool = try await pool()
        let first = try await pool.query("SELECT pg_backend_pid()")[0, 0].int64
        let killer = try await PostgresConnection.connect(pool.configuration)
        try await killer.query("SELECT pg_terminate_backend($1, 600000)", [.int32(Int32(first))])
        #expect(try await pool.query("SELECT pg_backend_pid()")[0, 0].int64 != first)
        // If a connection is lost while lent, its borrower gets the error, and the next one gets another connection.
        let error = await PostgresTest.error {
            try await pool.query("SELECT pg_terminate_backend(pg_backend_pid()), pg_sleep(60)")
        }
        #expect(error?.code == .adminShutdown)
        #expect(try await pool.query("SELECT 1").count == 1)
        #expect(pool.statistics.inUse == 0)
    }

    @Test("A transaction left open is rolled back before the next user gets the connection")
    func leftTransaction() async throws {
        let pool = try await pool(1)
        try await pool.withConnection { connection in
            try await connection.execute("BEGIN; CREATE TABLE t (a int)")
        }
        #expect(try await pool.query("SELECT to_regclass('t') IS NULL")[0, 0].bool)
        try await pool.withConnection { #expect($0.transactionStatus == .idle) }
    }

    @Test("An unknown database fails at once and frees its place in the pool")
    func wrongDatabase() async throws {
        let cluster = try await TestCluster.shared()
        let pool = PostgresPool(
            configuration: cluster.configuration.database("missing"), options: .init(maximumConnections: 1))
        for _ in 0..<3 {
            let error = await PostgresTest.error { try await pool.query("SELECT 1") }
            #expect(error?.code == .invalidCatalogName)
        }
        #expect(pool.statistics == .init(idle: 0, inUse: 0, waiting: 0))
    }

    @Test("Shutdown cancels statements that outlast the grace period")
    func shutdown() async throws {
        let pool = try await pool()
        let task = Task { try await pool.query("SELECT pg_sleep(600)") }
        while pool.statistics.inUse < 1 { await Task.yield() }
        await pool.shutdown(grace: .milliseconds(100))
        await #expect(throws: (any Error).self) { try await task.value }
        #expect(pool.statistics == .init(idle: 0, inUse: 0, waiting: 0))
    }
}

private actor OrderRecorder {
    private(set) var numbers: [Int] = []

    func add(_ number: Int) {
        numbers.append(number)
    }
}

/// Makes tasks wait until it's opened.
private final class Gate: Sendable {
    private let state = Mutex<(isOpen: Bool, waiting: [CheckedContinuation<Void, Never>])>((false, []))

    func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
