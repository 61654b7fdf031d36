import Foundation
import Synchronization
import Testing
import TomboloModel

@testable import Tombolo

/// A device in this process that records what its app is told about client resets.
@MainActor
final class ResetDevice {
    enum Mode: String, CaseIterable {
        case recover
        case discard
        case manual
        /// Manual mode, but the app finally resumes the session instead of deleting the file.
        case manualThenResumed
        case recoverOrDiscard
    }

    /// What the app's blocks and handlers saw.
    final class Record: Sendable {
        struct Entry: Sendable, Equatable {
            var event: String
            var isBeforeFrozen: Bool
            var before: Set<String>
            var after: Set<String> = []
            var isAfterFrozen: Bool?
        }

        let entries = Mutex<[Entry]>([])
        let errors = Mutex<[SyncError]>([])

        var events: [String] { entries.withLock { $0.map(\.event) } }
    }

    nonisolated let mode: Mode
    let record = Record()
    let configuration: Realm.Configuration
    private(set) var realm: Realm?

    var name: String { mode.rawValue }
    var session: SyncSession? { realm?.syncSession }

    init(_ mode: Mode, _ server: AnyAppServer, name: String? = nil) async throws {
        self.mode = mode
        let name = name ?? mode.rawValue
        let record = record
        let app = App(
            id: "reset",
            configuration: .init(
                baseURL: await server.gateway.url, rootDirectory: server.folder.appending(path: name)))
        let user = try await app.login(credentials: .accessToken(try await server.user(name).token))
        let before: @Sendable (Realm) -> Void = { before in
            record.entries.withLock {
                $0.append(.init(event: "before", isBeforeFrozen: before.isFrozen, before: Self.ids(before)))
            }
        }
        let after: @Sendable (Realm, Realm) -> Void = { before, after in
            record.entries.withLock {
                $0.append(
                    .init(
                        event: "after", isBeforeFrozen: before.isFrozen, before: Self.ids(before),
                        after: Self.ids(after),
                        isAfterFrozen: after.isFrozen))
            }
        }
        let resetMode: ClientResetMode =
            switch mode {
            case .recover: .recoverUnsyncedChanges(beforeReset: before, afterReset: after)
            case .discard: .discardUnsyncedChanges(beforeReset: before, afterReset: after)
            case .manual:
                .manual { error, _ in if let error = error as? SyncError { record.errors.withLock { $0.append(error) } }
                }
            case .manualThenResumed: .manual()
            case .recoverOrDiscard: .recoverOrDiscardUnsyncedChanges(beforeReset: before, afterReset: after)
            }
        app.syncManager.errorHandler = { error, _ in
            guard let error = error as? SyncError, !error.isOfSlowOpening else { return }
            record.errors.withLock { $0.append(error) }
        }
        var configuration = user.flexibleSyncConfiguration(clientResetMode: resetMode)
        configuration.objectTypes = [ResetNote.self]
        self.configuration = configuration
    }

    nonisolated static func ids(_ realm: Realm) -> Set<String> { Set(realm.objects(ResetNote.self).map(\._id)) }

    var ids: Set<String> {
        realm?.refresh()
        return realm.map(Self.ids) ?? []
    }

    /// Opens the file and subscribes to everything.
    func open() async throws {
        let realm = try await Realm.open(configuration: configuration)
        self.realm = realm
        let subscriptions = realm.subscriptions
        guard subscriptions.count == 0 else { return }
        try await subscriptions.update { subscriptions.append(QuerySubscription<ResetNote>(name: "notes")) }
    }

    func close() { realm = nil }

    func write(_ id: String) throws {
        try realm?.write { realm?.add(ResetNote(id, name)) }
    }

    func upload() async throws { try await session?.waitForUpload() }

    /// Goes offline. Writes made from then on aren't uploaded.
    func suspend() async throws {
        await (try #require(session)).suspendAndWait()
    }

    /// Waits until a condition holds on the device.
    func eventually(_ what: String, _ condition: () throws -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(600)
        while try !condition() {
            guard ContinuousClock.now < deadline else {
                throw EndToEndFailure(
                    "\(name): not within ten minutes: \(what). It has \(ids.sorted()), heard \(record.events), "
                        + "\(record.errors.withLock { $0.map(\.message) })")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}
