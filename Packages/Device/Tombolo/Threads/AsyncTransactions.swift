internal import Foundation
internal import TomboloSQLiteStore

/// A Realm's asynchronous writes that wait for their turn, first come, first served. Confined like its Realm.
final class AsyncTransactions {
    private struct Waiting {
        let id: Realm.AsyncTransactionId
        let needsTransaction: Bool
        let run: (Realm) -> Void
        let failed: (Realm, any Error) -> Void
    }

    private unowned let core: RealmCore
    private var waiting: [Waiting] = []
    private var lastID: Realm.AsyncTransactionId = 0
    private var isScheduled = false
    /// When another writer began to keep the first write waiting.
    private var lockedSince: ContinuousClock.Instant?

    /// The maximum number of waiting writes.
    static let maximumCount = 10_000

    init(core: RealmCore) { self.core = core }

    var isEmpty: Bool { waiting.isEmpty }

    /// - Parameters:
    ///   - run: called in a write transaction.
    ///   - failed: called if the transaction couldn't begin.
    func add(
        _ run: @escaping (Realm) -> Void, failed: @escaping (Realm, any Error) -> Void
    ) -> Realm.AsyncTransactionId {
        enqueue(needsTransaction: true, run, failed)
    }

    /// Calls `run` before the next transaction, as in Realm.
    func complete(_ run: @escaping () -> Void) -> Realm.AsyncTransactionId {
        enqueue(needsTransaction: false, { _ in run() }, { _, _ in })
    }

    func cancel(_ id: Realm.AsyncTransactionId) {
        core.confinement.check()
        waiting.removeAll { $0.id == id }
    }

    private func enqueue(
        needsTransaction: Bool, _ run: @escaping (Realm) -> Void, _ failed: @escaping (Realm, any Error) -> Void
    ) -> Realm.AsyncTransactionId {
        core.confinement.check()
        if waiting.count >= Self.maximumCount {
            programError(
                "\(Self.maximumCount) asynchronous writes are already waiting: write less often, and more at a time.")
        }
        lastID += 1
        let place = needsTransaction ? nil : waiting.firstIndex(where: \.needsTransaction)
        waiting.insert(
            Waiting(id: lastID, needsTransaction: needsTransaction, run: run, failed: failed),
            at: place ?? waiting.endIndex)
        schedule()
        return lastID
    }

    private func schedule() {
        guard !isScheduled else { return }
        isScheduled = true
        let reference = Reference(core: core)
        let isOnItsWay = core.confinement.schedule { reference.core?.asyncTransactions.runNext() }
        if !isOnItsWay {
            programError(
                "Asynchronous writes need a Realm of the main thread, a queue or an actor, because others can't be "
                    + "called back. Use write.")
        }
    }

    private func runNext() {
        isScheduled = false
        guard let next = waiting.first else { return }
        if next.needsTransaction {
            // Don't interrupt a transaction that the app began itself.
            if core.isInWrite { return wait() }
            do {
                guard try core.beginIfFree() else {
                    let since = lockedSince ?? ContinuousClock.now
                    guard ContinuousClock.now - since < RealmCore.maximumWait else {
                        throw Realm.Error(.fail, "'\(core.file.path)' stayed locked by another writer.")
                    }
                    lockedSince = since
                    return wait()
                }
                lockedSince = nil
            } catch {
                lockedSince = nil
                waiting.removeFirst()
                next.failed(Realm(core: core), error)
                if !waiting.isEmpty { schedule() }
                return
            }
        }
        waiting.removeFirst()
        next.run(Realm(core: core))
        if !waiting.isEmpty { schedule() }
    }

    private func wait() {
        isScheduled = true
        let reference = Reference(core: core)
        let confinement = core.confinement
        DispatchQueue.global().asyncAfter(deadline: .now() + RealmCore.attemptInterval / .seconds(1)) {
            _ = confinement.schedule { reference.core?.asyncTransactions.runNext() }
        }
    }

    /// `core` is read only where its confinement allows it.
    private final class Reference: @unchecked Sendable {
        weak var core: RealmCore?
        init(core: RealmCore) { self.core = core }
    }
}
