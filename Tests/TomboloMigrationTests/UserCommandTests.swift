import Foundation
import PostgresClient
import ChildPrograms
import TestSupport
import Testing
import TomboloAuthentication
import TomboloMigration
import TomboloModel

/// `migration-tool user` as an operator runs it.
@Suite struct UserCommandTests {
    private struct Tool {
        let pool: PostgresPool
        let address: String

        func callAsFunction(_ arguments: String..., input: String = "") async throws -> ProgramRun.Outcome {
            try await BuiltProgram("migration-tool", "MigrationTool").run(
                ["user"] + arguments, environment: ["TOMBOLO_DATABASE_URL": address], input: input)
        }
    }

    private func withTool(_ body: (Tool) async throws -> Void) async throws {
        let configuration = try await TestCluster.shared().createDatabase()
        let pool = PostgresPool(configuration: configuration, options: Databases.poolOptions)
        try await pool.withConnection { connection in
            _ = try await Migrator(connection, schema: try Schema.of([Listing.self])).apply()
        }
        var address = "host=\(configuration.keywords["host"] ?? "") port=\(configuration.keywords["port"] ?? "5432")"
        address += " connect_timeout=600 user=\(configuration.user ?? "") dbname=\(configuration.database ?? "")"
        try await body(Tool(pool: pool, address: address))
        await pool.shutdown()
    }

    @Test("an existing account keeps its password when it is added again")
    func addingAgainChangesNothing() async throws {
        try await withTool { tool in
            let made = try await tool("add", "ann@example.org", "--name", "Ann")
            #expect(made.status == 0, "\(made.messages)")
            let password = try #require(made.lines.last?.split(separator: " ").last.map(String.init))
            let again = try await tool("add", "Ann@example.org", "--password-stdin", input: "another one\n")
            #expect(again.status == 0)
            #expect(again.output.contains("it keeps its password"))
            #expect(try await AccountRegistry(pool: tool.pool).hasPassword(password, email: "ann@example.org"))
            let short = try await tool("add", "bob@example.org", "--password-stdin", input: "short\n")
            #expect(short.status == 1)
            #expect(short.messages.contains("at least 8 characters"), "\(short.messages)")
            let common = try await tool("add", "bob@example.org", "--password-stdin", input: "bob12345\n")
            #expect(common.status == 1)
            #expect(common.messages.contains("little more than your e-mail address"), "\(common.messages)")
        }
    }

    @Test("custom data is replaced as a whole, and invalid data is refused with a reason")
    func customDataIsSet() async throws {
        try await withTool { tool in
            _ = try await tool("add", "ann@example.org")
            func customData() async throws -> String {
                try await tool.pool.query("SELECT custom_data::text FROM tombolo.account")[0, 0].string
            }
            let set = try await tool("set-data", "ann@example.org", #"{"team":"blue"}"#)
            #expect(set.status == 0, "\(set.messages)")
            #expect(try await customData() == #"{"team": "blue"}"#)
            for (json, reason) in [("[1]", "must be a JSON object"), ("{", "invalid input syntax for type json")] {
                let refused = try await tool("set-data", "ann@example.org", json)
                #expect(refused.status == 1)
                #expect(refused.messages.contains(reason), "\(refused.messages)")
            }
            #expect(try await customData() == #"{"team": "blue"}"#)
            let missing = try await tool("set-data", "nobody@example.org", "{}")
            #expect(missing.status == 1)
            #expect(missing.messages.contains("No account has the e-mail address nobody@example.org"))
        }
    }

    @Test("a disabled account can't log in until it is enabled again")
    func accountsAreDisabled() async throws {
        try await withTool { tool in
            _ = try await tool("add", "ann@example.org", "--password-stdin", input: "correct horse\n")
            let authenticator = await Authenticator(
                pool: tool.pool, tokens: try TokenConfiguration(secret: String(repeating: "k", count: 32)))
            #expect(try await tool("disable", "ann@example.org").status == 0)
            await #expect(throws: AuthenticationError.wrongCredentials) {
                try await authenticator.login(email: "ann@example.org", password: "correct horse")
            }
            #expect(try await tool("enable", "ann@example.org").status == 0)
            _ = try await authenticator.login(email: "ann@example.org", password: "correct horse")
            #expect(try await tool("disable", "nobody@example.org").status == 1)
        }
    }

    @Test("setting a password from standard input and revoking tokens log the account out everywhere")
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
