internal import Foundation
internal import Synchronization

/// Tells a process's connections when another connection, in this or another process, has committed to the same file.
package final class FileObservers: Sendable {
    /// Identifies the committer, so that it can ignore its own commits.
    package typealias Origin = ObjectIdentifier

    private struct State {
        var nextID = 0
        /// In the order in which they were added.
        var observers: [(id: Int, body: @Sendable (Origin?) -> Void)] = []
        /// The observers that also observe other processes.
        var watching: Set<Int> = []
        var watcher: WatcherBox?
        /// The number of commits by this process; and for each reader, that number when it began to read its version.
        var commits: UInt64 = 0
        var pins: [Origin: UInt64] = [:]
    }

    private let state = Mutex(State())
    private let path: String

    private init(path: String) { self.path = path }

    /// The observers of a file, the same object for every spelling of its path. They're kept for the life of the
    /// process, because a process opens few files.
    package static func shared(for path: String) -> FileObservers {
        let name = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        return all.withLock { known in
            if let observers = known[PathKey(name)] { return observers }
            let observers = FileObservers(path: name)
            known[PathKey(name)] = observers
            return observers
        }
    }

    private static let all = Mutex<[PathKey: FileObservers]>([:])

    /// Calls `body` after every commit, on the committing thread and outside all locks. `body` should only pass the
    /// news on.
    /// - Parameters:
    ///   - processes: whether to observe other processes too, which requires the file to be open.
    ///   - body: receives the committer, or nil if a process wrote to the file. In the second case it may be called
    ///     before the commit can be read, and again afterwards; ``ChangeLog/standing`` tells whether there's anything
    ///     new.
    package func add(watchingProcesses processes: Bool = false, _ body: @escaping @Sendable (Origin?) -> Void) -> Int {
        state.withLock { state in
            state.nextID += 1
            state.observers.append((state.nextID, body))
            if processes {
                state.watching.insert(state.nextID)
                // Every commit is written to the write-ahead log beside the file. The log exists while the file is
                // open.
                if state.watcher == nil {
                    let watcher = FileWatcher(path: path + "-wal") { [weak self] in self?.tell(nil) }
                    state.watcher = watcher.map(WatcherBox.init)
                }
            }
            return state.nextID
        }
    }

    package func remove(_ id: Int) {
        let last: WatcherBox? = state.withLock { state in
            state.observers.removeAll { $0.id == id }
            guard state.watching.remove(id) != nil, state.watching.isEmpty else { return nil }
            defer { state.watcher = nil }
            return state.watcher
        }
        // Released outside the lock.
        _ = last
    }

    package func notify(from origin: Origin?) {
        state.withLock { $0.commits += 1 }
        tell(origin)
    }

    private func tell(_ origin: Origin?) {
        for observer in state.withLock({ $0.observers }) { observer.body(origin) }
    }

    // MARK: Pinned versions

    /// Records that `origin` reads the newest version from now on.
    package func pin(_ origin: Origin) { state.withLock { $0.pins[origin] = $0.commits } }

    /// Records that `origin` doesn't read any version.
    package func unpin(_ origin: Origin) { state.withLock { $0.pins[origin] = nil } }

    /// The number of versions from the oldest read in the process to the newest.
    package var activeVersionCount: UInt64 {
        state.withLock { state in state.commits - (state.pins.values.min() ?? state.commits) + 1 }
    }
}

/// Only created and released, under the lock or after it.
private struct WatcherBox: @unchecked Sendable {
    let watcher: FileWatcher
}
