import ChildPrograms
import Foundation
import PostgresClient
import TestSupport
import Testing
import TomboloAuthentication
import TomboloMigration
import TomboloModel
import TomboloServerModel

/// `migration-tool rules` as an operator runs it.
@Suite(.timeLimit(.minutes(15))) struct RuleCommandTests {
    private static let models = """
        {
          "format": 1,
          "app": "homes",
          "classes": [
            {
              "name": "Listing",
              "table": "listing",
              "properties": [
                {"name": "_id", "type": "int", "primaryKey": true},
                {"name": "owner", "type": "objectId?"},
                {"name": "team", "type": "string?"}
              ]
            },
            {
              "name": "Membership",
              "table": "membership",
              "properties": [
                {"name": "_id", "type": "objectId", "primaryKey": true},
                {"name": "user", "type": "objectId"},
                {"name": "role", "type": "string"},
                {"name": "team", "type": "string"},
                {"name": "office", "type": "embedded<Address>?"}
              ]
            },
            {"name": "Address", "embedded": true, "properties": [{"name": "street", "type": "string"}]}
          ]
        }
        """

    private static let rules = """
        grants: {class: Membership, user: user, role: role, scope: team}
        Listing:
          - name: staff
            applyWhen: {"%%user.custom_data.isStaff": true}
            write: true
            search: true
          - name: member
            applyWhen: {}
            read: {team: {$in: "%%user.grants.member"}}
            write: {owner: "%%user.id"}
        """

    /// A folder for files, and a database with the models' tables.
    private struct Place {
        let folder: URL
        let pool: PostgresPool
        let address: String

        func callAsFunction(_ arguments: String...) async throws -> ProgramRun.Outcome {
            try await BuiltProgram("migration-tool", "MigrationTool").run(
                ["rules"] + arguments, environment: ["TOMBOLO_DATABASE_URL": address])
        }

        func file(_ name: String, _ content: String) throws -> String {
            let url = folder.appending(path: name)
            try Data(content.utf8).write(to: url)
            return url.path()
        }
    }

    private func withPlace(_ body: (Place) async throws -> Void) async throws {
        let configuration = try await TestCluster.shared().createDatabase()
        let pool = PostgresPool(configuration: configuration, options: Databases.poolOptions)
        let schema = try ModelDocument(json: Self.models).schema()
        try await pool.withConnection { connection in
            _ = try await Migrator(connection, schema: schema).apply()
            try await connection.execute(DocumentTable.insertion(app: "homes", kind: .models, content: Self.models))
        }
        var address = "host=\(configuration.keywords["host"] ?? "") port=\(configuration.keywords["port"] ?? "5432")"
        address += " connect_timeout=600 user=\(configuration.user ?? "") dbname=\(configuration.database ?? "")"
        let folder = FileManager.default.temporaryDirectory.appending(path: "rules-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(Place(folder: folder, pool: pool, address: address))
        await pool.shutdown()
    }

    @Test("a document is checked against model documents, without a database")
    func checkOffline() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "rules-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func file(_ name: String, _ content: String) throws -> String {
            let url = folder.appending(path: name)
            try Data(content.utf8).write(to: url)
            return url.path()
        }
        func check(_ arguments: String...) async throws -> ProgramRun.Outcome {
            try await BuiltProgram("migration-tool", "MigrationTool").run(["rules", "check"] + arguments)
        }
        let models = try file("models.json", Self.models)
        let good = try file("good.yaml", Self.rules)
        let bad = try file("bad.yaml", "Listing: [{name: a, applyWhen: {}, read: {teem: x}, write: {owner: 5}}]")
        let fine = try await check(good, "--models", models)
        #expect(fine.status == 0, "\(fine.messages)")
        #expect(fine.output.contains("'search' is ignored") && fine.output.contains("The rules are fine."))
        let refused = try await check(bad, "--models", models)
        #expect(refused.status == 1)
        #expect(refused.messages.contains("The rules have 2 mistakes:"), "\(refused.messages)")
        #expect(
            refused.messages.contains(
                "bad.yaml:1: Listing, role 'a', read: Listing has no property 'teem'; did you mean"))
        #expect(
            try await check(good, "--models", models, "--rules", bad).status == 64,
            "An option that would be ignored should be refused.")
        #expect(try await check(good, "--models", models, "--app", "nope").status == 64)
        let newer = try file("newer.json", Self.models.replacing("\"format\": 1", with: "\"format\": 2"))
        let advice = try await check(good, "--models", newer).messages
        #expect(advice.contains("Update this program") && !advice.contains("Export it again."), "\(advice)")
        #expect(
            try await check(good, good, "--models", models).messages.contains("only one document can have them"))
        let missing = try await check(folder.appending(path: "no.yaml").path(), "--models", models)
        #expect(missing.status == 1 && missing.messages.contains("Can't read the file"))
        #expect(try await check(good, "--models", good).status == 1)
        #expect(try await check().status == 64)
    }

    @Test("a document is stored only once, mistakes store nothing, and the newest document applies")
    func apply() async throws {
        try await withPlace { place in
            let good = try place.file("good.yaml", Self.rules)
            let stored = try await place("apply", good)
            #expect(stored.status == 0, "\(stored.messages)")
            #expect(stored.output.contains("Stored the rules as version 2."), "\(stored.output)")
            #expect(try await place("apply", good, "--app", "homes").output.contains("The rules haven't changed."))
            let bad = try place.file("bad.yaml", "Listings: []")
            let refused = try await place("apply", bad)
            #expect(refused.status == 1)
            #expect(refused.messages.contains("bad.yaml:1: there is no class 'Listings'; did you mean 'Listing'?"))
            #expect(try await place("check", bad).status == 1)
            #expect(try await place("check", good).status == 0)
            let unknown = try await place("apply", good, "--app", "home")
            #expect(unknown.messages.contains("There is no app 'home' in the database; did you mean 'homes'?"))
            #expect(try await ServerModels.load(place.pool).current.ruleDocuments == ["homes": Self.rules])
            let newer = try place.file("newer.yaml", "Listing: []")
            #expect(try await place("apply", newer).output.contains("version 3"))
            #expect(try await ServerModels.load(place.pool).current.ruleDocuments == ["homes": "Listing: []"])
            // Storing the first document again counts as a change.
            #expect(try await place("apply", good).output.contains("version 4"))
        }
    }

    @Test("a user's rights are explained from the database's current contents")
    func explain() async throws {
        try await withPlace { place in
            _ = try await place("apply", try place.file("good.yaml", Self.rules))
            let registry = AccountRegistry(pool: place.pool)
            let ann = try await registry.register(
                email: "ann@example.org", password: "correct horse", displayName: "Ann")
            try await place.pool.query("INSERT INTO listing (_id, team) VALUES (7, 'West')")
            let other = try await place("explain", "--user", "ann@example.org", "--class", "Listing", "--key", "7")
            #expect(other.status == 0, "\(other.messages)")
            #expect(other.output.contains("role 'staff' (rules of homes:3) doesn't apply"), "\(other.output)")
            #expect(
                other.output.contains("owner == \(ann) (%%user.id), but it is nil")
                    && other.output.contains("%%user.grants.member is empty"))
            try await place.pool.query(
                #"INSERT INTO membership (_id, "user", role, team) VALUES ($1, $2, 'member', 'West')"#,
                [.bytea(ann.bytes), .bytea(ann.bytes)])
            let member = try await place("explain", "--user", "\(ann)", "--class", "Listing", "--key", "7")
            #expect(member.output.contains("; this one too"), "\(member.output)")
            try await registry.setCustomData(#"{"isStaff": true}"#, email: "ann@example.org")
            let staff = try await place("explain", "--user", "ann@example.org", "--class", "Listing")
            #expect(staff.output.contains("role 'staff' (rules of homes:3) applies"))
            #expect(staff.output.contains("update: all objects"))
            for (arguments, message) in [
                (["--user", "ben@example.org", "--class", "Listing"], "There is no account ben@example.org"),
                (["--user", "ann@example.org", "--class", "Listings"], "did you mean 'Listing'?"),
                (
                    ["--user", "ann@example.org", "--class", "Address"],
                    "Address is an embedded class: what a user may do with its objects depends on the objects that "
                        + "contain them. Ask about Membership."
                ),
                (
                    ["--user", "ann@example.org", "--class", "Listing", "--key", "x"],
                    "'x' isn't a valid key of Listing"
                ),
                (
                    ["--user", "ann@example.org", "--class", "Listing", "--key", "8"],
                    "There is no Listing with the key 8"
                ),
            ] {
                let outcome = try await BuiltProgram("migration-tool", "MigrationTool").run(
                    ["rules", "explain"] + arguments, environment: ["TOMBOLO_DATABASE_URL": place.address])
                #expect(outcome.status == 1 && outcome.messages.contains(message), "\(outcome.messages)")
            }
        }
    }

    @Test("a document can be tried out before it is stored")
    func explainCandidate() async throws {
        try await withPlace { place in
            _ = try await place("apply", try place.file("good.yaml", Self.rules))
            let registry = AccountRegistry(pool: place.pool)
            try await registry.register(email: "ann@example.org", password: "correct horse", displayName: "Ann")
            try await place.pool.query("INSERT INTO listing (_id, team) VALUES (7, 'West')")
            let asked = ["--user", "ann@example.org", "--class", "Listing", "--key", "7"]
            func explain(_ more: String...) async throws -> ProgramRun.Outcome {
                try await BuiltProgram("migration-tool", "MigrationTool").run(
                    ["rules", "explain"] + asked + more, environment: ["TOMBOLO_DATABASE_URL": place.address])
            }
            let wider = try place.file("wider.yaml", "Listing:\n  - {name: anybody, applyWhen: {}, read: {team: West}}")
            let tried = try await explain("--rules", wider)
            #expect(tried.status == 0, "\(tried.messages)")
            #expect(
                tried.output.contains("role 'anybody' (\(wider):2) applies") && tried.output.contains("; this one too"),
                "\(tried.output)")
            #expect(try await explain("--rules", wider, "--app", "homes").output == tried.output)
            #expect(try await explain().output.contains("role 'member' (rules of homes:7) applies"))
            #expect(try await ServerModels.load(place.pool).current.ruleDocuments == ["homes": Self.rules])
            let bad = try place.file("bad.yaml", "Listing: [{name: a, applyWhen: {}, read: {teem: x}}]")
            let refused = try await explain("--rules", bad)
            #expect(refused.status == 1 && refused.messages.contains("bad.yaml:1: Listing, role 'a', read:"))
            #expect(try await explain("--rules", wider, "--app", "home").messages.contains("did you mean 'homes'?"))
            #expect(try await explain("--app", "homes").status == 64)
        }
    }

    @Test("two apps each have a rule document, which can't decide about classes of the other app or unknown ones")
    func twoApps() async throws {
        try await withPlace { place in
            let crm = """
                {"format": 1, "app": "crm", "classes": [{"name": "Lead", "table": "lead", "properties": [
                  {"name": "_id", "type": "objectId", "primaryKey": true}, {"name": "owner", "type": "string"}]}]}
                """
            let models = try place.file("crm.json", crm)
            let applied = try await BuiltProgram("migration-tool", "MigrationTool").run(
                ["apply", "--models", models], environment: ["TOMBOLO_DATABASE_URL": place.address])
            #expect(applied.status == 0, "\(applied.messages)")
            let homes = try place.file("homes.yaml", Self.rules)
            let leads = try place.file("leads.yaml", "Lead: [{name: all, applyWhen: {}, read: true}]")
            let unnamed = try await place("apply", homes)
            #expect(unnamed.status == 1 && unnamed.messages.contains("crm, homes"), "\(unnamed.messages)")
            #expect(try await place("apply", homes, "--app", "homes").status == 0)
            #expect(try await place("apply", leads, "--app", "crm").status == 0)
            let before = try await ServerModels.load(place.pool).current.ruleDocuments
            #expect(before.keys.sorted() == ["crm", "homes"])

            let foreign = try await place("apply", leads, "--app", "homes")
            #expect(foreign.status == 1)
            #expect(
                foreign.messages.contains(
                    "leads.yaml:1: Lead belongs to another app, and only that app's rules apply to it."),
                "\(foreign.messages)")
            let stray = try place.file("stray.yaml", "Lead: []\nOffer: [{name: all, applyWhen: {}, read: true}]")
            let neither = try await place("apply", stray, "--app", "crm")
            #expect(neither.status == 1)
            #expect(neither.messages.contains("stray.yaml:2: there is no class 'Offer'"), "\(neither.messages)")
            #expect(try await ServerModels.load(place.pool).current.ruleDocuments == before)
        }
    }

    @Test("a database without models says what to do")
    func noModels() async throws {
        try await Databases.withEmpty { connection in
            await #expect(throws: ServerModelError.notMigrated) { try await DocumentTable.newest(connection) }
        }
    }
}
