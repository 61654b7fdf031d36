extension Realm {
    /// Identifies a transaction started by ``writeAsync(_:onComplete:)`` or ``beginAsyncWrite(_:)``.
    public typealias AsyncTransactionId = UInt32

    /// Waits for its turn without blocking the actor, then runs `block` in a write transaction. If the block throws,
    /// everything is undone. For Realms that belong to an actor, or to the main thread in main-actor code. Can't be
    /// called in a write transaction.
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

    /// Runs `block` in a write transaction as soon as its turn comes, and commits. For Realms of the main thread, a
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

    /// Begins a write transaction as soon as its turn comes, and calls `asyncWriteBlock` in it. End the transaction
    /// with ``commitAsyncWrite(allowGrouping:_:)``, ``commitWrite()`` or ``cancelWrite()``. If the block leaves it
    /// open, the transaction is cancelled. If it can't begin, committing it reports the reason, as after
    /// ``beginWrite()``.
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
    ///   - allowGrouping: has no effect, because every commit is durable on its own.
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

    /// Cancels a transaction that hasn't begun, or a call of `onComplete` that hasn't been made. Has no effect
    /// afterwards. Declared as throwing like Realm's method, but never throws.
    public func cancelAsyncWrite(_ asyncTransactionId: AsyncTransactionId) throws {
        core.asyncTransactions.cancel(asyncTransactionId)
    }

    /// Whether asynchronous writes are waiting for their turn.
    public var isPerformingAsynchronousWriteOperations: Bool { !core.asyncTransactions.isEmpty }
}
