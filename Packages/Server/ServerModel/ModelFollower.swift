public import Logging
public import PostgresClient
public import ServiceLifecycle
internal import TomboloPostgresStore

/// Keeps a server's model the newest one: looks after the ticks whether there are newer documents.
public struct ModelFollower: Service {
    /// The least time between two looks: how soon a change takes effect.
    static let interval = Duration.milliseconds(200)
    /// The most: ticks tell of changes only while a gateway makes some.
    static let patience = Duration.seconds(1)

    private let models: ServerModels
    private let listener: PostgresListener
    private let logger: Logger

    public init(_ models: ServerModels, configuration: PostgresConfiguration, logger: Logger) {
        self.models = models
        self.logger = logger
        listener = PostgresListener(configuration: configuration, channels: [Sequencer.channel], logger: logger)
    }

    public func run() async throws {
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await listener.run() }
                group.addTask { await follow() }
                await group.waitForAll()
            }
        }
    }

    private func follow() async {
        // Events of the time between two looks are looked at together.
        let (wakeUps, wakeUp) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in listener.events { wakeUp.yield() }
                wakeUp.finish()
            }
            group.addTask {
                while (try? await Task.sleep(for: Self.patience)) != nil { wakeUp.yield() }
            }
            group.addTask {
                for await _ in wakeUps {
                    await look()
                    try? await Task.sleep(for: Self.interval)
                }
            }
            await group.waitForAll()
        }
    }

    private func look() async {
        let before = models.current.version
        do {
            let model = try await models.refresh()
            if model.version != before { logger.notice("The model is version \(model.version) now.") }
        } catch is CancellationError {
            return
        } catch {
            logger.error("The model changed, but the server goes on with version \(before): \(error)")
        }
    }
}
