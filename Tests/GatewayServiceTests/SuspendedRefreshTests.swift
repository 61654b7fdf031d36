import Foundation
import NIOCore
import NIOPosix
import Testing

@testable import Tombolo

/// A gateway that only answers requests about users, and only when the test has it do so where that matters.
@MainActor
@Suite(.timeLimit(.minutes(15)))
struct SuspendedRefreshTests {
    /// Hands exchanges of tokens over to the test, and says nothing to those who want to synchronise.
    private final class Answers: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let exchanges: AsyncStream<any Channel>.Continuation

        init(_ exchanges: AsyncStream<any Channel>.Continuation) { self.exchanges = exchanges }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let request = String(buffer: unwrapInboundIn(data))
            // Only log-ins have content, which may come after the head.
            if request.hasSuffix("}") {
                context.writeAndFlush(wrapOutboundOut(SuspendedRefreshTests.tokens), promise: nil)
            } else if request.hasPrefix("GET /account ") {
                context.writeAndFlush(wrapOutboundOut(SuspendedRefreshTests.nothing), promise: nil)
            } else if request.hasPrefix("POST /session ") {
                exchanges.yield(context.channel)
            }
        }
    }

    private nonisolated static func answer(_ status: String, _ json: String) -> ByteBuffer {
        ByteBuffer(
            string: "HTTP/1.1 \(status)\r\nContent-Type: application/json\r\nContent-Length: \(json.utf8.count)\r\n"
                + "Connection: close\r\n\r\n\(json)")
    }

    private nonisolated static let tokens = answer(
        "200 OK",
        #"{"accessToken":"access","expiresAt":"2100-01-01T00:00:00Z","refreshToken":"refresh","userID":"ada"}"#)
    private nonisolated static let nothing = answer("404 Not Found", #"{"message":"Not here."}"#)

    @Test("a session that is suspended while its token is replaced stays offline")
    func suspended() async throws {
        let (exchanges, addExchange) = AsyncStream.makeStream(of: (any Channel).self)
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Answers(addExchange))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(server.localAddress?.port)
        let folder = FileManager.default.temporaryDirectory.appending(path: "suspended-refresh-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let app = App(
            id: "tests",
            configuration: AppConfiguration(
                baseURL: "http://127.0.0.1:\(port)", defaultRequestTimeoutMS: 600_000, rootDirectory: folder))
        let user = try await app.login(credentials: .emailPassword(email: "ada@example.org", password: "secret"))
        var configuration = user.flexibleSyncConfiguration()
        configuration.objectTypes = [Note.self]
        let session = try #require(try Realm(configuration: configuration).syncSession)

        async let replaced: Void = session.replaceToken()
        var iterator = exchanges.makeAsyncIterator()
        let exchange = try #require(await iterator.next())
        await session.suspendAndWait()
        try await exchange.writeAndFlush(Self.tokens)
        await replaced
        #expect(user.accessToken == "access")
        #expect(session.connectionState == .disconnected)

        session.closeFile()
        try await server.close()
    }
}
