package import Foundation
internal import NIOCore
package import NIOSSL

/// How a client verifies a server's certificate.
package enum TLSClient {
    /// - Parameter trusted: a PEM file with the only certificate authorities to trust, or nil for the system's.
    package static func configuration(trusting trusted: String?) -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        if let trusted { configuration.trustRoots = .file(trusted) }
        return configuration
    }

    /// The server name for the handshake, or nil for an IP address, which isn't allowed there (RFC 6066 §3). NIOSSL still
    /// checks the address against the certificate.
    package static func serverName(_ host: String) -> String? {
        (try? SocketAddress(ipAddress: host, port: 0)) == nil ? host : nil
    }

    /// Why a connection isn't trusted, or nil for an error that isn't about TLS.
    /// - Parameter certificate: the server's certificate, if it's known.
    package static func reason(
        _ error: any Error, host: String, certificate: NIOSSLCertificate? = nil, now: Date = Date()
    ) -> String? {
        switch error {
        case let error as NIOSSLExtraError
        where error == .failedToValidateHostname || error == .serverHostnameImpossibleToMatch:
            return "The certificate of \(host) is for another name. Check the address."
        case let error as NIOSSLError where error.isAboutCertificate:
            guard let certificate else {
                return "The certificate of \(host) isn't accepted: it has expired, or it's signed by an "
                    + "authority that isn't trusted here."
            }
            let end = Date(timeIntervalSince1970: TimeInterval(certificate.notValidAfter))
            let start = Date(timeIntervalSince1970: TimeInterval(certificate.notValidBefore))
            if end < now {
                return "The certificate of \(host) expired on \(end.formatted(.iso8601)). Renew it, or check "
                    + "this device's clock."
            }
            if start > now {
                return "The certificate of \(host) isn't valid before \(start.formatted(.iso8601)). Check this "
                    + "device's clock."
            }
            return "The certificate of \(host) is signed by an authority that isn't trusted here. If it's your own "
                + "authority, name it in the app's trustedCertificates."
        case let error as NIOSSLError where error.isUncleanEnd: return nil
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError:
            return "Can't open a secure connection to \(host): \(error). Does it speak TLS?"
        default: return nil
        }
    }
}

extension NIOSSLError {
    /// The other side ended the network connection without a TLS closure alert, as many programs do.
    fileprivate var isUncleanEnd: Bool { if case .uncleanShutdown = self { true } else { false } }

    fileprivate var isAboutCertificate: Bool {
        switch self {
        case .handshakeFailed(let cause): "\(cause)".contains("CERTIFICATE_VERIFY_FAILED")
        case .unableToValidateCertificate: true
        default: false
        }
    }
}

/// Reports why a handshake failed, which later handlers don't find out.
final class TLSFailureHandler: ChannelInboundHandler {
    typealias InboundIn = NIOAny

    private let host: String
    private let onFailure: (String) -> Void

    /// - Parameter onFailure: receives the reason, on the event loop.
    init(host: String, onFailure: @escaping (String) -> Void) {
        self.host = host
        self.onFailure = onFailure
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let certificate = try? context.pipeline.syncOperations.nioSSL_peerCertificate()
        if let reason = TLSClient.reason(error, host: host, certificate: certificate) { onFailure(reason) }
        context.fireErrorCaught(error)
    }
}
