import Batching
package import PostgresClient
import Synchronization
import TomboloHTTP
import TomboloPostgresStore

/// How many resources lists have. A number is counted once, and given out until something of it changes.
///
/// Each request asks the database first what was committed since it was asked last; requests that come at about the same
/// time ask together. So a number that is kept is as new as one that would be counted instead: it's right at a moment after
/// the request came. Where the database can't be asked, nothing that is kept is used.
package final class ListTotals: Sendable {
    /// Requests that ask together.
    private static let bounds = BatchBounds(size: 1_000)

    private final class Store: Sendable {
        let kept = Mutex(KeptTotals())
    }

    /// What is known of a number, and what counting it anew takes.
    package enum Answer: Sendable {
        case known(Int64)
        /// Nobody knows it. What is counted from now on may be kept, see ``keep(_:of:as:)``.
        case unknown(beginning: UInt64)
        /// The database couldn't be asked what has changed.
        case unaskable
    }

    private let store: Store
    private let questions: RequestBatcher<Void, Void>

    package init(_ pool: PostgresPool) {
        let store = Store()
        let follower = ChangeFollower(pool.configuration, applicationName: "tombolo-admin-changes") { changes in
            store.kept.withLock { kept in
                guard let changes else { return kept.dropAll() }
                kept.drop(Set(changes.compactMap(\.className)))
            }
        }
        self.store = store
        questions = RequestBatcher(Self.bounds, overload: RequestFailure.tooManyWaiting) { questions in
            try await follower.ask()
            return questions.map { _ in .success(()) }
        }
    }

    /// - Throws: `CancellationError`.
    func answer(_ question: KeptTotals.Question) async throws -> Answer {
        do {
            try await questions.answer(())
        } catch let error as CancellationError {
            throw error
        } catch {
            return .unaskable
        }
        return store.kept.withLock { kept in
            kept.total(question).map(Answer.known) ?? .unknown(beginning: kept.begin())
        }
    }

    /// A number was counted, in a snapshot taken after the answer.
    func keep(_ total: Int64, of question: KeptTotals.Question, as answer: Answer) {
        guard case .unknown(let beginning) = answer else { return }
        store.kept.withLock { $0.keep(total, of: question, since: beginning) }
    }
}
