public import Logging
public import PostgresClient
public import ServiceLifecycle

/// Keeps a server's model up to date: checks for newer documents after ticks.
public struct ModelFollower: Service {
    /// The longest time between two checks.
    static let patience = Duration.seconds(1)

    private let follower: TickFollower

    public init(_ models: ServerModels, configuration: PostgresConfiguration, logger: Logger) {
        follower = TickFollower(configuration, patience: Self.patience, logger: logger) {
            await Self.look(models, logger)
        }
    }

    public func run() async throws { await follower.run() }

    private static func look(_ models: ServerModels, _ logger: Logger) async {
        let before = models.current
        do {
            let model = try await models.refresh()
            if model.database != before.database {
                logger.notice(
                    "The database was replaced by another with the same name. Its model is version \(model.version).")
            } else if model.version != before.version {
                logger.notice("The model is now version \(model.version).")
            }
        } catch is CancellationError {
            return
        } catch {
            logger.error("Can't load the changed model; still using version \(before.version): \(error)")
        }
    }
}
