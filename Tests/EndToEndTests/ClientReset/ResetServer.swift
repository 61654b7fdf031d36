import Foundation
import PostgresClient
import TestSupport
import TomboloChangesets
import TomboloModel
import TomboloPostgresStore

/// An app's database, which is backed up and restored under a running gateway.
struct ResetServer: Sendable {
    let server: AnyAppServer
    let cluster: TestCluster
    let database: PostgresConfiguration

    private static let rules = """
        version: 1
        rules:
          ResetNote:
            - { name: everybody, applyWhen: {}, read: true, write: true }
        """

    static func with(_ body: @MainActor (ResetServer) async throws -> Void) async throws {
        let cluster = try await TestCluster.shared()
        try await AnyAppServer.with { server in
            try await server.apply([(try ModelDocument(app: "reset", objectTypes: [ResetNote.self]), rules)])
            try await server.gateway.start()
            try await body(
                ResetServer(server: server, cluster: cluster, database: server.pool.configuration))
        }
    }

    // MARK: Plain SQL

    /// Runs on a new connection, because restoring a database ends all others.
    @discardableResult
    func sql(_ text: String, in other: PostgresConfiguration? = nil) async throws -> PostgresResult {
        let connection = try await PostgresConnection.connect(other ?? database)
        do {
            let result = try await connection.query(text)
            await connection.close()
            return result
        } catch {
            await connection.close()
            throw error
        }
    }

    func insert(_ id: String, in other: PostgresConfiguration? = nil) async throws {
        try await sql("INSERT INTO reset_note (_id, text, count) VALUES ('\(id)', '', 0)", in: other)
    }

    func ids(in other: PostgresConfiguration? = nil) async throws -> Set<String> {
        Set(try await sql("SELECT _id FROM reset_note", in: other).map { try $0[0].string })
    }

    func count(of id: String, in other: PostgresConfiguration? = nil) async throws -> Int64? {
        try await sql("SELECT count FROM reset_note WHERE _id = '\(id)'", in: other).first?[0].int64
    }

    // MARK: Disasters

    /// Advances a cluster's transaction numbers past those of the tests' shared cluster and past any that a new cluster
    /// uses up during a restore. Defaults to the shared cluster itself.
    func giveOutNumbers(in other: PostgresConfiguration? = nil) async throws {
        let next = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint"
        let target = try await sql(next)[0, 0].int64 + 20_000
        let count = target - (try await sql(next, in: other)[0, 0].int64)
        try await sql(
            "DO $$ BEGIN FOR i IN 1..\(count) LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$", in: other)
    }

    /// Drops the ticks and changes that the server has recorded so far, as it would a month later.
    func expireChangelog() async throws {
        let before = try await sql("SELECT max(number) FROM tombolo.tick")[0, 0].int64
        try await insert("the last change")
        while try await sql("SELECT max(number) FROM tombolo.tick")[0, 0].int64 <= before {
            try await Task.sleep(for: .milliseconds(20))
        }
        let now = try await sql("SELECT (extract(epoch FROM now()) * 1000000)::bigint")[0, 0].int64
        _ = try await ChangelogRetention(configuration: database).run(
            now: Stamp(microseconds: now + 31 * 86_400_000_000))
    }
}
