import NIOCore
import Testing
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession
import TomboloWebSocket

@testable import GatewayService

/// How a gateway treats a device that it doesn't know yet.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct AdmissionTests {
    /// A hello that can't be decoded beyond its version and token.
    private static let garbledHello: [UInt8] = {
        let content: [UInt8] = [0x08, UInt8(ProtocolVersion.current), 0x12, 5] + Array("token".utf8) + [0x42, 1, 0xff]
        return [0x0a, UInt8(content.count)] + content
    }()

    private func failure(
        to bytes: [UInt8], isKnown: Bool
    ) async throws -> SessionFailure? {
        let schema = try Schema.of([Note.self])
        let (failures, yield) = AsyncStream.makeStream(of: SessionFailure?.self)
        try await GatewayFixture.with(
            schema,
            authorize: { _ in
                guard isKnown else { throw SessionFailure(.notAuthenticated, "Who are you?") }
                return .everything
            }
        ) { fixture in
            try await DeviceSocket.with(schema, port: fixture.port) { socket in
                try await socket.writer.write(bytes)
                yield.yield(try await socket.failure())
            }
        }
        yield.finish()
        for await failure in failures { return failure }
        return nil
    }

    @Test("A stranger's hello is refused because of its token, before the rest is decoded")
    func strangers() async throws {
        #expect(try await failure(to: Self.garbledHello, isKnown: false)?.code == .notAuthenticated)
        #expect(try await failure(to: Self.garbledHello, isKnown: true)?.code == .badMessage)
    }

    @Test("A first message that isn't a hello is refused before anything asks who sent it")
    func firstMessage() async throws {
        // An upload, which couldn't be decoded either.
        let found = try await failure(to: [0x1a, 3, 0x0a, 1, 0xff], isKnown: true)
        #expect(found?.code == .badMessage)
        #expect(found?.message.contains("begin with a hello") == true)
    }
}
