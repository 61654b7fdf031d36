extension StoreFile {
    /// Turns the current read transaction into a recorded write transaction. No lock is released and taken again, and
    /// there's nothing new to read.
    /// - Returns: false if another connection has committed since or is writing. Then the read transaction continues,
    ///   and ``beginWriting()`` after its end waits for the other.
    package func continueWriting() throws -> Bool {
        recorder.reset()
        do {
            // Writes nothing but takes the lock, which a read transaction can't request in any other way.
            try connection.run("DELETE FROM tombolo_commit WHERE FALSE")
            return true
        } catch let error as SQLiteStoreError where error.code == .busy {
            return false
        }
    }
}
