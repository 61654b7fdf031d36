import Testing
import TomboloModel
import TomboloRuleDocuments
import TomboloRules

private typealias F = MatrixFixture

/// What one user may do that another may not.
@Suite struct AdvantageTests {
    private static let grants =
        "grants: {class: Membership, user: user, role: role, scope: team, roles: [lead, member, staff, help]}\n"

    private static func rules(_ listing: String) throws -> Rules {
        let document = """
            matrix:
              scope: team
              services: {listings: Listing}
              everywhere: {staff: {listings: -ru-}, help: {listings: -r--}}
              roles: {lead: {listings: crud}, member: {listings: -r--}}
            \(listing)
            """
        return try Rules(schema: F.schema.get(), book: RuleBook(parsing: grants + document, file: "rules.yaml"))
    }

    private static func subject(_ roles: [(String, ObjectId?)], name: String = "") -> Subject {
        Subject(
            user: ObjectId(high: 2, low: 1), data: ["name": .string(name)],
            grants: Set(roles.map { RoleGrant(Role($0.0), in: $0.1) }))
    }

    @Test("two users' roles are compared by what they permit, and where")
    func roles() throws {
        let rules = try Self.rules("")
        typealias Case = (
            one: [(String, ObjectId?)], other: [(String, ObjectId?)], found: TomboloRules.Operation?
        )
        let cases: [Case] = [
            ([], [], nil), ([], [("help", nil)], nil), ([("help", nil)], [], .read),
            ([("help", nil)], [("staff", nil)], nil), ([("staff", nil)], [("help", nil)], .update),
            ([("help", nil)], [("help", nil)], nil), ([("member", F.team)], [("help", nil)], nil),
            ([("member", F.team)], [("member", F.otherTeam)], .read),
            ([("member", F.team)], [("member", F.team), ("member", F.otherTeam)], nil),
            ([("member", F.team), ("member", F.otherTeam)], [("member", F.team)], .read),
            ([("lead", F.team)], [("staff", nil)], .create), ([("staff", nil)], [("lead", F.team)], .read),
            // The role permits nothing, whatever its name.
            ([("unknown", nil)], [], nil),
        ]
        for (one, other, found) in cases {
            let expected = found.map { Rules.Advantage.objects($0, className: "Listing") }
            let advantage = rules.advantage(of: Self.subject(one), over: Self.subject(other))
            #expect(advantage == expected, "\(one) \(other)")
        }
    }

    @Test("operations, properties and account data are compared too")
    func further() throws {
        let rules = try Self.rules(
            """
            Listing:
              - name: staff
                applyWhen: {"%%user.roles": staff}
                read: true
                operations: {audit: true, sell: {isPublic: true}}
                fields: {title: {read: false, write: false}}
              - name: everybody
                applyWhen: {}
                read: {$or: [{isPublic: true}, {title: "%%user.data.name"}]}
                operations: {sell: {isPublic: true, title: x}}
            """)
        let (plain, staff) = (Self.subject([]), Self.subject([("staff", nil)]))
        #expect(rules.advantage(of: staff, over: plain) == .objects(.init("audit"), className: "Listing"))
        // Staff can read more objects, but fewer of their properties.
        #expect(rules.advantage(of: plain, over: staff) == .properties(className: "Listing"))
        let (ann, bob) = (Self.subject([], name: "ann"), Self.subject([], name: "bob"))
        #expect(rules.advantage(of: ann, over: bob) == .objects(.read, className: "Listing"))
        #expect(rules.advantage(of: ann, over: Self.subject([], name: "ann")) == nil)
        #expect(rules.advantage(of: .anonymous, over: ann) == nil)
    }

    @Test("rules that give everybody their own objects by id are no advantage; rules that name a user are")
    func named() throws {
        let (root, help) = (ObjectId(high: 2, low: 1), ObjectId(high: 2, low: 2))
        let data: [String: UserValue] = ["name": .string("root")]
        let target = Subject(user: root, data: data)
        let other = Subject(user: help, data: ["name": .string("help")])
        func advantage(_ listing: String) throws -> Rules.Advantage? {
            try Self.rules("Listing:\n\(listing)").advantage(
                of: target, over: other, withObjectsOf: Subject(user: root, data: data))
        }
        let all = "  - {name: all, applyWhen: {}, read: {title: \"%%user.data.name\"}, write: {title: \"%%user.id\"}}"
        #expect(try advantage(all) == nil)
        for condition in [
            "{\"%%user.id\": \"\(root)\"}", "{\"%%user.id\": {$in: [\"\(root)\"]}}", "{\"%%user.data.name\": root}",
        ] {
            let role = "  - {name: root, applyWhen: \(condition), read: true}\n\(all)"
            #expect(try advantage(role) == .objects(.read, className: "Listing"), "\(condition)")
            let way = "  - {name: all, applyWhen: {}, read: {$or: [\(condition), {title: \"%%user.id\"}]}}"
            #expect(try advantage(way) == .objects(.read, className: "Listing"), "\(condition)")
        }
        // Here the rules name the other user.
        let own = "  - {name: all, applyWhen: {}, read: {$or: [{\"%%user.data.name\": help}, {title: \"%%user.id\"}]}}"
        #expect(try advantage(own) == nil)
    }
}
