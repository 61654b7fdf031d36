import Logging
import NIOCore
import Synchronization

/// Why a connection was closed before anything on it was served.
enum ProxyRefusal: Error, Hashable, Sendable {
    /// A trusted proxy's connection begins without a header.
    case missing
    /// A trusted proxy's header is invalid.
    case malformed(ProxyHeaderError)
    /// A connection that isn't a trusted proxy's begins with a header.
    case untrusted
    /// Too few bytes arrived in time.
    case late
    /// The other side closed the connection, or the server is shutting down.
    case ended

    /// The message for the log; nil for everyday events.
    func message(from address: String) -> String? {
        let variable = ServerConfiguration.proxyProtocolVariable
        let start = "A connection from \(address) was refused:"
        switch self {
        case .missing:
            return """
                \(start) it doesn't begin with a PROXY header, which \(variable)=on requires of trusted proxies. Make the \
                proxy send one (HAProxy: send-proxy-v2 on the server line), or unset \(variable).
                """
        case .malformed(let error): return "\(start) its PROXY header is malformed: \(error)."
        case .untrusted:
            return """
                \(start) it begins with a PROXY header, and only trusted proxies may send one. If it is a proxy, name it in \
                \(ServerConfiguration.proxiesVariable).
                """
        case .late, .ended: return nil
        }
    }

    /// Refusals of one kind share log lines.
    fileprivate var kind: String {
        switch self {
        case .missing: "missing"
        case .malformed: "malformed"
        case .untrusted: "untrusted"
        case .late: "late"
        case .ended: "ended"
        }
    }
}

/// Logs refusals: the first of each kind, and then one a minute with the number of those in between.
final class ProxyRefusalLog: Sendable {
    static let interval = TimeAmount.minutes(1)

    private struct Entry {
        var loggedAt: NIODeadline
        var unloggedCount = 0
    }

    private let entries = Mutex<[String: Entry]>([:])

    func note(_ refusal: ProxyRefusal, from address: String, now: NIODeadline = .now(), to logger: Logger) {
        guard let message = refusal.message(from: address) else { return }
        let unloggedCount: Int? = entries.withLock { entries in
            if let entry = entries[refusal.kind], now - entry.loggedAt < Self.interval {
                entries[refusal.kind]?.unloggedCount += 1
                return nil
            }
            let count = entries[refusal.kind]?.unloggedCount ?? 0
            entries[refusal.kind] = Entry(loggedAt: now)
            return count
        }
        guard let unloggedCount else { return }
        logger.warning("\(message)\(unloggedCount > 0 ? " \(unloggedCount) more since the last such message." : "")")
    }
}
