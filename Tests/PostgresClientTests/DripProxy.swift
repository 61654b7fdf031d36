import Foundation
import PostgresClient
import Synchronization

/// Stands between a client and the test server, and passes everything on one byte at a time.
final class DripProxy: Sendable {
    /// How to connect to the proxy instead of the server.
    let configuration: PostgresConfiguration
    private let listener: Int32
    private let folder: URL
    private let server: String
    private let isStopped = Mutex(false)

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// - Parameter server: a server that listens on a socket in a folder.
    init(to server: PostgresConfiguration) throws {
        guard let host = server.keywords["host"] else { throw Failure(description: "The test server has no folder.") }
        let name = ".s.PGSQL.\(server.keywords["port"] ?? "5432")"
        self.server = host + "/" + name
        // A socket's path can have only about a hundred bytes.
        folder = URL(fileURLWithPath: "/tmp/drip-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        var configuration = server
        configuration.keywords["host"] = folder.path
        self.configuration = configuration
        listener = try Self.socket(folder.path + "/" + name, Foundation.bind)
        guard listen(listener, 8) == 0 else { throw Failure(description: "listen: \(errno)") }
    }

    deinit {
        close(listener)
        try? FileManager.default.removeItem(at: folder)
    }

    /// Accepts connections, each on a thread of its own, until ``stop()``.
    func start() {
        Thread.detachNewThread { [self] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0, !isStopped.withLock({ $0 }) else { return }
                Thread.detachNewThread { [self] in
                    defer { close(client) }
                    guard let server = try? Self.socket(server, Foundation.connect) else { return }
                    defer { close(server) }
                    Self.pass(client, server)
                }
            }
        }
    }

    /// Stops accepting connections. Those that are open last until either side closes them.
    func stop() {
        isStopped.withLock { $0 = true }
        shutdown(listener, Int32(SHUT_RDWR))
    }

    private static func pass(_ client: Int32, _ server: Int32) {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        while true {
            var polls = [client, server].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard poll(&polls, 2, -1) > 0 else { return }
            for (from, to) in [(0, server), (1, client)] where polls[from].revents != 0 {
                let count = read(polls[from].fd, &bytes, bytes.count)
                guard count > 0 else { return }
                for index in 0..<count {
                    guard bytes.withUnsafeBytes({ send(to, $0.baseAddress?.advanced(by: index), 1, Self.flags) }) == 1
                    else { return }
                    // Lets the reader see the byte alone, more often than not.
                    sched_yield()
                }
            }
        }
    }

    #if os(Linux)
        private static let flags = Int32(MSG_NOSIGNAL)
        private static let stream = Int32(SOCK_STREAM.rawValue)
    #else
        private static let flags: Int32 = 0
        private static let stream = SOCK_STREAM
    #endif

    private static func socket(
        _ path: String, _ use: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32
    ) throws -> Int32 {
        let socket = Foundation.socket(AF_UNIX, stream, 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let room = MemoryLayout.size(ofValue: address.sun_path)
        guard path.utf8.count < room else { throw Failure(description: "\(path) is too long for a socket.") }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                use(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else {
            close(socket)
            throw Failure(description: "\(path): \(String(cString: strerror(errno)))")
        }
        return socket
    }
}
