import Foundation
import PostgresClient
import ChildPrograms
import TestSupport
import Testing
import TomboloAuthentication

/// `conference add-staff`, as an operator runs it.
@Suite struct AddStaffTests {
    private struct Tool {
        let pool: PostgresPool
        let address: String

        func callAsFunction(_ arguments: String..., input: String = "") async throws -> ProgramRun.Outcome {
            try await BuiltProgram("conference", "ConferenceTool").run(
                ["add-staff"] + arguments, environment: ["TOMBOLO_DATABASE_URL": address], input: input)
        }

        func roles() async throws -> [String] {
            try await pool.query("SELECT role FROM role_assignment ORDER BY role").map { try $0[0].string }
        }
    }

    private func withTool(_ body: (Tool) async throws -> Void) async throws {
        try await Databases.withConference { pool in
            let configuration = pool.configuration
            var address =
                "host=\(configuration.keywords["host"] ?? "") port=\(configuration.keywords["port"] ?? "5432")"
            address += " connect_timeout=600 user=\(configuration.user ?? "") dbname=\(configuration.database ?? "")"
            try await body(Tool(pool: pool, address: address))
        }
    }

    @Test("a role is not given to an account that somebody else may have made, unless told so")
    func squattersGetNoRole() async throws {
        try await withTool { tool in
            try await AccountRegistry(pool: tool.pool).register(
                email: "boss@example.org", password: "correct horse", displayName: "Not the boss")
            let refused = try await tool("Boss@example.org", "--role", "admin")
            #expect(refused.status == 1)
            #expect(refused.messages.contains("already an account"))
            #expect(refused.messages.contains("--existing"))
            #expect(try await tool.roles().isEmpty)
            let given = try await tool("boss@example.org", "--role", "admin", "--existing")
            #expect(given.status == 0, "\(given.messages)")
            #expect(try await tool.roles() == ["admin"])
            // May be repeated: the account has the role.
            #expect(try await tool("boss@example.org", "--role", "admin").status == 0)
            #expect(try await tool.roles() == ["admin"])
        }
    }

    @Test("--existing makes no account, and says so")
    func existingMakesNone() async throws {
        try await withTool { tool in
            let missing = try await tool("ann@example.org", "--role", "admin", "--existing")
            #expect(missing.status == 1)
            #expect(missing.messages.contains("No account has the e-mail address ann@example.org"))
            #expect(try await tool("ann@example.org", "--existing").status == 64)
            #expect(
                try await tool("ann@example.org", "--role", "admin", "--existing", "--name", "A").status == 64)
            #expect(try await tool.pool.query("SELECT 1 FROM users").isEmpty)
            let made = try await tool(
                "ann@example.org", "--role", "admin", "--password-stdin", input: "long enough\n")
            #expect(made.status == 0, "\(made.messages)")
            #expect(try await tool.roles() == ["admin"])
        }
    }
}
