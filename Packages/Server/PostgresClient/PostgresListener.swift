public import Logging

/// Listens for notifications on its own connection, and reconnects whenever that connection is lost.
///
/// Run it in a task (`run()` returns when that task is cancelled or `stop()` is called) and read `events` in another:
/// ```swift
/// async let listening: Void = listener.run()
/// for await event in listener.events { … }
/// ```
public final class PostgresListener: Sendable {
    /// The number of unread events that the listener keeps. If more arrive, all are replaced by one `.connected`.
    public static let defaultEventLimit = 10_000

    private let configuration: PostgresConfiguration
    private let channels: [String]
    private let backoff: PostgresBackoff
    private let logger: Logger
    private let mailbox: PostgresMailbox
    private let running = Locked<Running>(Running())

    private struct Running {
        var connection: PostgresConnection?
        var waiting: Task<Void, Never>?
        var isStopped = false
    }

    public init(
        configuration: PostgresConfiguration, channels: [String], backoff: PostgresBackoff = PostgresBackoff(),
        eventLimit: Int = PostgresListener.defaultEventLimit, logger: Logger = Logger(label: "postgres.listener")
    ) {
        self.configuration = configuration
        self.channels = channels
        self.backoff = backoff
        self.logger = logger
        mailbox = PostgresMailbox(limit: max(2, eventLimit))
    }

    /// The events, for a single reader. Ends when `run()` does.
    public var events: AsyncStream<PostgresListenerEvent> {
        let mailbox = mailbox
        return AsyncStream(unfolding: { await mailbox.next() })
    }

    /// Connects, listens and reconnects until the task is cancelled or `stop()` is called. Call it only once.
    public func run() async {
        let work = Task { await listen() }
        let wasStopped = running.withLock { running in
            running.waiting = work
            return running.isStopped
        }
        if wasStopped { work.cancel() }
        await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            work.cancel()
        }
        mailbox.finish()
    }

    /// Ends `run()` and `events`. May be called from any thread.
    public func stop() {
        running.withLock { running in
            running.isStopped = true
            return running.waiting
        }?.cancel()
    }

    /// The server process of the listener's connection; 0 while not connected.
    public var processID: Int32 {
        running.withLock { $0.connection }?.processID ?? 0
    }

    private func listen() async {
        var failures = 0
        while !Task.isCancelled {
            do {
                let connection = try await PostgresConnection.connect(configuration, logger: logger)
                running.withLock { $0.connection = connection }
                defer { running.withLock { $0.connection = nil } }
                do {
                    try await connection.listen(channels)
                    failures = 0
                    mailbox.put([.connected])
                    while true {
                        let (notifications, lost) = try await connection.waitForNotifications()
                        let events = notifications.map {
                            PostgresListenerEvent.notification(channel: $0.channel, payload: $0.payload)
                        }
                        mailbox.put(lost ? [.connected] + events : events)
                    }
                } catch {
                    await connection.close()
                    throw error
                }
            } catch is CancellationError {
                return
            } catch {
                let delay = backoff.delay(attempt: failures)
                failures += 1
                logger.warning("PostgreSQL listener: reconnecting in \(delay): \(error)")
                try? await Task.sleep(for: delay)
            }
        }
    }
}
