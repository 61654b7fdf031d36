/// The files with a server's certificate and private key, both in PEM.
public struct CertificateFiles: Hashable, Sendable {
    /// The certificate, followed by those of the authorities between it and the root.
    public var certificate: String
    /// The private key, without a passphrase.
    public var key: String

    public static let certificateVariable = "TOMBOLO_TLS_CERTIFICATE"
    public static let keyVariable = "TOMBOLO_TLS_KEY"

    public init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }
}
