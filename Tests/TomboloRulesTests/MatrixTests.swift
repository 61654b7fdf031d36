import Testing
import TomboloChangesets
import TomboloModel
import TomboloRuleDocuments
import TomboloRules

/// Permission matrices in rule documents, for an app whose teams own listings.
@Suite struct MatrixTests {
    private static let schema = Result {
        try Schema([
            ClassSchema(name: "Team", columns: [Column(name: "_id", type: .objectId, isPrimaryKey: true)]),
            ClassSchema(
                name: "Listing",
                columns: [
                    Column(name: "_id", type: .objectId, isPrimaryKey: true),
                    Column(name: "team", type: .link(to: "Team"), isOptional: true),
                    Column(name: "isPublic", type: .bool), Column(name: "title", type: .string),
                ]),
            ClassSchema(
                name: "Photo",
                columns: [
                    Column(name: "_id", type: .objectId, isPrimaryKey: true),
                    Column(name: "team", type: .link(to: "Team"), isOptional: true),
                ]),
            ClassSchema(
                name: "Note",
                columns: [
                    Column(name: "_id", type: .objectId, isPrimaryKey: true), Column(name: "team", type: .string),
                ]),
            ClassSchema(
                name: "Membership",
                columns: [
                    Column(name: "_id", type: .objectId, isPrimaryKey: true), Column(name: "user", type: .objectId),
                    Column(name: "role", type: .string),
                    Column(name: "team", type: .link(to: "Team"), isOptional: true),
                ]),
        ])
    }

    private static let grants =
        "grants: {class: Membership, user: user, role: role, scope: team, roles: [lead, member, guest]}\n"

    private static func rules(_ document: String) throws -> Rules {
        try Rules(schema: schema.get(), book: RuleBook(parsing: grants + document, file: "rules.yaml"))
    }

    private static let team = ObjectId(high: 1, low: 1)
    private static let otherTeam = ObjectId(high: 1, low: 2)

    private static func subject(_ role: String) -> Subject {
        Subject(user: ObjectId(high: 2, low: 1), grants: [RoleGrant(Role(role), in: team)])
    }

    private static func listing(in team: ObjectId = team, isPublic: Bool = false, title: String = "") -> Row {
        Row([.objectId(ObjectId(high: 3, low: 1)), .objectId(team), .bool(isPublic), .string(title)])
    }

    private static let crud: [TomboloRules.Operation] = [.create, .read, .update, .delete]

    /// What a role may do with a listing, as letters.
    private static func letters(_ rules: Rules, _ subject: Subject, _ row: Row) throws -> String {
        let index = try #require(rules.schema.index(of: "Listing"))
        return String(
            crud.map { operation in
                let resource = Resource.object(classIndex: index, old: row, new: row)
                let isAllowed = rules.authorize(subject, operation, resource).isAllowed
                return isAllowed ? operation.name.first ?? "?" : "-"
            })
    }

    private static func matrix(_ cells: String, more: String = "") -> String {
        """
        matrix:
          scope: team
          services: {listings: Listing}
          roles:
            lead: {listings: crud}
            member: {listings: \(cells)}
        \(more)
        """
    }

    @Test(
        "each box alone decides about its operation, in the team where the role was granted",
        arguments: ["----", "-r--", "cr--", "-ru-", "-r-d", "cru-", "cr-d", "-rud", "crud"])
    func boxes(_ cells: String) throws {
        let rules = try Self.rules(Self.matrix(cells))
        #expect(try Self.letters(rules, Self.subject("member"), Self.listing()) == cells)
        #expect(try Self.letters(rules, Self.subject("member"), Self.listing(in: Self.otherTeam)) == "----")
        #expect(try Self.letters(rules, Self.subject("lead"), Self.listing()) == "crud")
        #expect(try Self.letters(rules, Self.subject("guest"), Self.listing()) == "----")
        #expect(try Self.letters(rules, .anonymous, Self.listing()) == "----")
        let matrix = try #require(rules.matrices["rules.yaml"])
        #expect(matrix.letters(role: "member", service: "listings") == cells)
        #expect(matrix.roles == ["lead", "member"] && matrix.services.map(\.name) == ["listings"])
    }

