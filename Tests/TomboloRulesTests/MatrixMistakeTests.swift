import Testing
import TomboloChangesets
import TomboloModel
import TomboloRuleDocuments
import TomboloRules

private typealias F = MatrixFixture

/// What is reported about a permission matrix that is wrong or leaves something open.
@Suite struct MatrixMistakeTests {
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
        Mistake("matrix: []", "2: 'matrix' must be a mapping with scope, services and roles, not a list."),
        Mistake(
            "matrix: {scope: team}",
            "2: matrix: it has no services; add services: {NAME: CLASS}, with a name for each class or group of "
                + "classes."),
        Mistake(
            "matrix: {scope: team, services: {listings: Listing}}",
            "2: matrix: it has no roles; add roles: {ROLE: {SERVICE: crud}}, with a dash for each missing letter."),
        Mistake(
            one("{lead: {listings: crud}}, wirte: true"),
            "2: matrix: 'wirte' isn't known here; did you mean 'write'?"),
        Mistake(
            one("{laed: {listings: crud}}"),
            "2: matrix: no grant gives the role 'laed'; did you mean 'lead'? Roles: lead, member, guest."),
        Mistake(
            one("{lead: {listing: crud}}"),
            "2: matrix, role 'lead': there is no service 'listing'; did you mean 'listings'? Services: listings.",
            "2: matrix, role 'lead': it doesn't list the service 'listings'; add listings: ----."),
        Mistake(
            one(services: "{listings: Listings}", "{lead: {listings: crud}}"),
            "2: matrix: there is no class 'Listings'; did you mean 'Listing'?"),
        Mistake(
            one("{lead: {listings: crux}}"),
            "2: matrix, role 'lead', listings: 'x' isn't a letter of crud: c to create, r to read, u to update, d to "
                + "delete."),
        Mistake(
            one("{lead: {listings: rr}}"), "2: matrix, role 'lead', listings: 'r' appears twice."),
        Mistake(
            one("{lead: {listings: true}}"),
            "2: matrix, role 'lead', listings: expected letters of crud, such as -ru- or ----, not true."),
        Mistake(
            one("{lead: {listings: --u-}}"),
            "2: matrix, role 'lead', listings: '--u-' has no r, but users who may change an object may read it; add r, "
                + "or write ----."),
        Mistake(
            one("{lead: crud}"), "2: matrix, role 'lead': expected {SERVICE: letters of crud}, not \"crud\"."),
        Mistake(
            one(scope: "scope: teem, ", "{lead: {listings: crud}}"),
            "2: matrix: Listing has no property 'teem'; did you mean 'team'? The service can name another one: "
                + "{Listing: PROPERTY}."),
        Mistake(
            one(scope: "", "{lead: {listings: crud}}"),
            "2: matrix: it doesn't say which property of Listing links to the object that roles are granted in; add "
                + "scope: PROPERTY to the matrix."),
        Mistake(
            one(services: "{notes: Note}", "{lead: {notes: crud}}"),
            "2: matrix: Note.team is of type string, but roles are granted in objects with keys of type objectId; name "
                + "the property that links to them."),
        Mistake(
            one(services: "{a: Listing, b: [Photo, Listing]}", "{lead: {a: crud, b: crud}}"),
            "2: matrix: Listing is already in the service 'a'; a class can be in only one service."),
        Mistake(
            one(services: "{a: 5}", "{lead: {}}"),
            "2: matrix: the service 'a' must be a class, a list of classes or a mapping {CLASS: PROPERTY}, not 5."),
        Mistake(
            one(services: "{teams: {Team: _id}}", "{lead: {teams: crud}}"),
            "2: matrix: role 'lead', teams: roles are granted within a Team, and nobody has a role in one before it "
                + "exists; remove the letter c."),
        Mistake(
            one("{lead: {listings: crud}}, write: {team: x}"),
            "2: matrix, write: this condition is about the user only, so it can't look at 'team': compare the property "
                + "in read or write, or use an expansion such as %%user.custom_data.NAME."),
        Mistake(
            one("{lead: {listings: crud}}") + "\nPhoto: [{name: a, applyWhen: {}, read: \"%%matrix.read\"}]",
            "3: Photo, role 'a', read: the class isn't in a service of the matrix; add it to one."),
        Mistake(
            one("{lead: {listings: crud}}")
                + "\nListing: [{name: a, applyWhen: {}, operations: {trash: \"%%matrix.deleted\"}}]",
            "3: Listing, role 'a', operation trash: '%%matrix.deleted' isn't known; did you mean '%%matrix.delete'? "
                + "Operations: %%matrix.create, %%matrix.read, %%matrix.update, %%matrix.delete."),
    ]

    @Test("mistakes are reported with their place and a remedy", arguments: mistakes)
    func told(_ mistake: Mistake) throws {
        #expect {
            _ = try F.rules(mistake.document)
        } throws: { error in
            (error as? RuleError)?.problems == mistake.problems.map { "rules.yaml:\($0)" }
        }
    }

    @Test("a matrix whose roles nothing grants within an object permits nothing and is reported")
    func withoutGrants() throws {
        let document = Self.one("{lead: {listings: crud}}")
        #expect {
            _ = try Rules(schema: F.schema.get(), book: RuleBook(parsing: document, file: "rules.yaml"))
        } throws: { error in
            (error as? RuleError)?.problems == [
                "rules.yaml:1: matrix: nothing grants its roles within an object; add grants: [{class: …, user: …, role: "
                    + "…, scope: …}]."
            ]
        }
    }

    @Test("a note warns of a role that would apply everywhere once its object is deleted")
    func roleWithoutScope() throws {
        let notes = try F.rules(F.matrix("-ru-")).notes
        #expect(notes.count == 1 && notes.first?.contains("@Persisted(onDelete: .cascade)") == true, "\(notes)")
    }
}
