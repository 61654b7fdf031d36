public import TomboloModel
internal import TomboloSQLiteStore
internal import TomboloSyncProtocol

/// The subscriptions of a Realm. Change them inside ``update(_:)``; afterwards the device has exactly the objects they
/// ask for.
///
/// Confined like its Realm.
public final class SyncSubscriptionSet {
    private let realm: Realm
    private let session: SyncSession
    /// The changes requested by an update's block; nil outside one.
    private var edits: [Edit]?

    /// Changes a set, or returns why it can't.
    private typealias Edit = (inout SubscriptionSet) -> String?

    /// How often a change is retried when others change the set at the same time. Each retry means that one of them was
    /// faster.
    private static let maximumAttempts = 100

    init(realm: Realm, session: SyncSession) {
        self.realm = realm
        self.session = session
    }

    /// Changes the set in one step, sends it, and waits until the device has the objects it asks for.
    /// - Throws: ``SubscriptionError`` for a bad change, in which case nothing is sent; ``SyncError`` if the server
    ///   doesn't accept it.
    nonisolated(nonsending) public func update(_ block: () -> Void) async throws {
        let version = try await change(block)
        try await session.waitForSubscriptions(version: version)
        realm.refresh()
    }

    /// Same as ``update(_:)``.
    nonisolated(nonsending) public func write(_ block: () -> Void) async throws { try await update(block) }

    /// Changes the set without waiting, for a device that may be offline.
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
                // Somebody else changed the set meanwhile: apply the same change on top of theirs.
            } catch let error as SQLiteStoreError {
                throw SubscriptionError(error.message)
            }
        }
        throw SubscriptionError("The subscriptions keep being changed elsewhere. Try again.")
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

    /// The number of subscriptions in the set.
    nonisolated(nonsending) public func count() async throws -> Int {
        try await session.subscriptions().wanted.subscriptions.count
    }

    /// Whether the device has the objects that the set asks for.
    nonisolated(nonsending) public func isComplete() async throws -> Bool {
        let (wanted, active) = try await session.subscriptions()
        return wanted.version == active
    }

    // MARK: Inside update

    /// Adds subscriptions. A name already in use is an error; an unnamed query that's already in the set isn't added
    /// again.
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

    /// Removes the subscription with a name, if there is one.
    public func remove(named name: String) {
        edit { draft in
            draft.subscriptions.removeAll { $0.name == name }
            return nil
        }
    }

    /// Removes all subscriptions to a class.
    public func removeAll<T: Object>(ofType type: T.Type) {
        edit { draft in
            draft.subscriptions.removeAll { $0.className == String(describing: type) }
            return nil
        }
    }

    /// Removes all subscriptions.
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

/// A change of subscriptions that can't be made.
public struct SubscriptionError: Error, Hashable, Sendable, CustomStringConvertible {
    public let message: String

    init(_ message: String) { self.message = message }

    public var description: String { message }
}
