internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOPosix
internal import NIOSSL

/// Why an ``OutgoingRequest`` got no answer. It quotes nothing of the request, whose address may contain a secret.
enum OutgoingFailure: Error, Hashable, Sendable {
    /// Nothing listens at the address, or a firewall says so.
    case refused
    /// The host name has no address.
    case unknownHost
    /// TLS failed: the certificate isn't accepted, or the other side doesn't speak TLS.
    case insecure
    /// No connection, or no complete answer, within the time limits.
    case timeout
    /// Anything else, such as an unreachable network or a broken connection.
    case failed

    /// - Parameter error: the client's error.
    init(_ error: any Error) {
        self =
            switch error {
            case let failure as OutgoingFailure: failure
            case let error as NIOConnectionError: Self.of(error)
            case let error as IOError: Self.of(error)
            case ChannelError.connectTimeout: .timeout
            case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError: .insecure
            case let error as HTTPClientError: Self.of(error)
            case is SocketAddressError.UnknownHost: .unknownHost
            default: .failed
            }
    }

    private static func of(_ error: HTTPClientError) -> OutgoingFailure {
        switch error {
        case .tlsHandshakeTimeout: .insecure
        case .connectTimeout, .deadlineExceeded, .readTimeout, .writeTimeout, .getConnectionFromPoolTimeout: .timeout
        default: .failed
        }
    }

    private static func of(_ error: IOError) -> OutgoingFailure {
        switch error.errnoCode {
        case ECONNREFUSED: .refused
        case ETIMEDOUT: .timeout
        default: .failed
        }
    }

    /// A host may have addresses of one kind only. The look-up of the other kind then fails, although connections were
    /// tried.
    private static func of(_ error: NIOConnectionError) -> OutgoingFailure {
        guard error.connectionErrors.isEmpty else {
            let found = Set(error.connectionErrors.map { OutgoingFailure($0.error) })
            return [.refused, .timeout].first { found.contains($0) } ?? .failed
        }
        return error.dnsAError == nil && error.dnsAAAAError == nil ? .timeout : .unknownHost
    }
}
