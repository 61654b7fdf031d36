import Foundation
import NIOCore
import NIOPosix
import Testing

@testable import Tombolo

/// A device whose gateway only answers requests about users, and exchanges tokens only when the test says so.
@MainActor
@Suite(.timeLimit(.minutes(15)))
struct SuspendedRefreshTests {
    /// Hands token exchanges to the test, and never answers devices that want to synchronise.
    private final class Answers: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let exchanges: AsyncStream<any Channel>.Continuation

        init(_ exchanges: AsyncStream<any Channel>.Continuation) { self.exchanges = exchanges }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let request = String(buffer: unwrapInboundIn(data))
            // Only logins have a body, which may come after the head.
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
    private nonisolated static let refused = answer("401 Unauthorized", #"{"message":"The login has ended."}"#)

    private struct Place {
        let app: App
        let user: User
        let session: SyncSession
        let exchanges: AsyncStream<any Channel>
        /// The errors that the session reports.
        let errors: AsyncStream<SyncError>
    }

    /// Runs `body` with a logged-in user and their session.
    private static func run(_ body: @MainActor (Place) async throws -> Void) async throws {
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
        let (errors, addError) = AsyncStream.makeStream(of: SyncError.self)
        var configuration = user.flexibleSyncConfiguration()
        configuration.objectTypes = [Note.self]
        configuration.syncConfiguration = SyncConfiguration(user: user) { error, _ in addError.yield(error) }
        let session = try #require(try Realm(configuration: configuration).syncSession)
        try await body(Place(app: app, user: user, session: session, exchanges: exchanges, errors: errors))
        session.closeFile()
        try await server.close()
    }

    @Test("a session that is suspended while its token is replaced stays offline")
    func suspended() async throws {
        try await Self.run { place in
            let (user, session) = (place.user, place.session)
            async let replaced: Void = session.replaceToken()
            var iterator = place.exchanges.makeAsyncIterator()
            let exchange = try #require(await iterator.next())
            await session.suspendAndWait()
            try await exchange.writeAndFlush(Self.tokens)
            await replaced
            #expect(user.accessToken == "access")
            #expect(session.connectionState == .disconnected)
        }
    }

    @Test("a session whose login the server has ended tells the app, even if the logout can't be saved")
    func unsavedLogOut() async throws {
        try await Self.run { place in
            let folder = place.app.users.store.folder
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            let file = folder.appending(path: try #require(names.first { $0.hasSuffix(".json") }))
            try FileManager.default.removeItem(at: file)
            // A file can't be written where there is a folder.
            try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
            let user = place.user
            let refresh = Task { try await user.refreshAccessToken() }
            var exchanges = place.exchanges.makeAsyncIterator()
            let exchange = try #require(await exchanges.next())
            try await exchange.writeAndFlush(Self.refused)
            await #expect(throws: AppError.self) { try await refresh.value }
            var errors = place.errors.makeAsyncIterator()
            #expect(await errors.next()?.code == .clientUserError)
            #expect(place.session.state == .inactive)
        }
    }
}
