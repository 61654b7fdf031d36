import AdminService
import HTTPTypes
import HummingbirdTesting
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloMigration
import TomboloServerModel

/// Changes that are refused, and what the page then says.
extension ModelChangePagesTests {
    @Test("every mistake in both documents is listed, and both texts stay in the form")
    func mistakes() async throws {
        try await Self.with { fixture, _, client in
            let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
            var form = try Self.form(try await browser.get(Self.path).text)
            let models = try #require(form["models"])
            form["models"] = models.replacing("\"indexed\": true", with: "\"indxed\": true", maxReplacements: 1)
                .replacing("\"type\": \"date\"", with: "\"type\": \"dat\"", maxReplacements: 1)
            let rules = try #require(form["rules"])
            form["rules"] = rules.replacing("applyWhen: {}", with: "applyWhen: {", maxReplacements: 1)
            let answer = try await browser.post("\(Self.path)/plan", form)
            #expect(answer.status == 422)
            for text in ["indxed", "Did you mean", "&#39;dat&#39; isn&#39;t a type", "<li>rules of conference:"] {
                #expect(answer.text.contains(text), "\(text): \(answer.text)")
            }
            #expect(try Self.form(answer.text) == form)
            // Names in rules are checked against the model once the model itself is valid.
            let named = rules.replacing("applyWhen: {}", with: "applyWhn: {}", maxReplacements: 1)
            let unknown = try await browser.post(
                "\(Self.path)/plan", form.merging(["models": models, "rules": named]) { $1 })
            #expect(unknown.status == 422, "\(unknown.text)")
            #expect(unknown.text.contains(/<li>[^<]*applyWhn/), "\(unknown.text)")
            let broken = try await browser.post("\(Self.path)/plan", form.merging(["models": "{"]) { $1 })
            #expect(broken.status == 422 && broken.text.contains("isn&#39;t valid JSON"))
            let foreign = models.replacing("\"app\": \"conference\"", with: "\"app\": \"other\"")
            let other = try await browser.post("\(Self.path)/plan", form.merging(["models": foreign]) { $1 })
            #expect(other.status == 422 && other.text.contains("whose name stays"))
            #expect(try await Self.version(fixture) == 2)
        }
    }

    @Test("names reserved by the trash and by PostgreSQL are refused")
    func reserved() async throws {
        try await Self.with { fixture, _, client in
            let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
            let form = try Self.form(try await browser.get(Self.path).text)
            let models = try #require(form["models"])
            for (name, message) in [
                ("\"name\": \"trashedAt\", \"type\": \"date?\"", "the column trashed_at is reserved"),
                (
                    "\"name\": \"why\", \"column\": \"trash_reason\", \"type\": \"string?\"",
                    "the column trash_reason is reserved"
                ),
            ] {
                let changed = models.replacing(
                    "\"name\": \"color\", \"type\"", with: "\(name)}, {\"name\": \"color\", \"type\"",
                    maxReplacements: 1)
                try #require(changed != models)
                let answer = try await browser.post("\(Self.path)/plan", form.merging(["models": changed]) { $1 })
                #expect(answer.status == 422 && answer.text.contains(message), "\(name): \(answer.text)")
            }
            let table = models.replacing("\"table\": \"track\"", with: "\"table\": \"pg_class\"", maxReplacements: 1)
            try #require(table != models)
            let answer = try await browser.post("\(Self.path)/plan", form.merging(["models": table]) { $1 })
            #expect(answer.status == 422, "\(answer.text)")
            #expect(try await Self.version(fixture) == 2)
        }
    }

    @Test("the plan for a rename lists the functions that use the old name")
    func mentions() async throws {
        try await Self.with { _, _, client in
            let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
            let form = try await Self.edited(
                browser, nil, ["wish": "rename", "renamed": "Event.state", "newName": "status"])
            let (plan, _) = try await Self.planned(browser, form)
            #expect(plan.contains("The function tombolo.publish_event has the word &#39;state&#39;"), "\(plan)")
            #expect(!plan.contains("The function tombolo.image_"))
        }
    }

    @Test("a small form that is invalid or wasn't applied keeps what was entered")
    func wishes() async throws {
        try await Self.with { _, _, client in
            let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
            let form = try Self.form(try await browser.get(Self.path).text)
            for (wish, message) in [
                (["wish": "addClass", "className": "1 boat"], "valid Swift name"),
                (["wish": "addClass", "className": "Track"], "declared twice"),
                (["wish": "addProperty", "propertyName": "motto", "propertyType": "string"], "Choose the class"),
                (Self.motto.merging(["propertyType": "strng"]) { $1 }, "Choose the type"),
                (Self.motto.merging(["propertyType": "int", "values": "1\ntwo"]) { $1 }, "must be whole numbers"),
                (Self.motto.merging(["propertyName": "description"]) { $1 }, "has a member called"),
                (["wish": "rename", "renamed": "Track.name", "newName": "color"], "declared twice"),
                (["wish": "rename", "renamed": "Track.name", "newName": "hash"], "has a member called"),
                (["wish": "drop", "dropped": "Track"], "isn&#39;t in the document"),
            ] {
                let sent = form.merging(wish) { $1 }
                let answer = try await browser.post("\(Self.path)/edit", sent)
                #expect(answer.status == 422 && answer.text.contains(message), "\(message): \(answer.text)")
                #expect(try Self.form(answer.text) == form)
            }
            let unused = try await browser.post("\(Self.path)/plan", form.merging(["className": "Boat"]) { $1 })
            #expect(unused.status == 422 && unused.text.contains("value=\"Boat\""))
            let same = try await browser.post("\(Self.path)/plan", form)
            #expect(same.status == 422 && same.text.contains("There is nothing to change"))
        }
    }

