import Testing
import TomboloChangesets
import TomboloModel
import TomboloRuleDocuments
import TomboloRules

private typealias F = MatrixFixture

/// Permission matrices in rule documents, for an app whose teams own listings.
@Suite struct MatrixTests {
    @Test(
        "each box alone decides its operation, in the team where the role was granted",
        arguments: ["----", "-r--", "cr--", "-ru-", "-r-d", "cru-", "cr-d", "-rud", "crud"])
    func boxes(_ cells: String) throws {
        let rules = try F.rules(F.matrix(cells))
        #expect(try F.letters(rules, F.subject("member"), F.listing()) == cells)
        #expect(try F.letters(rules, F.subject("member"), F.listing(in: F.otherTeam)) == "----")
        #expect(try F.letters(rules, F.subject("lead"), F.listing()) == "crud")
        #expect(try F.letters(rules, F.subject("guest"), F.listing()) == "----")
        #expect(try F.letters(rules, .anonymous, F.listing()) == "----")
        let matrix = try #require(rules.matrices["rules.yaml"])
        #expect(matrix.letters(role: "member", service: "listings") == cells)
        #expect(matrix.roles == ["lead", "member"] && matrix.services.map(\.name) == ["listings"])
    }

    @Test("an operation depends on the boxes of the roles that the subject has where the object belongs")
    func explained() throws {
        let own = #"Listing: [{name: banned, applyWhen: {"%%user.roles": banned}, read: false, matrix: false}]"#
        let rules = try F.rules(F.matrix("-r--", more: own))
        func boxes(_ subject: Subject, _ className: String = "Listing", _ row: Row? = nil) -> [String]? {
            let found = rules.explainBoxes(subject, .update, className: className, row: row)
            return found?.boxes.map { "\($0.role) \($0.operation) \($0.service)" }
        }
        let member = F.subject("member")
        #expect(boxes(member) == ["member update listings"])
        #expect(boxes(member, "Listing", F.listing()) == ["member update listings"])
        #expect(boxes(member, "Listing", F.listing(in: F.otherTeam)) == [])
        #expect(boxes(F.subject("guest")) == [])
        let both = Subject(user: ObjectId(), grants: member.grants.union(F.subject("lead").grants))
        #expect(boxes(both) == ["lead update listings", "member update listings"])
        // No box is involved if the class has no matrix, if the deciding role excludes it, or without a login.
        #expect(boxes(member, "Photo") == nil && boxes(.anonymous) == nil)
        #expect(boxes(Subject(user: ObjectId(), grants: member.grants.union([RoleGrant(Role("banned"))]))) == nil)
    }

    @Test("letters may come in any order, and dashes are optional")
    func writtenOtherwise() throws {
        for text in ["ur", "'-ur'", "r-u", "-ru-"] {
            let rules = try F.rules(F.matrix(text))
            #expect(try F.letters(rules, F.subject("member"), F.listing()) == "-ru-", "\(text)")
        }
    }

    @Test("a class's own rules add to the matrix, whichever role applies")
    func ownRules() throws {
        let own = """
            Listing:
              - {name: staff, applyWhen: {"%%user.roles": staff}, read: true, write: {title: mine}, insert: false}
              - {name: everybody, applyWhen: {}, anonymous: true, read: {isPublic: true}}
            """
        let rules = try F.rules(F.matrix("-r--", more: own))
        let open = F.listing(in: F.otherTeam, isPublic: true)
        #expect(try F.letters(rules, .anonymous, open) == "-r--")
        #expect(try F.letters(rules, F.subject("member"), open) == "-r--")
        let leadOfStaff = Subject(
            user: ObjectId(), grants: [RoleGrant(Role("lead"), in: F.team), RoleGrant(Role("staff"))])
        #expect(try F.letters(rules, leadOfStaff, F.listing()) == "crud")
        #expect(try F.letters(rules, leadOfStaff, F.listing(in: F.otherTeam)) == "-r--")
        #expect(try F.letters(rules, leadOfStaff, F.listing(in: F.otherTeam, title: "mine")) == "-rud")
    }

    @Test("if no role of the class applies, only the matrix counts; a role can exclude the matrix")
    func rolesBeside() throws {
        let some = #"Listing: [{name: staff, applyWhen: {"%%user.roles": staff}, read: true}]"#
        let rules = try F.rules(F.matrix("-ru-", more: some))
        #expect(try F.letters(rules, F.subject("member"), F.listing()) == "-ru-")
        #expect(try F.letters(rules, .anonymous, F.listing()) == "----")
        let banned = #"Listing: [{name: banned, applyWhen: {"%%user.roles": banned}, read: false, matrix: false}]"#
        let strict = try F.rules(F.matrix("-ru-", more: banned))
        let member = F.subject("member")
        let bannedMember = Subject(
            user: ObjectId(), grants: member.grants.union([RoleGrant(Role("banned"))]))
        #expect(try F.letters(strict, member, F.listing()) == "-ru-")
        #expect(try F.letters(strict, bannedMember, F.listing()) == "----")
    }

    @Test("default roles and the matrix add up; if the default roles don't fit a class, only its matrix counts")
    func defaultRoles() throws {
        let fitting = try F.rules(
            F.matrix("-ru-", more: "defaultRoles: [{name: all, applyWhen: {}, read: {isPublic: true}}]"))
        #expect(try F.letters(fitting, F.subject("member"), F.listing()) == "-ru-")
        #expect(try F.letters(fitting, F.subject("guest"), F.listing(isPublic: true)) == "-r--")
        let other = try F.rules(
            F.matrix("-ru-", more: "defaultRoles: [{name: all, applyWhen: {}, read: {role: x}}]"))
        #expect(try F.letters(other, F.subject("member"), F.listing()) == "-ru-")
    }

