public import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import ServiceLifecycle

extension ApplicationProtocol {
    /// Serves on a free port of 127.0.0.1 until `body` returns. Hummingbird's own live tests also connect a client, and fail if
    /// that takes five seconds.
    /// - Parameter body: receives the port.
    public func live<Result: Sendable>(_ body: @Sendable (Int) async throws -> Result) async throws -> Result {
        let (ports, hasPort) = AsyncStream.makeStream(of: Int.self)
        let services = ServiceGroup(
            services: [LiveApplication(base: self, onPort: { hasPort.yield($0) })], logger: logger)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { hasPort.finish() }
                try await services.run()
            }
            for await port in ports {
                do {
                    let result = try await body(port)
                    await services.triggerGracefulShutdown()
                    return result
                } catch {
                    await services.triggerGracefulShutdown()
                    throw error
                }
            }
            // The server didn't start; rethrow its reason.
            try await group.waitForAll()
            throw CancellationError()
        }
    }
}

private struct LiveApplication<Base: ApplicationProtocol>: ApplicationProtocol {
    let base: Base
    let onPort: @Sendable (Int) -> Void

    var responder: Base.Responder { get async throws { try await base.responder } }
    var server: HTTPServerBuilder { base.server }
    var eventLoopGroup: any EventLoopGroup { base.eventLoopGroup }
    var logger: Logger { base.logger }
    var services: [any Service] { base.services }
    var processesRunBeforeServerStart: [@Sendable () async throws -> Void] { base.processesRunBeforeServerStart }

    var configuration: ApplicationConfiguration {
        var configuration = base.configuration
        configuration.address = .hostname("127.0.0.1", port: 0)
        return configuration
    }

    func onServerRunning(_ channel: any Channel) async {
        await base.onServerRunning(channel)
        onPort(channel.localAddress?.port ?? 0)
    }
}
