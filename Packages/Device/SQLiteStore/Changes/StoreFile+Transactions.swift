extension StoreFile {
    /// Begins a read transaction on the newest version.
    /// - Returns: what other connections have committed since this one last looked.
    package func beginReading() throws -> ChangeLog.Advance { try log.beginReading() }

    /// Begins a write transaction whose changes are recorded.
    /// - Returns: what other connections have committed since this one last looked.
    package func beginWriting() throws -> ChangeLog.Advance {
        recorder.reset()
        try connection.run(.beginImmediate)
        return try log.advance()
    }

    /// Commits the write transaction with an entry in the log, unless the transaction wrote nothing.
    /// - Returns: its changes.
    @discardableResult
    package func commitWriting() throws -> ChangeSet {
        guard recorder.hasWritten else {
            try connection.run(.commit)
            return ChangeSet()
        }
        let changes = recorder.changes
        let number = try log.append(changes)
        try connection.run(.commit)
        log.committed(number)
        recorder.reset()
        return changes
    }

    /// Runs `body` in a logged write transaction. Commits if `body` returns, and rolls back if it throws.
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
