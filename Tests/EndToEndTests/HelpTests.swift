import ChildPrograms
import Testing

@Suite("What the servers' --help prints")
struct HelpTests {
    @Test(
        "Lines fit a terminal, and no variable is described twice",
        arguments: [
            (["sync-gateway", "SyncGateway"], []), (["admin-server", "AdminServer"], []),
            (["conference-admin", "ConferenceAdmin"], []), (["ticket-api", "TicketAPI"], []),
            (["tombolo", "TomboloDevelopment"], ["run"]),
        ])
    func help(_ names: [String], _ command: [String]) async throws {
        let result = try await BuiltProgram(names[0], names[1]).run(command + ["--help"])
        let text = result.output
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        // ArgumentParser doesn't break the line with the options.
        #expect(result.status == 0 && lines.prefix { !$0.hasPrefix("USAGE") }.allSatisfy { $0.count <= 80 }, "\(text)")
        let first = try #require(lines.firstIndex(of: "ENVIRONMENT"))
        let environment = lines[first...].dropFirst().prefix { !$0.isEmpty }
        // The rest of a line that ArgumentParser breaks has no indentation.
        #expect(environment.allSatisfy { $0.hasPrefix("  ") }, "\(text)")
        let variables = environment.filter { $0.hasPrefix("  TOMBOLO_") }.flatMap {
            $0.split { " ,".contains($0) }.filter { $0.hasPrefix("TOMBOLO_") }
        }
        #expect(variables.count > 10 && Set(variables).count == variables.count, "\(variables)")
    }
}
