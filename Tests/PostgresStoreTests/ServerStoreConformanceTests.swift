import ServerStoreConformance
import Testing

@Suite(.serialized) struct ServerStoreConformanceTests {
    @Test(
        "The PostgreSQL store passes the server store conformance checks",
        arguments: ServerStoreCheck.allCases)
    func conformance(_ check: ServerStoreCheck) async throws {
        try await check.run(PostgresStoreHarness.self)
    }
}
