import Testing
import TomboloModel
import TomboloRuleDocuments
import TomboloRules

private typealias F = MatrixFixture

/// Boxes that permit operations on the matrix itself and on accounts rather than on objects, and boxes that no rule
/// uses.
@Suite struct MatrixOperationTests {
    private static func document(
        _ access: String, staff: String = "----", lead: String = "----", listing: String = #""%%matrix.desk.read""#
    ) -> String {
        """
        grants: {class: Membership, user: user, role: role, scope: team, roles: [lead, staff, boss]}
        matrix:
          scope: team
        \(access.split(separator: "\n").map { "  \($0)" }.joined(separator: "\n"))
          services: {listings: Listing, desk: []}
          everywhere: {staff: {listings: ----, desk: \(staff)}}
          roles: {lead: {listings: crud, desk: \(lead)}}
        Listing: [{name: everybody, applyWhen: {}, operations: {inspect: \(listing)}}]
        """
    }

    private static func rules(_ document: String) throws -> Rules {
        try Rules(schema: F.schema.get(), book: RuleBook(parsing: document, file: "rules.yaml"))
    }

    private static func everywhere(_ role: String) -> Subject {
        Subject(user: ObjectId(high: 2, low: 2), grants: [RoleGrant(Role(role), in: nil)])
    }

    private static let access = """
        read: "%%matrix.desk.read"
        write: {"%%user.roles": boss}
        operations: {listAccounts: "%%matrix.desk.read", manageAccounts: "%%matrix.desk.update"}
        """

    private static func permitted(_ subject: Subject, _ rules: Rules) -> [String] {
        [TomboloRules.Operation.read, .update, .listAccounts, .manageAccounts, .delete, .inspect].filter {
            rules.refusal(subject, $0, ofMatrixIn: "rules.yaml") == nil
        }.map(\.name)
    }

    @Test(
        "for roles that apply everywhere, boxes decide who sees the matrix and accounts; none permits changing the matrix"
    )
    func access() throws {
        for (letters, expected) in [
            ("----", []), ("-r--", ["read", "listAccounts"]), ("-ru-", ["read", "listAccounts", "manageAccounts"]),
            ("crud", ["read", "listAccounts", "manageAccounts"]),
        ] as [(String, [String])] {
            let rules = try Self.rules(Self.document(Self.access, staff: letters, lead: letters))
            #expect(Self.permitted(Self.everywhere("staff"), rules) == expected, "\(letters)")
            #expect(Self.permitted(F.subject("lead"), rules).isEmpty, "\(letters)")
            #expect(Self.permitted(.anonymous, rules).isEmpty)
            // A user who can change the matrix could tick the boxes.
            let all = ["read", "update", "listAccounts", "manageAccounts"]
            #expect(Self.permitted(Self.everywhere("boss"), rules) == all, "\(letters)")
        }
    }