    @Test("the boxes that an operation depends on are those of the subject's roles where the object belongs")
    func explained() throws {
        let own = #"Listing: [{name: banned, applyWhen: {"%%user.roles": banned}, read: false, matrix: false}]"#
        let rules = try Self.rules(Self.matrix("-r--", more: own))
        func boxes(_ subject: Subject, _ className: String = "Listing", _ row: Row? = nil) -> [String]? {
            let found = rules.explainBoxes(subject, .update, className: className, row: row)
            return found?.boxes.map { "\($0.role) \($0.operation) \($0.service)" }
        }
        let member = Self.subject("member")
        #expect(boxes(member) == ["member update listings"])
        #expect(boxes(member, "Listing", Self.listing()) == ["member update listings"])
        #expect(boxes(member, "Listing", Self.listing(in: Self.otherTeam)) == [])
        #expect(boxes(Self.subject("guest")) == [])
        let both = Subject(user: ObjectId(), grants: member.grants.union(Self.subject("lead").grants))
        #expect(boxes(both) == ["lead update listings", "member update listings"])
        // Without a matrix, if the rule that decides keeps it out, and without a login there is no box that could.
        #expect(boxes(member, "Photo") == nil && boxes(.anonymous) == nil)
        #expect(boxes(Subject(user: ObjectId(), grants: member.grants.union([RoleGrant(Role("banned"))]))) == nil)
    }

    @Test("letters may come in any order, and dashes are for the eye")
    func writtenOtherwise() throws {
        for text in ["ur", "'-ur'", "r-u", "-ru-"] {
            let rules = try Self.rules(Self.matrix(text))
            #expect(try Self.letters(rules, Self.subject("member"), Self.listing()) == "-ru-", "\(text)")
        }
    }

    @Test("a class's own rules add to the matrix, whichever role applies")
    func ownRules() throws {
        let own = """
            Listing:
              - {name: staff, applyWhen: {"%%user.roles": staff}, read: true, write: {title: mine}, insert: false}
              - {name: everybody, applyWhen: {}, anonymous: true, read: {isPublic: true}}
            """
        let rules = try Self.rules(Self.matrix("-r--", more: own))
        let open = Self.listing(in: Self.otherTeam, isPublic: true)
        #expect(try Self.letters(rules, .anonymous, open) == "-r--")
        #expect(try Self.letters(rules, Self.subject("member"), open) == "-r--")
        let leadOfStaff = Subject(
            user: ObjectId(), grants: [RoleGrant(Role("lead"), in: Self.team), RoleGrant(Role("staff"))])
        #expect(try Self.letters(rules, leadOfStaff, Self.listing()) == "crud")
        #expect(try Self.letters(rules, leadOfStaff, Self.listing(in: Self.otherTeam)) == "-r--")
        #expect(try Self.letters(rules, leadOfStaff, Self.listing(in: Self.otherTeam, title: "mine")) == "-rud")
    }

    @Test("for those whom no role of the class is for, the matrix counts alone; a role can keep it out")
    func rolesBeside() throws {
        let some = #"Listing: [{name: staff, applyWhen: {"%%user.roles": staff}, read: true}]"#
        let rules = try Self.rules(Self.matrix("-ru-", more: some))
        #expect(try Self.letters(rules, Self.subject("member"), Self.listing()) == "-ru-")
        #expect(try Self.letters(rules, .anonymous, Self.listing()) == "----")
        let banned = #"Listing: [{name: banned, applyWhen: {"%%user.roles": banned}, read: false, matrix: false}]"#
        let strict = try Self.rules(Self.matrix("-ru-", more: banned))
        let member = Self.subject("member")
        let bannedMember = Subject(
            user: ObjectId(), grants: member.grants.union([RoleGrant(Role("banned"))]))
        #expect(try Self.letters(strict, member, Self.listing()) == "-ru-")
        #expect(try Self.letters(strict, bannedMember, Self.listing()) == "----")
    }

