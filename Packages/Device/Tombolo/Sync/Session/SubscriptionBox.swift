internal import Synchronization
internal import TomboloSQLiteStore

/// The subscriptions of a session's file. Can be used on any thread.
final class SubscriptionBox: Sendable {
    /// Nil once closed.
    private let file: Mutex<Guarded?>

    /// Confined by the lock.
    private struct Guarded: @unchecked Sendable {
        let file: SubscriptionFile
    }

    init(_ file: sending SubscriptionFile) { self.file = Mutex(Guarded(file: file)) }

    func close() { file.withLock { $0 = nil } }

    /// - Throws: ``Realm/Error``.
    func use<Result: Sendable>(_ body: (SubscriptionFile) throws -> Result) throws -> Result {
        try file.withLock { guarded in
            guard let guarded else {
                throw Realm.Error(
                    .fail, "The file is no longer synchronised, because it was closed to be deleted or reopened.")
            }
            do {
                return try body(guarded.file)
            } catch let error as SQLiteStoreError where error.code == .invalidInput || error.code == .outdated {
                throw Realm.Error(.subscriptionFailed, error.message)
            } catch {
                throw Realm.Error(wrapping: error)
            }
        }
    }
}
