/// Why a certificate can't be used. The text names the files and says what to do; it never quotes a key.
public struct CertificateError: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }
}