    @Test("default roles and the matrix add up, and a class that the default roles don't fit has the matrix alone")
    func defaultRoles() throws {
        let fitting = try Self.rules(
            Self.matrix("-ru-", more: "defaultRoles: [{name: all, applyWhen: {}, read: {isPublic: true}}]"))
        #expect(try Self.letters(fitting, Self.subject("member"), Self.listing()) == "-ru-")
        #expect(try Self.letters(fitting, Self.subject("guest"), Self.listing(isPublic: true)) == "-r--")
        let other = try Self.rules(
            Self.matrix("-ru-", more: "defaultRoles: [{name: all, applyWhen: {}, read: {role: x}}]"))
        #expect(try Self.letters(other, Self.subject("member"), Self.listing()) == "-ru-")
    }

    @Test("nobody moves an object out of the team where they have the role")
    func moving() throws {
        let rules = try Self.rules(Self.matrix("-ru-"))
        let resource = Resource.object(
            classIndex: try #require(rules.schema.index(of: "Listing")), old: Self.listing(),
            new: Self.listing(in: Self.otherTeam))
        #expect(!rules.authorize(Self.subject("lead"), .update, resource).isAllowed)
    }

    @Test(
        "an object moves from team to team only for those who may delete it there and create it here",
        arguments: [
            ("-ru-", "-ru-", false), ("-rud", "-ru-", false), ("-ru-", "cru-", false), ("-rud", "cru-", true),
            ("-r-d", "cru-", false), ("-rud", "cr--", false), ("crud", "crud", true),
        ])
    func movingBetween(_ there: String, _ here: String, _ isAllowed: Bool) throws {
        let document = """
            matrix:
              scope: team
              services: {listings: Listing}
              roles:
                lead: {listings: \(there)}
                member: {listings: \(here)}
            """
        let subject = Subject(
            user: ObjectId(high: 2, low: 1),
            grants: [RoleGrant(Role("lead"), in: Self.team), RoleGrant(Role("member"), in: Self.otherTeam)])
        let (old, new) = (Self.listing(), Self.listing(in: Self.otherTeam))
        for own in ["", "\nListing: [{name: all, applyWhen: {}, read: true}]"] {
            let rules = try Self.rules(document + own)
            let index = try #require(rules.schema.index(of: "Listing"))
            let resource = Resource.object(classIndex: index, old: old, new: new)
            #expect(rules.authorize(subject, .update, resource).isAllowed == isAllowed)
            let denial = rules.permit(subject)(
                WriteRequest(operation: .update, classIndex: index, old: old, new: new, written: [1]))
            #expect((denial == nil) == isAllowed)
        }
        // A class's own rules that permit writing don't ask for boxes.
        let rules = try Self.rules(
            document + "\nListing: [{name: staff, applyWhen: {\"%%user.roles\": staff}, write: true}]")
        let staff = Subject(user: ObjectId(high: 2, low: 2), grants: [RoleGrant(role: Role("staff"), scope: nil)])
        let index = try #require(rules.schema.index(of: "Listing"))
        #expect(rules.authorize(staff, .update, .object(classIndex: index, old: old, new: new)).isAllowed)
    }

