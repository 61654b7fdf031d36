public import Dispatch
internal import Foundation
internal import TomboloModel
internal import TomboloSQLiteStore
internal import TomboloSyncProtocol

/// The state of a subscription set.
public enum SyncSubscriptionState: Equatable, Sendable {
    /// The device doesn't have the objects yet.
    case pending
    /// The device has exactly the objects that the set asks for.
    case complete
    /// The server refused the set. The previous set stays active.
    case error(any Error)
    /// A newer set has replaced this one.
    case superseded

    public static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.pending, .pending), (.complete, .complete), (.superseded, .superseded): true
        case (.error(let left), .error(let right)): "\(left)" == "\(right)"
        default: false
        }
    }
}

/// The subscriptions of a Realm: the newest set, whether or not the server has processed it. Change it inside
/// ``update(_:onComplete:)``. The device then gets exactly the objects that the set asks for.
///
/// A set is confined like its Realm. It doesn't show later changes by others; `realm.subscriptions` then returns a new
/// set.
public struct SyncSubscriptionSet: Sequence {
    let realm: Realm
    let session: SyncSession
    let draft: SubscriptionDraft

    init(realm: Realm, session: SyncSession) throws {
        self.realm = realm
        self.session = session
        draft = SubscriptionDraft(try session.newestSubscriptions(), schema: realm.core.schema)
    }

    // MARK: Content

    /// The number of subscriptions.
    public var count: Int { draft.content.notes.count }
    public var first: SyncSubscription? { count > 0 ? self[0] : nil }
    public var last: SyncSubscription? { count > 0 ? self[count - 1] : nil }

    public subscript(position: Int) -> SyncSubscription? {
        guard draft.content.notes.indices.contains(position) else {
            programError("There is no subscription \(position) in a set of \(count).")
        }
        return SyncSubscription(
            set: self, note: draft.content.notes[position],
            subscription: draft.content.set.subscriptions[position])
    }

    public func makeIterator() -> AnyIterator<SyncSubscription> {
        AnyIterator((0..<count).compactMap { self[$0] }.makeIterator())
    }

    /// The subscription with a name.
    public func first(named name: String) -> SyncSubscription? {
        draft.content.set.subscriptions.firstIndex { $0.hasName(name) }.flatMap { self[$0] }
    }

    /// The subscription with a query. Prefers an unnamed one.
    public func first<T: Object>(ofType type: T.Type, where query: (Query<T>) -> Query<Bool>) -> SyncSubscription? {
        find(QuerySubscription<T>(where: query))
    }

    /// The same, with a string predicate.
    public func first<T: Object>(
        ofType type: T.Type, where format: String, _ arguments: Any?...
    ) -> SyncSubscription? {
        find(QuerySubscription<T>(format: format, arguments: arguments))
    }

    private func find<T: Object>(_ query: QuerySubscription<T>) -> SyncSubscription? {
        query.subscription(in: realm.core.schema).flatMap { draft.content.index(of: $0) }.flatMap { self[$0] }
    }

    /// What has become of the set.
    public var state: SyncSubscriptionState { session.subscriptionState(version: draft.content.set.version) }

    /// Why the server refused the set, or nil if it didn't.
    public var error: (any Error)? { if case .error(let error) = state { error } else { nil } }

    // MARK: Updating

    /// Changes the set in one step and sends it, without waiting. Can't be called in a write transaction.
    ///
    /// If a change can't be made (a name that another query has, or a query on several objects), no change is made. The
    /// error goes to `onComplete` if it's set, otherwise to the session's error handler.
    /// - Parameter onComplete: called once, on any thread, when the device has the objects or a newer set has replaced
    ///   this one; or with the error.
    public func update(_ block: () -> Void, onComplete: (@Sendable ((any Error)?) -> Void)? = nil) {
        do {
            let version = try commit(block)
            guard let onComplete else { return }
            let session = session
            Task { onComplete(await failure { try await session.waitForSubscriptions(version: version) }) }
        } catch {
            if let onComplete { return onComplete(error) }
            session.report(SyncError(.invalidFlexibleSyncSubscriptions, "\(error)"))
        }
    }

    /// Changes the set in one step, sends it, and waits until the device has the objects it asks for.
    /// - Throws: ``Realm/Error`` with the code `subscriptionFailed` if a change can't be made (then no change is made)
    ///   or the server refuses the set; ``SyncError`` if the session fails; `CancellationError`.
    nonisolated(nonsending) public func update(_ block: () -> Void) async throws {
        let version = try commit(block)
        try await session.waitForSubscriptions(version: version)
        realm.refresh()
    }

