import Foundation
import Testing
import TomboloChangesets
import TomboloModel
import TomboloRules

@Suite struct RulesTests {
    /// A small schema of its own: rules know no application.
    private let schema: Schema
    private let note: Int
    private let userID = ObjectId(high: 1, low: 1)
    private let projectA = ObjectId(high: 2, low: 1)
    private let projectB = ObjectId(high: 2, low: 2)
    private let editor = Role("editor")

    init() throws {
        schema = try Schema([
            ClassSchema(
                name: "Note",
                columns: [
                    Column(name: "_id", type: .objectId, isPrimaryKey: true),
                    Column(name: "author", type: .objectId), Column(name: "project", type: .objectId),
                    Column(name: "isPublic", type: .bool),
                ], lists: [ListProperty(name: "related", target: "Note")])
        ])
        note = try #require(schema.index(of: "Note"))
    }

    private func row(author: ObjectId? = nil, project: ObjectId? = nil, isPublic: Bool = false) -> Row {
        Row([
            .objectId(ObjectId(high: 9, low: 9)), .objectId(author ?? ObjectId()), .objectId(project ?? projectA),
            .bool(isPublic),
        ])
    }

    private func rules(_ table: [Rule]) throws -> Rules { try Rules(schema: schema, table: table) }

    private var table: [Rule] {
        [
            Rule(
                .anonymous, "Note", [.read], where: .matching(.compare(PropertyPath("isPublic"), .equal, .bool(true)))),
            Rule(.attendee, "Note", [.read, .create, .update, .delete], where: .own("author")),
            Rule(editor, "Note", [.read, .update], where: .inScope("project")),
        ]
    }

    @Test(
        "what a rule permits for some object is not denied for the class; what none does is, elements like their object"
    )
    func denialOfAClass() throws {
        let rules = try rules(table)
        let element = try #require(schema.elementClassIndex(of: note, list: 0))
        func denied(_ subject: Subject, _ classIndex: Int) -> [WriteRequest.Operation] {
            let denial = rules.denial(subject)
            return [.create, .update, .delete].filter { denial($0, classIndex) != nil }
        }
        for index in [note, element] {
            #expect(denied(.anonymous, index) == [.create, .update, .delete])
            #expect(denied(Subject(user: userID), index) == [])
            #expect(denied(Subject(user: userID), 99) == [.create, .update, .delete])
        }
        let table = [Rule(editor, "Note", [.read, .update], where: .inScope("project"))]
        let scoped = try self.rules(table).denial(
            Subject(user: userID, grants: [RoleGrant(editor, in: projectA)]))
        #expect(scoped(.update, note) == nil && scoped(.create, note) != nil && scoped(.delete, note) != nil)
    }

    @Test func whatNoRulePermitsIsDenied() throws {
        let empty = try rules([])
        let admin = Subject(user: userID, grants: [RoleGrant(Role("superAdmin"))])
        for operation in [Operation.read, .create, .update, .delete, .listTrash, .restore, Operation("anything")] {
            for index in schema.classes.indices {
                #expect(!empty.authorize(admin, operation, .objects(classIndex: index)).isAllowed)
                let object = Resource.object(classIndex: index, old: row(), new: row())
                #expect(!empty.authorize(admin, operation, object).isAllowed)
            }
        }
        #expect(!empty.authorize(admin, .read, .objects(classIndex: 99)).isAllowed)
        #expect(empty.readable(admin)(note) == .constant(false))
        #expect(empty.readable(admin)(99) == .constant(false))
    }

