import Foundation
import NIOSSL

/// A certificate and its key, checked and ready for connections.
struct LoadedCertificate: Sendable {
    /// The contents of the files, to notice changes.
    struct Content: Hashable, Sendable {
        let certificate: [UInt8]
        let key: [UInt8]

        /// The most bytes that are read from either file.
        static let maximumByteCount = 1 << 20

        init(_ files: CertificateFiles) throws(CertificateError) {
            certificate = try Self.read(files.certificate, CertificateFiles.certificateVariable)
            key = try Self.read(files.key, CertificateFiles.keyVariable)
        }

        private static func read(_ path: String, _ variable: String) throws(CertificateError) -> [UInt8] {
            let data: Data
            do {
                let file = try FileHandle(forReadingFrom: URL(filePath: path))
                defer { try? file.close() }
                data = try file.read(upToCount: maximumByteCount + 1) ?? Data()
            } catch {
                throw CertificateError(
                    "The file '\(path)' of \(variable) can't be read. Check that it exists, and who may read it.")
            }
            guard data.count <= maximumByteCount else {
                throw CertificateError(
                    "The file '\(path)' of \(variable) has more than \(maximumByteCount) bytes. Use a PEM file.")
            }
            return Array(data)
        }
    }

    let content: Content
    let context: NIOSSLContext
    let validUntil: Date

    /// - Throws: ``CertificateError`` for anything that a device would refuse, whatever it trusts.
    init(_ content: Content, of files: CertificateFiles, now: Date) throws(CertificateError) {
        guard let chain = try? NIOSSLCertificate.fromPEMBytes(content.certificate), let leaf = chain.first else {
            throw CertificateError("The file '\(files.certificate)' has no PEM certificate.")
        }
        validUntil = Date(timeIntervalSince1970: TimeInterval(leaf.notValidAfter))
        guard validUntil > now else {
            throw CertificateError(
                "The certificate in '\(files.certificate)' expired on \(validUntil.formatted(.iso8601)). Renew it.")
        }
        guard !String(decoding: content.key, as: UTF8.self).contains("ENCRYPTED") else {
            throw CertificateError(
                "The key in '\(files.key)' has a passphrase. Use a key without one, in a file that only the server may "
                    + "read.")
        }
        guard let key = try? NIOSSLPrivateKey(bytes: content.key, format: .pem) else {
            throw CertificateError("The file '\(files.key)' has no PEM private key.")
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        do {
            context = try NIOSSLContext(configuration: configuration)
        } catch {
            throw CertificateError(
                "The key in '\(files.key)' doesn't match the certificate in '\(files.certificate)'. Use a key and a "
                    + "certificate that were made together, with the server's own certificate first in its file.")
        }
        self.content = content
    }
}
