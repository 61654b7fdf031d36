public import TomboloPostgresStore

extension PostgresServerStore {
    /// Makes a tick that sees everything, and gives up being the sequencer: the cluster of its connections is shared.
    public func makeLoneTick() async throws {
        while true {
            do {
                _ = try await makeTick()
                await resign()
                return
            } catch let error as PostgresStoreError where error.code == .notElected {
                // PostgreSQL takes a moment to notice that the connection of the one before was closed.
                try await Task.sleep(for: .milliseconds(5))
            }
        }
    }
}