    @Test("if documents or tables have changed since the plan was shown, the page says so and nothing is done")
    func stale() async throws {
        try await Self.with { fixture, _, client in
            let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
            let form = try await Self.edited(browser, nil, Self.motto)
            let (_, fields) = try await Self.planned(browser, form)
            try await fixture.pool.execute("ALTER TABLE track ADD COLUMN motto text COLLATE \"C\"")
            let changed = try await browser.post("\(Self.path)/apply", fields)
            #expect(changed.status == 409 && changed.text.contains("this is what would happen now"), "\(changed.text)")
            try await fixture.pool.execute("ALTER TABLE track DROP COLUMN motto")

            let box = [
                "role": "moderator", "service": "tracks", "operation": "create", "allowed": "true", "version": "2",
            ]
            #expect(try await browser.post("/panel/permissions/box?app=conference", box).status == 303)
            for action in ["plan", "apply"] {
                let sent = action == "plan" ? form : fields
                let answer = try await browser.post("\(Self.path)/\(action)", sent)
                #expect(answer.status == 409, "\(answer.text)")
                #expect(answer.text.contains("/panel/documents/3?against=2"), "\(answer.text)")
                #expect(try Self.form(answer.text)["models"] == form["models"])
            }
            #expect(try await Self.version(fixture) == 3)
            #expect(!(try await Self.columns(fixture, "track").contains("motto")))
        }
    }

    @Test("a failed step rolls everything back, and the page says why and links back to the text")
    func failure() async throws {
        try await Self.with { fixture, _, client in
            try await fixture.pool.execute(
                """
                CREATE FUNCTION public.refuse() RETURNS event_trigger LANGUAGE plpgsql AS
                $$ BEGIN RAISE EXCEPTION 'no new columns today'; END $$;
                CREATE EVENT TRIGGER refuse ON ddl_command_end WHEN TAG IN ('ALTER TABLE')
                EXECUTE FUNCTION public.refuse()
                """)
            let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
            let form = try await Self.edited(browser, nil, Self.boat, Self.boatName, Self.motto)
            let (_, fields) = try await Self.planned(browser, form)
            #expect(try await browser.post("\(Self.path)/apply", fields).status == 303)
            let run = try await browser.get(Self.runPath).text
            #expect(run.contains("no new columns today") && !run.contains(">done<"), "\(run)")
            #expect(try await Self.columns(fixture, "boat").isEmpty)
            #expect(try await Self.version(fixture) == 2)
            let back = try await browser.get("\(Self.path)?again=yes").text
            #expect(try Self.form(back)["models"] == form["models"])
            #expect(try Self.form(try await browser.get(Self.path).text)["models"] != form["models"])

            try await fixture.pool.execute("DROP EVENT TRIGGER refuse")
            #expect(try await browser.post("\(Self.path)/apply", fields).status == 303)
            #expect(try await browser.get(Self.runPath).text.contains(">done<"))
        }
    }

