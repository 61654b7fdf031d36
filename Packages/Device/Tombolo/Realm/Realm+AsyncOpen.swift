public import Dispatch
internal import Foundation

extension Realm {
    /// Whether opening a synced Realm waits for what the server has. Without effect on local ones.
    public enum OpenBehavior: Sendable {
        /// Opens at once: what is missing arrives later.
        case never
        /// Waits where there was no file.
        case once
        /// Waits, each time.
        case always

        func waits(for configuration: Configuration) -> Bool {
            switch self {
            case .never: false
            case .once: !Realm.fileExists(for: configuration)
            case .always: true
            }
        }
    }

    /// Opens a Realm in async code, as ``open(configuration:downloadBeforeOpen:isolation:)`` does.
    public init(
        configuration: Configuration = .defaultConfiguration, downloadBeforeOpen: OpenBehavior,
        isolation: isolated (any Actor)? = #isolation
    ) async throws {
        self = try await Realm.open(configuration: configuration, downloadBeforeOpen: downloadBeforeOpen)
    }

    /// Opens a Realm in the background: a migration, or copying a seed file, may take long. A synced one is opened when
    /// everything that the server had was downloaded.
    /// - Parameters:
    ///   - callbackQueue: a serial queue, which the Realm belongs to.
    ///   - callback: called once, on the queue: with the Realm, or with the reason why there is none.
    /// - Returns: lets the opening be watched and cancelled; it may be dropped.
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

    /// Moves to the newest version without blocking the actor, and tells the listeners where something changed. For
    /// Realms of an actor, of the main thread or of a task.
    /// - Returns: whether somebody else changed anything.
    @discardableResult
    public func asyncRefresh(isolation: isolated (any Actor)? = #isolation) async -> Bool {
        core.requireAsyncUse("asyncRefresh")
        return core.refresh()
    }
}

/// An opening under way. The callback is handed over to the queue as a whole.
private struct AsyncOpening: @unchecked Sendable {
    let configuration: Realm.Configuration
    let queue: DispatchQueue
    let callback: (Result<Realm, any Error>) -> Void
    let task: Realm.AsyncOpenTask

    /// In the background.
    func run() {
        guard !task.isCancelled else { return }
        do {
            let core = try RealmCore.open(configuration, .task)
            let opened = Opened(core: core)
            guard let session = core.syncSession else { return finish(opened) }
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
            // Until here, so that a Realm in memory is still there.
            withExtendedLifetime(opened) {
                if task.end() { callback(Result { try Realm(configuration: configuration, queue: queue) }) }
            }
        }
    }

    private func fail(_ error: any Error) {
        queue.async { if task.end() { callback(.failure(error)) } }
    }
}

/// Keeps a file open, and does nothing else with it.
private struct Opened: @unchecked Sendable {
    let core: RealmCore
}
