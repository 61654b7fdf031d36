public import Dispatch
public import Foundation
internal import TomboloModel
internal import TomboloSQLiteStore

/// An object store in one file.
///
///     let realm = try Realm(configuration: .init(objectTypes: [Listing.self]))
///     try realm.write { realm.add(Listing()) }
///     let cheap = realm.objects(Listing.self).where { $0.price < 300_000 }
///
/// **Versions.** A Realm reads one version of the file until ``refresh()`` or a write transaction moves it to the
/// newest; its objects, lists and results show that version. Pinning a version costs nothing at first, but SQLite's
/// write-ahead log keeps growing meanwhile, so don't leave a Realm on a background thread without refreshing it.
///
/// **Confinement.** A Realm and its objects belong to the place where it was opened. Using them elsewhere stops the
/// program:
/// - `try Realm()` belongs to the thread. On the main thread it refreshes automatically when others commit; on other
///   threads call ``refresh()``. Don't keep it across an `await`, which may change the thread.
/// - `try Realm(queue:)` belongs to a serial dispatch queue, where it refreshes automatically.
/// - `try await Realm.open()` belongs to the actor that opens it, where it refreshes automatically; outside actors to
///   the task, which the compiler checks, since a Realm isn't Sendable.
///
/// Within one place, Realms with the same configuration are the same Realm. The main thread, the main queue and the
/// main actor are one place.
public struct Realm: Equatable {
    let core: RealmCore

    init(core: RealmCore) { self.core = core }

    /// Opens the Realm of the default configuration.
    /// - Throws: ``Realm/Error``.
    public init(queue: DispatchQueue? = nil) throws {
        try self.init(configuration: .defaultConfiguration, queue: queue)
    }

    /// Opens a Realm on this thread, or on a serial queue, which must be the current one.
    /// - Throws: ``Realm/Error``.
    public init(configuration: Configuration, queue: DispatchQueue? = nil) throws {
        let confinement = queue.map(Confinement.serial) ?? .currentThread
        confinement.check()
        core = try RealmCore.open(configuration, confinement)
    }

    /// Opens the default configuration's Realm with another file.
    /// - Throws: ``Realm/Error``.
    public init(fileURL: URL) throws {
        var configuration = Configuration.defaultConfiguration
        configuration.fileURL = fileURL
        try self.init(configuration: configuration)
    }

    /// Opens a Realm in async code. It belongs to the calling actor, or to the task if there is none.
    /// - Parameter downloadBeforeOpen: whether a synced Realm waits for the download.
    /// - Throws: ``Realm/Error``; ``SyncError`` if the download can't continue; `CancellationError`.
    public static func open(
        configuration: Configuration = .defaultConfiguration, downloadBeforeOpen: OpenBehavior = .never,
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> Realm {
        let waits = downloadBeforeOpen.waits(for: configuration)
        let core = try RealmCore.open(configuration, isolation.map(Confinement.actor) ?? .task)
        if waits, let session = core.syncSession {
            try await session.waitForDownload()
            _ = core.refresh()
        }
        return Realm(core: core)
    }

    /// Opens a Realm that belongs to an actor. Best called from that actor.
    /// - Throws: like ``open(configuration:downloadBeforeOpen:isolation:)``.
    public init<A: Actor>(
        configuration: Configuration = .defaultConfiguration, actor: A, downloadBeforeOpen: OpenBehavior = .never
    ) async throws {
        self = try await Self.open(configuration: configuration, on: actor, downloadBeforeOpen)
    }

    private static func open(
        configuration: Configuration, on actor: isolated some Actor, _ behavior: OpenBehavior
    ) async throws -> sending Realm {
        let waits = behavior.waits(for: configuration)
        let core = try RealmCore.open(configuration, .actor(actor))
        if waits, let session = core.syncSession {
            try await session.waitForDownload()
            _ = core.refresh()
        }
        return Realm(core: core)
    }

    public static func == (left: Realm, right: Realm) -> Bool { left.core === right.core }

    /// The configuration that the Realm was opened with.
    public var configuration: Configuration { core.configuration }

    // MARK: Versions

    /// Moves to the newest version and notifies listeners if something changed.
    /// - Returns: whether others changed anything.
    @discardableResult
    public func refresh() -> Bool { core.refresh() }

    /// Whether the Realm refreshes automatically when others commit. Only applies on a queue, an actor or the main
    /// thread.
    public var autorefresh: Bool {
        get { core.autorefresh }
        nonmutating set { core.autorefresh = newValue }
    }

    /// Releases the version that the Realm reads. Its objects become invalid, but the Realm can still be used.
    public func invalidate() { core.invalidate() }
}
