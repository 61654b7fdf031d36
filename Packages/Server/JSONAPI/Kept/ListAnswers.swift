import Batching
package import PostgresClient
import Synchronization
import TomboloHTTP
import TomboloPostgresStore

/// A cache of lists' pages and totals, until something in them changes.
///
/// Before a cached answer is used, the database is asked what was committed since it was last asked; concurrent
/// requests share the question. So a cached answer is as fresh as a new one: correct at a moment after the request
/// arrived. If the database can't be asked, no cached answer is used.
package final class ListAnswers: Sendable {
    /// The most requests that share a question.
    private static let bounds = BatchBounds(size: 1_000)
    /// The most totals that are kept, and the most bytes of their statements and parameters.
    static let totalBounds = (count: 4_096, bytes: 8 << 20)
    /// The most pages that are kept, and the most bytes of them with their addresses.
    static let pageBounds = (count: 4_096, bytes: 64 << 20)

    private struct Kept {
        var totals = KeptTotals(countLimit: totalBounds.count, byteLimit: totalBounds.bytes)
        var pages = KeptPages(countLimit: pageBounds.count, byteLimit: pageBounds.bytes)
    }

    private final class Store: Sendable {
        let kept = Mutex(Kept())
    }

    /// When the reading of something that may be kept began.
    package struct Beginning: Sendable {
        fileprivate let totals: UInt64
        fileprivate let pages: UInt64
    }

    private let store: Store
    private let questions: RequestBatcher<Void, Void>

    package init(_ pool: PostgresPool) {
        let store = Store()
        let follower = ChangeFollower(pool.configuration, applicationName: "tombolo-admin-changes") { changes in
            let names = changes.map { Set($0.compactMap(\.className)) }
            store.kept.withLock { kept in
                if let names {
                    kept.totals.drop(names)
                    kept.pages.drop(names)
                } else {
                    kept.totals.dropAll()
                    kept.pages.dropAll()
                }
            }
        }
        self.store = store
        questions = RequestBatcher(
            Self.bounds, overload: RequestFailure.tooManyWaiting, on: { EventLoopTaskExecutor.current }
        ) { questions in
            try await follower.ask()
            return questions.map { _ in .success(()) }
        }
    }

    /// The cached total of a statement, if it's still correct.
    /// - Throws: `CancellationError`.
    func total(_ statement: PostgresStatement) async throws -> Int64? {
        guard store.kept.withLock({ $0.totals.contains(statement) }), try await hasCaughtUp() else { return nil }
        return store.kept.withLock { $0.totals.answer(to: statement) }
    }

    /// The cached page, if it's still correct.
    /// - Throws: `CancellationError`.
    func page(_ question: PageQuestion) async throws -> KeptPage? {
        guard store.kept.withLock({ $0.pages.contains(question) }), try await hasCaughtUp() else { return nil }
        return store.kept.withLock { $0.pages.answer(to: question) }
    }

    /// Call this before reading: what is read from snapshots taken later may be kept.
    func begin() -> Beginning {
        store.kept.withLock { Beginning(totals: $0.totals.begin(), pages: $0.pages.begin()) }
    }

    /// - Parameter classNames: the classes whose rows the total depends on; nil if it may depend on those of any class.
    func keep(_ total: Int64, of statement: PostgresStatement, _ classNames: Set<String>?, since beginning: Beginning) {
        store.kept.withLock { $0.totals.keep(total, to: statement, of: classNames, since: beginning.totals) }
    }

    /// - Parameter classNames: the classes whose rows the page depends on; nil if it may depend on those of any class.
    func keep(_ page: KeptPage, to question: PageQuestion, of classNames: Set<String>?, since beginning: Beginning) {
        store.kept.withLock { $0.pages.keep(page, to: question, of: classNames, since: beginning.pages) }
    }

    /// Drops whatever any finished commit has changed.
    /// - Returns: false if the database couldn't be asked.
    private func hasCaughtUp() async throws -> Bool {
        do {
            try await questions.answer(())
            return true
        } catch let error as CancellationError {
            throw error
        } catch {
            return false
        }
    }
}
