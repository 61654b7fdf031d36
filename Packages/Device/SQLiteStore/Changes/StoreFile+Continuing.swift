extension StoreFile {
    /// Turns the current read transaction into a recorded write transaction. That avoids releasing a lock and acquiring
    /// another, and there's nothing new to read.
    /// - Returns: false if another connection has committed since or is writing. The read transaction then continues;
    ///   end it and call ``beginWriting()``, which waits for the other connection.
    package func continueWriting() throws -> Bool {
        recorder.reset()
        do {
            // This writes nothing but acquires the lock, which a read transaction can't request in any other way.
            try connection.run("DELETE FROM tombolo_commit WHERE FALSE")
            return true
        } catch let error as SQLiteStoreError where error.code == .busy {
            return false
        }
    }
}
