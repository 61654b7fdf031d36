internal import Foundation
internal import TomboloSQLiteStore

extension RealmCore {
    /// How long an asynchronous write waits between two attempts to begin.
    static let attemptInterval = Duration.milliseconds(2)
    /// How long it waits in total.
    @TaskLocal static var maximumWait = Duration.seconds(30)

    /// Begins a write transaction, suspending while another writer has one.
    func beginWaiting(isolation: isolated (any Actor)? = #isolation) async throws {
        requireAsyncUse("asyncWrite")
        let end = ContinuousClock.now + Self.maximumWait
        while try !beginIfFree() {
            guard ContinuousClock.now < end else {
                throw Realm.Error(
                    .fail,
                    "'\(file.path)' stayed locked by another writer for \(Self.maximumWait). Keep write transactions "
                        + "short, and don't wait inside them.")
            }
            try await Task.sleep(for: Self.attemptInterval)
        }
    }

    /// Stops the program if async code can't use the Realm.
    func requireAsyncUse(_ method: String) {
        switch confinement {
        case .actor, .task: break
        case .thread(let owner) where owner.isMain: break
        default:
            programError(
                "\(method) needs a Realm of an actor or of the main thread: open it with Realm.open(), or use "
                    + "writeAsync on a queue.")
        }
    }
}
