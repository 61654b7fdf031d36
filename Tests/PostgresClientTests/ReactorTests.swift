import Foundation
import PostgresClient
import TestSupport
import Testing

@Suite struct ReactorTests {
    struct Stop: Error {}

    enum Selector: CaseIterable {
        case systems, poll

        func make() throws -> any PostgresSelector {
            #if os(Linux)
                if self == .systems { return try PostgresEpollSelector() }
            #endif
            return try PostgresPollSelector()
        }
    }

    @Test("An armed socket is reported once, and a forgotten one not at all", arguments: Selector.allCases)
    func selector(_ kind: Selector) throws {
        let selector = try kind.make()
        func pair() -> (Int32, Int32) {
            var ends: [Int32] = [-1, -1]
            pipe(&ends)
            return (ends[0], ends[1])
        }
        let (first, second, third) = (pair(), pair(), pair())
        defer { for end in [first, second, third] { _ = (close(end.0), close(end.1)) } }
        var byte: UInt8 = 1
        try selector.arm(first.0, id: 1, toWrite: false)
        try selector.arm(second.0, id: 2, toWrite: false)
        try selector.arm(third.1, id: 3, toWrite: true)
        #expect(next(selector) == [3])
        write(first.1, &byte, 1)
        #expect(next(selector) == [1])
        // The first is still readable, but not armed.
        write(second.1, &byte, 1)
        #expect(next(selector) == [2])
        try selector.arm(first.0, id: 1, toWrite: false)
        #expect(next(selector) == [1])
        try selector.arm(first.0, id: 1, toWrite: false)
        selector.forget(first.0, id: 1)
        try selector.arm(second.0, id: 2, toWrite: false)
        #expect(next(selector) == [2])
    }

    /// Waits for the next sockets. A single wait may end early, without any.
    private func next(_ selector: any PostgresSelector) -> [UInt64] {
        while true {
            let ids = selector.wait()
            if !ids.isEmpty { return ids }
        }
    }

