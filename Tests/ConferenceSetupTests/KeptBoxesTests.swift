import ChildPrograms
import EventModels
import PostgresClient
import TestSupport
import Testing
import TomboloMigration
import TomboloModel
import TomboloPostgresStore

@testable import ConferenceSetup

/// Upgrading a database in which administrators changed boxes of the permission matrix.
@Suite struct KeptBoxesTests {
    private static let account = "64b000000000000000000001"
    private static let kept = "Kept 1 box that was changed in the admin server: 'owner' may not delete sessions."

    /// A version of the rules, as recorded in the history.
    private struct Version: Equatable {
        let content: String
        let account: String?
        let note: String?
    }

    private static func shipped() throws -> String { try #require(try Conference.documents().rules) }

    private static func apply(_ rules: String, _ connection: PostgresConnection) async throws -> MigrationPlan {
        let models = try #require(try Conference.documents().models)
        return try await Migrator.toDocuments(
            [AppDocuments(models: models, rules: rules)], on: connection, extensions: [Conference.schemaExtension]
        ).applying()
    }

    private static func history(_ connection: PostgresConnection) async throws -> [Version] {
        try await connection.query(
            """
            SELECT content, account, note FROM tombolo.document WHERE app = $1 AND kind = 'rules' ORDER BY version DESC
            """, [.text(Conference.app)]
        ).map { row in
            Version(
                content: try row[0].string, account: try row[1].nonNull?.string, note: try row[2].nonNull?.string)
        }
    }

    /// Takes the right to delete sessions away from event owners, as the admin server does.
    private static func untick(_ rules: String) throws -> String {
        var rules = rules
        rules.replaceSubrange(try #require(rules.firstRange(of: "      sessions: crud")), with: "      sessions: cru-")
        return rules
    }

    private static func change(_ rules: String, _ connection: PostgresConnection) async throws {
        let added = try await connection.query(
            """
            SELECT tombolo.add_rules($1, (SELECT max(version) FROM tombolo.document WHERE app = $1 AND kind = 'rules'),
                $2, $3)
            """, [.text(Conference.app), .text(rules), .text(account)])
        #expect(added[0, 0].nonNull != nil)
    }

    /// A database with older rules in which one box was changed.
    private static func withOlder(_ body: (PostgresConnection) async throws -> Void) async throws {
        let connection = try await PostgresConnection.connect(try await TestCluster.shared().createDatabase())
        let older = "# An older version.\n" + (try shipped())
        _ = try await apply(older, connection)
        try await change(try untick(older), connection)
        try await body(connection)
        await connection.close()
    }

    @Test("a changed box survives newer rules, the history says so, and a second run does nothing")
    func upgrade() async throws {
        try await Self.withOlder { connection in
            let shipped = try Self.shipped()
            let planned = try await Conference.migrator(connection).plan()
            #expect(planned.notes == ["Rules of conference: \(Self.kept)"])
            #expect(planned.steps.map(\.name) == ["rules of conference"] && planned.problems.isEmpty)
            #expect(try await Conference.migrator(connection).applying().notes == planned.notes)
            let history = try await Self.history(connection)
            let unticked = try Self.untick(shipped)
            #expect(history.first == Version(content: unticked, account: nil, note: Self.kept))
            #expect(history.count == 3)

            let again = try await Conference.migrator(connection).applying()
            #expect(again.steps.isEmpty && again.notes.isEmpty)
            let third = shipped + "# A newer version.\n"
            let later = try await Self.apply(third, connection)
            #expect(later.notes == ["Rules of conference: \(Self.kept)"])
            let newest = try #require(try await Self.history(connection).first)
            let expected = try Self.untick(third)
            #expect(newest.content == expected)
        }
    }

    @Test("on request, the file is taken as it is, and the plan says what that drops")
    func replacing() async throws {
        try await Self.withOlder { connection in
            let shipped = try Self.shipped()
            let dropped =
                "Took the file as it is and dropped 1 box that was changed in the admin server: "
                + "'owner' may not delete sessions."
            for isUpgrade in [true, false] {
                // Even the same rules drop whatever was changed since.
                if !isUpgrade { try await Self.change(try Self.untick(shipped), connection) }
                let plan = try await Conference.migrator(connection, replacesBoxes: true).applying()
                #expect(plan.notes == ["Rules of conference: \(dropped)"])
                let newest = try #require(try await Self.history(connection).first)
                #expect(newest == Version(content: shipped, account: nil, note: dropped))
                for replacesBoxes in [true, false] {
                    let again = try await Conference.migrator(connection, replacesBoxes: replacesBoxes).applying()
                    #expect(again.steps.isEmpty && again.notes.isEmpty)
                }
            }
        }
    }

    @Test("a box changed between the plan and the run is neither lost nor overwritten")
    func atTheSameTime() async throws {
        try await Self.withOlder { connection in
            let prepared = try await Conference.migrator(connection)
            let older = "# An older version.\n" + (try Self.shipped())
            try await Self.change(
                older.replacing("createEvent: {verified: true", with: "createEvent: {verified: false"), connection)
            let error = await #expect(throws: MigrationError.self) { try await prepared.apply() }
            #expect(error?.isRetryable == true)
            let plan = try await Conference.migrator(connection).applying()
            #expect(
                plan.notes == [
                    "Rules of conference: Kept 1 box that was changed in the admin server: "
                        + "'verified' users don't have 'createEvent'."
                ])
        }
    }

    @Test("a change that the file has adopted belongs to the file from then on")
    func adopted() async throws {
        try await Self.withOlder { connection in
            let adopted = try #require(try await Self.history(connection).first).content
            let plan = try await Self.apply(adopted, connection)
            #expect(plan.steps.map(\.name) == ["rules of conference"] && plan.notes.isEmpty)
            let second = try await Self.apply(adopted, connection)
            #expect(second.steps.isEmpty)
            // So a later version of the file may tick the box again.
            #expect(try await Conference.migrator(connection).applying().notes.isEmpty)
            let newest = try #require(try await Self.history(connection).first)
            let shipped = try Self.shipped()
            #expect(newest.content == shipped)
        }
    }

    @Test("'conference setup' prints what it keeps, even in a dry run")
    func program() async throws {
        try await Self.withOlder { connection in
            let configuration = connection.configuration
            let address = [
                "host=\(configuration.keywords["host"] ?? "")", "port=\(configuration.keywords["port"] ?? "5432")",
                "connect_timeout=600", "user=\(configuration.user ?? "")", "dbname=\(configuration.database ?? "")",
            ].joined(separator: " ")
            func setup(_ arguments: String...) async throws -> ProgramRun.Outcome {
                try await BuiltProgram("conference", "ConferenceTool").run(
                    ["setup"] + arguments, environment: ["TOMBOLO_DATABASE_URL": address])
            }
            let plan = try await setup("--dry-run")
            #expect(plan.status == 0 && plan.output.contains("-- Rules of conference: \(Self.kept)"), "\(plan)")
            let replaced = try await setup("--dry-run", "--replace-boxes")
            #expect(replaced.output.contains("-- Rules of conference: Took the file as it is"), "\(replaced)")
            let done = try await setup()
            #expect(done.status == 0 && done.output.contains("Rules of conference: \(Self.kept)"), "\(done)")
            let again = try await setup()
            #expect(again.output.contains("up to date") && !again.output.contains("Kept"), "\(again)")
        }
    }
}
