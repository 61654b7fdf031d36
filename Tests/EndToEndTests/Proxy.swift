import Foundation
import NIOCore
import NIOPosix
import TestSupport

/// HAProxy with a configuration from infra/haproxy, in front of two gateways.
final class Proxy: Sendable {
    enum Mode: Sendable {
        /// TLS ends at the proxy, which passes on clients' addresses in HTTP headers.
        case http
        /// TLS ends at the gateways, whose certificates an authority signed. The proxy passes on clients' addresses by
        /// the PROXY protocol.
        /// - Parameter header: the option of HAProxy's `server` lines.
        case tcp(header: String, TestAuthority)
    }

    /// The path of Debian's package, and others.
    private static let programs = ["/usr/sbin/haproxy", "/usr/local/sbin/haproxy", "/opt/homebrew/bin/haproxy"]
    /// How many ports to try where none can be reserved, in case another program takes the free one meanwhile.
    private static let attempts = 5

    let authority: TestAuthority
    let url: String
    private let child: ChildProcess
    private let reservation: PortReservation?

    /// - Parameter gateways: the gateways' addresses, as `host:port`.
    static func with(
        _ gateways: [String], mode: Mode = .http, in folder: URL, _ body: @Sendable (Proxy) async throws -> Void
    ) async throws {
        let proxy = try await Proxy(gateways, mode, in: folder.appending(path: "proxy"))
        do {
            try await body(proxy)
        } catch {
            try? await proxy.child.signal(SIGKILL)
            throw error
        }
        try await proxy.child.signal(SIGKILL)
    }

    private init(_ gateways: [String], _ mode: Mode, in folder: URL) async throws {
        guard let program = Self.programs.first(where: FileManager.default.isExecutableFile) else {
            throw EndToEndFailure("There is no haproxy; 'make install' installs it.")
        }
        guard gateways.count == 2 else { throw EndToEndFailure("The configuration has two gateways.") }
        var environment = [
            "TOMBOLO_GATEWAY_1": gateways[0], "TOMBOLO_GATEWAY_2": gateways[1],
            "TOMBOLO_PROXY_SOCKET": folder.appending(path: "admin.sock").path(),
        ]
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        var configuration = root.appending(path: "infra/haproxy/haproxy.cfg")
        switch mode {
        case .http:
            authority = try TestAuthority(in: folder)
            let issued = try authority.issue()
            let both = folder.appending(path: "proxy.pem")
            try (Data(contentsOf: issued.certificate) + Data(contentsOf: issued.key)).write(to: both)
            environment["TOMBOLO_PROXY_CERTIFICATE"] = both.path()
        case .tcp(let header, let authority):
            self.authority = authority
            environment["TOMBOLO_GATEWAY_AUTHORITY"] = authority.certificate.path()
            let text = try String(contentsOf: root.appending(path: "infra/haproxy/haproxy-tcp.cfg"), encoding: .utf8)
            let settings = text.replacing(" send-proxy-v2 ", with: " \(header) ")
            guard settings.contains(" \(header) ") else { throw EndToEndFailure("The configuration has no header.") }
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            configuration = folder.appending(path: "haproxy-tcp.cfg")
            try settings.write(to: configuration, atomically: true, encoding: .utf8)
        }
        let messages = folder.appending(path: "messages")
        for _ in 0..<Self.attempts {
            let reservation = PortReservation()
            let port = if let reservation { reservation.port } else { try await Self.freePort() }
            let child = try await ChildProcess(
                URL(filePath: program), ["-db", "-f", configuration.path()],
                environment: environment.merging(["TOMBOLO_PROXY_ADDRESS": "127.0.0.1:\(port)"]) { $1 },
                messages: messages)
            if await Self.listens(child, on: port) {
                (self.child, self.reservation) = (child, reservation)
                url = "https://localhost:\(port)"
                return
            }
        }
        throw EndToEndFailure(
            "haproxy does not listen. \((try? String(contentsOf: messages, encoding: .utf8)) ?? "")")
    }

    private static func freePort() async throws -> Int {
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = listener.localAddress?.port ?? 0
        try await listener.close()
        return port
    }

    /// Waits until the proxy listens or has ended.
    private static func listens(_ child: ChildProcess, on port: Int) async -> Bool {
        let deadline = ContinuousClock.now + .seconds(600)
        while kill(child.pid, 0) == 0, ContinuousClock.now < deadline {
            let channel = try? await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(host: "127.0.0.1", port: port).get()
            if let channel {
                try? await channel.close()
                return true
            }
            try? await Task.sleep(for: .milliseconds(20))
        }
        return false
    }
}
