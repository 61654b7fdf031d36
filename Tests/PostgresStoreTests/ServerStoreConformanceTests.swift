import ServerStoreConformance
import Testing

@Suite(.serialized) struct ServerStoreConformanceTests {
    @Test(arguments: ServerStoreCheck.allCases)
    func postgresKeepsThePromisesOfAServerStore(_ check: ServerStoreCheck) async throws {
        try await check.run(PostgresStoreHarness.self)
    }
}
