import Hummingbird
import NIOCore
import NIOPosix
import ServiceTestSupport
import Testing
import TomboloHTTP

@Suite struct EventLoopTests {
    private func place(bodyByteCount: Int) async throws -> String {
        try await application {
            $0.on(.post, "/place", access: .open(because: "test")) { _, _, _ in
                await Task.yield()
                return Self.isOnEventLoop() ? "event loop" : "pool"
            }
        }.live { port in
            try await PatientClient.with(port) { call in
                try await call(.post, "/place", body: String(repeating: "x", count: bodyByteCount)).text
            }
        }
    }

    private static func isOnEventLoop() -> Bool { MultiThreadedEventLoopGroup.currentEventLoop != nil }

    @Test("A request is answered on its connection's event loop")
    func small() async throws {
        #expect(try await place(bodyByteCount: 100) == "event loop")
    }

    @Test("A request with a large body is answered on another thread, so other connections don't wait for it")
    func large() async throws {
        #expect(try await place(bodyByteCount: 20_000) == "pool")
    }
}
