import Foundation
import PostgresClient
import ChildPrograms
import TestSupport
import Testing
import TomboloAuthentication

/// `migration-tool user`, as an operator runs it.
@Suite struct UserCommandTests {
    private struct Tool {
        let pool: PostgresPool
        let address: String

        func callAsFunction(_ arguments: String..., input: String = "") async throws -> ProgramRun.Outcome {
            try await BuiltProgram("migration-tool", "MigrationTool").run(
                ["user"] + arguments, environment: ["TOMBOLO_DATABASE_URL": address], input: input)
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
            address += " user=\(configuration.user ?? "") dbname=\(configuration.database ?? "")"
            try await body(Tool(pool: pool, address: address))
        }
    }

    @Test("a role is not given to an account that somebody else may have made, unless told so")
    func squattersGetNoRole() async throws {
        try await withTool { tool in
            let made = try await tool("add", "boss@example.org", "--password-stdin", input: "not the boss\n")
            #expect(made.status == 0, "\(made.messages)")
            let refused = try await tool("add", "Boss@example.org", "--role", "admin")
            #expect(refused.status == 1)
            #expect(refused.messages.contains("already an account"))
            #expect(refused.messages.contains("--existing"))
            #expect(try await tool.roles().isEmpty)
            let given = try await tool("add", "boss@example.org", "--role", "admin", "--existing")
            #expect(given.status == 0, "\(given.messages)")
            #expect(try await tool.roles() == ["admin"])
            // May be repeated: the account has the role.
            #expect(try await tool("add", "boss@example.org", "--role", "admin").status == 0)
            #expect(try await tool.roles() == ["admin"])
        }
    }

    @Test("--existing makes no account, and says so")
    func existingMakesNone() async throws {
        try await withTool { tool in
            let missing = try await tool("add", "ann@example.org", "--role", "admin", "--existing")
            #expect(missing.status == 1)
            #expect(missing.messages.contains("No account has the e-mail address ann@example.org"))
            #expect(try await tool("add", "ann@example.org", "--existing").status == 64)
            #expect(try await tool.pool.query("SELECT 1 FROM users").isEmpty)
            let made = try await tool(
                "add", "ann@example.org", "--role", "admin", "--password-stdin", input: "long enough\n")
            #expect(made.status == 0, "\(made.messages)")
            #expect(try await tool.roles() == ["admin"])
        }
    }

    @Test("a password set from standard input, and a revocation, log the account out everywhere")
    func passwordsAndRevocations() async throws {
        try await withTool { tool in
            _ = try await tool("add", "ann@example.org", "--password-stdin", input: "correct horse\n")
            let authenticator = await Authenticator(
                pool: tool.pool, tokens: try TokenConfiguration(secret: String(repeating: "k", count: 32)))
            let first = try await authenticator.login(email: "ann@example.org", password: "correct horse").token
            let set = try await tool("password", "ann@example.org", input: "battery staple\nnot this\n")
            #expect(set.status == 0, "\(set.messages)")
            #expect(!(set.output + set.messages).contains("battery"))
            authenticator.forgetRoles()
            await #expect(throws: AuthenticationError.revokedToken) { try await authenticator.verify(first) }
            await #expect(throws: AuthenticationError.wrongCredentials) {
                try await authenticator.login(email: "ann@example.org", password: "correct horse")
            }
            let second = try await authenticator.login(email: "ann@example.org", password: "battery staple").token
            #expect(try await tool("revoke", "ann@example.org").status == 0)
            authenticator.forgetRoles()
            await #expect(throws: AuthenticationError.revokedToken) { try await authenticator.verify(second) }
            for (command, input) in [("password", "long enough\n"), ("revoke", "")] {
                let missing = try await tool(command, "nobody@example.org", input: input)
                #expect(missing.status == 1)
                #expect(missing.messages.contains("No account has the e-mail address"))
            }
            let short = try await tool("password", "ann@example.org", input: "short\n")
            #expect(short.status == 1 && short.messages.contains("at least 8 characters"), "\(short.messages)")
            #expect(try await tool("password", "ann@example.org").messages.contains("Standard input is empty"))
        }
    }
}
