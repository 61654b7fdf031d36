internal import TomboloModel

extension StoreFile {
    /// Begins a write transaction whose changes are recorded.
    /// - Returns: what other connections committed since this one last looked.
    package func beginWriting() throws -> ChangeLog.Advance {
        recorder.reset()
        try connection.run("BEGIN IMMEDIATE")
        let advance = try log.advance()
        // Who has not looked since then must learn it from the log, which has no other place for it.
        if case .unknown(isOutsideWriter: true) = advance { outsideWriterIsUnlogged = true }
        return advance
    }

    /// Commits the write transaction with an entry in the log; a transaction that wrote nothing leaves none.
    /// - Returns: what it changed.
    @discardableResult
    package func commitWriting() throws -> ChangeSet {
        guard recorder.hasWritten else {
            try connection.run("COMMIT")
            return ChangeSet()
        }
        let changes = recorder.changes
        let logged = outsideWriterIsUnlogged ? .everything(classCount: schema.classes.count) : changes
        let number = try log.append(logged)
        observers.noteCommit()
        try connection.run("COMMIT")
        log.committed(number)
        outsideWriterIsUnlogged = false
        recorder.reset()
        return changes
    }

    /// Runs `body` in a write transaction with an entry in the log: committed when it returns, undone when it throws.
    package func writeTransaction<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            _ = try beginWriting()
            let result = try body()
            try commitWriting()
            return result
        } catch {
            connection.rollback()
            recorder.reset()
            throw error
        }
    }
}
