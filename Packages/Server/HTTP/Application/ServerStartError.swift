import Foundation
import NIOCore

/// Why a server can't start. The text says what to do.
public struct ServerStartError: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String

    /// Routes whose access can't be decided.
    init(_ problems: [String], name: String) {
        description = "\(name) doesn't start:\n" + problems.map { "- \($0)" }.joined(separator: "\n")
    }

    /// Nil for errors that aren't about the address.
    init?(_ error: any Error, name: String, host: String, port: Int) {
        let place = "\(name) cannot listen on \(host), port \(port)"
        let choose = "choose another with --port or its environment variable; 0 takes a free one."
        switch error {
        case let error as IOError where error.errnoCode == EADDRINUSE:
            description = "\(place): another program uses the port. Stop that program, or \(choose)"
        case let error as IOError where error.errnoCode == EACCES:
            description = "\(place): ports below 1024 are for privileged users; \(choose)"
        case let error as IOError where error.errnoCode == EADDRNOTAVAIL:
            description = "\(place): this machine does not have the address. Use 127.0.0.1, or 0.0.0.0 for all."
        case is SocketAddressError:
            description = "\(place): the host name has no address. Use 127.0.0.1, or 0.0.0.0 for all."
        default: return nil
        }
    }
}
