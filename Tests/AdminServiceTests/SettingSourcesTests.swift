import Testing
import TomboloAuthentication
import TomboloHTTP

@testable import AdminService

/// Where the values of settings that can be changed in the panel come from, without a database.
@Suite struct SettingSourcesTests {
    @Test("variables override the panel, the panel overrides the defaults, and an empty variable counts as unset")
    func precedence() throws {
        let entered: [ChangeableSetting: String] = [
            .secondFactor: "everybody", .keptBackups: "9", .address: "https://panel.example.org/",
        ]
        let sources = SettingSources(
            environment: [
                "TOMBOLO_SECOND_FACTOR": "everywhere", "TOMBOLO_BACKUP_KEEP": "", "TOMBOLO_BACKUP_EVERY": "6",
            ],
            options: ["TOMBOLO_INVITATION_URL": "https://example.org/join"])
        let (values, refused) = try sources.values(entered)
        #expect(refused.isEmpty)
        #expect(values.secondFactor == .everywhere)
        #expect(values.backups.keptCount == 9 && values.backups.interval == .seconds(6 * 3_600))
        #expect(values.address?.text == "https://panel.example.org")
        #expect(values.invitationTarget == "https://example.org/join")
        #expect(values.mail == nil && values.tiles == nil)
        let usual = try SettingSources(environment: [:]).values([:]).values
        #expect(usual.secondFactor == .optional && usual.backups == BackupSchedule() && usual.address == nil)
        #expect(usual.invitationTarget == nil)
    }

    @Test("invitations link to the panel's own page once there is an address, and defaults come last")
    func address() throws {
        let usual = SettingValues(address: try AdminAddress("http://localhost:8081"))
        let sources = SettingSources(environment: [:], defaults: usual)
        #expect(try sources.values([:]).values.invitationTarget == "http://localhost:8081/panel/invitation")
        let values = try sources.values([.address: "https://admin.example.org"]).values
        #expect(values.invitationTarget == "https://admin.example.org/panel/invitation")
    }

    @Test("mail sent to a URL uses the variable's secret, and a map takes its attribution from either source")
    func parts() throws {
        let sources = SettingSources(
            environment: ["TOMBOLO_MAIL_SECRET": "hunter2", "TOMBOLO_MAP_ATTRIBUTION": "© Land Survey"])
        let values = try sources.values([
            .mail: "https://mail.example.org/x", .mapTiles: "https://a.example/{z}/{x}/{y}",
            .mapAttribution: "© Panel",
        ]).values
        guard case .http(let url, let secret)? = values.mail else {
            Issue.record("\(String(describing: values.mail))")
            return
        }
        #expect(url == "https://mail.example.org/x" && secret == "hunter2")
        #expect(values.tiles?.attribution.text == "© Land Survey" && values.tiles?.origin == "https://a.example")
    }

    @Test("a variable may name a program or folder for mail, and an invalid one keeps the server from starting")
    func variables() throws {
        let settings = try LiveSettings(environment: ["TOMBOLO_MAIL": "command:/bin/true"])
        guard case .command(["/bin/true"])? = settings.current.mail else {
            Issue.record("\(String(describing: settings.current.mail))")
            return
        }
        let environment = ["TOMBOLO_MAP_TILES": "tiles", "TOMBOLO_BACKUP_EVERY": "x", "TOMBOLO_ADMIN_URL": "admin"]
        let error = #expect(throws: ConfigurationError.self) { try LiveSettings(environment: environment) }
        #expect(error?.problems.count == 3, "\(error?.description ?? "")")
    }

