import Foundation
import PostgresClient

/// PgBouncer in front of a cluster, for tests. Ends with the test process, however that ends.
public actor TestPooler {
    public enum Mode: String, Sendable, CaseIterable {
        case session, transaction
    }

    private static let programs = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer", "/opt/homebrew/bin/pgbouncer"]
    /// Kills PgBouncer when its input ends, which only the test process holds. PgBouncer refuses to run as root.
    private static let script =
        #"folder="$1"; shift; "$@" >/dev/null 2>&1 & read -r line; kill -KILL "$(cat "$folder/pid")""#

    /// The folder of the socket where it listens, with the cluster's port number.
    nonisolated public let folder: String
    private var process: (shell: pid_t, input: Int32)?
    private let executor = BlockingExecutor()

    nonisolated public var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Starts PgBouncer, runs `body`, and stops it.
    /// - Parameter settings: configuration lines in addition to the required ones.
    public static func with<R: Sendable>(
        _ mode: Mode, before cluster: TestCluster, settings: [String: String] = [:],
        _ body: @Sendable (TestPooler) async throws -> R
    ) async throws -> R {
        let user = try ServerUser.current()
        let pooler = TestPooler(folder: try user.makeFolder())
        do {
            try await pooler.start(mode, cluster.configuration.keywords["host"] ?? "", settings, as: user)
            let result = try await body(pooler)
            await pooler.end()
            return result
        } catch {
            await pooler.end()
            throw error
        }
    }

    private init(folder: String) { self.folder = folder }

    /// PgBouncer's log, for failure messages.
    nonisolated public var log: String { (try? String(contentsOfFile: folder + "/log", encoding: .utf8)) ?? "" }

    private func start(
        _ mode: Mode, _ cluster: String, _ settings: [String: String], as user: ServerUser
    ) throws {
        guard let program = Self.programs.first(where: FileManager.default.isExecutableFile) else {
            throw TestClusterError("There is no pgbouncer; 'make install' installs it.")
        }
        // Tests create users while it runs, so it asks the cluster for them.
        let lines = [
            "listen_port": "5432", "unix_socket_dir": folder, "auth_type": "trust", "auth_user": "postgres",
            "auth_file": folder + "/users", "pool_mode": mode.rawValue, "default_pool_size": "100",
            "max_client_conn": "400", "server_connect_timeout": "600", "client_login_timeout": "600",
            "logfile": folder + "/log", "pidfile": folder + "/pid",
        ].merging(settings) { $1 }
        let text =
            "[databases]\n* = host=\(cluster) port=5432\n[pgbouncer]\n"
            + lines.sorted { $0.key < $1.key }.map { "\($0.key) = \($0.value)\n" }.joined()
        for (name, content) in [("pgbouncer.ini", text), ("users", "\"postgres\" \"\"\n")] {
            let path = folder + "/" + name
            try content.write(toFile: path, atomically: false, encoding: .utf8)
            if let owner = user.owner { _ = chown(path, owner.user, owner.group) }
        }
        let input = try Command.makeInput()
        let shell = try Command.start(
            ["/bin/sh", "-c", Self.script, "pgbouncer", folder] + user.prefix + [program, folder + "/pgbouncer.ini"],
            input: input.theirs)
        close(input.theirs)
        process = (shell, input.ours)
        for _ in 0..<12_000 {
            if log.contains("process up") { return }
            if log.contains("FATAL") { break }
            usleep(10_000)
        }
        throw TestClusterError("PgBouncer did not start: \(log)")
    }

    private func end() {
        if let process {
            self.process = nil
            close(process.input)
            var status: Int32 = 0
            while waitpid(process.shell, &status, 0) == -1 && errno == EINTR {}
        }
        try? FileManager.default.removeItem(atPath: folder)
    }
}
