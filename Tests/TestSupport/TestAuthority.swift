public import Foundation

/// A test's own certificate authority, which issues certificates with the openssl command.
public struct TestAuthority: Sendable {
    /// A certificate and its key, in PEM.
    public struct Issued: Sendable {
        public let certificate: URL
        public let key: URL
    }

    private static let keys = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    /// The names under which tests connect to their servers.
    public static let names = "DNS:localhost,IP:127.0.0.1"

    private let folder: URL
    private let authority: Issued
    /// The certificate that clients of its servers trust.
    public var certificate: URL { authority.certificate }

    /// - Parameter folder: where its files go; created if it doesn't exist.
    public init(in folder: URL) throws {
        self.folder = folder
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        authority = Issued(
            certificate: folder.appending(path: "authority.pem"), key: folder.appending(path: "authority.key"))
        try Self.openssl(
            ["req", "-x509"] + Self.keys + [
                "-keyout", authority.key.path(), "-out", authority.certificate.path(), "-days", "30",
                "-subj", "/CN=Authority of \(UUID().uuidString)", "-addext", "basicConstraints=critical,CA:TRUE",
            ])
    }

    /// Creates a key and a certificate for it.
    /// - Parameters:
    ///   - names: in the format of OpenSSL's `subjectAltName`.
    ///   - days: how long it's valid from now; negative for an expired one.
    public func issue(for names: String = TestAuthority.names, days: Int = 30) throws -> Issued {
        let name = UUID().uuidString
        let issued = Issued(
            certificate: folder.appending(path: "\(name).pem"), key: folder.appending(path: "\(name).key"))
        let (request, extensions) = (folder.appending(path: "\(name).csr"), folder.appending(path: "\(name).txt"))
        try Data("subjectAltName=\(names)\n".utf8).write(to: extensions)
        try Self.openssl(
            ["req"] + Self.keys + ["-keyout", issued.key.path(), "-out", request.path(), "-subj", "/CN=Server \(name)"])
        try Self.openssl([
            "x509", "-req", "-in", request.path(), "-CA", authority.certificate.path(), "-CAkey", authority.key.path(),
            "-days", "\(days)", "-extfile", extensions.path(), "-out", issued.certificate.path(),
        ])
        return issued
    }

    /// A copy of a key, encrypted with a passphrase.
    public func locked(_ key: URL) throws -> URL {
        let locked = folder.appending(path: "\(UUID().uuidString).key")
        try Self.openssl(["ec", "-in", key.path(), "-aes256", "-passout", "pass:secret", "-out", locked.path()])
        return locked
    }

    private static func openssl(_ arguments: [String]) throws {
        do {
            try Command.run(["/usr/bin/env", "openssl"] + arguments)
        } catch {
            throw TestClusterError("openssl made no certificate; 'make install' installs it. \(error)")
        }
    }
}

/// Runs `body` with a folder for its files, and removes the folder afterwards.
public func withTemporaryFolder<Result: Sendable>(
    _ body: @Sendable (URL) async throws -> Result
) async throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appending(path: "tombolo-tests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await body(folder)
}
