import ChildPrograms
import Testing

/// `conference sample`, as an operator runs it.
@Suite struct SampleCommandTests {
    @Test(
        "accounts with well-known passwords aren't created on another machine, whichever way it's named",
        arguments: [
            ("postgresql://192.0.2.1/tombolo", [:]), ("postgresql:///tombolo", ["PGHOST": "192.0.2.1"]),
            ("postgresql://localhost/tombolo", ["PGHOSTADDR": "192.0.2.1"]),
            ("postgresql:///tombolo", ["PGSERVICE": "production"]),
            ("postgresql:///tombolo?service=production", [:]),
        ] as [(String, [String: String])])
    func otherMachines(_ address: String, _ variables: [String: String]) async throws {
        let outcome = try await BuiltProgram("conference", "ConferenceTool").run(
            ["sample"], environment: variables.merging(["TOMBOLO_DATABASE_URL": address]) { $1 })
        #expect(outcome.status == 1)
        #expect(outcome.messages.contains("The database is on another machine"), "\(outcome.messages)")
    }
}