    @Test(
        "values not allowed in the panel are refused with the reason, and are ignored even if the database has them",
        arguments: [
            ("TOMBOLO_MAIL", "command:/bin/true", "begins with https://"),
            ("TOMBOLO_MAIL", "folder:/tmp/mails", "begins with https://"),
            ("TOMBOLO_MAIL", "http://localhost:8025/", "begins with https://"),
            ("TOMBOLO_MAIL", "https:///path", "begins with https://"),
            ("TOMBOLO_MAIL", "https://", "begins with https://"),
            ("TOMBOLO_MAIL", "https://me:secret@mail.example.org/", "begins with https://"),
            ("TOMBOLO_MAIL", " https://mail.example.org", "begins with https://"),
            ("TOMBOLO_MAIL", "https://mail.example.org/\nx", "control characters"),
            ("TOMBOLO_MAIL", "", "Enter a value."), ("TOMBOLO_BACKUP_KEEP", "", "or use the default"),
            ("TOMBOLO_MAIL", "https://\(String(repeating: "a", count: 2_000))", "longer than 2000 bytes"),
            ("TOMBOLO_MAIL", "https://mail.example.org:99999/", "begins with https://"),
            ("TOMBOLO_MAIL", "https://../hook", "begins with https://"),
            ("TOMBOLO_ADMIN_URL", "ftp://example.org", "TOMBOLO_ADMIN_URL is 'ftp://example.org'"),
            ("TOMBOLO_ADMIN_URL", "https://evil.example/a b", "without spaces"),
            ("TOMBOLO_ADMIN_URL", "https://evil/\"><b>", "TOMBOLO_ADMIN_URL is"),
            ("TOMBOLO_ADMIN_URL", "https://a.example/ü", "TOMBOLO_ADMIN_URL is"),
            ("TOMBOLO_ADMIN_URL", "https://x:99999", "TOMBOLO_ADMIN_URL is"),
            ("TOMBOLO_INVITATION_URL", "https://evil/<script>", "https:// or http://"),
            ("TOMBOLO_INVITATION_URL", "javascript://example.org/%0aalert(1)", "https:// or http://"),
            ("TOMBOLO_SECOND_FACTOR", "ignored", "choose optional, everywhere or everybody"),
            ("TOMBOLO_MAP_TILES", "https://a.example; script-src *//{z}/{x}/{y}", "TOMBOLO_MAP_TILES is"),
            ("TOMBOLO_MAP_TILES", "https://a.example:00000/{z}/{x}/{y}", "host and the port"),
            ("TOMBOLO_MAP_TILES", "https://../{z}/{x}/{y}", "host and the port"),
            ("TOMBOLO_BACKUP_EVERY", "-1", "from 1 to 8760"), ("TOMBOLO_BACKUP_KEEP", "0", "from 1 to 500"),
        ])
    func refused(_ name: String, _ text: String, _ reason: String) throws {
        let setting = try #require(ChangeableSetting(name: name))
        let problem = try #require(setting.problem(with: text))
        #expect(problem.contains(reason), "\(problem)")
        let (values, refused) = try SettingSources(environment: [:]).values([setting: text])
        #expect(refused == [setting: problem])
        #expect(values.mail == nil && values.address == nil && values.invitationLink == nil && values.tiles == nil)
        #expect(values.secondFactor == (setting == .secondFactor ? .everybody : .optional))
        #expect(values.backups == BackupSchedule())
    }

    @Test("the part of an address that people see is no longer than a value may be")
    func lengths() {
        let text = "https://a.example/" + String(repeating: "a", count: 1_981) + "?"
        #expect(ChangeableSetting.invitationLink.problem(with: text) == nil)
        #expect(ChangeableSetting.invitationLink.shown(text).utf8.count <= 2_000)
    }

    @Test(
        "values allowed in the panel are also valid when a server starts",
        arguments: [
            ("TOMBOLO_MAIL", "https://mail.example.org:8443/hook?x=1"), ("TOMBOLO_ADMIN_URL", "http://admin.intern/a"),
            ("TOMBOLO_ADMIN_URL", "https://[2001:db8::7]:8443"),
            ("TOMBOLO_INVITATION_URL", "https://xn--bcher-kva.example/"),
            ("TOMBOLO_INVITATION_URL", "https://example.org/join?x=1"), ("TOMBOLO_SECOND_FACTOR", "everybody"),
            ("TOMBOLO_MAP_TILES", "https://a.example/{z}/{x}/{y}.png"), ("TOMBOLO_MAP_ATTRIBUTION", "© Land Survey"),
            ("TOMBOLO_BACKUP_EVERY", "0"), ("TOMBOLO_BACKUP_KEEP", "500"),
        ])
    func accepted(_ name: String, _ text: String) throws {
        let setting = try #require(ChangeableSetting(name: name))
        #expect(setting.problem(with: text) == nil)
        #expect(try LiveSettings(environment: [name: text]).isFixed(setting))
    }

    @Test("no secret, file, program or database can be changed in the panel")
    func harmless() throws {
        for setting in ChangeableSetting.allCases {
            let variable = try #require(AdminServer.variables.first { $0.name == setting.name })
            switch variable.kind {
            case .plain, .link, .mail: break
            case .secret, .database: Issue.record("\(setting.name)")
            }
        }
        #expect(ChangeableSetting(name: MailHook.secretVariable) == nil)
        #expect(ChangeableSetting(name: BackupSettings.folderVariable) == nil)
    }
}