    @Test("a role in one team doesn't permit moving objects to another")
    func moving() throws {
        let rules = try F.rules(F.matrix("-ru-"))
        let resource = Resource.object(
            classIndex: try #require(rules.schema.index(of: "Listing")), old: F.listing(),
            new: F.listing(in: F.otherTeam))
        #expect(!rules.authorize(F.subject("lead"), .update, resource).isAllowed)
    }

    @Test(
        "moving an object to another team requires permission to delete it in the old one and create it in the new one",
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
            grants: [RoleGrant(Role("lead"), in: F.team), RoleGrant(Role("member"), in: F.otherTeam)])
        let (old, new) = (F.listing(), F.listing(in: F.otherTeam))
        for own in ["", "\nListing: [{name: all, applyWhen: {}, read: true}]"] {
            let rules = try F.rules(document + own)
            let index = try #require(rules.schema.index(of: "Listing"))
            let resource = Resource.object(classIndex: index, old: old, new: new)
            #expect(rules.authorize(subject, .update, resource).isAllowed == isAllowed)
            let denial = rules.permit(subject)(
                WriteRequest(operation: .update, classIndex: index, old: old, new: new, written: [1]))
            #expect((denial == nil) == isAllowed)
        }
        // A class's own rules that permit writing don't depend on boxes.
        let rules = try F.rules(
            document + "\nListing: [{name: staff, applyWhen: {\"%%user.roles\": staff}, write: true}]")
        let staff = Subject(user: ObjectId(high: 2, low: 2), grants: [RoleGrant(role: Role("staff"), scope: nil)])
        let index = try #require(rules.schema.index(of: "Listing"))
        #expect(rules.authorize(staff, .update, .object(classIndex: index, old: old, new: new)).isAllowed)
    }

    @Test("other operations can follow a box")
    func furtherOperations() throws {
        for (cells, isAllowed) in [("-r-d", true), ("-ru-", false)] {
            let own = #"Listing: [{name: all, applyWhen: {}, operations: {trash: "%%matrix.delete"}}]"#
            let rules = try F.rules(F.matrix(cells, more: own))
            let resource = Resource.object(
                classIndex: try #require(rules.schema.index(of: "Listing")), old: F.listing(), new: nil)
            #expect(rules.authorize(F.subject("member"), .trash, resource).isAllowed == isAllowed)
        }
    }

    @Test("a service can have several classes, and a class can be linked through another property")
    func services() throws {
        let rules = try F.rules(
            """
            matrix:
              scope: team
              services: {teams: {Team: _id}, things: [Listing, Photo]}
              roles: {lead: {teams: -ru-, things: crud}}
            """)
        let lead = F.subject("lead")
        for (name, values) in [("Team", [Value]()), ("Photo", [.objectId(F.team)])] {
            let row = Row([.objectId(F.team)] + values)
            let resource = Resource.object(
                classIndex: try #require(rules.schema.index(of: name)), old: row, new: row)
            #expect(rules.authorize(lead, .update, resource).isAllowed)
            #expect(rules.authorize(lead, .delete, resource).isAllowed == (name == "Photo"))
        }
    }

    @Test("changing a box changes the fingerprint that sessions compare")
    func fingerprints() throws {
        let member = F.subject("member")
        let before = try F.rules(F.matrix("-ru-")).fingerprint(of: member)
        #expect(try F.rules(F.matrix("-ru-")).fingerprint(of: member) == before)
        #expect(try F.rules(F.matrix("-r--")).fingerprint(of: member) != before)
        #expect(try F.rules(F.matrix("-rud")).fingerprint(of: member) != before)
    }

    @Test("the matrix's own conditions decide who may see and change it")
    func access() throws {
        let more = "  read: {\"%%user.roles\": staff}\n  write: {\"%%user.roles\": owner}"
        let rules = try F.rules(F.matrix("-ru-", more: more))
        func may(_ subject: Subject, _ operation: TomboloRules.Operation) -> Bool {
            rules.refusal(subject, operation, ofMatrixIn: "rules.yaml") == nil
        }
        let (staff, owner) = (
            Subject(user: ObjectId(), grants: [RoleGrant(Role("staff"))]),
            Subject(user: ObjectId(), grants: [RoleGrant(Role("owner"))])
        )
        #expect(may(staff, .read) && !may(staff, .update))
        #expect(may(owner, .read) && may(owner, .update) && !may(owner, .delete))
        for other in [.anonymous, F.subject("lead"), F.subject("owner")] {
            #expect(!may(other, .read) && !may(other, .update))
        }
        #expect(rules.refusal(.anonymous, .read, ofMatrixIn: "rules.yaml")?.needsLogin == true)
        #expect(rules.refusal(owner, .read, ofMatrixIn: "other.yaml") != nil)
        let silent = try F.rules(F.matrix("-ru-"))
        #expect(silent.refusal(owner, .read, ofMatrixIn: "rules.yaml") != nil)
    }

    @Test("with an older model that lacks one of the classes, the rest of the matrix applies")
    func olderModel() throws {
        let document = """
            matrix:
              scope: team
              services: {listings: Listing, photos: Photo}
              roles: {member: {listings: -ru-, photos: crud}}
            """
        let book = try RuleBook(parsing: F.grants + document, file: "rules.yaml")
        #expect(book.decides(about: "Photo") && !book.decides(about: "Note"))
        let older = try Schema(F.schema.get().classes.filter { $0.name != "Photo" && $0.owner == nil })
        let rules = try Rules(schema: older, book: book.keeping(Set(older.classes.map(\.name))))
        #expect(try F.letters(rules, F.subject("member"), F.listing()) == "-ru-")
    }
}
