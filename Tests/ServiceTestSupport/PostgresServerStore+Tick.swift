public import TomboloPostgresStore

extension PostgresServerStore {
    /// Makes a tick that sees everything, then resigns as sequencer, because its connections belong to a shared cluster.
    public func makeLoneTick() async throws {
        while true {
            do {
                _ = try await makeTick()
                await resign()
                return
            } catch let error as PostgresStoreError where error.code == .notElected {
                // PostgreSQL takes a moment to notice that the previous sequencer's connection was closed.
                try await Task.sleep(for: .milliseconds(5))
            }
        }
    }
}
