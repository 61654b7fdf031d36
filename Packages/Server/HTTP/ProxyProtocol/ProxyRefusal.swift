import Logging
import NIOCore
import Synchronization

/// Why a connection was closed before anything of it was served.
enum ProxyRefusal: Error, Hashable, Sendable {
    /// A trusted proxy's connection begins without a header.
    case missing
    /// A trusted proxy's header isn't one.
    case malformed(ProxyHeaderError)
    /// Somebody else's connection begins with a header.
    case untrusted
    /// Too little came in time.
    case late
    /// It was closed by the other side, or the server ends.
    case ended

    /// For the log; nil for what happens every day.
    func message(from address: String) -> String? {
        let variable = ServerConfiguration.proxyProtocolVariable
        let start = "A connection from \(address) was refused:"
        switch self {
        case .missing:
            return """
                \(start) it doesn't begin with a PROXY header, which \(variable)=on asks of trusted proxies. Let the proxy \
                send one (HAProxy: send-proxy-v2 with the server), or unset \(variable).
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

    /// Those of one kind share lines in the log.
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

/// Logs refusals: of each kind the first, and then one a minute with the number of those between.
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
        logger.warning("\(message)\(unloggedCount > 0 ? " \(unloggedCount) more were, since it was last said." : "")")
    }
}
