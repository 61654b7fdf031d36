import Foundation
import TestSupport

/// A `sync-gateway`, `admin-server`, `ticket-api` or sequencer process that can be killed and started again on the same
/// port.
actor Server {
    static let startTimeout = Duration.seconds(600)

    enum Kind {
        case gateway, admin
        /// An admin server with the conference's own pages.
        case conferenceAdmin
        case tickets

        var program: URL {
            get throws {
                switch self {
                case .gateway: try Programs.gateway
                case .admin: try Programs.admin
                case .conferenceAdmin: try Programs.conferenceAdmin
                case .tickets: try Programs.tickets
                }
            }
        }

        /// The server's name in its message about the address that it listens on.
        var name: String {
            switch self {
            case .gateway: "gateway"
            case .admin, .conferenceAdmin: "admin"
            case .tickets: "tickets"
            }
        }

        /// The database role whose rights it has.
        var role: String { "tombolo_\(name)" }
    }

    private let kind: Kind
    private let arguments: [String]
    private var environment: [String: String]
    nonisolated let messages: URL
    private var child: ChildProcess?
    private var port = 0
    private var reservation: PortReservation?

    init(_ arguments: [String], kind: Kind = .gateway, environment: [String: String], messages: URL) {
        self.kind = kind
        self.arguments = arguments
        self.environment = environment
        self.messages = messages
    }

    var url: String { "\(environment["TOMBOLO_TLS_KEY"] == nil ? "http" : "https")://127.0.0.1:\(port)" }
    var address: (host: String, port: Int) { ("127.0.0.1", port) }
    var pid: pid_t? { child?.pid }

    /// Sets an additional environment variable, from the next start on.
    func set(_ name: String, to value: String) { environment[name] = value }

    /// Starts it. Returns once it listens, or at once for a sequencer.
    func start() async throws {
        if reservation == nil, port == 0, !arguments.contains("--sequencer-only") {
            reservation = PortReservation()
            port = reservation?.port ?? 0
        }
        let child = try await ChildProcess(
            try kind.program, arguments + ["--port", "\(port)"], environment: environment, messages: messages)
        self.child = child
        guard !arguments.contains("--sequencer-only") else { return }
        let (messages, name) = (messages, kind.name)
        port = try await withThrowingTaskGroup(of: Int.self) { group in
            group.addTask {
                for await line in child.lines {
                    guard line.hasPrefix("\(name) http"),
                        let port = line.split(separator: ":").last.flatMap({ Int($0) })
                    else { continue }
                    return port
                }
                let reason = (try? String(contentsOf: messages, encoding: .utf8)) ?? ""
                throw EndToEndFailure("The \(name) server ended before it listened. \(reason.suffix(2_000))")
            }
            group.addTask {
                try await Task.sleep(for: Self.startTimeout)
                throw EndToEndFailure("The \(name) server did not listen within \(Self.startTimeout).")
            }
            defer { group.cancelAll() }
            return try await group.next() ?? 0
        }
    }

    func kill9() async throws {
        try await child?.signal(SIGKILL)
        child = nil
    }

    /// Asks it to end, and waits until it has.
    func terminate() async throws {
        try await child?.signal(SIGTERM)
        child = nil
    }

    func signal(_ number: Int32) async throws { try await child?.signal(number) }

    /// Its resident memory in bytes, or nil if the system doesn't tell.
    func residentBytes() -> Int? {
        guard let child, let text = try? String(contentsOfFile: "/proc/\(child.pid)/status", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix("VmRSS:") }),
            let kilobytes = line.split(separator: " ").compactMap({ Int($0) }).first
        else { return nil }
        return kilobytes << 10
    }
}
