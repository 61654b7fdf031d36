extension Realm {
    /// Identifies a transaction started by ``writeAsync(_:onComplete:)`` or ``beginAsyncWrite(_:)``.
    public typealias AsyncTransactionId = UInt32

    /// Waits for its turn without blocking the actor, then runs `block` in a write transaction. If the block throws,
    /// everything is undone. For a Realm of an actor, or of the main thread in main-actor code; not inside a write
    /// transaction.
    /// - Returns: what the block returns.
    /// - Throws: what the block throws; ``Realm/Error`` like ``write(_:)``; `CancellationError` if the task was
    ///   cancelled before its turn.
    @discardableResult
    public func asyncWrite<Result>(
        isolation: isolated (any Actor)? = #isolation, _ block: () throws -> Result
    ) async throws -> Result {
        try await core.beginWaiting()
        return try core.finishing(block)
    }

    /// Runs `block` in a write transaction as soon as it's its turn, and commits. For Realms of the main thread, a
    /// queue or an actor.
    /// - Parameter onComplete: called after the commit, with the error if it failed.
    @discardableResult
    public func writeAsync(
        _ block: @escaping () -> Void, onComplete: (((any Swift.Error)?) -> Void)? = nil
    ) -> AsyncTransactionId {
        core.asyncTransactions.add { realm in
            block()
            guard realm.isInWriteTransaction else {
                onComplete?(nil)
                return
            }
            do {
                try realm.commitWrite()
                onComplete?(nil)
            } catch {
                onComplete?(error)
            }
        } failed: { _, error in
            onComplete?(error)
        }
    }

    /// Begins a write transaction as soon as it's its turn, and calls `asyncWriteBlock` in it. End it with
    /// ``commitAsyncWrite(allowGrouping:_:)``, ``commitWrite()`` or ``cancelWrite()``; a transaction that the block
    /// leaves open is cancelled. If it can't begin, committing it reports the reason, as after ``beginWrite()``.
    @discardableResult
    public func beginAsyncWrite(_ asyncWriteBlock: @escaping () -> Void) -> AsyncTransactionId {
        core.asyncTransactions.add { realm in
            asyncWriteBlock()
            if realm.isInWriteTransaction { realm.cancelWrite() }
        } failed: { realm, error in
            realm.core.beginFailed(error)
            asyncWriteBlock()
            if realm.isInWriteTransaction { realm.cancelWrite() }
        }
    }

    /// Commits the transaction and reports the result later.
    /// - Parameters:
    ///   - allowGrouping: no effect, since every commit is durable by itself.
    ///   - onComplete: called with the error if the commit failed.
    @discardableResult
    public func commitAsyncWrite(
        allowGrouping: Bool = false, _ onComplete: (((any Swift.Error)?) -> Void)? = nil
    ) -> AsyncTransactionId {
        var failure: (any Swift.Error)?
        do {
            try commitWrite()
        } catch {
            failure = error
        }
        return core.asyncTransactions.complete { onComplete?(failure) }
    }

    /// Cancels a transaction that hasn't begun, or a call of `onComplete` that hasn't been made; later it has no
    /// effect. Declared as throwing as in Realm, but never throws.
    public func cancelAsyncWrite(_ asyncTransactionId: AsyncTransactionId) throws {
        core.asyncTransactions.cancel(asyncTransactionId)
    }

    /// Whether asynchronous writes wait for their turn.
    public var isPerformingAsynchronousWriteOperations: Bool { !core.asyncTransactions.isEmpty }
}
