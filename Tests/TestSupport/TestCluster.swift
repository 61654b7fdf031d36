public import Foundation
public import PostgresClient

/// A throw-away PostgreSQL server for tests: a new cluster, reachable through a Unix socket only, and removed when the test process
/// ends, even by kill -9.
public actor TestCluster {
    public static let defaultMaximumConnections = 200
    /// How long opening a connection may take, however busy the machine is.
    private static let patience = Duration.seconds(600)

    /// The superuser, connecting to the database `postgres`.
    nonisolated public let configuration: PostgresConfiguration
    nonisolated private let folder: String
    let binaries: PostgresBinaries
    private let user: ServerUser
    private let watchdog: Watchdog
    private var databaseCount = 0
    private let executor = BlockingExecutor()

    nonisolated public var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    // MARK: Starting

    private static let sharedStart = Task { try await start() }

    /// The cluster of this test process, started by the first call. Don't kill or stop it, because others use it.
    public static func shared() async throws -> TestCluster {
        try await sharedStart.value
    }

    /// Starts a cluster for the caller alone.
    ///
    /// - Parameters:
    ///   - settings: lines of `postgresql.conf`, such as `["max_connections": "20"]`.
    ///   - fsync: whether commits wait for the disk. Without it, only a crash of the machine loses data.
    public static func start(settings: [String: String] = [:], fsync: Bool = false) async throws -> TestCluster {
        let cluster = try TestCluster()
        try await cluster.initialise(settings: settings, fsync: fsync)
        return cluster
    }

    private init() throws {
        binaries = try PostgresBinaries.find()
        user = try ServerUser.current()
        folder = try user.makeFolder()
        watchdog = try Watchdog(folder: folder)
        ExitHandler.shared.add(watchdog)
        var configuration = PostgresConfiguration(host: folder, port: 5432, user: "postgres", database: "postgres")
        configuration.connectTimeout = Self.patience
        self.configuration = configuration
    }

    private nonisolated var dataFolder: String { folder + "/data" }

    /// The server's log, for failure messages.
    nonisolated public var logFile: String { folder + "/log" }

    private func initialise(settings: [String: String], fsync: Bool) throws {
        try runAsServer([
            binaries.initdb, "--pgdata=\(dataFolder)", "--username=postgres", "--auth=trust", "--encoding=UTF8",
            "--locale=C", "--no-sync", "--no-instructions",
        ])
        var lines = [
            "listen_addresses": "''", "unix_socket_directories": "'\(folder)'", "port": "5432",
            "max_connections": "\(Self.defaultMaximumConnections)", "timezone": "'UTC'", "log_timezone": "'UTC'",
            "fsync": fsync ? "on" : "off", "logging_collector": "off",
        ]
        for (name, value) in settings {
            lines[name] = "'" + value.replacing("'", with: "''") + "'"
        }
        let text = lines.sorted { $0.key < $1.key }.map { "\($0.key) = \($0.value)\n" }.joined()
        let file = folder + "/test.conf"
        try text.write(toFile: file, atomically: false, encoding: .utf8)
        if let owner = user.owner { _ = chown(file, owner.user, owner.group) }
        let main = dataFolder + "/postgresql.conf"
        guard let handle = FileHandle(forWritingAtPath: main) else {
            throw TestClusterError("could not write \(main)")
        }
        handle.seekToEndOfFile()
        handle.write(Data("\ninclude '\(file)'\n".utf8))
        handle.closeFile()
        try startServer()
    }

    private func startServer() throws {
        do {
            try runAsServer([
                binaries.control, "--pgdata=\(dataFolder)", "--log=\(logFile)", "--wait", "--timeout=600", "--silent",
                "start",
            ])
        } catch {
            let log = (try? String(contentsOfFile: logFile, encoding: .utf8)) ?? "(no log)"
            throw TestClusterError("the PostgreSQL server did not start: \(error)\n\(log.suffix(4_000))")
        }
    }

    private func runAsServer(_ arguments: [String]) throws {
        try Command.run(user.prefix + arguments, environment: ["LC_ALL": "C", "TZ": "UTC"])
    }

    // MARK: Databases

    /// Creates an empty database and returns how to connect to it.
    ///
    /// - Parameter template: a database of this cluster to copy. Nobody may be connected to it.
    public func createDatabase(template: String? = nil) async throws -> PostgresConfiguration {
        databaseCount += 1
        let name = "test\(databaseCount)"
        let connection = try await PostgresConnection.connect(configuration)
        let copy = template.map { " TEMPLATE \(PostgresSQL.quoteIdentifier($0))" } ?? ""
        do {
            try await Self.untilUnused { try await connection.execute("CREATE DATABASE \(name)\(copy)") }
        } catch {
            await connection.close()
            throw error
        }
        await connection.close()
        return configuration.database(name)
    }

    /// Retries while closed connections to a database haven't ended yet; PostgreSQL itself waits five seconds for them.
    private static func untilUnused(_ body: @Sendable () async throws -> Void) async throws {
        while true {
            do {
                return try await body()
            } catch let error as PostgresError where error.code == .objectInUse {
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    // MARK: Backups

    /// Dumps a database as an administrator would.
    /// - Returns: the dump's path. The dump is removed with the cluster.
    public func dump(_ database: PostgresConfiguration) throws -> String {
        let path = "\(folder)/dump-\(UUID().uuidString)"
        try runAsServer(
            [binaries.dump, "--format=custom", "--file=\(path)"] + client(of: database.database ?? "postgres"))
        // Roles belong to the cluster, and the rights in the dump name them.
        try runAsServer(
            [
                binaries.dumpAll, "--roles-only", "--file=\(path).roles", "--host=\(folder)", "--port=5432",
                "--username=postgres",
            ])
        return path
    }

    /// Restores a dump into a database of this cluster. An existing database of that name is dropped, along with its connections.
    public func restore(_ path: String, as database: PostgresConfiguration) async throws {
        let name = database.database ?? "postgres"
        let connection = try await PostgresConnection.connect(configuration)
        do {
            try await Self.untilUnused {
                try await connection.query(
                    "DROP DATABASE IF EXISTS \(PostgresSQL.quoteIdentifier(name)) WITH (FORCE)")
            }
            try await connection.query("CREATE DATABASE \(PostgresSQL.quoteIdentifier(name))")
        } catch {
            await connection.close()
            throw error
        }
        await connection.close()
        // Dumps of this cluster don't need their roles restored, and would bring back roles that other tests have dropped
        // meanwhile. Roles that another cluster already has cause errors, which psql skips.
        if !path.hasPrefix(folder + "/") {
            try runAsServer([binaries.shell, "--quiet", "--file=\(path).roles"] + client(of: name))
        }
        try runAsServer([binaries.restore, "--exit-on-error"] + client(of: name) + [path])
    }

    func client(of database: String) -> [String] {
        ["--host=\(folder)", "--port=5432", "--username=postgres", "--dbname=\(database)"]
    }

    // MARK: Standbys

    /// Starts a hot standby of this cluster, which follows by streaming replication and can be read.
    public func startStandby() async throws -> TestCluster {
        let standby = try TestCluster()
        try await standby.follow(folder)
        return standby
    }

    private func follow(_ primary: String) throws {
        try runAsServer([
            binaries.directory + "/pg_basebackup", "--pgdata=\(dataFolder)", "--host=\(primary)", "--port=5432",
            "--username=postgres", "--checkpoint=fast", "--wal-method=stream", "--write-recovery-conf", "--no-sync",
        ])
        // Comes after the primary's settings, which the file includes.
        let file = folder + "/test.conf"
        // A read that stalls for a while shouldn't be cancelled because the primary has cleaned up meanwhile.
        try "unix_socket_directories = '\(folder)'\nhot_standby = on\nmax_standby_streaming_delay = 600s\n".write(
            toFile: file, atomically: false, encoding: .utf8)
        if let owner = user.owner { _ = chown(file, owner.user, owner.group) }
        let main = dataFolder + "/postgresql.conf"
        guard let handle = FileHandle(forWritingAtPath: main) else { throw TestClusterError("could not write \(main)") }
        handle.seekToEndOfFile()
        handle.write(Data("\ninclude '\(file)'\n".utf8))
        handle.closeFile()
        try startServer()
    }

    /// Promotes a standby to a separate primary.
    public func promote() throws {
        try runAsServer([
            binaries.control, "--pgdata=\(dataFolder)", "--wait", "--timeout=600", "--silent", "promote",
        ])
    }

    /// How to connect to this cluster's copy of another cluster's database, with the usual timeout, because this one may be frozen.
    nonisolated public func copy(of database: PostgresConfiguration) -> PostgresConfiguration {
        var copy = database
        copy.connectTimeout = PostgresConfiguration.defaultConnectTimeout
        copy.keywords["host"] = folder
        return copy
    }

    // MARK: Faults

    /// The postmaster's process, or `nil` if the server is down.
    public var serverProcess: pid_t? {
        guard let text = try? String(contentsOfFile: dataFolder + "/postmaster.pid", encoding: .utf8) else {
            return nil
        }
        return text.split(separator: "\n").first.flatMap { pid_t($0) }
    }

    /// Kills the server and all its backends at once, like a crash. Returns when all of them are gone.
    public func kill9() throws {
        guard let server = serverProcess else { throw TestClusterError("the cluster is not running") }
        // While stopped, it starts no more backends, so the list is complete.
        kill(server, SIGSTOP)
        let processes = [server] + (try ServerProcesses.children(of: server))
        for process in processes { kill(process, SIGKILL) }
        for _ in 0..<12_000 where processes.contains(where: ServerProcesses.isRunning) { usleep(10_000) }
        if let left = processes.first(where: ServerProcesses.isRunning) {
            throw TestClusterError("process \(left) of the server survived kill -9")
        }
        // The process is known to be dead. Neither a reused process number nor a zombie may keep the next server from starting.
        unlink(dataFolder + "/postmaster.pid")
        unlink(folder + "/.s.PGSQL.5432.lock")
    }

    /// Stops the server and all its backends where they are, as if the machine froze, until ``thaw()``.
    public func freeze() throws { try signalAll(SIGSTOP) }

    public func thaw() throws { try signalAll(SIGCONT) }

    private func signalAll(_ number: Int32) throws {
        guard let server = serverProcess else { throw TestClusterError("the cluster is not running") }
        kill(server, number)
        for process in try ServerProcesses.children(of: server) { kill(process, number) }
    }

    /// Starts the server after `kill9`. If it's running, shuts it down (breaking all connections) and starts it again.
    public func restart() throws {
        if serverProcess != nil {
            try runAsServer([
                binaries.control, "--pgdata=\(dataFolder)", "--wait", "--timeout=600", "--silent", "--mode=fast",
                "stop",
            ])
        }
        try startServer()
    }

    /// Stops the server and deletes its files. Optional, because the end of the process does the same.
    public func remove() {
        ExitHandler.shared.remove(watchdog)
        watchdog.release()
    }
}
