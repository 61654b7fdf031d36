extension StoreFile {
    /// Makes the read transaction under way a write transaction, whose changes are recorded: no lock is given back and
    /// taken again, and there is nothing new to look at.
    /// - Returns: false where another connection has committed since, or is writing: the read transaction goes on, and
    ///   ``beginWriting()`` after its end waits for the other.
    package func continueWriting() throws -> Bool {
        recorder.reset()
        do {
            // Writes nothing, but needs the lock: a read transaction has no other way to ask for it.
            try connection.run("DELETE FROM tombolo_commit WHERE FALSE")
            return true
        } catch let error as SQLiteStoreError where error.code == .busy {
            return false
        }
    }
}