    @Test("while another migration runs, nothing is done, and the page says so")
    func busy() async throws {
        try await Self.with { fixture, _, client in
            let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
            let (_, fields) = try await Self.planned(browser, try await Self.edited(browser, nil, Self.motto))
            try await fixture.pool.withConnection { connection in
                try await connection.query("SELECT pg_advisory_lock($1)", [.int64(DocumentTable.lockKey)])
                #expect(try await browser.post("\(Self.path)/apply", fields).status == 303)
                #expect(
                    try await browser.get(Self.runPath).text.contains("Another migration of this database is running"))
                try await connection.query("SELECT pg_advisory_unlock($1)", [.int64(DocumentTable.lockKey)])
            }
            #expect(!(try await Self.columns(fixture, "track").contains("motto")))
        }
    }

    @Test("an unfinished change isn't shown as done, and no second change can start")
    func waiting() async throws {
        try await Self.with(runs: false) { _, _, client in
            let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
            #expect(try await browser.get(Self.runPath).text.contains("changed any model"))
            let (_, fields) = try await Self.planned(browser, try await Self.edited(browser, nil, Self.motto))
            #expect(try await browser.post("\(Self.path)/apply", fields).status == 303)
            let run = try await browser.get(Self.runPath).text
            #expect(run.contains("data-follow") && run.contains(">waiting<") && !run.contains(">done<"), "\(run)")
            // The same button, pressed twice.
            let again = try await browser.post("\(Self.path)/apply", fields)
            #expect(again.status == 303 && again.headers[.location] == Self.runPath, "\(again.text)")
            let (_, others) = try await Self.planned(browser, try await Self.edited(browser, nil, Self.boat))
            let second = try await browser.post("\(Self.path)/apply", others.merging(["agreed": "yes"]) { $1 })
            #expect(second.status == 503 && second.text.contains("under way"), "\(second.text)")
        }
    }

    @Test("a database user who can't act as the tables' owner isn't used")
    func users() async throws {
        try await Self.with(user: { $0.adminServer.pool.configuration }) { fixture, _, client in
            let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
            let form = try await Self.edited(browser, nil, Self.motto)
            let answer = try await browser.post("\(Self.path)/plan", form)
            #expect(answer.status == 503 && answer.text.contains("ALTER ROLE"), "\(answer.text)")
            #expect(try Self.form(answer.text) == form)
        }
    }

    @Test("only super administrators can change models, and not while viewing as somebody else")
    func access() async throws {
        try await Self.with { fixture, app, client in
            let pattern = "/panel/models/{app}"
            let routes = app.routes.filter {
                ($0.path.hasPrefix(pattern) || $0.path == Self.runPath) && $0.method != "HEAD"
            }
            #expect(
                Set(routes.map { "\($0.method) \($0.path)" }) == [
                    "GET \(pattern)", "GET \(pattern)/download", "POST \(pattern)/edit", "POST \(pattern)/plan",
                    "POST \(pattern)/apply", "GET \(Self.runPath)",
                ])
            #expect(routes.allSatisfy { $0.access == "update the permission matrix of every app" && !$0.isOpen })
            func statuses(_ browser: PanelBrowser) async throws -> Set<Int> {
                var found: Set<Int> = []
                for page in [Self.path, "\(Self.path)/download", Self.runPath] {
                    found.insert(try await browser.get(page).status)
                }
                for action in ["edit", "plan", "apply"] {
                    found.insert(try await browser.post("\(Self.path)/\(action)", ["models": "{}"]).status)
                }
                return found
            }
            for role in ["admin", "owner", "attendee"] {
                let browser = try await PanelBrowser.loggedIn(client, as: role)
                #expect(try await statuses(browser) == [403], "\(role)")
                #expect(!(try await browser.get("/panel/documents").text.contains(Self.path)), "\(role)")
            }
            let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
            #expect(try await browser.send("\(Self.path)/apply", [:], token: "x").status == 403)
            #expect(try await browser.get("/panel/models/nothing").status == 404)
            for user in ["superAdmin", "attendee"] {
                let id = try #require(fixture.users[user])
                #expect(try await browser.post("/panel/view-as", ["user": "\(id)"]).status == 303)
                #expect(try await statuses(browser) == [403], "\(user)")
                #expect(try await browser.post("/panel/view-as/end").status == 303)
            }
        }
    }

    @Test("applying asks for the password, and the texts aren't lost")
    func password() async throws {
        try await Self.with { fixture, _, client in
            let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
            let (_, fields) = try await Self.planned(browser, try await Self.edited(browser, nil, Self.motto))
            try await PanelBrowser.ageProofs(fixture.pool)
            let asked = try await browser.post("\(Self.path)/apply", fields)
            #expect(asked.text.contains(#"name="_password""#))
            var again = Dictionary(PanelBrowser.hidden(asked.text)) { first, _ in first }
            again["_token"] = nil
            #expect(again == fields)
            #expect(try await Self.version(fixture) == 2)
            again["_password"] = ServiceFixture.password
            #expect(try await browser.post("\(Self.path)/apply", again).status == 303)
            #expect(try await browser.get(Self.runPath).text.contains(">done<"))
        }
    }

    @Test("a server without a database user for it changes no models, and says how to enable that")
    func off() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                for path in [Self.path, Self.runPath] { #expect(try await browser.get(path).status == 404) }
                #expect(try await browser.get("/panel/documents").text.contains("TOMBOLO_MIGRATION_URL"))
                let admin = try await PanelBrowser.loggedIn(client, as: "admin")
                #expect(!(try await admin.get("/panel/documents").text.contains("TOMBOLO_MIGRATION_URL")))
            }
        }
        func read(_ url: String) throws(ConfigurationError) -> ModelChanges? {
            try ModelChanges.ofEnvironment(["TOMBOLO_MIGRATION_URL": url]) { DatabaseMigrations($0) }
        }
        #expect(try read("") == nil)
        let error = #expect(throws: ConfigurationError.self) { _ = try read("postgresql://u:hunter2@%zz") }
        #expect(error?.problems.first?.contains("hunter2") == false)
    }
}