    @Test func onlyAnonymousSubjectsAreAskedToLogIn() throws {
        let rules = try rules(table)
        guard case .denied(let denial) = rules.authorize(.anonymous, .create, .objects(classIndex: note)) else {
            Issue.record("anonymous may create")
            return
        }
        #expect(denial.needsLogin)
        #expect(
            denial.reason.contains("Note") && denial.reason.contains("create") && denial.reason.contains("attendee"))
        guard case .denied(let other) = rules.authorize(Subject(user: userID), .restore, .objects(classIndex: note))
        else {
            Issue.record("an attendee may restore")
            return
        }
        #expect(!other.needsLogin)
    }

    @Test func anUpdateNeedsTheRowBeforeAndAfter() throws {
        let rules = try rules(table)
        let subject = Subject(user: userID)
        let mine = row(author: userID)
        let others = row(author: ObjectId(high: 5, low: 5))
        func may(_ old: Row?, _ new: Row?) -> Bool {
            rules.authorize(subject, .update, .object(classIndex: note, old: old, new: new)).isAllowed
        }
        #expect(may(mine, mine))
        #expect(!may(mine, others))
        #expect(!may(others, mine))
        #expect(!may(nil, mine))
        #expect(!may(mine, nil))
    }

    @Test("a property that a rule fixes is changed by nobody whom no other rule lets do so")
    func fixedPropertiesStay() throws {
        let rules = try rules([
            Rule(.attendee, "Note", [.read, .update], where: .own("author"), fixing: ["project"]),
            Rule(editor, "Note", [.update], where: .inScope("project")),
        ])
        func may(_ subject: Subject, _ old: Row, _ new: Row) -> Decision {
            rules.authorize(subject, .update, .object(classIndex: note, old: old, new: new))
        }
        let author = Subject(user: userID)
        let mine = row(author: userID, project: projectA)
        #expect(may(author, mine, row(author: userID, project: projectA, isPublic: true)).isAllowed)
        let moved = row(author: userID, project: projectB)
        #expect(!may(author, mine, moved).isAllowed)
        if case .denied(let denial) = may(author, mine, moved) {
            #expect(denial.reason.contains("change the project of this Note"), "\(denial.reason)")
        }
        let everywhere = Subject(
            user: userID, grants: [RoleGrant(editor, in: projectA), RoleGrant(editor, in: projectB)])
        #expect(may(everywhere, mine, moved).isAllowed)
        // The rule that does not fix it has to permit the row before and after.
        #expect(!may(Subject(user: userID, grants: [RoleGrant(editor, in: projectA)]), mine, moved).isAllowed)
        let plain = try self.rules([Rule(.attendee, "Note", [.read, .update], where: .own("author"))])
        #expect(plain.fingerprint(of: author) != rules.fingerprint(of: author))
        #expect(throws: RuleError.self) {
            try self.rules([Rule(.attendee, "Note", [.update], where: .everything, fixing: ["projekt"])])
        }
    }

    @Test func creatingIsJudgedByTheNewRowAndDeletingByTheOld() throws {
        let rules = try rules(table)
        let subject = Subject(user: userID)
        let mine = row(author: userID)
        #expect(rules.authorize(subject, .create, .object(classIndex: note, old: nil, new: mine)).isAllowed)
        #expect(!rules.authorize(subject, .create, .object(classIndex: note, old: mine, new: row())).isAllowed)
        #expect(rules.authorize(subject, .delete, .object(classIndex: note, old: mine, new: nil)).isAllowed)
        #expect(!rules.authorize(subject, .delete, .object(classIndex: note, old: row(), new: mine)).isAllowed)
    }

    @Test func aRoleCountsOnlyInItsScope() throws {
        let rules = try rules(table)
        let subject = Subject(user: userID, grants: [RoleGrant(editor, in: projectA)])
        let filter = try rules.authorize(subject, .update, .objects(classIndex: note)).get()
        #expect(filter.matches(row(project: projectA), of: schema[note]))
        #expect(!filter.matches(row(project: projectB), of: schema[note]))
        let both = Subject(user: userID, grants: [RoleGrant(editor, in: projectA), RoleGrant(editor, in: projectB)])
        let wider = try rules.authorize(both, .update, .objects(classIndex: note)).get()
        #expect(wider.matches(row(project: projectB), of: schema[note]))
    }

    @Test func aRoleWithoutAScopeGivesNothingWhereARuleAsksForOne() throws {
        let rules = try rules([
            Rule(editor, "Note", [.read], where: .inScope("project")),
            Rule(Role("chief"), "Note", [.read], where: .everything),
        ])
        let unscoped = Subject(user: userID, grants: [RoleGrant(editor)])
        #expect(!rules.authorize(unscoped, .read, .objects(classIndex: note)).isAllowed)
        let scoped = Subject(user: userID, grants: [RoleGrant(Role("chief"), in: projectA)])
        #expect(!rules.authorize(scoped, .read, .objects(classIndex: note)).isAllowed)
    }

    @Test func everybodyHasTheRightsOfAnonymous() throws {
        let rules = try rules(table)
        for subject in [Subject.anonymous, Subject(user: userID)] {
            #expect(rules.readable(subject)(note).matches(row(isPublic: true), of: schema[note]))
            #expect(!rules.readable(subject)(note).matches(row(), of: schema[note]))
        }
    }

    @Test func anElementIsDecidedByTheObjectThatHasTheList() throws {
        let rules = try rules(table)
        let element = try #require(schema.index(of: "Note.related"))
        let subject = Subject(user: userID)
        let mine = row(author: userID)
        for (old, allowed) in [(mine, true), (row(), false)] {
            let resource = Resource.object(classIndex: element, old: old, new: old)
            #expect(rules.authorize(subject, .update, resource).isAllowed == allowed)
            let request = WriteRequest(operation: .update, classIndex: element, old: old, new: old)
            #expect((rules.permit(subject)(request) == nil) == allowed)
        }
        #expect(rules.readable(subject)(element) == rules.readable(subject)(note))
    }

    @Test func anUploadWithoutRowsIsDenied() throws {
        let rules = try rules([Rule(.attendee, "Note", [.read, .create, .update, .delete], where: .everything)])
        let permit = rules.permit(Subject(user: userID))
        for operation in [WriteRequest.Operation.create, .update, .delete] {
            #expect(permit(WriteRequest(operation: operation, classIndex: note, old: nil, new: nil)) != nil)
        }
        #expect(permit(WriteRequest(operation: .create, classIndex: note, old: nil, new: row())) == nil)
        #expect(permit(WriteRequest(operation: .update, classIndex: note, old: Row([]), new: row())) != nil)
    }

    @Test func theFingerprintFollowsRulesRolesAndUser() throws {
        let rules = try rules(table)
        let subject = Subject(user: userID, grants: [RoleGrant(editor, in: projectA), RoleGrant(editor, in: projectB)])
        let same = Subject(user: userID, grants: [RoleGrant(editor, in: projectB), RoleGrant(editor, in: projectA)])
        #expect(rules.fingerprint(of: subject) == rules.fingerprint(of: same))
        var others = [
            Subject(user: userID), Subject(user: projectA), .anonymous,
            Subject(user: userID, grants: [RoleGrant(editor, in: projectA)]),
            Subject(user: userID, grants: [RoleGrant(editor)]),
        ].map { rules.fingerprint(of: $0) }
        others.append(try self.rules(Array(table.dropLast())).fingerprint(of: subject))
        #expect(Set(others + [rules.fingerprint(of: subject)]).count == others.count + 1)
        #expect(try self.rules(table.reversed()).fingerprint(of: subject) == rules.fingerprint(of: subject))
    }

    @Test("Rules that differ in a literal have different fingerprints, however little of it a message shows")
    func theFingerprintTellsLiteralsApart() throws {
        let long = String(repeating: "x", count: 60)
        let property = PropertyPath("value")
        let texts: [Value] = [.string(long + "a"), .string(long + "b"), .string("\u{e9}"), .string("e\u{301}")]
        func equal(_ value: Value) -> TomboloModel.Predicate { .compare(property, .equal, value) }
        func isIn(_ values: [Value]) -> TomboloModel.Predicate { .isIn(property, values) }
        func contains(_ text: String) -> TomboloModel.Predicate {
            .text(property, .contains, text, ignoringCase: false)
        }
        let pairs: [(PropertyType, [TomboloModel.Predicate])] = [
            (.string, texts.map { equal($0) } + texts.map { isIn([$0]) }),
            (.string, [isIn([.string("a, b")]), isIn([.string("a"), .string("b")])]),
            (.string, [contains("\u{e9}"), contains("e\u{301}")]),
            (.data, [equal(.data(Data([1, 2]))), equal(.data(Data([2, 1])))]),
            (.date, [equal(.date(0)), equal(.date(1))]),
            (.double, [equal(.double(0.1)), equal(.double(0.1.nextUp))]),
        ]
        for (type, predicates) in pairs {
            let schema = try Schema([
                ClassSchema(
                    name: "Note",
                    columns: [
                        Column(name: "_id", type: .objectId, isPrimaryKey: true), Column(name: "value", type: type),
                    ])
            ])
            let fingerprints = try predicates.map { predicate in
                try Rules(schema: schema, table: [Rule(editor, "Note", [.read], where: .matching(predicate))])
                    .fingerprint(of: .anonymous)
            }
            #expect(Set(fingerprints).count == predicates.count, "\(predicates)")
        }
    }

    @Test func rulesThatDoNotFitTheSchemaAreRefusedAllAtOnce() {
        let error = #expect(throws: RuleError.self) {
            try rules([
                Rule(editor, "Nota", [.read], where: .everything),
                Rule(editor, "Note", [.read], where: .own("autor")),
                Rule(editor, "Note.related", [.read], where: .everything),
                Rule(editor, "Note", [.read], where: .all([.inScope("isPublic")])),
            ])
        }
        #expect(error?.problems.count == 4)
        #expect(error?.description.contains("did you mean 'Note'") == true)
        #expect(error?.description.contains("did you mean 'author'") == true)
    }
}
