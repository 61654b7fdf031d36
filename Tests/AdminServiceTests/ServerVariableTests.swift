import AdminService
import Testing
import TomboloHTTP

@Suite struct ServerVariableTests {
    @Test("the help lists each variable once, with its default, in lines that fit a terminal")
    func help() {
        let help = ServerVariable.help(AdminServer.variables)
        let lines = help.split(separator: "\n")
        #expect(lines.allSatisfy { $0.count < 80 }, "\(help)")
        let names = lines.filter { $0.hasPrefix("  TOMBOLO_") }.map { $0.split(separator: " ")[0] }
        #expect(names == AdminServer.variables.map { $0.name[...] })
        #expect(Set(names).count == names.count)
        #expect(help.contains("  TOMBOLO_HOST          the address to listen on (127.0.0.1)\n"))
    }

    @Test(
        "a variable's displayed value has no password, key, query or argument",
        arguments: [
            ("TOMBOLO_JWT_SECRET", "hunter2", "set"),
            ("TOMBOLO_MAIL_SECRET", "hunter2", "set"),
            (
                "TOMBOLO_DATABASE_URL", "postgresql://admin_1:hunter2@db:5432/tombolo?sslpassword=hunter2",
                "postgresql://admin_1@db:5432/tombolo"
            ),
            (
                "TOMBOLO_DATABASE_URL", "host=db user=admin_1 password=hunter2 dbname=tombolo options='-c a.b=hunter2'",
                "postgresql://admin_1@db/tombolo"
            ),
            ("TOMBOLO_DATABASE_URL", "postgresql://hunter2:%zz", "set"),
            ("TOMBOLO_MAIL", "https://me:hunter2@mail.example.org/hunter2?key=hunter2", "https://mail.example.org/…"),
            ("TOMBOLO_MAIL", "command:/usr/bin/send --key hunter2", "command:/usr/bin/send …"),
            ("TOMBOLO_MAIL", "command:/usr/bin/send", "command:/usr/bin/send"),
            ("TOMBOLO_MAIL", "folder:/var/mails", "folder:/var/mails"),
            (
                "TOMBOLO_INVITATION_URL", "https://me:hunter2@example.org/join?key=hunter2#hunter2",
                "https://example.org/join?…"
            ),
            (
                "TOMBOLO_MAP_TILES", "https://tile.example.org/{z}/{x}/{y}.png?key=hunter2",
                "https://tile.example.org/{z}/{x}/{y}.png?…"
            ),
            ("TOMBOLO_ADMIN_PORT", "8081", "8081"),
        ])
    func shown(_ name: String, _ value: String, _ expected: String) throws {
        let variable = try #require(AdminServer.variables.first { $0.name == name })
        #expect(variable.shown(value) == expected)
        #expect(!"\(ServerSettings(environment: [name: value]))".contains("hunter2"))
    }
}
