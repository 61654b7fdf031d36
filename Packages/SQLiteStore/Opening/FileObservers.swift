internal import Foundation
internal import Synchronization

/// Tells the connections of one process that another one of them committed to the same file. Other processes' commits
/// show in `PRAGMA data_version` only.
package final class FileObservers: Sendable {
    /// Who committed, so that it can skip its own news.
    package typealias Origin = ObjectIdentifier

    private struct State {
        var nextID = 0
        var observers: [Int: @Sendable (Origin?) -> Void] = [:]
        /// Commits of the process, and how many there had been when who reads an older version began to.
        var commits: UInt64 = 0
        var pins: [Origin: UInt64] = [:]
    }

    private let state = Mutex(State())

    /// The observers of a file, the same object for every spelling of its path. Kept for the life of the process: a
    /// process opens few files.
    package static func shared(for path: String) -> FileObservers {
        let name = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        return all.withLock { known in
            if let observers = known[name] { return observers }
            let observers = FileObservers()
            known[name] = observers
            return observers
        }
    }

    private static let all = Mutex<[String: FileObservers]>([:])

    /// Calls `body` after every commit, on the committing thread, outside every lock. It should only pass the news on.
    package func add(_ body: @escaping @Sendable (Origin?) -> Void) -> Int {
        state.withLock { state in
            state.nextID += 1
            state.observers[state.nextID] = body
            return state.nextID
        }
    }

    package func remove(_ id: Int) { state.withLock { _ = $0.observers.removeValue(forKey: id) } }

    package func notify(from origin: Origin?) {
        let observers = state.withLock { state in
            state.commits += 1
            return state.observers.sorted { $0.key < $1.key }.map(\.value)
        }
        for observer in observers { observer(origin) }
    }

    // MARK: Versions that are read

    /// From now on `origin` reads the newest version.
    package func pin(_ origin: Origin) { state.withLock { $0.pins[origin] = $0.commits } }

    /// `origin` reads no version.
    package func unpin(_ origin: Origin) { state.withLock { $0.pins[origin] = nil } }

    /// The versions from the oldest that somebody in the process reads to the newest.
    package var activeVersionCount: UInt64 {
        state.withLock { state in state.commits - (state.pins.values.min() ?? state.commits) + 1 }
    }
}
