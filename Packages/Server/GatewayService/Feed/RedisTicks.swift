internal import Logging
internal import ServiceLifecycle
internal import TomboloPostgresStore
internal import TomboloRedis

/// Hears of ticks through Redis, where PostgreSQL's notifications don't come through, as behind PgBouncer in transaction
/// mode.
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

/// Tells of ticks through Redis. Of ticks that are made while it can't, only the last is told later.
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
