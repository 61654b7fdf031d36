public import Foundation
internal import TomboloModel
internal import TomboloSQLiteStore
internal import TomboloSyncProtocol

/// Whether subscribing waits until the device has the objects.
public enum WaitForSyncMode: Sendable {
    /// Waits if the subscription is new; otherwise returns at once.
    case onCreation
    /// Waits every time.
    case always
    /// Never waits.
    case never
}

extension Results where Element: Object {
    /// Subscribes to the objects that the results' conditions select. Sorting isn't part of the subscription. If a
    /// subscription with the same name exists, it gets the new query.
    /// - Parameters:
    ///   - waitForSync: whether to wait for the objects.
    ///   - timeout: the maximum time to wait, in seconds; nil or 0 for no limit. The subscription stays after a
    ///     timeout.
    /// - Returns: these results.
    /// - Throws: ``Realm/Error`` with the code `subscriptionFailed` for conditions on more than one object, or if the
    ///   server refuses; `POSIXError` with the code `ETIMEDOUT`; ``SyncError``; `CancellationError`.
    @discardableResult
    nonisolated(nonsending) public func subscribe(
        name: String? = nil, waitForSync: WaitForSyncMode = .onCreation, timeout: TimeInterval? = nil
    ) async throws -> Results<Element> {
        let realm = Realm(core: content.core)
        let subscriptions = try realm.requireSubscriptions()
        let query = try subscription(name: name)
        let known = subscriptions.draft.content.set.subscriptions.contains(query)
        let session = subscriptions.session
        let version = try subscriptions.commit {
            subscriptions.draft.edit { draft, _ in
                if let name, let index = draft.set.subscriptions.firstIndex(where: { $0.hasName(name) }) {
                    guard draft.set.subscriptions[index] != query || waitForSync == .always else { return nil }
                    draft.set.subscriptions[index] = query
                    draft.notes[index].updatedAt = Date()
                } else if let index = draft.set.subscriptions.firstIndex(of: query) {
                    if waitForSync == .always { draft.notes[index].updatedAt = Date() }
                } else {
                    draft.set.subscriptions.append(query)
                    draft.notes.append(.init(at: Date()))
                }
                return nil
            }
        }
        guard waitForSync != .never, waitForSync == .always || !known else { return self }
        if let timeout, timeout > 0 {
            try await Self.limited(to: timeout) { try await session.waitForSubscriptions(version: version) }
        } else {
            try await session.waitForSubscriptions(version: version)
        }
        realm.refresh()
        return self
    }

    /// Removes the unnamed subscription with the results' conditions, if there is one, without waiting. Named
    /// subscriptions stay: remove those by name.
    public func unsubscribe() {
        guard let subscriptions = try? Realm(core: content.core).requireSubscriptions(),
            let query = try? subscription(name: nil)
        else { return }
        subscriptions.update {
            subscriptions.draft.edit { draft, _ in
                draft.removeAll { subscription, _ in subscription == query }
                return nil
            }
        }
    }

    private func subscription(name: String?) throws -> Subscription {
        let query = content.query
        guard query.source == nil else {
            throw Realm.Error(
                .subscriptionFailed, "Can't subscribe to the objects of a list: subscribe to realm.objects(…).")
        }
        let item = content.core.schema.classes[query.classIndex]
        do throws(ValueError) {
            return Subscription(name: name, className: item.name, predicate: try query.predicate.predicate(of: item))
        } catch {
            throw Realm.Error(.subscriptionFailed, error.message)
        }
    }

    private static func limited(to seconds: TimeInterval, _ body: @escaping @Sendable () async throws -> Void)
        async throws
    {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await Task.sleep(for: .seconds(seconds))
                throw POSIXError(
                    .ETIMEDOUT,
                    userInfo: [
                        NSLocalizedDescriptionKey:
                            "The objects didn't arrive within \(seconds) seconds; they will arrive later."
                    ])
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}
