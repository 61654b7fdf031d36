internal import Logging
internal import ServiceLifecycle
internal import TomboloPostgresStore
internal import TomboloRedis

/// Receives ticks through Redis, for setups where PostgreSQL's notifications don't arrive, such as PgBouncer in
/// transaction mode.
struct RedisTickListener: TickWakeUps {
    let signals: TickSignals
    private let connection: RedisConnection

    init(_ address: RedisAddress, logger: Logger) {
        let signals = TickSignals()
        self.signals = signals
        connection = RedisConnection(address, .subscriber(channel: Sequencer.channel), logger: logger) { _ in
            signals.send()
        }
    }

    func run() async throws {
        await cancelWhenGracefulShutdown { await connection.run() }
        signals.finish()
    }
}

/// Announces ticks through Redis. If several ticks are made while Redis is unreachable, only the last one is sent
/// later.
struct RedisTickPublisher: Service {
    private let connection: RedisConnection

    init(_ address: RedisAddress, logger: Logger) {
        connection = RedisConnection(address, .publisher(channel: Sequencer.channel), logger: logger)
    }

    /// May be called from any thread.
    func publish(_ tick: Int64) { connection.publish(String(tick)) }

    func run() async throws {
        await cancelWhenGracefulShutdown { await connection.run() }
    }
}
