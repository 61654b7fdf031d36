import ChildPrograms
import Foundation
import PostgresClient
import TestSupport
import Testing
import TomboloAuthentication
import TomboloMigration
import TomboloModel

/// `migration-tool keys`, `providers` and `api-keys` as an operator runs them, next to a server.
@Suite struct LoginCommandTests {
    private static let secret = String(repeating: "k", count: 40)

    private struct Tool {
        let pool: PostgresPool
        let address: String

        func callAsFunction(
            _ arguments: String..., secret: String? = nil, input: String = ""
        ) async throws -> ProgramRun.Outcome {
            var environment = ["TOMBOLO_DATABASE_URL": address]
            environment["TOMBOLO_JWT_SECRET"] = secret
            return try await BuiltProgram("migration-tool", "MigrationTool").run(
                arguments, environment: environment, input: input)
        }

        func server() async throws -> Authenticator {
            await Authenticator(
                pool: pool, tokens: try TokenConfiguration(secret: LoginCommandTests.secret),
                hasher: PasswordHasher(parameters: .weakForTests))
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

    @Test("keys are listed, rotated and retired, and their secrets are never printed")
    func keys() async throws {
        try await withTool { tool in
            #expect(try await tool("keys", "list").output.contains("no key yet"))
            let server = try await tool.server()
            try await server.register(email: "ann@example.org", password: "correct horse", displayName: "Ann")
            let login = try await server.login(email: "ann@example.org", password: "correct horse")
            let first = try #require(try await tool("keys", "list").lines.first)
            #expect(first.hasSuffix("signs"), "\(first)")
            let old = String(first.prefix { $0 != " " })

            let without = try await tool("keys", "rotate")
            #expect(without.status == 1 && without.messages.contains("TOMBOLO_JWT_SECRET is not set"))
            let last = try await tool("keys", "retire", old)
            #expect(last.status == 1 && last.messages.contains("only active key"), "\(last.messages)")
            let rotated = try await tool("keys", "rotate", secret: Self.secret)
            #expect(rotated.status == 0, "\(rotated.messages)")
            let listed = try await tool("keys", "list")
            #expect(listed.lines.map { $0.hasSuffix("signs") } == [true, false], "\(listed.output)")
            _ = try await tool.server().verify(login.token)
            #expect(try await tool("keys", "retire", old).status == 0)
            #expect(try await tool("keys", "list").output.contains("retired"))
            let other = try await tool.server()
            await #expect(throws: AuthenticationError.self) { try await other.verify(login.token) }
            _ = try await other.verify(try await other.refresh(login.refreshToken).token)
            for outcome in [without, last, rotated, listed] {
                #expect(!(outcome.output + outcome.messages).contains(Self.secret))
                #expect(!(outcome.output + outcome.messages).contains("PRIVATE"))
            }
        }
    }

    @Test("providers are enabled and configured, wrong settings are explained, and secrets aren't printed")
    func providers() async throws {
        try await withTool { tool in
            #expect(try await tool("providers", "list").output == "local-userpass  on  {}\n")
            let unknown = try await tool("providers", "enable", "anonymous")
            #expect(unknown.status == 1 && unknown.messages.contains("no provider 'anonymous'"), "\(unknown.messages)")
            await #expect(throws: AuthenticationError.noSuchProvider) { try await tool.server().login(.anonymous) }
            #expect(try await tool("providers", "enable", "anon-user").status == 0)
            _ = try await tool.server().login(.anonymous)
            #expect(try await tool("providers", "disable", "anon-user").status == 0)
            await #expect(throws: AuthenticationError.noSuchProvider) { try await tool.server().login(.anonymous) }

            let early = try await tool("providers", "enable", "oauth2-google")
            #expect(early.status == 1 && early.messages.contains("is missing"), "\(early.messages)")
            let wrong = try await tool("providers", "set", "oauth2-google", #"{"audience": ["x"]}"#)
            #expect(wrong.status == 1 && wrong.messages.contains("'audiences'"), "\(wrong.messages)")
            #expect(try await tool("providers", "set", "oauth2-google", #"{"audiences": ["x"]}"#).status == 0)
            #expect(try await tool("providers", "enable", "oauth2-google").status == 0)
            let settings = #"{"url": "https://example.org/f", "secret": "hunter2"}"#
            #expect(try await tool("providers", "set", "custom-function", "-", input: settings).status == 0)
            let listed = try await tool("providers", "list")
            #expect(listed.output.contains("googleapis") && !listed.output.contains("hunter2"), "\(listed.output)")
        }
    }

    @Test("a program logs in with the key that the tool created for it")
    func serverKeys() async throws {
        try await withTool { tool in
            #expect(try await tool("providers", "enable", "api-key").status == 0)
            let made = try await tool("api-keys", "add", "nightly import")
            let key = try #require(made.lines.last?.split(separator: " ").last.map(String.init))
            let login = try await tool.server().login(.apiKey(key))
            #expect(made.output.contains(login.userID.stringValue), "\(made.output)")
        }
    }
}
