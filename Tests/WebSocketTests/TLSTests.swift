import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import TestSupport
import Testing

@testable import TomboloWebSocket

/// How a device judges a server's certificate.
@Suite(.timeLimit(.minutes(15))) struct TLSTests {
    private static func context(_ issued: TestAuthority.Issued) throws -> NIOSSLContext {
        try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: NIOSSLCertificate.fromPEMFile(issued.certificate.path()).map { .certificate($0) },
                privateKey: .privateKey(NIOSSLPrivateKey(file: issued.key.path(), format: .pem))))
    }

    private static func connect(_ port: Int, host: String = "127.0.0.1", trusting: URL?) async throws -> MessageSocket {
        try await MessageSocket.connect(
            host: host, port: port, path: EchoServer.path, usesTLS: true, trustedCertificates: trusting?.path(),
            group: MultiThreadedEventLoopGroup.singleton, timeout: EchoServer.patience)
    }

    /// The reason why a device refuses to connect, or "none".
    private static func problem(_ port: Int, host: String = "127.0.0.1", trusting: URL?) async throws -> String {
        do {
            try await connect(port, host: host, trusting: trusting).close()
            return "none"
        } catch let error as MessageSocketError {
            guard case .insecure(let reason) = error else { throw error }
            return reason
        }
    }

    @Test(
        "a certificate for the server's name or address, from a trusted authority, is accepted",
        arguments: ["127.0.0.1", "localhost"])
    func accepted(_ host: String) async throws {
        try await withTemporaryFolder { folder in
            let authority = try TestAuthority(in: folder)
            try await EchoServer.with(tls: Self.context(authority.issue())) { port in
                let socket = try await Self.connect(port, host: host, trusting: authority.certificate)
                try await socket.run(silenceLimit: EchoServer.patience) { messages, writer in
                    // More than fits in a TLS record.
                    let sent = [UInt8](repeating: 7, count: 100_000)
                    try await writer.write(sent)
                    var answers = messages.makeAsyncIterator()
                    #expect(try await answers.next().map { Array($0.readableBytesView) } == sent)
                }
            }
        }
    }

    @Test("a certificate from an authority that isn't trusted is refused, and the reason names the authority")
    func untrusted() async throws {
        try await withTemporaryFolder { folder in
            let authority = try TestAuthority(in: folder.appending(path: "one"))
            let other = try TestAuthority(in: folder.appending(path: "other"))
            try await EchoServer.with(tls: Self.context(authority.issue())) { port in
                for trusted in [other.certificate, nil] {
                    let problem = try await Self.problem(port, trusting: trusted)
                    #expect(problem.contains("authority that isn't trusted"), "\(problem)")
                }
            }
        }
    }

    @Test("an expired certificate is refused, and the reason says when it expired")
    func expired() async throws {
        try await withTemporaryFolder { folder in
            let authority = try TestAuthority(in: folder)
            try await EchoServer.with(tls: Self.context(authority.issue(days: -1))) { port in
                let problem = try await Self.problem(port, trusting: authority.certificate)
                #expect(problem.contains("expired on 2"), "\(problem)")
            }
        }
    }

    @Test("a certificate for another name is refused", arguments: ["127.0.0.1", "localhost"])
    func wrongName(_ host: String) async throws {
        try await withTemporaryFolder { folder in
            let authority = try TestAuthority(in: folder)
            try await EchoServer.with(tls: Self.context(authority.issue(for: "DNS:gateway.example.org"))) { port in
                let problem = try await Self.problem(port, host: host, trusting: authority.certificate)
                #expect(problem.contains("for another name"), "\(problem)")
                #expect(problem.contains(host), "\(problem)")
            }
        }
    }

    @Test("a server that doesn't speak TLS is refused, and so is a missing file of authorities")
    func noTLS() async throws {
        try await withTemporaryFolder { folder in
            let authority = try TestAuthority(in: folder)
            try await EchoServer.with { port in
                let problem = try await Self.problem(port, trusting: authority.certificate)
                #expect(problem.contains("Does it speak TLS?"), "\(problem)")
                let missing = try await Self.problem(port, trusting: folder.appending(path: "none.pem"))
                #expect(missing.contains("none.pem"), "\(missing)")
            }
        }
    }
}
