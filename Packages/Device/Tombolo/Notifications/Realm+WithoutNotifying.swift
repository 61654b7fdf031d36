extension Realm {
    /// Runs `block` in a write transaction without notifying some listeners, because the caller has already shown the
    /// change, such as a row sliding out of a list. See ``write(_:)``.
    /// - Parameter tokens: tokens of this Realm, its objects and its collections, observed where the Realm is used.
    ///   Before `block` runs, their listeners are notified of pending changes by others.
    /// - Throws: the same errors as ``write(_:)``.
    @discardableResult
    public func write<Result>(
        withoutNotifying tokens: [NotificationToken], _ block: () throws -> Result
    ) throws -> Result {
        beginHearing(tokens)
        try core.begin()
        let result: Result
        do {
            result = try block()
        } catch {
            if core.isInWrite { core.cancel() }
            throw error
        }
        if core.isInWrite { try commitWrite(withoutNotifying: tokens) }
        return result
    }

    /// Commits the write transaction without notifying these listeners.
    /// - Throws: ``Realm/Error``. The transaction is then cancelled.
    public func commitWrite(withoutNotifying tokens: [NotificationToken]) throws {
        for token in tokens where !token.belongs(to: core) {
            programError("A token in 'withoutNotifying' belongs to another Realm: pass tokens of this Realm.")
        }
        try core.commit(skipping: tokens.map(\.state))
    }

    /// Reports pending changes first, because they couldn't be separated later from the changes to skip.
    private func beginHearing(_ tokens: [NotificationToken]) {
        if core.notifier.isBehind(tokens.map(\.state)) { core.notifier.deliver() }
    }
}
