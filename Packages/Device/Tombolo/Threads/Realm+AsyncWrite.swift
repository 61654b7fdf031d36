extension Realm {
    /// Names a transaction that was begun by ``writeAsync(_:onComplete:)`` or ``beginAsyncWrite(_:)``.
    public typealias AsyncTransactionId = UInt32

    /// Runs `block` in a write transaction, and waits for its turn without blocking the actor. When the block throws,
    /// everything is undone. For a Realm of an actor, or of the main thread in code of the main actor; not inside a
    /// write transaction.
    /// - Returns: what the block returns.
    /// - Throws: what the block throws; ``Realm/Error`` as ``write(_:)`` does; `CancellationError` where the task was
    ///   cancelled before its turn.
    @discardableResult
    public func asyncWrite<Result>(
        isolation: isolated (any Actor)? = #isolation, _ block: () throws -> Result
    ) async throws -> Result {
        try await core.beginWaiting()
        return try core.finishing(block)
    }

    /// Runs `block` in a write transaction as soon as it is its turn, and commits. For Realms of the main thread, of a
    /// queue or of an actor.
    /// - Parameter onComplete: called after the commit, with the reason where it failed.
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
        } failed: {
            onComplete?($0)
        }
    }

    /// Begins a write transaction as soon as it is its turn, and calls `asyncWriteBlock` in it. End it with
    /// ``commitAsyncWrite(allowGrouping:_:)``, ``commitWrite()`` or ``cancelWrite()``; a transaction that the block leaves
    /// open is cancelled.
    @discardableResult
    public func beginAsyncWrite(_ asyncWriteBlock: @escaping () -> Void) -> AsyncTransactionId {
        core.asyncTransactions.add { realm in
            asyncWriteBlock()
            if realm.isInWriteTransaction { realm.cancelWrite() }
        } failed: { _ in
        }
    }

    /// Commits the transaction, and tells later.
    /// - Parameters:
    ///   - allowGrouping: every commit is durable by itself here, so that this changes nothing.
    ///   - onComplete: called with the reason where the commit failed.
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

    /// Takes back a transaction that has not begun, or a call of `onComplete` that has not been made; afterwards it has
    /// no effect. Throws nothing, as in Realm.
    public func cancelAsyncWrite(_ asyncTransactionId: AsyncTransactionId) throws {
        core.asyncTransactions.cancel(asyncTransactionId)
    }

    /// Whether asynchronous writes wait for their turn.
    public var isPerformingAsynchronousWriteOperations: Bool { !core.asyncTransactions.isEmpty }
}
