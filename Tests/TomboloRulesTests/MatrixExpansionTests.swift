import Testing
import TomboloChangesets
import TomboloModel
import TomboloRuleDocuments
import TomboloRules

private typealias F = MatrixFixture

/// Rules that refer to boxes of the matrix: those of services without classes, and those of added roles.
@Suite struct MatrixExpansionTests {
    private static let trash = """
        matrix:
          scope: team
          services: {listings: Listing, trash: []}
          everywhere: {staff: {listings: -r--, trash: -r--}}
          roles:
            lead: {listings: crud, trash: ----}
            member: {listings: -r--, trash: -rud}
        Listing:
          - name: everybody
            applyWhen: {}
            operations: {listTrash: "%%matrix.trash.read", restore: "%%matrix.trash.update"}
        Note: [{name: everybody, applyWhen: {}, operations: {listTrash: "%%matrix.trash.read"}}]
        """

    @Test("rules can refer to the boxes of a service without classes, within an object and everywhere")
    func serviceWithoutClasses() throws {
        let rules = try Rules(
            schema: F.schema.get(),
            book: RuleBook(
                parsing:
                    "grants: {class: Membership, user: user, role: role, scope: team, roles: [lead, member, staff]}\n"
                    + Self.trash, file: "rules.yaml"))
        let staff = Subject(user: ObjectId(high: 2, low: 2), grants: [RoleGrant(Role("staff"), in: nil)])
        func may(_ subject: Subject, _ operation: TomboloRules.Operation, in team: ObjectId = F.team) throws -> Bool {
            let index = try #require(rules.schema.index(of: "Listing"))
            let row = F.listing(in: team)
            return rules.authorize(subject, operation, .object(classIndex: index, old: row, new: row)).isAllowed
        }
        let (lead, member) = (F.subject("lead"), F.subject("member"))
        #expect(try !may(lead, .listTrash) && may(member, .listTrash) && may(staff, .listTrash))
        #expect(try may(member, .restore) && !may(staff, .restore))
        #expect(try !may(member, .listTrash, in: F.otherTeam) && may(staff, .listTrash, in: F.otherTeam))
        // Notes aren't linked to teams, so boxes within a team don't apply to them.
        let note = try #require(rules.schema.index(of: "Note"))
        #expect(rules.refusal(member, .listTrash, ofClassAt: note) != nil)
        #expect(rules.refusal(staff, .listTrash, ofClassAt: note) == nil)
        #expect(rules.letters(everywhere: "staff", service: "trash", inMatrixOf: "rules.yaml") == nil)
        #expect(rules.letters(everywhere: "staff", service: "listings", inMatrixOf: "rules.yaml") == "-r--")
    }

    private static func added(_ condition: String) throws -> Rules {
        try Rules(
            schema: F.schema.get(),
            book: RuleBook(
                parsing: """
                    grants: {class: Membership, user: user, role: role, scope: team, roles: [lead, less, more, boss, all, some]}
                    matrix:
                      scope: team
                      services: {listings: Listing, photos: Photo, trash: []}
                      everywhere:
                        boss: {listings: -ru-, photos: ----, trash: -r--}
                        all: {listings: -r--, photos: ----, trash: -r--}
                        some: {listings: -r--, photos: -r--, trash: ----}
                      roles:
                        lead: {listings: crud, photos: -r--, trash: ----}
                        less: {listings: -r--, photos: ----, trash: ----}
                        more: {listings: -r--, photos: ----, trash: -r--}
                    Membership:
                      - {name: boss, applyWhen: {"%%user.roles": boss}, write: {role: \(condition)}}
                    """, file: "rules.yaml"))
    }

    @Test("the roles within another are the added ones that have no box it lacks")
    func within() throws {
        for (condition, expected) in [
            (#"{$in: "%%matrix.within.boss"}"#, ["all", "less", "more"]), (#"{$in: "%%matrix.within.lead"}"#, ["less"]),
            (#"{$nin: "%%matrix.within.lead"}"#, ["all", "boss", "lead", "more", "some"]),
            (#"{$in: "%%matrix.within.less"}"#, []),
        ] {
            let rules = try Self.added(condition)
            let index = try #require(rules.schema.index(of: "Membership"))
            let boss = Subject(user: ObjectId(high: 2, low: 2), grants: [RoleGrant(Role("boss"), in: nil)])
            let found = ["all", "boss", "lead", "less", "more", "some"].filter { role in
                let row = Row([
                    .objectId(ObjectId(high: 4, low: 1)), .objectId(ObjectId(high: 2, low: 3)), .string(role),
                    .objectId(F.team),
                ])
                return rules.authorize(boss, .create, .object(classIndex: index, old: nil, new: row)).isAllowed
            }
            #expect(found == expected, "\(condition)")
        }
    }

    @Test("rules can't refer to unknown roles or services of the matrix")
    func withinMistakes() throws {
        for (condition, problem) in [
            (#"{$in: "%%matrix.within.led"}"#, "the matrix has no role 'led'; did you mean '%%matrix.within.lead'?"),
            (#"{$in: "%%matrix.trsh.read"}"#, "isn't"),
        ] {
            #expect {
                _ = try Self.added(condition)
            } throws: { error in
                (error as? RuleError)?.problems.contains { $0.contains(problem) } == true
            }
        }
    }
}
