public import Foundation
package import Logging
public import PostgresClient
import Synchronization
public import TomboloHTTP
import TomboloLocalization
import TomboloModel
public import TomboloServerModel

/// Changes of models and rules that super administrators make in the panel. They run as a database user who owns the
/// tables.
///
/// A plan is made while its page waits. Applying it may take longer than any request, so ``run()`` does it, one
/// change at a time, and ``latest`` has the progress. That is kept in memory; after a restart, the history of the
/// documents shows what was stored.
public final class ModelChanges: Sendable {
    /// The variable with the connection string of that user.
    public static let variable = "TOMBOLO_MIGRATION_URL"

    package let bounds: ModelChangeBounds
    private let migrations: any DocumentMigrations
    private let wishes: AsyncStream<Wish>
    private let waiting: AsyncStream<Wish>.Continuation
    private let state = Mutex<ModelChangeRun?>(nil)

    private struct Wish: Sendable {
        let run: ModelChangeRun
        let fingerprint: String
        let logger: Logger
    }

    package init(_ migrations: any DocumentMigrations, bounds: ModelChangeBounds = ModelChangeBounds()) {
        self.migrations = migrations
        self.bounds = bounds
        (wishes, waiting) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// - Parameter migrations: created with the connection string.
    /// - Returns: nil if the process's environment names no such user. The panel then changes no models.
    /// - Throws: `ConfigurationError`, which doesn't quote the connection string.
    public static func ofEnvironment(
        _ environment: [String: String] = ProcessInfo.processInfo.environment,
        migrations: (PostgresConfiguration) -> any DocumentMigrations
    ) throws(ConfigurationError) -> ModelChanges? {
        guard let url = environment[variable], !url.isEmpty else { return nil }
        guard let configuration = try? PostgresConfiguration(url) else {
            throw ConfigurationError(problems: [
                "\(variable) is not a PostgreSQL address: write postgresql://USER:PASSWORD@HOST:PORT/DATABASE."
            ])
        }
        return ModelChanges(migrations(configuration))
    }

    /// - Throws: ``TomboloServerModel/DocumentEditError``.
    package func plan(_ edit: DocumentEdit) async throws -> DocumentPlan { try await migrations.plan(edit) }

    /// The change in progress, or the last one in this process.
    package var latest: ModelChangeRun? { state.withLock { $0 } }

    /// Requests that a change be applied.
    /// - Parameters:
    ///   - author: a display name or an address, shown on the page that follows the change.
    ///   - fingerprint: the fingerprint of the plan that was approved.
    ///   - now: in microseconds since 1970.
    /// - Throws: ``TomboloServerModel/DocumentEditError/busy(_:)`` if another one is in progress in this process.
    package func start(
        _ edit: DocumentEdit, by author: String, confirmed fingerprint: String, now: Int64, logger: Logger
    ) throws(DocumentEditError) {
        let run = ModelChangeRun(edit: edit, author: author, startedAt: now)
        let isFree = state.withLock { latest in
            if let latest, !latest.phase.hasEnded { return false }
            latest = run
            return true
        }
        guard isFree else { throw .busy(localized("Another model change is under way on this server.")) }
        waiting.yield(Wish(run: run, fingerprint: fingerprint, logger: logger))
    }

    /// Returns when the change in progress has ended, or after ``ModelChangeBounds/answerPatience``.
    package func waitForEnd() async throws {
        let end = ContinuousClock.now + bounds.answerPatience
        while let run = latest, !run.phase.hasEnded, ContinuousClock.now < end {
            try await Task.sleep(for: bounds.lookInterval)
        }
    }

    // MARK: The work

    /// Applies requested changes until the task is cancelled. Only one task may run this.
    package func run() async {
        for await wish in wishes { await apply(wish) }
    }

    private func apply(_ wish: Wish) async {
        let (edit, logger) = (wish.run.edit, wish.logger)
        logger.notice("\(edit.account) is changing the \(edit.kinds) of \(edit.app).")
        do {
            try await migrations.apply(edit, confirmed: wish.fingerprint) { [self] step, place, total in
                note(.running(step: step, place: place, total: total))
            }
            logger.notice("\(edit.account) changed the \(edit.kinds) of \(edit.app).")
            note(.done)
        } catch let error as DocumentEditError {
            logger.notice("\(edit.account) couldn't change the \(edit.kinds) of \(edit.app): \(error.message.forLog)")
            note(.failed(error))
        } catch {
            logger.notice("\(edit.account) couldn't change the \(edit.kinds) of \(edit.app): \(error)")
            note(.failed(.failed("It was interrupted because this server is shutting down.")))
        }
    }

    private func note(_ phase: ModelChangeRun.Phase) { state.withLock { $0?.phase = phase } }
}

extension DocumentEdit {
    /// What the edit changes, for the log.
    fileprivate var kinds: String {
        [models.map { _ in "models" }, rules.map { _ in "rules" }].compactMap(\.self).joined(separator: " and ")
    }
}
