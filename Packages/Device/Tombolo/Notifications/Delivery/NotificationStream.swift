internal import Synchronization
internal import TomboloSQLiteStore

/// A Realm's notifications for a task that requests them one by one. Confined like its Realm.
final class NotificationStream {
    private let core: RealmCore
    private let state = ObservationState()
    private let news = StreamNews()
    private var fileObserver: Int?
    private var waiting: [Realm.Notification] = []
    private var commitNews = CommitNews()

    init(_ core: RealmCore) { self.core = core }

    deinit {
        if let fileObserver { core.file.observers.remove(fileObserver) }
        if state.end() { core.letGo() }
    }

    func next(isolation: isolated (any Actor)?) async -> Realm.Notification? {
        while !Task.isCancelled {
            core.confinement.check()
            // If nothing else refreshes the Realm, the reader does. Without autorefresh, it only notes that a refresh
            // is required.
            if !core.isInWrite {
                if core.autorefresh {
                    if news.takeMoved() { core.follow() }
                } else if !core.confinement.isReachable, news.takeMoved(), commitNews.isNew(core.file.log.standing) {
                    note(.refreshRequired)
                }
            }
            if !waiting.isEmpty { return waiting.removeFirst() }
            await news.signal.wait()
        }
        return nil
    }

    private func note(_ notification: Realm.Notification) {
        if !waiting.contains(notification) { waiting.append(notification) }
        news.signal.signal()
    }

    func start() {
        core.confinement.check()
        core.pinVersion()
        // Earlier commits aren't news.
        _ = commitNews.isNew(core.file.log.standing)
        core.notifier.add(state, isStream: true) { [weak self] notification, _ in self?.note(notification) }
        let (news, own) = (news, ObjectIdentifier(core))
        fileObserver = core.file.observers.add(watchingProcesses: true) { news.note($0, own) }
    }
}

/// Wakes the reader of a stream, from any thread.
private final class StreamNews: Sendable {
    let signal = ChangeSignal()
    /// Initially true, because of commits before anyone listened.
    private let mayHaveMoved = Atomic<Bool>(true)

    func note(_ origin: FileObservers.Origin?, _ own: FileObservers.Origin) {
        if origin == own { return }
        mayHaveMoved.store(true, ordering: .releasing)
        signal.signal()
    }

    func takeMoved() -> Bool { mayHaveMoved.exchange(false, ordering: .acquiringAndReleasing) }
}
