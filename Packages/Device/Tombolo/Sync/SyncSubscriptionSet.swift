public import TomboloModel
internal import TomboloSQLiteStore
internal import TomboloSyncProtocol

/// What a realm subscribes to. Change it inside ``update(_:)``; the device then has exactly what the set asks for.
///
/// Confined as its Realm is.
public final class SyncSubscriptionSet {
    private let realm: Realm
    private let session: SyncSession
    /// What the block of an update asks for; nil outside of one.
    private var edits: [Edit]?

    /// Changes a set, or says why it cannot.
    private typealias Edit = (inout SubscriptionSet) -> String?

    /// How often a change is made anew when others change the set at the same time. Each time one of them was faster.
    private static let maximumAttempts = 100

    init(realm: Realm, session: SyncSession) {
        self.realm = realm
        self.session = session
    }

    /// Changes the set in one step, sends it, and waits until the device has what it asks for.
    /// - Throws: ``SubscriptionError`` for a bad change, then nothing is sent; ``SyncError`` when the server does not
    ///   accept it.
    nonisolated(nonsending) public func update(_ block: () -> Void) async throws {
        let version = try await change(block)
        try await session.waitForSubscriptions(version: version)
        realm.refresh()
    }

    /// The same as ``update(_:)``.
    nonisolated(nonsending) public func write(_ block: () -> Void) async throws { try await update(block) }

    /// Changes the set without waiting: for a device that is offline.
    @discardableResult
    nonisolated(nonsending) public func change(_ block: () -> Void) async throws -> Int64 {
        guard edits == nil else { throw SubscriptionError("Subscription updates cannot be nested.") }
        edits = []
        block()
        let made = edits ?? []
        edits = nil
        for _ in 1...Self.maximumAttempts {
            let wanted = try await session.subscriptions().wanted
            let changed = try changed(wanted, by: made)
            guard changed.subscriptions != wanted.subscriptions else { return wanted.version }
            do {
                try await session.setSubscriptions(changed)
                return changed.version
            } catch let error as SQLiteStoreError where error.code == .outdated {
                // Somebody else changed the set meanwhile: the same change on top of theirs.
            } catch let error as SQLiteStoreError {
                throw SubscriptionError(error.message)
            }
        }
        throw SubscriptionError("The subscriptions kept being changed elsewhere.")
    }

    /// The next version of a set.
    private func changed(_ set: SubscriptionSet, by edits: [Edit]) throws -> SubscriptionSet {
        var changed = set
        for edit in edits { if let problem = edit(&changed) { throw SubscriptionError(problem) } }
        do throws(ValueError) {
            try changed.check(in: realm.core.schema)
        } catch {
            throw SubscriptionError(error.message)
        }
        changed.version += 1
        return changed
    }

    /// How many subscriptions the set has.
    nonisolated(nonsending) public func count() async throws -> Int {
        try await session.subscriptions().wanted.subscriptions.count
    }

    /// Whether the device has what the set asks for.
    nonisolated(nonsending) public func isComplete() async throws -> Bool {
        let (wanted, active) = try await session.subscriptions()
        return wanted.version == active
    }

    // MARK: Inside update

    /// Adds a subscription. A name that is in use is an error; an unnamed query that is in the set already is not
    /// added again.
    public func append<T: Object>(_ subscriptions: QuerySubscription<T>...) {
        let schema = realm.core.schema
        edit { draft in
            for item in subscriptions {
                let className = String(describing: T.self)
                if let name = item.name, draft.subscriptions.contains(where: { $0.name == name }) {
                    return "A subscription named '\(name)' already exists. Use updateQuery, or another name."
                }
                let new: Subscription
                do throws(ValueError) {
                    let predicate = try item.predicate(in: schema)
                    new = Subscription(name: item.name, className: className, predicate: predicate)
                } catch {
                    return error.message
                }
                if item.name == nil, draft.subscriptions.contains(new) { continue }
                draft.subscriptions.append(new)
            }
            return nil
        }
    }

    /// Gives a named subscription another query.
    public func updateQuery<T: Object>(named name: String, to subscription: QuerySubscription<T>) {
        let schema = realm.core.schema
        edit { draft in
            guard let index = draft.subscriptions.firstIndex(where: { $0.name == name }) else {
                return "There is no subscription named '\(name)' to update."
            }
            do throws(ValueError) {
                let predicate = try subscription.predicate(in: schema)
                draft.subscriptions[index] = Subscription(
                    name: name, className: String(describing: T.self), predicate: predicate)
                return nil
            } catch {
                return error.message
            }
        }
    }

    public func remove(named name: String) {
        edit { draft in
            draft.subscriptions.removeAll { $0.name == name }
            return nil
        }
    }

    public func removeAll<T: Object>(ofType type: T.Type) {
        edit { draft in
            draft.subscriptions.removeAll { $0.className == String(describing: type) }
            return nil
        }
    }

    public func removeAll() {
        edit { draft in
            draft.subscriptions = []
            return nil
        }
    }

    private func edit(_ body: @escaping Edit) {
        guard edits != nil else {
            preconditionFailure("Subscriptions can only be changed inside subscriptions.update {}.")
        }
        edits?.append(body)
    }
}

/// A change of subscriptions that makes no sense.
public struct SubscriptionError: Error, Hashable, Sendable, CustomStringConvertible {
    public let message: String

    init(_ message: String) { self.message = message }

    public var description: String { message }
}
