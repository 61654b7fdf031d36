import Foundation
import Hummingbird
import NIOCore
import NIOPosix
import NIOSSL
import ServiceTestSupport
import TestSupport
import Testing

@testable import TomboloHTTP

/// HTTPS, with certificates that are replaced while the server runs.
@Suite(.timeLimit(.minutes(15))) struct TLSCertificateTests {
    private typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    /// The files that a server reads, and an authority that issues them.
    private struct Place: Sendable {
        let authority: TestAuthority
        let files: CertificateFiles

        init(_ folder: URL) throws {
            authority = try TestAuthority(in: folder)
            files = CertificateFiles(
                certificate: folder.appending(path: "server.pem").path(),
                key: folder.appending(path: "server.key").path())
            try put(authority.issue())
        }

        func put(_ issued: TestAuthority.Issued) throws {
            try put(certificate: issued.certificate)
            try put(key: issued.key)
        }

        func put(certificate: URL) throws {
            try Data(contentsOf: certificate).write(to: URL(filePath: files.certificate))
        }
        func put(key: URL) throws { try Data(contentsOf: key).write(to: URL(filePath: files.key)) }
    }

    private static let request = "GET /hello HTTP/1.1\r\nHost: test\r\n\r\n"

    /// Connects with TLS.
    /// - Returns: the connection, and the certificate that the server presented.
    private static func connect(
        _ port: Int, trusting authority: TestAuthority
    ) async throws -> (Connection, NIOSSLCertificate?) {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .file(authority.certificate.path())
        let context = try NIOSSLContext(configuration: configuration)
        let connection = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(to: SocketAddress(ipAddress: "127.0.0.1", port: port)) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        NIOSSLClientHandler(context: context, serverHostname: nil))
                    return try Connection(wrappingChannelSynchronously: channel)
                }
            }
        // The first write waits for the handshake.
        try await connection.channel.writeAndFlush(ByteBuffer(string: request))
        return (connection, try await connection.channel.nioSSL_peerCertificate().get())
    }

    private static func withServer(
        _ place: Place, log: LogRecorder = LogRecorder(), limits: HTTPLimits = .patient,
        _ body: @escaping @Sendable (Int, TLSCertificate) async throws -> Void
    ) async throws {
        let certificate = try TLSCertificate(place.files, logger: log.logger)
        var server = application(limits: limits) {
            $0.on(.get, "/hello", access: .open(because: "test")) { _, _, _ in "hello" }
        }
        server.certificate = certificate
        try await server.live { port in try await body(port, certificate) }
    }

    @Test("a replaced certificate is used for new connections; existing ones stay and are answered")
    func replaced() async throws {
        try await withTemporaryFolder { folder in
            let place = try Place(folder)
            var limits = HTTPLimits.patient
            limits.idleTimeout = .seconds(600)
            try await Self.withServer(place, limits: limits) { port, certificate in
                let (old, first) = try await Self.connect(port, trusting: place.authority)
                try await old.executeThenClose { inbound, outbound in
                    var answers = inbound.makeAsyncIterator()
                    #expect(try await answers.next().map { String(buffer: $0) }?.hasPrefix("HTTP/1.1 200") == true)
                    try place.put(place.authority.issue())
                    certificate.look(isAsked: true)
                    let (new, second) = try await Self.connect(port, trusting: place.authority)
                    try await new.executeThenClose { _, _ in }
                    #expect(first != nil && second != nil && first != second)
                    try await outbound.write(ByteBuffer(string: Self.request))
                    var text = ""
                    while !text.contains("HTTP/1.1 200"), let answer = try await answers.next() {
                        text += String(buffer: answer)
                    }
                    #expect(text.contains("HTTP/1.1 200"))
                }
            }
        }
    }

    @Test("unusable files change nothing, and the log says once what is wrong and what to do")
    func brokenFilesKeepTheOldCertificate() async throws {
        try await withTemporaryFolder { folder in
            let place = try Place(folder)
            let good = try place.authority.issue()
            try place.put(good)
            let log = LogRecorder()
            let certificate = try TLSCertificate(place.files, logger: log.logger)
            let before = ObjectIdentifier(certificate.context)

            func problem(_ expected: String, _ change: () throws -> Void) throws {
                try place.put(good)
                try change()
                let count = log.text.split(separator: "\n").count
                for _ in 0..<4 { certificate.look(isAsked: false) }
                let lines = log.text.split(separator: "\n").dropFirst(count)
                #expect(lines.count == 1, "\(lines)")
                #expect(lines.first?.hasPrefix("error") == true && lines.first?.contains(expected) == true, "\(lines)")
                #expect(lines.first?.contains("keeps using its current certificate") == true)
                #expect(ObjectIdentifier(certificate.context) == before)
                try place.put(good)
                for _ in 0..<2 { certificate.look(isAsked: false) }
            }
            try problem("doesn't match the certificate") { try place.put(key: place.authority.issue().key) }
            try problem("has no PEM certificate") {
                try Data("broken".utf8).write(to: URL(filePath: place.files.certificate))
            }
            try problem("has no PEM private key") {
                try Data("broken".utf8).write(to: URL(filePath: place.files.key))
            }
            try problem("has a passphrase") { try place.put(key: place.authority.locked(good.key)) }
            try problem("expired on") { try place.put(place.authority.issue(days: -1)) }
            try problem("can't be read") { try FileManager.default.removeItem(atPath: place.files.key) }
            #expect(!log.text.contains("PRIVATE KEY"))
        }
    }

    @Test("files are used once two checks find them unchanged, so a half-finished change isn't")
    func filesSettle() async throws {
        try await withTemporaryFolder { folder in
            let place = try Place(folder)
            let log = LogRecorder()
            let certificate = try TLSCertificate(place.files, logger: log.logger)
            let before = ObjectIdentifier(certificate.context)
            let next = try place.authority.issue()
            try place.put(certificate: next.certificate)
            certificate.look(isAsked: false)
            try place.put(key: next.key)
            certificate.look(isAsked: false)
            #expect(ObjectIdentifier(certificate.context) == before)
            certificate.look(isAsked: false)
            #expect(ObjectIdentifier(certificate.context) != before)
            #expect(!log.text.contains("error"))
        }
    }

    @Test("a server doesn't start with unusable files, and says which variable is missing")
    func start() async throws {
        try await withTemporaryFolder { folder in
            let place = try Place(folder)
            try place.put(key: place.authority.issue().key)
            #expect(throws: CertificateError.self) { try TLSCertificate(place.files, logger: LogRecorder().logger) }
        }
        let environment = [
            "TOMBOLO_DATABASE_URL": "postgresql://localhost/x",
            "TOMBOLO_JWT_SECRET": String(repeating: "s", count: 32), "TOMBOLO_TLS_CERTIFICATE": "server.pem",
        ]
        do {
            _ = try ServerConfiguration(environment: environment, portVariable: "P", defaultPort: 1)
            Issue.record("A certificate without a key was accepted.")
        } catch {
            #expect(error.problems.count == 1 && error.problems[0].hasPrefix("TOMBOLO_TLS_KEY is not set"))
        }
    }

    @Test("a connection above the limit is closed without a handshake, and one that never starts it is closed in time")
    func limits() async throws {
        try await withTemporaryFolder { folder in
            let place = try Place(folder)
            var limits = HTTPLimits.patient
            limits.connectionsPerAddress = 1
            limits.firstRequestTimeout = .milliseconds(300)
            try await Self.withServer(place, limits: limits) { port, _ in
                func rest(_ connection: Connection) async throws -> Int {
                    try await connection.executeThenClose { inbound, _ in
                        var count = 0
                        for try await buffer in inbound { count += buffer.readableBytes }
                        return count
                    }
                }
                func plain() async throws -> Connection {
                    try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                        .connect(to: SocketAddress(ipAddress: "127.0.0.1", port: port)) { channel in
                            channel.eventLoop.makeCompletedFuture {
                                try Connection(wrappingChannelSynchronously: channel)
                            }
                        }
                }
                let first = try await plain()
                #expect(try await rest(try await plain()) == 0)
                #expect(try await rest(first) == 0)
            }
        }
    }
}
