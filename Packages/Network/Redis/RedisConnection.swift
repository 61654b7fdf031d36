package import Logging
internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import Synchronization
internal import TomboloWebSocket

/// Performs a ``RedisDialogue``, and reconnects whenever the connection is lost.
package final class RedisConnection: Sendable {
    /// The time limit for connecting, and again for TLS and becoming ready.
    package static let connectTimeout = Duration.seconds(5)
    /// How long to wait before the next attempt, at first and at most. A random part of up to half is subtracted.
    static let retryDelays = (first: Duration.milliseconds(100), last: Duration.seconds(5))

    package enum News: Hashable, Sendable {
        /// Sent after every connect, because messages may have been missed.
        case ready
        case message([UInt8])
    }

    private struct Pending: Sendable {
        /// The text to publish. A later text replaces it.
        var text: String?
        /// Wakes the connection if it is ready. A connection that isn't ready asks for the text once it is.
        var wake: (@Sendable () -> Void)?
    }

    private let address: RedisAddress
    private let role: RedisDialogue.Role
    private let logger: Logger
    private let onNews: @Sendable (News) -> Void
    private let pending = Mutex(Pending())

    /// - Parameter onNews: called on any thread. It must not block.
    package init(
        _ address: RedisAddress, _ role: RedisDialogue.Role, logger: Logger,
        onNews: @escaping @Sendable (News) -> Void = { _ in }
    ) {
        self.address = address
        self.role = role
        self.logger = logger
        self.onNews = onNews
    }

    /// Publishes as soon as the connection is ready. Only the latest text is kept. May be called from any thread.
    package func publish(_ text: String) {
        let wake = pending.withLock { pending in
            pending.text = text
            return pending.wake
        }
        wake?()
    }

    /// Connects, and reconnects until cancelled.
    package func run() async {
        var delay = Self.retryDelays.first
        var lastProblem: String?
        while !Task.isCancelled {
            let wasReady = Mutex(false)
            let problem: String
            do {
                try await connect { wasReady.withLock { $0 = true } }
                problem = "\(RedisError.closed)"
            } catch {
                problem = "\(error)"
            }
            guard !Task.isCancelled else { return }
            if wasReady.withLock({ $0 }) {
                delay = Self.retryDelays.first
                lastProblem = nil
            }
            // The log doesn't need a line for each attempt while a server is away for hours.
            if problem != lastProblem {
                logger.warning("No connection to \(address); retrying: \(problem)")
            }
            lastProblem = problem
            try? await Task.sleep(for: delay * Double.random(in: 0.5...1))
            delay = min(delay * 2, Self.retryDelays.last)
        }
    }

    /// Connects, and returns or throws once the connection has ended.
    private func connect(_ onReady: @escaping @Sendable () -> Void) async throws {
        let (address, role) = (address, role)
        // This reads files, so it doesn't run on an event loop.
        let context =
            address.usesTLS
            ? try NIOSSLContext(configuration: TLSClient.configuration(trusting: address.trustedCertificates)) : nil
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let ended = loop.makePromise(of: Void.self)
        let onNews = onNews
        let channel: any Channel
        do {
            channel = try await ClientBootstrap(group: loop)
                .connectTimeout(TimeAmount(Self.connectTimeout))
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let pipeline = channel.pipeline.syncOperations
                        if let context {
                            try pipeline.addHandler(
                                NIOSSLClientHandler(
                                    context: context, serverHostname: TLSClient.serverName(address.host)))
                        }
                        let dialogue = RedisDialogue(role: role, user: address.user, password: address.password)
                        // A host may have several addresses, each tried on a channel of its own. The one that becomes
                        // ready is the connection's.
                        let handler = RedisHandler(
                            dialogue, host: address.host, ended: ended, takeText: { self.takeText() },
                            onReady: { wake in
                                self.setWake(wake)
                                onReady()
                            }, onNews: onNews)
                        try pipeline.addHandler(handler)
                    }
                }
                .connect(host: address.host, port: address.port).get()
        } catch {
            setWake(nil)
            ended.fail(error)
            throw error
        }
        defer { setWake(nil) }
        try await withTaskCancellationHandler {
            try await ended.futureResult.get()
        } onCancel: {
            channel.close(promise: nil)
        }
    }

    private func setWake(_ wake: (@Sendable () -> Void)?) { pending.withLock { $0.wake = wake } }

    private func takeText() -> String? {
        pending.withLock { pending in
            defer { pending.text = nil }
            return pending.text
        }
    }
}
