public import Foundation
package import Logging
public import PostgresClient
import Synchronization
public import TomboloHTTP
import TomboloLocalization
import TomboloModel
public import TomboloServerModel

/// Changes of models and rules that super administrators make in the panel, with a database user who owns the tables.
///
/// A plan is made while its page waits. What is applied may take longer than any request: ``run()`` does it, one at a
/// time, and ``latest`` says how far it is. That is in memory: after a restart, the history of the documents says what
/// was stored.
public final class ModelChanges: Sendable {
    /// The variable with the connection string of its user.
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

    /// - Parameter migrations: made with the connection string.
    /// - Returns: nil where the process's environment has no user for it: the panel changes no models then.
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

    /// The change that is under way, or was the last one of this process.
    package var latest: ModelChangeRun? { state.withLock { $0 } }

    /// Has a change applied.
    /// - Parameters:
    ///   - author: a display name or an address, for the page that follows it.
    ///   - fingerprint: of the plan that was agreed to.
    ///   - now: in microseconds since 1970.
    /// - Throws: ``TomboloServerModel/DocumentEditError/busy(_:)`` while another one is under way here.
    package func start(
        _ edit: DocumentEdit, by author: String, confirmed fingerprint: String, now: Int64, logger: Logger
    ) throws(DocumentEditError) {
        let run = ModelChangeRun(edit: edit, author: author, startedAt: now)
        let isFree = state.withLock { latest in
            if let latest, !latest.phase.hasEnded { return false }
            latest = run
            return true
        }
        guard isFree else { throw .busy(localized("Another change of a model is under way on this server.")) }
        waiting.yield(Wish(run: run, fingerprint: fingerprint, logger: logger))
    }

    /// Returns when the change under way has ended, or ``ModelChangeBounds/answerPatience`` is over.
    package func waitForEnd() async throws {
        let end = ContinuousClock.now + bounds.answerPatience
        while let run = latest, !run.phase.hasEnded, ContinuousClock.now < end {
            try await Task.sleep(for: bounds.lookInterval)
        }
    }

    // MARK: The work

    /// Applies what is asked for, until the task is cancelled. Only one task may run this.
    package func run() async {
        for await wish in wishes { await apply(wish) }
    }

    private func apply(_ wish: Wish) async {
        let (edit, logger) = (wish.run.edit, wish.logger)
        logger.notice("\(edit.account) changes the \(edit.kinds) of \(edit.app).")
        do {
            try await migrations.apply(edit, confirmed: wish.fingerprint) { [self] step, place, total in
                note(.running(step: step, place: place, total: total))
            }
            logger.notice("\(edit.account) has changed the \(edit.kinds) of \(edit.app).")
            note(.done)
        } catch let error as DocumentEditError {
            logger.notice("\(edit.account) couldn't change the \(edit.kinds) of \(edit.app): \(error.message.forLog)")
            note(.failed(error))
        } catch {
            logger.notice("\(edit.account) couldn't change the \(edit.kinds) of \(edit.app): \(error)")
            note(.failed(.failed("It was interrupted, because this server is ending.")))
        }
    }

    private func note(_ phase: ModelChangeRun.Phase) { state.withLock { $0?.phase = phase } }
}

extension DocumentEdit {
    /// For the log.
    fileprivate var kinds: String {
        [models.map { _ in "models" }, rules.map { _ in "rules" }].compactMap(\.self).joined(separator: " and ")
    }
}
