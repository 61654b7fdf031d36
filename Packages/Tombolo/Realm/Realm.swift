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
/// write-ahead log keeps growing behind it: do not leave a Realm on a background thread without refreshing it.
///
/// **Confinement.** A Realm and its objects belong to where it was opened; use elsewhere stops the program:
/// - `try Realm()` to the thread. On the main thread it refreshes by itself when others commit; on other threads call
///   ``refresh()``. Do not keep it across an `await`, after which the thread may be another.
/// - `try Realm(queue:)` to a serial dispatch queue, where it refreshes by itself.
/// - `try await Realm.open()` to the actor that opens it, where it refreshes by itself; outside of actors to the task,
///   which the compiler checks, since a Realm is not Sendable.
///
/// In one place, Realms of one configuration are the same Realm. The main thread, the main queue and the main actor are
/// one place.
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

    /// Opens a Realm in async code: it belongs to the calling actor, or to the task where there is none.
    /// - Throws: ``Realm/Error``.
    public static func open(
        configuration: Configuration = .defaultConfiguration, isolation: isolated (any Actor)? = #isolation
    ) async throws -> Realm {
        Realm(core: try RealmCore.open(configuration, isolation.map(Confinement.actor) ?? .task))
    }

    /// Opens a Realm that belongs to an actor; best to its own.
    /// - Throws: ``Realm/Error``.
    public init<A: Actor>(configuration: Configuration = .defaultConfiguration, actor: A) async throws {
        self = try await Self.open(configuration: configuration, on: actor)
    }

    private static func open(configuration: Configuration, on actor: isolated some Actor) throws -> sending Realm {
        Realm(core: try RealmCore.open(configuration, .actor(actor)))
    }

    public static func == (left: Realm, right: Realm) -> Bool { left.core === right.core }

    /// What the Realm was opened with.
    public var configuration: Configuration { core.configuration }

    // MARK: Versions

    /// Moves to the newest version, and tells the listeners where something changed.
    /// - Returns: whether somebody else changed anything.
    @discardableResult
    public func refresh() -> Bool { core.refresh() }

    /// Whether the Realm refreshes by itself when others commit, where it has a queue, an actor or the main thread.
    public var autorefresh: Bool {
        get { core.autorefresh }
        nonmutating set { core.autorefresh = newValue }
    }

    /// Lets go of the version that the Realm reads. Its objects become invalid; the Realm can be used on.
    public func invalidate() { core.invalidate() }
}
