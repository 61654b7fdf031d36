public import Dispatch
internal import Foundation

extension Realm {
    /// Whether opening a synced Realm waits for the download. Has no effect on local Realms.
    public enum OpenBehavior: Sendable {
        /// Opens at once; missing objects arrive later.
        case never
        /// Waits only if the file didn't exist.
        case once
        /// Waits every time.
        case always

        func waits(for configuration: Configuration) -> Bool {
            switch self {
            case .never: false
            case .once: !Realm.fileExists(for: configuration)
            case .always: true
            }
        }
    }

    /// Opens a Realm in async code, like ``open(configuration:downloadBeforeOpen:isolation:)``.
    public init(
        configuration: Configuration = .defaultConfiguration, downloadBeforeOpen: OpenBehavior,
        isolation: isolated (any Actor)? = #isolation
    ) async throws {
        self = try await Realm.open(configuration: configuration, downloadBeforeOpen: downloadBeforeOpen)
    }

    /// Opens a Realm in the background, since migrating it or copying a seed file can take a long time. A synced Realm
    /// opens once everything on the server has been downloaded.
    /// - Parameters:
    ///   - callbackQueue: the serial queue that the Realm will belong to.
    ///   - callback: called once, on the queue, with the Realm or the error.
    /// - Returns: a task that reports the progress and can be cancelled. You may discard it.
    @discardableResult
    public static func asyncOpen(
        configuration: Configuration = .defaultConfiguration, callbackQueue: DispatchQueue = .main,
        callback: @escaping (Result<Realm, any Swift.Error>) -> Void
    ) -> AsyncOpenTask {
        let task = AsyncOpenTask()
        let opening = AsyncOpening(configuration: configuration, queue: callbackQueue, callback: callback, task: task)
        DispatchQueue.global().async { opening.run() }
        return task
    }

    /// Moves to the newest version without blocking the actor, and notifies listeners if something changed. Only for
    /// Realms that belong to an actor, the main thread or a task.
    /// - Returns: whether others changed anything.
    @discardableResult
    public func asyncRefresh(isolation: isolated (any Actor)? = #isolation) async -> Bool {
        core.requireAsyncUse("asyncRefresh")
        return core.refresh()
    }
}

/// An opening in progress. The callback is handed over to the queue as a whole.
private struct AsyncOpening: @unchecked Sendable {
    let configuration: Realm.Configuration
    let queue: DispatchQueue
    let callback: (Result<Realm, any Error>) -> Void
    let task: Realm.AsyncOpenTask

    /// Opens in the background.
    func run() {
        guard !task.isCancelled else { return }
        do {
            let opened = Opened(try RealmCore.open(configuration, .task))
            guard let session = opened.core?.syncSession else { return finish(opened) }
            task.follow(session)
            let download = Task {
                do {
                    try await session.waitForDownload()
                    finish(opened)
                } catch {
                    fail(error)
                }
            }
            task.onCancel { download.cancel() }
        } catch {
            fail(error)
        }
    }

    private func finish(_ opened: Opened) {
        queue.async {
            // Close only after the callback, so that an in-memory Realm still exists during it; but close right away,
            // so that the file can be deleted once the callback has returned.
            defer { opened.core = nil }
            if task.end() { callback(Result { try Realm(configuration: configuration, queue: queue) }) }
        }
    }

    private func fail(_ error: any Error) {
        queue.async { if task.end() { callback(.failure(error)) } }
    }
}

/// Keeps a file open and does nothing else. Used by one thread at a time: first the opening one, then the queue's.
private final class Opened: @unchecked Sendable {
    var core: RealmCore?

    init(_ core: RealmCore) { self.core = core }
}
