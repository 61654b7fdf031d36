public import TomboloModel
internal import TomboloSyncProtocol

/// What a realm subscribes to. Change it inside ``update(_:)``; the device then has exactly what the set asks for.
///
/// Confined as its Realm is.
public final class SyncSubscriptionSet {
    private let realm: Realm
    private let session: SyncSession
    private var draft: SubscriptionSet?
    private var problem: SubscriptionError?

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
        let wanted = try await session.subscriptions().wanted
        guard draft == nil else { throw SubscriptionError("Subscription updates cannot be nested.") }
        draft = wanted
        block()
        defer {
            draft = nil
            problem = nil
        }
        if let problem { throw problem }
        guard var draft else { return wanted.version }
        do throws(ValueError) {
            try draft.check(in: realm.core.schema)
        } catch {
            throw SubscriptionError(error.message)
        }
        guard draft.subscriptions != wanted.subscriptions else { return wanted.version }
        draft.version = wanted.version + 1
        try await session.setSubscriptions(draft)
        return draft.version
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
        edit { draft in
            for item in subscriptions {
                let className = String(describing: T.self)
                if let name = item.name, draft.subscriptions.contains(where: { $0.name == name }) {
                    return "A subscription named '\(name)' already exists. Use updateQuery, or another name."
                }
                let new = Subscription(name: item.name, className: className, predicate: item.predicate)
                if item.name == nil, draft.subscriptions.contains(new) { continue }
                draft.subscriptions.append(new)
            }
            return nil
        }
    }

    /// Gives a named subscription another query.
    public func updateQuery<T: Object>(named name: String, to subscription: QuerySubscription<T>) {
        edit { draft in
            guard let index = draft.subscriptions.firstIndex(where: { $0.name == name }) else {
                return "There is no subscription named '\(name)' to update."
            }
            draft.subscriptions[index] = Subscription(
                name: name, className: String(describing: T.self), predicate: subscription.predicate)
            return nil
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

    private func edit(_ body: (inout SubscriptionSet) -> String?) {
        guard var changed = draft else {
            preconditionFailure("Subscriptions can only be changed inside subscriptions.update {}.")
        }
        if let problem = body(&changed) {
            self.problem = self.problem ?? SubscriptionError(problem)
        } else {
            draft = changed
        }
    }
}

/// A change of subscriptions that makes no sense.
public struct SubscriptionError: Error, Hashable, Sendable, CustomStringConvertible {
    public let message: String

    init(_ message: String) { self.message = message }

    public var description: String { message }
}
