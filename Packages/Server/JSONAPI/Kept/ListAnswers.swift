import Batching
package import PostgresClient
import Synchronization
import TomboloHTTP
import TomboloPostgresStore

/// Pages of lists and how many resources lists have. What was read or counted once is given out until something of it changes.
///
/// Before something kept is given out, the database is asked what was committed since it was asked last; requests that come at
/// about the same time ask together. So it's as new as what would be read instead: right at a moment after the request came.
/// Where the database can't be asked, nothing that is kept is used.
package final class ListAnswers: Sendable {
    /// Requests that ask together.
    private static let bounds = BatchBounds(size: 1_000)
    /// Numbers that are kept, and the bytes of their statements and parameters.
    static let totalBounds = (count: 4_096, bytes: 8 << 20)
    /// Pages that are kept, and their bytes with those of their addresses.
    static let pageBounds = (count: 4_096, bytes: 64 << 20)

    private struct Kept {
        var totals = KeptTotals(countLimit: totalBounds.count, byteLimit: totalBounds.bytes)
        var pages = KeptPages(countLimit: pageBounds.count, byteLimit: pageBounds.bytes)
    }

    private final class Store: Sendable {
        let kept = Mutex(Kept())
    }

    /// When something began to be read that may be kept.
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

    /// The number that a statement would count.
    /// - Throws: `CancellationError`.
    func total(_ statement: PostgresStatement) async throws -> Int64? {
        guard store.kept.withLock({ $0.totals.contains(statement) }), try await hasCaughtUp() else { return nil }
        return store.kept.withLock { $0.totals.answer(to: statement) }
    }

    /// The page that would be read.
    /// - Throws: `CancellationError`.
    func page(_ question: PageQuestion) async throws -> KeptPage? {
        guard store.kept.withLock({ $0.pages.contains(question) }), try await hasCaughtUp() else { return nil }
        return store.kept.withLock { $0.pages.answer(to: question) }
    }

    /// What is read from now on, in snapshots that are taken from now on, may be kept.
    func begin() -> Beginning {
        store.kept.withLock { Beginning(totals: $0.totals.begin(), pages: $0.pages.begin()) }
    }

    /// - Parameter classNames: the classes whose rows decide about the number; nil if those of any class may.
    func keep(_ total: Int64, of statement: PostgresStatement, _ classNames: Set<String>?, since beginning: Beginning) {
        store.kept.withLock { $0.totals.keep(total, to: statement, of: classNames, since: beginning.totals) }
    }

    /// - Parameter classNames: the classes whose rows decide about the page; nil if those of any class may.
    func keep(_ page: KeptPage, to question: PageQuestion, of classNames: Set<String>?, since beginning: Beginning) {
        store.kept.withLock { $0.pages.keep(page, to: question, of: classNames, since: beginning.pages) }
    }

    /// Drops what was changed by any commit that has returned.
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
