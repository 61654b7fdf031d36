public import Foundation

/// A Redis server for tests. Ends with the test process, however that ends.
public actor TestRedis {
    /// How many ports to try in case another program takes the free one first.
    private static let attempts = 5
    public static let user = "tombolo"
    public static let password = "p@ss: word/%"

    /// The user's rights in the configuration: only what a gateway needs.
    private static let rights = "resetchannels &tombolo_tick -@all +subscribe +publish +ping"

    nonisolated private let folder: URL
    nonisolated private let tls: (authority: TestAuthority, issued: TestAuthority.Issued)?
    nonisolated public let port: Int
    /// Keeps the port reserved even while the server is killed.
    nonisolated private let reservation: PortReservation?
    private var process: (shell: pid_t, input: Int32)?
    private let executor = BlockingExecutor()

    nonisolated public var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Kills the server when its input ends, which only the test process holds.
    private static let script = #"redis-server "$1" >/dev/null 2>&1 & pid=$!; read -r line; kill -KILL $pid"#

    /// Starts a server, runs `body`, and stops it.
    public static func with<R: Sendable>(
        tls: Bool = false, _ body: @Sendable (TestRedis) async throws -> R
    ) async throws -> R {
        try await withTemporaryFolder { folder in
            for attempt in 1... {
                let server = try TestRedis(tls: tls, in: folder.appending(path: "\(attempt)"))
                do {
                    try await server.start()
                } catch  where attempt < attempts {
                    continue
                }
                do {
                    let result = try await body(server)
                    await server.kill9()
                    return result
                } catch {
                    await server.kill9()
                    throw error
                }
            }
            throw TestClusterError("Redis found no free port.")
        }
    }

    private init(tls: Bool, in folder: URL) throws {
        self.folder = folder
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        if tls {
            let authority = try TestAuthority(in: folder)
            self.tls = (authority, try authority.issue())
        } else {
            self.tls = nil
        }
        reservation = PortReservation()
        port = try reservation?.port ?? Self.freePort()
        let digest = try Self.digest(of: Self.password)
        var lines = [
            "bind 127.0.0.1", "save \"\"", "appendonly no", "dir \(folder.path())",
            "pidfile \(processFile.path())", "logfile \(log.path())",
            "user default off", "user \(Self.user) on #\(digest) \(Self.rights)",
        ]
        if let (authority, issued) = self.tls {
            lines += [
                "port 0", "tls-port \(port)", "tls-cert-file \(issued.certificate.path())",
                "tls-key-file \(issued.key.path())", "tls-ca-cert-file \(authority.certificate.path())",
                "tls-auth-clients no",
            ]
        } else {
            lines.append("port \(port)")
        }
        try Data(lines.joined(separator: "\n").utf8).write(to: configuration)
    }

    nonisolated private var configuration: URL { folder.appending(path: "redis.conf") }
    nonisolated private var log: URL { folder.appending(path: "log") }
    nonisolated private var processFile: URL { folder.appending(path: "pid") }

    /// Includes user and password.
    nonisolated public var address: String { address(user: Self.user, password: Self.password) }

    nonisolated public func address(user: String, password: String) -> String {
        let allowed = CharacterSet.alphanumerics
        let escaped = password.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
        return "\(tls == nil ? "redis" : "rediss")://\(user):\(escaped)@127.0.0.1:\(port)"
    }

    /// The authority that signed its certificate.
    nonisolated public var authority: URL? { tls?.authority.certificate }

    /// Starts the server, or restarts it on the same port after ``kill9()``. Returns when it accepts connections.
    public func start() throws {
        try? FileManager.default.removeItem(at: log)
        let input = try Command.makeInput()
        let shell = try Command.start(
            ["/bin/sh", "-c", Self.script, "redis", configuration.path()], input: input.theirs)
        close(input.theirs)
        process = (shell, input.ours)
        for _ in 0..<12_000 {
            let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
            if text.contains("Ready to accept connections") { return }
            if text.contains("Failed listening") || text.contains("FATAL") { break }
            usleep(10_000)
        }
        let text =
            (try? String(contentsOf: log, encoding: .utf8)) ?? "There is no redis-server; 'make install' installs it."
        kill9()
        throw TestClusterError("Redis did not start: \(text)")
    }

    /// Kills the server, like a crash.
    public func kill9() {
        guard let process else { return }
        self.process = nil
        close(process.input)
        var status: Int32 = 0
        while waitpid(process.shell, &status, 0) == -1 && errno == EINTR {}
        let text = (try? String(contentsOf: processFile, encoding: .utf8)) ?? ""
        guard let server = pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)) else { return }
        // After that, its port is free.
        for _ in 0..<12_000 where ServerProcesses.isRunning(server) { usleep(10_000) }
    }

    private static func digest(of password: String) throws -> String {
        let file = FileManager.default.temporaryDirectory.appending(path: "digest-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(password.utf8).write(to: file)
        let text = try Command.run(["/usr/bin/env", "openssl", "dgst", "-sha256", "-r", file.path()])
        return String(text.prefix(64))
    }

    private static func freePort() throws -> Int {
        #if os(Linux)
            let kind = Int32(SOCK_STREAM.rawValue)
        #else
            let kind = SOCK_STREAM
        #endif
        let descriptor = socket(AF_INET, kind, 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let found = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard found else { throw TestClusterError("no free port: \(String(cString: strerror(errno)))") }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}
