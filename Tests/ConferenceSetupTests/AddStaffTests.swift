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

    @Test("a role isn't given to an account that somebody else may have made, unless that is requested")
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
            // Running it again is fine, because the account already has the role.
            #expect(try await tool("boss@example.org", "--role", "admin").status == 0)
            #expect(try await tool.roles() == ["admin"])
        }
    }

    @Test("--existing creates no account, and says so")
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

    @Test("nobody is reported as owner of an event that already has one")
    func aSecondOwnerIsRefused() async throws {
        try await withTool { tool in
            let event = "0000000000000000000000e1"
            try await tool.pool.query("INSERT INTO event (_id, name) VALUES (decode('\(event)', 'hex'), 'E')")
            let registry = AccountRegistry(pool: tool.pool)
            for name in ["ann", "ben"] {
                try await registry.register(email: "\(name)@x.org", password: "correct horse", displayName: name)
            }
            for _ in 0..<2 {
                let given = try await tool("ann@x.org", "--role", "owner", "--event", event, "--existing")
                #expect(given.status == 0, "\(given.messages)")
            }
            let refused = try await tool("ben@x.org", "--role", "owner", "--event", event, "--existing")
            #expect(refused.status == 1)
            #expect(!refused.output.contains("It has the role"))
            #expect(refused.messages.contains("The role owner wasn't given"), "\(refused.messages)")
            #expect(try await tool.roles() == ["owner"])
            #expect(try await tool("ben@x.org", "--role", "organizer", "--event", event, "--existing").status == 0)
        }
    }
}
