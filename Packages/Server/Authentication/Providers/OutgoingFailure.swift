internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOPosix
internal import NIOSSL

/// Why an ``OutgoingRequest`` got no answer. It quotes nothing of the request, whose address may have a secret in it.
enum OutgoingFailure: Error, Hashable, Sendable {
    /// Nothing listens at the address, or a firewall says so.
    case refused
    /// The name of the host has no address.
    case unknownHost
    /// TLS failed: the certificate isn't accepted, or the other side doesn't speak TLS.
    case insecure
    /// No connection, or no whole answer, within the bounds in time.
    case timeout
    /// Anything else, such as a network that isn't there, or a connection that broke off.
    case failed

    /// - Parameter error: of the client.
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

    /// A host may have addresses of one kind only, so that a look-up of the other kind fails beside connections that were
    /// tried.
    private static func of(_ error: NIOConnectionError) -> OutgoingFailure {
        guard error.connectionErrors.isEmpty else {
            let found = Set(error.connectionErrors.map { OutgoingFailure($0.error) })
            return [.refused, .timeout].first { found.contains($0) } ?? .failed
        }
        return error.dnsAError == nil && error.dnsAAAAError == nil ? .timeout : .unknownHost
    }
}
