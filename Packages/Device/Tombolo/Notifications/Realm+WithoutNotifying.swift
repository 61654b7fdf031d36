extension Realm {
    /// Runs `block` in a write transaction that some listeners need not hear of, because who writes has shown the change
    /// already: a row that slides out of a list. See ``write(_:)``.
    /// - Parameter tokens: of this Realm, its objects and its collections, observed where the Realm is used. A listener
    ///   that has others' changes to hear hears those first, before `block` runs.
    /// - Throws: as ``write(_:)`` does.
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

    /// Stores what the write transaction did; these listeners do not hear of it.
    /// - Throws: ``Realm/Error``; the transaction is cancelled then.
    public func commitWrite(withoutNotifying tokens: [NotificationToken]) throws {
        for token in tokens where !token.belongs(to: core) {
            programError("A token in 'withoutNotifying' belongs to another Realm: pass tokens of this one.")
        }
        try core.commit(skipping: tokens.map(\.state))
    }

    /// What a listener has not heard yet would have to be told together with what it need not hear.
    private func beginHearing(_ tokens: [NotificationToken]) {
        if core.notifier.isBehind(tokens.map(\.state)) { core.notifier.deliver() }
    }
}