    @Test("further operations can follow a box")
    func furtherOperations() throws {
        for (cells, isAllowed) in [("-r-d", true), ("-ru-", false)] {
            let own = #"Listing: [{name: all, applyWhen: {}, operations: {trash: "%%matrix.delete"}}]"#
            let rules = try Self.rules(Self.matrix(cells, more: own))
            let resource = Resource.object(
                classIndex: try #require(rules.schema.index(of: "Listing")), old: Self.listing(), new: nil)
            #expect(rules.authorize(Self.subject("member"), .trash, resource).isAllowed == isAllowed)
        }
    }

    @Test("a service has several classes, and a class another property")
    func services() throws {
        let rules = try Self.rules(
            """
            matrix:
              scope: team
              services: {teams: {Team: _id}, things: [Listing, Photo]}
              roles: {lead: {teams: -ru-, things: crud}}
            """)
        let lead = Self.subject("lead")
        for (name, values) in [("Team", [Value]()), ("Photo", [.objectId(Self.team)])] {
            let row = Row([.objectId(Self.team)] + values)
            let resource = Resource.object(
                classIndex: try #require(rules.schema.index(of: name)), old: row, new: row)
            #expect(rules.authorize(lead, .update, resource).isAllowed)
            #expect(rules.authorize(lead, .delete, resource).isAllowed == (name == "Photo"))
        }
    }

    @Test("a box that changes, changes what sessions compare; a document without a matrix has its fingerprint")
    func fingerprints() throws {
        let member = Self.subject("member")
        let before = try Self.rules(Self.matrix("-ru-")).fingerprint(of: member)
        #expect(try Self.rules(Self.matrix("-ru-")).fingerprint(of: member) == before)
        #expect(try Self.rules(Self.matrix("-r--")).fingerprint(of: member) != before)
        #expect(try Self.rules(Self.matrix("-rud")).fingerprint(of: member) != before)
    }

    @Test("who may see and change the matrix is up to its own conditions")
    func access() throws {
        let more = "  read: {\"%%user.roles\": staff}\n  write: {\"%%user.roles\": owner}"
        let rules = try Self.rules(Self.matrix("-ru-", more: more))
        func may(_ subject: Subject, _ operation: TomboloRules.Operation) -> Bool {
            rules.refusal(subject, operation, ofMatrixIn: "rules.yaml") == nil
        }
        let (staff, owner) = (
            Subject(user: ObjectId(), grants: [RoleGrant(Role("staff"))]),
            Subject(user: ObjectId(), grants: [RoleGrant(Role("owner"))])
        )
        #expect(may(staff, .read) && !may(staff, .update))
        #expect(may(owner, .read) && may(owner, .update) && !may(owner, .delete))
        for other in [.anonymous, Self.subject("lead"), Self.subject("owner")] {
            #expect(!may(other, .read) && !may(other, .update))
        }
        #expect(rules.refusal(.anonymous, .read, ofMatrixIn: "rules.yaml")?.needsLogin == true)
        #expect(rules.refusal(owner, .read, ofMatrixIn: "other.yaml") != nil)
        let silent = try Self.rules(Self.matrix("-ru-"))
        #expect(silent.refusal(owner, .read, ofMatrixIn: "rules.yaml") != nil)
    }

    @Test("an older model without one of the classes has the rest")
    func olderModel() throws {
        let document = """
            matrix:
              scope: team
              services: {listings: Listing, photos: Photo}
              roles: {member: {listings: -ru-, photos: crud}}
            """
        let book = try RuleBook(parsing: Self.grants + document, file: "rules.yaml")
        #expect(book.decides(about: "Photo") && !book.decides(about: "Note"))
        let older = try Schema(Self.schema.get().classes.filter { $0.name != "Photo" && $0.owner == nil })
        let rules = try Rules(schema: older, book: book.keeping(Set(older.classes.map(\.name))))
        #expect(try Self.letters(rules, Self.subject("member"), Self.listing()) == "-ru-")
    }

    struct Mistake: CustomTestStringConvertible {
        let document: String
        let problems: [String]

        init(_ document: String, _ problems: String...) {
            self.document = document
            self.problems = problems
        }

        var testDescription: String { document }
    }

    private static func one(
        scope: String = "scope: team, ", services: String = "{listings: Listing}", _ roles: String
    ) -> String {
        "matrix: {\(scope)services: \(services), roles: \(roles)}"
    }

    static let mistakes: [Mistake] = [
        Mistake("matrix: []", "2: 'matrix' is a mapping with scope, services and roles, not a list."),
        Mistake(
            "matrix: {scope: team}",
            "2: matrix: it has no services; add services: {NAME: CLASS}, with a name for each class or several."),
        Mistake(
            "matrix: {scope: team, services: {listings: Listing}}",
            "2: matrix: it has no roles; add roles: {ROLE: {SERVICE: crud}}, with a dash for each letter that is "
                + "missing."),
        Mistake(
            one("{lead: {listings: crud}}, wirte: true"),
            "2: matrix: 'wirte' isn't known here; did you mean 'write'?"),
        Mistake(
            one("{laed: {listings: crud}}"),
            "2: matrix: no grant gives the role 'laed'; did you mean 'lead'? Roles: lead, member, guest."),
        Mistake(
            one("{lead: {listing: crud}}"),
            "2: matrix, role 'lead': there is no service 'listing'; did you mean 'listings'? Services: listings.",
            "2: matrix, role 'lead': it says nothing of 'listings'; add listings: ----."),
        Mistake(
            one(services: "{listings: Listings}", "{lead: {listings: crud}}"),
            "2: matrix: there is no class 'Listings'; did you mean 'Listing'?"),
        Mistake(
            one("{lead: {listings: crux}}"),
            "2: matrix, role 'lead', listings: 'x' isn't a letter of crud: c to create, r to read, u to update, d to "
                + "delete."),
        Mistake(
            one("{lead: {listings: rr}}"), "2: matrix, role 'lead', listings: 'r' is there twice."),
        Mistake(
            one("{lead: {listings: true}}"),
            "2: matrix, role 'lead', listings: expected letters of crud, such as -ru- or ----, not true."),
        Mistake(
            one("{lead: {listings: --u-}}"),
            "2: matrix, role 'lead', listings: '--u-' has no r, but who may change an object may read it; add r, or "
                + "write ----."),
        Mistake(
            one("{lead: crud}"), "2: matrix, role 'lead': expected {SERVICE: letters of crud}, not \"crud\"."),
        Mistake(
            one(scope: "scope: teem, ", "{lead: {listings: crud}}"),
            "2: matrix: Listing has no property 'teem'; did you mean 'team'? Its service may name another: "
                + "{Listing: PROPERTY}."),
        Mistake(
            one(scope: "", "{lead: {listings: crud}}"),
            "2: matrix: it doesn't say how an object of Listing is linked to what roles are granted in; add scope: "
                + "PROPERTY to the matrix."),
        Mistake(
            one(services: "{notes: Note}", "{lead: {notes: crud}}"),
            "2: matrix: Note.team is of type string, but roles are granted in objects with keys of type objectId; name "
                + "the property that links to them."),
        Mistake(
            one(services: "{a: Listing, b: [Photo, Listing]}", "{lead: {a: crud, b: crud}}"),
            "2: matrix: Listing is in the service 'a' already; a class is in one service."),
        Mistake(
            one(services: "{a: 5}", "{lead: {}}"),
            "2: matrix: the service 'a' is a class, a list of classes or a mapping {CLASS: PROPERTY}, not 5."),
        Mistake(
            one(services: "{teams: {Team: _id}}", "{lead: {teams: crud}}"),
            "2: matrix: role 'lead', teams: Team is what roles are granted in, and nobody has a role in one before it "
                + "exists; remove the letter c."),
        Mistake(
            one("{lead: {listings: crud}}, write: {team: x}"),
            "2: matrix, write: this condition is about the user only, so that it can't look at 'team': compare the "
                + "property in read or write, or use an expansion such as %%user.custom_data.NAME."),
        Mistake(
            one("{lead: {listings: crud}}") + "\nPhoto: [{name: a, applyWhen: {}, read: \"%%matrix.read\"}]",
            "3: Photo, role 'a', read: the class isn't in a service of the matrix; add it to one."),
        Mistake(
            one("{lead: {listings: crud}}")
                + "\nListing: [{name: a, applyWhen: {}, operations: {trash: \"%%matrix.deleted\"}}]",
            "3: Listing, role 'a', operation trash: '%%matrix.deleted' isn't known; did you mean '%%matrix.delete'? "
                + "There are %%matrix.create, %%matrix.read, %%matrix.update, %%matrix.delete."),
    ]

    @Test("mistakes are told with their place and a remedy", arguments: mistakes)
    func told(_ mistake: Mistake) throws {
        #expect {
            _ = try Self.rules(mistake.document)
        } throws: { error in
            (error as? RuleError)?.problems == mistake.problems.map { "rules.yaml:\($0)" }
        }
    }

    // MARK: Services without classes, and roles that were added

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

    @Test("the boxes of a service without classes count where rules ask for them, within an object and everywhere")
    func serviceWithoutClasses() throws {
        let rules = try Rules(
            schema: Self.schema.get(),
            book: RuleBook(
                parsing:
                    "grants: {class: Membership, user: user, role: role, scope: team, roles: [lead, member, staff]}\n"
                    + Self.trash, file: "rules.yaml"))
        let staff = Subject(user: ObjectId(high: 2, low: 2), grants: [RoleGrant(Role("staff"), in: nil)])
        func may(_ subject: Subject, _ operation: TomboloRules.Operation, in team: ObjectId = Self.team) throws -> Bool
        {
            let index = try #require(rules.schema.index(of: "Listing"))
            let row = Self.listing(in: team)
            return rules.authorize(subject, operation, .object(classIndex: index, old: row, new: row)).isAllowed
        }
        let (lead, member) = (Self.subject("lead"), Self.subject("member"))
        #expect(try !may(lead, .listTrash) && may(member, .listTrash) && may(staff, .listTrash))
        #expect(try may(member, .restore) && !may(staff, .restore))
        #expect(try !may(member, .listTrash, in: Self.otherTeam) && may(staff, .listTrash, in: Self.otherTeam))
        // Of a class that isn't linked to teams the boxes within one say nothing.
        let note = try #require(rules.schema.index(of: "Note"))
        #expect(rules.refusal(member, .listTrash, ofClassAt: note) != nil)
        #expect(rules.refusal(staff, .listTrash, ofClassAt: note) == nil)
        #expect(rules.letters(everywhere: "staff", service: "trash", inMatrixOf: "rules.yaml") == nil)
        #expect(rules.letters(everywhere: "staff", service: "listings", inMatrixOf: "rules.yaml") == "-r--")
    }

    private static func added(_ condition: String) throws -> Rules {
        try Rules(
            schema: schema.get(),
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

    @Test("roles within another are those that were added and have none but its boxes")
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
                    .objectId(Self.team),
                ])
                return rules.authorize(boss, .create, .object(classIndex: index, old: nil, new: row)).isAllowed
            }
            #expect(found == expected, "\(condition)")
        }
    }

    @Test("a role that rules name isn't one that was added, and no role can be unknown")
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

    @Test("without grants in an object the matrix gives nothing, and says so")
    func withoutGrants() throws {
        let document = Self.one("{lead: {listings: crud}}")
        #expect {
            _ = try Rules(schema: Self.schema.get(), book: RuleBook(parsing: document, file: "rules.yaml"))
        } throws: { error in
            (error as? RuleError)?.problems == [
                "rules.yaml:1: matrix: nothing grants its roles within an object; add grants: [{class: …, user: …, role: "
                    + "…, scope: …}]."
            ]
        }
    }

    @Test("a role that would count everywhere after its object is deleted is noted")
    func roleWithoutScope() throws {
        let notes = try Self.rules(Self.matrix("-ru-")).notes
        #expect(notes.count == 1 && notes.first?.contains("@Persisted(onDelete: .cascade)") == true, "\(notes)")
    }
}
