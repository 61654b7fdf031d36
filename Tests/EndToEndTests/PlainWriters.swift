import PostgresClient
import Synchronization
import TomboloModel

/// Services that write with plain SQL as fast as they can, without waiting for the disk. They reconnect after losing a
/// connection. Writes of theirs that a crash undoes don't matter.
struct PlainWriters {
    private let task: Task<Void, Never>

    init(_ configuration: PostgresConfiguration, event: ObjectId, count: Int) {
        task = Task {
            await withTaskGroup(of: Void.self) { group in
                for index in 0..<count {
                    group.addTask { await Self.write(configuration, event, index) }
                }
            }
        }
    }

    func stop() async {
        task.cancel()
        await task.value
    }

    private static func write(_ configuration: PostgresConfiguration, _ event: ObjectId, _ index: Int) async {
        var configuration = configuration
        configuration.settings["synchronous_commit"] = "off"
        var round = 0
        while !Task.isCancelled {
            guard let connection = try? await PostgresConnection.connect(configuration) else {
                try? await Task.sleep(for: .milliseconds(20))
                continue
            }
            while !Task.isCancelled {
                round += 1
                do {
                    try await statements(connection, event, index, round)
                } catch let error as PostgresError where error.code == .deadlockDetected {
                    continue
                } catch {
                    break
                }
            }
            await connection.close()
        }
    }

    private static func statements(
        _ connection: PostgresConnection, _ event: ObjectId, _ index: Int, _ round: Int
    ) async throws {
        try await connection.query(
            "UPDATE listing SET bedrooms = bedrooms + 1 WHERE _id = (SELECT _id FROM listing WHERE location = 'shared' "
                + "ORDER BY random() LIMIT 1)")
        try await connection.transaction { connection in
            try await connection.query(
                "INSERT INTO listing (_id, location, price, bedrooms) VALUES ($1, 'by SQL', $2, 1)",
                [.bytea(ObjectId.generate().bytes), .int64(Int64(round))])
            try await connection.query(
                "DELETE FROM listing WHERE _id IN (SELECT _id FROM listing WHERE location = 'by SQL' "
                    + "ORDER BY price, _id OFFSET 40 FOR UPDATE SKIP LOCKED)")
            try await connection.query(
                "UPDATE session SET title = $2 WHERE _id = (SELECT _id FROM session WHERE event = $1 ORDER BY random() "
                    + "LIMIT 1)", [.bytea(event.bytes), .text("SQL \(index) \(round)")])
        }
    }
}