    /// The same as ``update(_:)``, under its original name.
    nonisolated(nonsending) public func write(_ block: () -> Void) async throws { try await update(block) }

    /// Changes the set in one step and sends it, without waiting.
    /// - Returns: the version of the set.
    /// - Throws: ``Realm/Error`` with the code `subscriptionFailed`. Nothing has changed then.
    @discardableResult
    func commit(_ block: () throws -> Void) throws -> Int64 {
        guard !realm.core.isInWrite else {
            programError("Subscriptions cannot be changed inside a write transaction: commit it first.")
        }
        let change = try draft.collect(block)
        let content = try session.changeSubscriptions(change)
        draft.show(content)
        return content.set.version
    }

    // MARK: Inside update

    /// Adds subscriptions. It's an error if another query has the name. A query that the set already has under the same
    /// name, or without one, isn't added again.
    public func append<T: Object>(_ subscriptions: QuerySubscription<T>...) {
        draft.edit { draft, schema in
            for item in subscriptions {
                let new: Subscription
                do throws(ValueError) {
                    new = Subscription(
                        name: item.name, className: String(describing: T.self),
                        predicate: try item.predicate(in: schema))
                } catch {
                    return error.message
                }
                if let index = draft.set.subscriptions.firstIndex(of: new) {
                    draft.notes[index].updatedAt = Date()
                } else if let name = item.name, draft.set.subscriptions.contains(where: { $0.hasName(name) }) {
                    return "A subscription named '\(name)' already exists with another query. Find it with "
                        + "first(named:) and use updateQuery, or choose another name."
                } else {
                    draft.set.subscriptions.append(new)
                    draft.notes.append(SubscriptionNote(at: Date()))
                }
            }
            return nil
        }
    }

    /// Removes the subscription with a name, if there is one.
    public func remove(named name: String) { remove { subscription, _ in subscription.hasName(name) } }

    /// Removes subscriptions that came from this set or an earlier one.
    public func remove(_ subscriptions: SyncSubscription...) {
        let ids = Set(subscriptions.map(\.note.id))
        remove { _, note in ids.contains(note.id) }
    }

    /// Removes the subscription with a query, if there is one. Prefers an unnamed one.
    public func remove<T: Object>(ofType type: T.Type, _ query: @escaping (Query<T>) -> Query<Bool>) {
        remove(QuerySubscription<T>(where: query))
    }

    /// The same, with a string predicate.
    public func remove<T: Object>(ofType type: T.Type, where format: String, _ arguments: Any?...) {
        remove(QuerySubscription<T>(format: format, arguments: arguments))
    }

    private func remove<T: Object>(_ query: QuerySubscription<T>) {
        draft.edit { draft, schema in
            guard let index = query.subscription(in: schema).flatMap({ draft.index(of: $0) }) else { return nil }
            let id = draft.notes[index].id
            draft.removeAll { _, note in note.id == id }
            return nil
        }
    }

    /// Removes all subscriptions to a class.
    public func removeAll<T: Object>(ofType type: T.Type) {
        remove { subscription, _ in subscription.className == String(describing: type) }
    }

    /// Removes all subscriptions, or only those without a name.
    public func removeAll(unnamedOnly: Bool = false) {
        remove { subscription, _ in !unnamedOnly || subscription.name == nil }
    }

    private func remove(where condition: @escaping (Subscription, SubscriptionNote) -> Bool) {
        draft.edit { draft, _ in
            draft.removeAll(where: condition)
            return nil
        }
    }

    // MARK: Observing

    /// Calls `block` on a queue with the set's state, now and whenever it changes, until the token is invalidated.
    public func observe(
        on queue: DispatchQueue = .main, _ block: @escaping @Sendable (SyncSubscriptionState) -> Void
    ) -> ObservationToken {
        let version = draft.content.set.version
        let states = ToldStates<SyncSubscriptionState>()
        let report: @Sendable (SyncSession) -> Void = { session in
            states.tell(session.subscriptionState(version: version)) { state in queue.async { block(state) } }
        }
        let id = session.observeSubscriptions(report)
        report(session)
        return ObservationToken { [session] in session.endObservingSubscriptions(id) }
    }

    /// Ends an observation.
    public struct ObservationToken: Sendable {
        fileprivate let end: @Sendable () -> Void

        /// Ends the observation. One more call may already be under way.
        public func invalidate() { end() }
    }
}