    @Test("without operations, users who may see the matrix see accounts, and users who may change it change them")
    func withoutOperations() throws {
        let rules = try Self.rules(
            Self.document("read: {\"%%user.roles\": staff}\nwrite: {\"%%user.roles\": boss}"))
        #expect(Self.permitted(Self.everywhere("staff"), rules) == ["read", "listAccounts"])
        #expect(
            Self.permitted(Self.everywhere("boss"), rules) == ["read", "update", "listAccounts", "manageAccounts"])
        // Users who may change accounts see them too.
        let managing = try Self.rules(Self.document("operations: {manageAccounts: {\"%%user.roles\": staff}}"))
        #expect(Self.permitted(Self.everywhere("staff"), managing) == ["listAccounts", "manageAccounts"])
    }

    @Test("for a class whose objects are linked, rules can refer to boxes everywhere only, or also within an object")
    func everywhereAlone() throws {
        for (question, isWithin) in [("%%matrix.desk.read", true), ("%%matrix.everywhere.desk.read", false)] {
            let rules = try Self.rules(
                Self.document(Self.access, staff: "-r--", lead: "-r--", listing: "\"\(question)\""))
            let index = try #require(rules.schema.index(of: "Listing"))
            let row = F.listing()
            func may(_ subject: Subject) -> Bool {
                rules.authorize(subject, .inspect, .object(classIndex: index, old: row, new: row)).isAllowed
            }
            #expect(may(Self.everywhere("staff")))
            #expect(may(F.subject("lead")) == isWithin, "\(question)")
        }
    }

    @Test(
        "nonsensical conditions are mistakes",
        arguments: [
            (#"write: "%%matrix.desk.update""#, "'write' can't ask for the box '%%matrix.desk.update'"),
            (#"write: {$or: [{"%%user.roles": boss}, "%%matrix.everywhere.desk.read"]}"#, "could tick all the others"),
            (#"read: "%%matrix.dsk.read""#, "isn't known"), (#"read: "%%matrix.read""#, "about the user only"),
            ("operations: {listAcounts: true}", "did you mean 'listAccounts'?"),
            ("operations: {audit: true}", "Operations on objects belong to the roles of their class"),
            ("operations: true", "'operations' must be a mapping"),
            (
                "operations: {listAccounts: {name: x}}",
                "matrix, operation listAccounts: this condition is about the user only"
            ),
        ])
    func mistakes(access: String, message: String) throws {
        #expect {
            _ = try Self.rules(Self.document(access))
        } throws: { error in
            (error as? RuleError)?.problems.contains { $0.contains(message) } == true
        }
    }

    @Test("a box can't decide which users a role applies to")
    func applyWhen() throws {
        let document = Self.document(Self.access).replacing("applyWhen: {}", with: #"applyWhen: "%%matrix.desk.read""#)
        #expect {
            _ = try Self.rules(document)
        } throws: { error in
            (error as? RuleError)?.problems.contains { $0.contains("can't ask the matrix") } == true
        }
    }

    @Test("a box that no rule uses can't be ticked, and a note reports one that already is")
    func idleBoxes() throws {
        let listing = #""%%matrix.everywhere.desk.read""#
        let text = try RuleText(Self.document(Self.access, listing: listing), file: "rules.yaml")
        func box(_ role: String, _ operation: TomboloRules.Operation) -> PermissionMatrix.Box {
            .init(role: role, service: "desk", operation: operation)
        }
        let counting = text.matrix.rows.flatMap { role in
            PermissionMatrix.operations.map { box(role, $0) }.filter(text.matrix.counts)
        }
        #expect(counting == [box("staff", .read), box("staff", .update)])
        #expect(try text.setting(box("staff", .read), to: true).matrix.permits(box("staff", .read)))
        for idle in [box("staff", .create), box("staff", .delete), box("lead", .read)] {
            #expect(throws: MatrixEditError.countsNowhere(idle, isEverywhere: idle.role == "staff")) {
                _ = try text.setting(idle, to: true)
            }
        }
        #expect(throws: MatrixEditError.self) {
            _ = try text.adding("herald", isEverywhere: false, boxes: ["desk": [.read]])
        }
        let added = try text.adding("herald", isEverywhere: true, boxes: ["desk": [.read]])
        #expect(added.matrix.letters(role: "herald", service: "desk") == "-r--")

        let ticked = Self.document(Self.access, staff: "crud", lead: "-r--", listing: listing)
        let notes = try Self.rules(ticked).notes.filter { $0.contains("matrix, role") }
        #expect(notes.count == 2 && notes[0].contains("role 'staff', desk") && notes[0].contains("create, delete"))
        #expect(notes[1].contains("role 'lead', desk") && notes[1].contains("within an object"))
        // A box that was already ticked can be emptied.
        let emptied = try RuleText(ticked, file: "rules.yaml").setting(box("lead", .read), to: false)
        #expect(emptied.matrix.letters(role: "lead", service: "desk") == "----")
    }

    @Test(
        "new services come without boxes for added roles, and boxes that no rule uses any more are dropped"
    )
    func newServices() throws {
        let base = """
            grants: {class: Membership, user: user, role: role, scope: team, roles: [lead, staff, boss]}
            matrix:
              scope: team
              write: {"%%user.roles": boss}
              services: {listings: Listing, desk: []}
              everywhere:
                staff: {listings: ----, desk: ----}
              roles:
                lead: {listings: crud, desk: ----}
            Listing: [{name: everybody, applyWhen: {}, operations: {inspect: "%%matrix.desk.read", audit: "%%matrix.desk.delete"}}]

            """
        let current = try RuleText(base, file: "rules.yaml")
            .adding("helper", isEverywhere: true, boxes: ["listings": [.read], "desk": [.read, .delete]]).text
        let new = base.replacing("desk: []", with: "desk: [], accounts: []")
            .replacing("desk: ----", with: "desk: ----, accounts: ----")
            .replacing(#", audit: "%%matrix.desk.delete""#, with: "")
            .replacing(
                #"write: {"%%user.roles": boss}"#,
                with: #"""
                    write: {"%%user.roles": boss}
                      operations: {manageAccounts: "%%matrix.accounts.update"}
                    """#)
        let merge = try MatrixMerge(base: base, current: current, new: new, file: "rules.yaml")
        let matrix = try RuleText(merge.text, file: "rules.yaml").matrix
        #expect(matrix.letters(role: "helper", service: "listings") == "-r--")
        #expect(matrix.letters(role: "helper", service: "desk") == "-r--")
        #expect(matrix.letters(role: "helper", service: "accounts") == "----")
        #expect(merge.lost.map(\.description).contains { $0.contains("'helper' may delete desk") }, "\(merge.lost)")
        #expect(merge.returning.isEmpty)
        _ = try Self.rules(merge.text)
    }
}