    @Test("A stream whose rows nobody takes doesn't hold up other connections", .timeLimit(.minutes(15)))
    func slowConsumer() async throws {
        let configuration = try await TestCluster.shared().createDatabase()
        let slow = try await PostgresConnection.connect(configuration)
        let others = try await withThrowingTaskGroup(of: PostgresConnection.self) { group in
            for _ in 0..<10 { group.addTask { try await PostgresConnection.connect(configuration) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        var batches = 0
        // 100 MB, of which the socket holds a small part.
        try await slow.stream("SELECT repeat('x', 100000) FROM generate_series(1, 1000)", batchByteCount: 1 << 20) {
            _ in
            batches += 1
            guard batches == 1 else { return }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for connection in others {
                    group.addTask {
                        for number in 0..<50 as Range<Int64> {
                            let answer = try await connection.query("SELECT $1", [.int64(number)])[0, 0].int64
                            #expect(answer == number)
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        #expect(batches > 1)
    }

    @Test("Everything works when the network delivers one byte at a time", .timeLimit(.minutes(15)))
    func oneByteAtATime() async throws {
        let proxy = try DripProxy(to: try await TestCluster.shared().createDatabase())
        proxy.start()
        defer { proxy.stop() }
        let connection = try await PostgresConnection.connect(proxy.configuration)
        try await connection.execute("CREATE TABLE t (n int8 PRIMARY KEY, body text)")
        #expect(
            try await connection.copyIn("COPY t FROM STDIN", chunks: [Data("1\tone\n2\ttw".utf8), Data("o\n".utf8)])
                == 2)
        for _ in 0..<3 {
            let result = try await connection.query("SELECT body FROM t WHERE n >= $1 ORDER BY n", [1])
            #expect(try result.map { try $0[0].string } == ["one", "two"])
        }
        let results = try await connection.pipeline([
            .init("INSERT INTO t VALUES ($1, $2)", [3, "three"]), .init("SELECT count(*) FROM t"),
        ])
        #expect(try results[1][0, 0].int64 == 3)
        let error = await PostgresTest.error {
            try await connection.pipeline([.init("SELECT 1"), .init("INSERT INTO t VALUES ($1, $2)", [3, ""])])
        }
        #expect(error?.code == .uniqueViolation && error?.statementIndex == 1)
        var streamed: [Int64] = []
        try await connection.stream("SELECT n FROM generate_series(1, 200) n", batch: 30) { rows in
            streamed += try rows.map { try $0[0].int64 }
        }
        #expect(streamed == Array(1...200))
        var copied: [UInt8] = []
        try await connection.copyOut("COPY (SELECT * FROM t ORDER BY n) TO STDOUT") { copied += $0 }
        #expect(String(decoding: copied, as: UTF8.self) == "1\tone\n2\ttwo\n3\tthree\n")
        await #expect(throws: Stop.self) {
            try await connection.transaction {
                try await $0.query("DELETE FROM t")
                throw Stop()
            }
        }
        #expect(try await connection.query("SELECT count(*) FROM t")[0, 0].int64 == 3)
        let task = Task { try await connection.query("SELECT pg_sleep(600)") }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await connection.query("SELECT 1").count == 1)
        await connection.close()
    }

    @Test("A large result arrives whole, and a query after many notices gets its answer")
    func largeResult() async throws {
        let connection = try await PostgresTest.connect()
        let rows = try await connection.query("SELECT n, repeat('x', 500) FROM generate_series(1, 100000::int8) AS n")
        #expect(rows.count == 100_000)
        #expect(try rows[99_999, 0].int64 == 100_000)
        #expect(try rows[99_999, 1].string.utf8.count == 500)
        try await connection.execute(
            """
            SET client_min_messages = debug5;
            DO $$ BEGIN FOR i IN 1..5000 LOOP RAISE NOTICE 'notice % %', i, repeat('x', 100); END LOOP; END $$
            """)
        #expect(try await connection.query("SELECT 7::int8")[0, 0].int64 == 7)
    }

    /// Operations that differ in how they wait. The tests repeat each of them forever.
    private static let operations: [@Sendable (PostgresConnection) async throws -> Void] = [
        { try await $0.query("SELECT pg_sleep(0.0001)") },
        { try await $0.execute("SELECT 1; SELECT pg_sleep(0.0001); SELECT 2") },
        { try await $0.pipeline(["SELECT 1", "SELECT repeat('x', 100000)", "SELECT 2"]) },
        { try await $0.transaction { _ = try await $0.query("SELECT count(*) FROM t") } },
        {
            try await $0.transaction { connection in
                try await connection.savepoint { _ = try await $0.query("SELECT 1") }
            }
        },
        {
            try await $0.stream("SELECT repeat('x', 1000) FROM generate_series(1, 300)", batch: 50) { _ in
                await Task.yield()
            }
        },
        {
            try await $0.copyIn("COPY t FROM STDIN") { () -> [UInt8]? in
                await Task.yield()
                return Bool.random() ? nil : [UInt8](repeating: UInt8(ascii: "x"), count: 300_000) + [10]
            }
        },
        { try await $0.copyOut("COPY (SELECT repeat('x', 100000) FROM generate_series(1, 20)) TO STDOUT") { _ in } },
    ]

    @Test("Cancelling any operation at any moment leaves the connection usable", .timeLimit(.minutes(15)))
    func cancelEverything() async throws {
        let connection = try await PostgresTest.connect()
        try await connection.execute("CREATE TABLE t (body text)")
        for operation in Self.operations {
            for round in 0..<25 {
                let task = Task {
                    while true { try await operation(connection) }
                }
                for _ in 0..<round * 3 { await Task.yield() }
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
                #expect(connection.transactionStatus == .idle)
                let answer = try await connection.query("SELECT 1")
                #expect(answer.count == 1)
            }
        }
    }

    @Test("A task cancelled while it waits for its turn doesn't wait for the others", .timeLimit(.minutes(15)))
    func cancelledTurn() async throws {
        let connection = try await PostgresTest.connect()
        let first = Task { try await connection.query("SELECT pg_sleep(600)") }
        // Whether or not these have joined the connection's queue, it isn't their turn for ten minutes.
        let waiting = (0..<20).map { _ in Task { try await connection.query("SELECT pg_sleep(600)") } }
        for task in waiting { task.cancel() }
        for task in waiting { await #expect(throws: CancellationError.self) { try await task.value } }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(try await connection.query("SELECT 1").count == 1)
    }

    @Test("A server process that ends in the middle of any operation is an error, not a hang", .timeLimit(.minutes(15)))
    func lostServer() async throws {
        let configuration = try await TestCluster.shared().createDatabase()
        let killer = try await PostgresConnection.connect(configuration)
        try await killer.execute("CREATE TABLE t (body text)")
        for operation in Self.operations {
            for round in 0..<3 {
                let connection = try await PostgresConnection.connect(configuration)
                let processID = connection.processID
                let task = Task {
                    while true { try await operation(connection) }
                }
                for _ in 0..<round * 7 { await Task.yield() }
                try await killer.query("SELECT pg_terminate_backend($1)", [.int32(processID)])
                let error = await PostgresTest.error { try await task.value }
                #expect(error?.isRetryable == true, "\(String(describing: error))")
                #expect(connection.transactionStatus == .closed)
                await connection.close()
            }
        }
    }
}
