internal import Synchronization
internal import TomboloSQLiteStore

extension RealmCore {
    /// Follows commits by other connections.
    /// - Parameter watchingProcesses: whether to watch other processes too, if the Realm's place can be reached.
    /// - Returns: the observer's number, for removing it.
    func observeFile(watchingProcesses: Bool) -> Int {
        let reference = RealmCoreReference(self)
        let confinement = confinement
        return file.observers.add(watchingProcesses: watchingProcesses && confinement.isReachable) { origin in
            guard origin != reference.origin, reference.isIdle.exchange(false, ordering: .acquiringAndReleasing)
            else {
                return
            }
            let isOnItsWay = confinement.schedule {
                reference.isIdle.store(true, ordering: .releasing)
                reference.core?.othersMayHaveCommitted()
            }
            if !isOnItsWay { reference.isIdle.store(true, ordering: .releasing) }
        }
    }

    private func othersMayHaveCommitted() {
        // After `invalidate()`, nothing is read until the app reads or listens again.
        guard transaction == nil, isReading || notifier.isNeeded else { return }
        if autorefresh {
            follow()
        } else if commitNews.isNew(file.log.standing) {
            notifier.announce(.refreshRequired)
        }
    }

    /// Refreshes if others have committed. May be called repeatedly, and after the Realm's own commits.
    func follow() {
        if file.log.standing == .newest { notifier.deliver() } else { _ = refresh() }
    }
}

/// Refers to a Realm from other threads. `core` is read only where the Realm's confinement allows it. `isIdle` prevents
/// a burst of commits from queueing more than one visit.
private final class RealmCoreReference: @unchecked Sendable {
    weak var core: RealmCore?
    let origin: ObjectIdentifier
    let isIdle = Atomic<Bool>(true)

    init(_ core: RealmCore) {
        self.core = core
        origin = ObjectIdentifier(core)
    }
}
