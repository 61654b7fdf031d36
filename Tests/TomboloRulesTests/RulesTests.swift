import Testing
import TomboloChangesets
import TomboloModel
import TomboloRuleDocuments
import TomboloRules

@Suite struct RulesTests {
    /// A small schema for these tests, since rules know no application.
    private let schema: Schema
    private let note: Int
    private let element: Int
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
                ], lists: [ListProperty(name: "related", target: "Note")]),
            ClassSchema(
                name: "Grant",
                columns: [
                    Column(name: "_id", type: .objectId, isPrimaryKey: true), Column(name: "user", type: .objectId),
                    Column(name: "role", type: .string),
                    Column(name: "note", type: .link(to: "Note"), isOptional: true),
                ]),
        ])
        note = try #require(schema.index(of: "Note"))
        element = try #require(schema.index(of: "Note.related"))
    }

    private func row(author: ObjectId? = nil, project: ObjectId? = nil, isPublic: Bool = false) -> Row {
        Row([
            .objectId(ObjectId(high: 9, low: 9)), .objectId(author ?? ObjectId()), .objectId(project ?? projectA),
            .bool(isPublic),
        ])
    }

    private func rules(_ document: String) throws -> Rules {
        try Rules(schema: schema, book: RuleBook(parsing: document, file: "notes.yaml"))
    }

    private static let document = """
        Note:
          - name: author
            applyWhen: {}
            anonymous: true
            read:
              $or: [{isPublic: true}, {author: "%%user.id"}, {project: {$in: "%%user.grants.editor"}}]
            write:
              $or: [{author: "%%user.id"}, {project: {$in: "%%user.grants.editor"}}]
            insert: {author: "%%user.id"}
            delete: {author: "%%user.id"}
        """

    private func subject(_ grants: RoleGrant...) -> Subject { Subject(user: userID, grants: Set(grants)) }

    // MARK: Decisions

    @Test(
        "operations that a role permits on some objects aren't denied for the class, and elements follow their object")
    func denialOfAClass() throws {
        let rules = try rules(Self.document)
        func denied(_ subject: Subject, _ classIndex: Int) -> [WriteRequest.Operation] {
            let denial = rules.denial(subject)
            return [.create, .update, .delete].filter { denial($0, classIndex) != nil }
        }
        for index in [note, element] {
            #expect(denied(.anonymous, index) == [.create, .update, .delete])
            #expect(denied(Subject(user: userID), index) == [])
            #expect(denied(Subject(user: userID), 99) == [.create, .update, .delete])
        }
        let scoped = try self.rules(
            #"Note: [{name: a, applyWhen: {}, write: {project: {$in: "%%user.grants.editor"}}, insert: false, delete: false}]"#
        )
        .denial(subject(RoleGrant(editor, in: projectA)))
        #expect(scoped(.update, note) == nil && scoped(.create, note) != nil && scoped(.delete, note) != nil)
    }

    @Test("a class without rules is denied to everybody")
    func whatNoRulePermitsIsDenied() throws {
        let empty = try Rules(schema: schema, book: .empty)
        let admin = subject(RoleGrant(Role("superAdmin")))
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

    @Test("the first role that applies decides, and no other")
    func firstMatchWins() throws {
        let rules = try rules(
            """
            Note:
              - {name: banned, applyWhen: {"%%user.custom_data.isBanned": true}, read: false, write: false}
              - {name: editor, applyWhen: {"%%user.roles": editor}, read: true, write: false}
              - {name: author, applyWhen: {}, read: {author: "%%user.id"}, write: {author: "%%user.id"}}
            """)
        func may(_ subject: Subject, _ operation: TomboloRules.Operation) -> Bool {
            let mine = row(author: userID)
            return rules.authorize(subject, operation, .object(classIndex: note, old: mine, new: mine)).isAllowed
        }
        let author = Subject(user: userID)
        #expect(may(author, .read) && may(author, .update) && may(author, .create) && may(author, .delete))
        // The editor role replaces the author role.
        let editor = subject(RoleGrant(editor))
        #expect(may(editor, .read) && !may(editor, .update))
        let banned = Subject(
            user: userID, customData: ["isBanned": .bool(true)], grants: [RoleGrant(self.editor)])
        #expect(!may(banned, .read) && !may(banned, .update))
    }

    @Test("a class's own roles replace the default roles entirely")
    func defaultRoles() throws {
        let rules = try rules(
            """
            Note: [{name: nobody, applyWhen: {"%%user.roles": editor}, read: true, write: true}]
            defaultRoles: [{name: reader, applyWhen: {}, read: true, write: false}]
            """)
        let grant = try #require(schema.index(of: "Grant"))
        let readable = rules.readable(Subject(user: userID))
        #expect(readable(note) == .constant(false))
        #expect(readable(grant) == .constant(true))
        #expect(rules.readable(.anonymous)(grant) == .constant(false))
    }

    @Test("only callers who aren't logged in are asked to log in")
    func onlyAnonymousSubjectsAreAskedToLogIn() throws {
        let rules = try rules(Self.document)
        guard case .denied(let denial) = rules.authorize(.anonymous, .create, .objects(classIndex: note)) else {
            Issue.record("An anonymous caller may create.")
            return
        }
        #expect(denial.needsLogin)
        #expect(denial.reason == "Not permitted to create this Note: no rule of the role 'author' allows it.")
        guard case .denied(let other) = rules.authorize(Subject(user: userID), .restore, .objects(classIndex: note))
        else {
            Issue.record("An author may restore.")
            return
        }
        #expect(!other.needsLogin)
    }

    @Test("a role is for logged-in users unless it says otherwise")
    func anonymousCallers() throws {
        let rules = try rules("Note: [{name: reader, applyWhen: {}, read: true}]")
        #expect(rules.readable(.anonymous)(note) == .constant(false))
        #expect(rules.readable(Subject(user: userID))(note) == .constant(true))
        let open = try self.rules(Self.document)
        for subject in [Subject.anonymous, Subject(user: userID)] {
            #expect(open.readable(subject)(note).matches(row(isPublic: true), of: schema[note]))
            #expect(!open.readable(subject)(note).matches(row(), of: schema[note]))
        }
    }

    @Test("an update must be permitted for the row both before and after it")
    func anUpdateNeedsTheRowBeforeAndAfter() throws {
        let rules = try rules(Self.document)
        let mine = row(author: userID)
        let others = row(author: ObjectId(high: 5, low: 5))
        func may(_ old: Row?, _ new: Row?) -> Bool {
            rules.authorize(Subject(user: userID), .update, .object(classIndex: note, old: old, new: new)).isAllowed
        }
        #expect(may(mine, mine))
        #expect(!may(mine, others))
        #expect(!may(others, mine))
        #expect(!may(nil, mine))
        #expect(!may(mine, nil))
    }

    @Test("creating is judged by the new row and deleting by the old; each needs write and its own filter")
    func creatingIsJudgedByTheNewRowAndDeletingByTheOld() throws {
        let rules = try rules(Self.document)
        let subject = subject(RoleGrant(editor, in: projectB))
        let mine = row(author: userID)
        func may(_ operation: TomboloRules.Operation, _ old: Row?, _ new: Row?) -> Bool {
            rules.authorize(subject, operation, .object(classIndex: note, old: old, new: new)).isAllowed
        }
        #expect(may(.create, nil, mine))
        #expect(!may(.create, mine, row()))
        #expect(may(.delete, mine, nil))
        #expect(!may(.delete, row(), mine))
        // The row passes the write filter, but not the other two.
        let edited = row(project: projectB)
        #expect(may(.update, edited, edited) && !may(.create, nil, edited) && !may(.delete, edited, nil))
    }

    @Test("write permission implies read permission")
    func writeImpliesRead() throws {
        let rules = try rules(
            #"Note: [{name: a, applyWhen: {}, read: {isPublic: true}, write: {author: "%%user.id"}}]"#)
        let read = rules.readable(Subject(user: userID))(note)
        #expect(read.matches(row(author: userID), of: schema[note]))
        #expect(read.matches(row(isPublic: true), of: schema[note]))
        #expect(!read.matches(row(), of: schema[note]))
    }

    @Test("a grant counts only within its scope, and one without a scope only where rules ask for none")
    func aGrantCountsOnlyInItsScope() throws {
        let rules = try rules(Self.document)
        func filter(_ grants: RoleGrant...) throws -> TomboloModel.Predicate {
            try rules.authorize(Subject(user: userID, grants: Set(grants)), .update, .objects(classIndex: note)).get()
        }
        let one = try filter(RoleGrant(editor, in: projectA))
        #expect(one.matches(row(project: projectA), of: schema[note]))
        #expect(!one.matches(row(project: projectB), of: schema[note]))
        let both = try filter(RoleGrant(editor, in: projectA), RoleGrant(editor, in: projectB))
        #expect(both.matches(row(project: projectB), of: schema[note]))
        let none = try filter(RoleGrant(editor))
        #expect(!none.matches(row(project: projectA), of: schema[note]))
        let chief = try self.rules(#"Note: [{name: chief, applyWhen: {"%%user.roles": chief}, read: true}]"#)
        #expect(chief.readable(subject(RoleGrant(Role("chief"))))(note) == .constant(true))
        #expect(chief.readable(subject(RoleGrant(Role("chief"), in: projectA)))(note) == .constant(false))
    }

    @Test("access to a list's element is decided by the object that has the list")
    func anElementIsDecidedByTheObjectThatHasTheList() throws {
        let rules = try rules(Self.document)
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

    @Test("an upload without rows is denied")
    func anUploadWithoutRowsIsDenied() throws {
        let permit = try rules("Note: [{name: all, applyWhen: {}, write: true}]").permit(Subject(user: userID))
        for operation in [WriteRequest.Operation.create, .update, .delete] {
            #expect(permit(WriteRequest(operation: operation, classIndex: note, old: nil, new: nil)) != nil)
        }
        #expect(permit(WriteRequest(operation: .create, classIndex: note, old: nil, new: row())) == nil)
        #expect(permit(WriteRequest(operation: .update, classIndex: note, old: Row([]), new: row())) != nil)
    }

    @Test("every other operation has its own expression, and none is implied")
    func operations() throws {
        let rules = try rules(
            """
            Note:
              - {name: all, applyWhen: {}, write: true, operations: {trash: {isPublic: false}, listTrash: true}}
            """)
        func may(_ name: String, _ row: Row) -> Bool {
            rules.authorize(
                Subject(user: userID), Operation(name), .object(classIndex: note, old: row, new: nil)
            ).isAllowed
        }
        #expect(may("trash", row()) && !may("trash", row(isPublic: true)))
        #expect(may("listTrash", row()) && !may("restore", row()) && !may("purge", row()))
    }

    @Test("a device's restore is decided by the operation's own expression, applied to the row in the trash")
    func restoring() throws {
        func reason(_ operations: String, _ old: Row) throws -> String? {
            let rules = try rules("Note: [{name: all, applyWhen: {}, write: true\(operations)}]")
            return rules.permit(Subject(user: userID))(
                WriteRequest(operation: .restore, classIndex: note, old: old, new: row()))?.reason
        }
        let denial = "Not permitted to restore this Note: no rule of the role 'all' allows it."
        #expect(try reason("", row()) == denial)
        #expect(
            try rules("Note: [{name: all, applyWhen: {}, write: true}]").permit(Subject(user: userID))(
                WriteRequest(operation: .restore, classIndex: note, old: row(), new: row()))
                == WriteDenial(denial, role: "all"))
        #expect(try reason(", operations: {restore: {isPublic: true}}", row()) == denial)
        #expect(try reason(", operations: {restore: {isPublic: true}}", row(isPublic: true)) == nil)
    }

    @Test("role names with the same letters in other code points are different roles")
    func roleNamesByBytes() throws {
        let (name, other) = ("\u{e9}diteur", "e\u{301}diteur")
        let rules = try rules("Note: [{name: all, applyWhen: {}, read: {project: {$in: \"%%user.grants.\(name)\"}}}]")
        func reads(_ names: String...) -> [Bool] {
            let subject = Subject(user: userID, grants: Set(names.map { RoleGrant(Role($0), in: projectA) }))
            let one = rules.authorize(
                subject, .read, .object(classIndex: note, old: row(project: projectA), new: nil))
            return [one.isAllowed, rules.readable(subject)(note) != .constant(false)]
        }
        #expect(reads(other) == [false, false])
        #expect(reads(name) == [true, true])
        #expect(reads(name, other) == [true, true] && reads(other, name) == [true, true])

        // A rule may name both.
        let conditions = [name, other].map { "{project: {$in: \"%%user.grants.\($0)\"}}" }.joined(separator: ", ")
        let both = try self.rules("Note: [{name: all, applyWhen: {}, read: {$or: [\(conditions)]}}]")
        for name in [name, other] {
            let subject = Subject(user: userID, grants: [RoleGrant(Role(name), in: projectA)])
            let decision = both.authorize(
                subject, .read, .object(classIndex: note, old: row(project: projectA), new: nil))
            #expect(decision.isAllowed)
        }
    }

    @Test(
        "a text is a date if it's a day or a moment, with or without a zone, and nothing follows",
        arguments: [
            ("1970-01-02", 86_400_000_000), ("1970-01-01T12:00:00Z", 43_200_000_000),
            ("1970-01-01T14:00:00+02:00", 43_200_000_000), ("1970-01-01T12:00:00", 43_200_000_000),
            ("1970-01-01 12:00:00.25", 43_200_250_000), ("1970-01-01T12:00Z", nil), ("1970-01-01 noon", nil),
            ("1970-01-01T25:00:00Z", nil), ("1970-02-30", nil),
        ] as [(String, Int64?)])
    func dates(text: String, microseconds: Int64?) throws {
        let schema = try Schema([
            ClassSchema(
                name: "Note",
                columns: [
                    Column(name: "_id", type: .objectId, isPrimaryKey: true), Column(name: "date", type: .date),
                ])
        ])
        func readable(_ value: String) throws -> Predicate {
            let document = "Note: [{name: all, applyWhen: {}, read: {date: \"\(value)\"}}]"
            let user = Subject(user: userID, customData: ["since": .string(text)])
            return try Rules(schema: schema, book: RuleBook(parsing: document, file: "notes.yaml")).readable(user)(0)
        }
        let expected = microseconds.map { Predicate.compare(PropertyPath("date"), .equal, .date($0)) }
        #expect(try readable("%%user.custom_data.since") == expected ?? .constant(false))
        if let expected {
            #expect(try readable(text) == expected)
        } else {
            #expect(throws: RuleError.self) { _ = try readable(text) }
        }
    }

    // MARK: Fields

    @Test("a field that isn't writable keeps its value in an update, and has none in a new object")
    func fixedFields() throws {
        let rules = try rules(
            """
            Note: [{name: all, applyWhen: {}, write: true, fields: {isPublic: {read: true, write: false}}}]
            """)
        let permit = rules.permit(Subject(user: userID))
        let draft = row(author: userID)
        let published = row(author: userID, isPublic: true)
        func request(_ operation: WriteRequest.Operation, _ old: Row?, _ new: Row?) -> String? {
            permit(WriteRequest(operation: operation, classIndex: note, old: old, new: new))?.reason
        }
        #expect(request(.update, draft, row(author: userID, project: projectB)) == nil)
        #expect(
            request(.update, draft, published)
                == "Not permitted to change the isPublic of this Note: no rule of the role 'all' allows it.")
        #expect(request(.create, nil, draft) == nil)
        #expect(request(.create, nil, published) != nil)
        #expect(request(.delete, published, nil) == nil)
        #expect(rules.hiddenColumns(Subject(user: userID)).isEmpty)
    }

    @Test("a field that isn't readable is hidden, but never the primary key")
    func hiddenFields() throws {
        let rules = try rules(
            """
            Note:
              - name: editor
                applyWhen: {"%%user.roles": editor}
                read: true
              - name: reader
                applyWhen: {}
                read: true
                fields: {related: {read: true}, project: {read: true}}
                additional_fields: {}
            """)
        let reader = rules.hiddenColumns(Subject(user: userID))
        #expect(reader == [note: [1, 3]])
        #expect(rules.hiddenColumns(subject(RoleGrant(editor))).isEmpty)
        #expect(rules.hiddenColumns(.anonymous).isEmpty)
        #expect(rules.readable(Subject(user: userID))(element) == .constant(true))
    }

    @Test(
        "numbers in rules and user data are rounded to the nearest float to compare them with a float property",
        arguments: [
            ("{level: 0.1}", [false, true, false]), ("{level: {$in: [0.1, 7]}}", [false, true, false]),
            ("{level: {$lte: 0.1}}", [true, true, false]), ("{level: {$gt: 0.1}}", [false, false, true]),
            (#"{level: "%%user.custom_data.level"}"#, [false, true, false]),
        ])
    func floats(read: String, expected: [Bool]) throws {
        let item = ClassSchema(
            name: "Tank",
            columns: [
                Column(name: "_id", type: .objectId, isPrimaryKey: true), Column(name: "level", type: .float),
            ])
        let schema = try Schema([item])
        let document = "Tank: [{name: all, applyWhen: {}, read: \(read)}]"
        let rules = try Rules(schema: schema, book: RuleBook(parsing: document, file: "tanks.yaml"))
        let readable = rules.readable(Subject(user: userID, customData: ["level": .double(0.1)]))(0)
        // Devices store floats as these values.
        let levels = [Float(0.1).nextDown, 0.1, Float(0.1).nextUp]
        let found = levels.map { readable.matches(Row([.objectId(ObjectId()), .double(Double($0))]), of: item) }
        #expect(found == expected)
    }

    @Test("a renamed property still follows rules under its old name, but a rule under its new name takes precedence")
    func renamedFields() throws {
        let schema = try Schema([
            ClassSchema(
                name: "Note",
                columns: [
                    Column(name: "_id", type: .objectId, isPrimaryKey: true),
                    Column(name: "fee", type: .int(bits: 64), previousNames: ["commission"]),
                    Column(name: "home", type: .embedded("Address"), isOptional: true, previousNames: ["address"]),
                    Column(
                        name: "home.zip", type: .string, isOptional: true, previousNames: ["home.code", "address.code"]),
                ], lists: [ListProperty(name: "links", element: .link(to: "Note"), previousNames: ["related"])])
        ])
        func rules(_ fields: String) throws -> Rules {
            try Rules(
                schema: schema,
                book: RuleBook(
                    parsing: "Note: [{name: all, applyWhen: {}, read: true, fields: {\(fields)}}]", file: "notes.yaml"))
        }
        let user = Subject(user: userID)
        let hidden = "{read: false, write: false}"
        #expect(try rules("commission: \(hidden)").hiddenColumns(user) == [0: [1]])
        #expect(try rules("commission: {read: true, write: false}").fixedColumns(user, ofClassAt: 0) == [1])
        #expect(try rules("address: \(hidden)").hiddenColumns(user) == [0: [2, 3]])
        let inner = "address: {read: true, write: true, fields: {code: \(hidden)}}"
        #expect(try rules(inner).hiddenColumns(user) == [0: [3]])
        #expect(try rules("related: \(hidden)").readable(user)(1) == .constant(false))
        let visible = "{read: true, write: true}"
        for fields in ["fee: \(hidden), commission: \(visible)", "commission: \(visible), fee: \(hidden)"] {
            #expect(try rules(fields).hiddenColumns(user) == [0: [1]], "\(fields)")
        }
    }

    @Test("writing a hidden field is refused even if its value stays the same; writing a visible one isn't")
    func guesses() throws {
        let rules = try rules(
            """
            Note:
              - name: all
                applyWhen: {}
                write: true
                fields: {isPublic: {read: false, write: false}, project: {read: true, write: false}}
            """)
        let permit = rules.permit(Subject(user: userID))
        func update(_ written: Set<Int>) -> String? {
            permit(WriteRequest(operation: .update, classIndex: note, old: row(), new: row(), written: written))?.reason
        }
        #expect(
            update([3]) == "Not permitted to change the isPublic of this Note: no rule of the role 'all' allows it.")
        #expect(update([1, 2]) == nil)
    }

    @Test("a list that isn't readable is hidden entirely")
    func hiddenLists() throws {
        let rules = try rules(
            "Note: [{name: reader, applyWhen: {}, read: true, fields: {related: {read: false, write: false}}}]")
        #expect(rules.readable(Subject(user: userID))(note) == .constant(true))
        #expect(rules.readable(Subject(user: userID))(element) == .constant(false))
    }

    @Test("a role that permits no field permits no object")
    func noFieldAtAll() throws {
        let rules = try rules(
            """
            Note:
              - name: none
                apply_when: {}
                document_filters: {read: true, write: true}
                additional_fields: {}
            """)
        #expect(rules.readable(Subject(user: userID))(note) == .constant(false))
        #expect(rules.denial(Subject(user: userID))(.update, note) != nil)
    }

    // MARK: Fingerprints

    @Test("the fingerprint depends on the rules and everything they see of the user")
    func theFingerprintFollowsRulesAndUser() throws {
        let document = """
            Note:
              - name: a
                applyWhen: {"%%user.custom_data.level": {$gt: 3}}
                read: {project: {$in: "%%user.grants.editor"}}
            """
        let rules = try rules(document)
        func subject(_ level: Int64, other: Int64 = 0, _ scopes: ObjectId...) -> Subject {
            Subject(
                user: userID, customData: ["level": .int(level), "other": .int(other)],
                grants: Set(scopes.map { RoleGrant(editor, in: $0) }))
        }
        let fingerprint = rules.fingerprint(of: subject(4, projectA, projectB))
        #expect(fingerprint == rules.fingerprint(of: subject(4, projectB, projectA)))
        #expect(fingerprint == rules.fingerprint(of: subject(4, other: 9, projectB, projectA)))
        #expect(fingerprint != rules.fingerprint(of: subject(5, projectA, projectB)))
        #expect(fingerprint != rules.fingerprint(of: subject(4, projectA)))
        #expect(fingerprint != rules.fingerprint(of: Subject(user: projectA)))
        #expect(rules.fingerprint(of: .anonymous) != rules.fingerprint(of: Subject(user: userID)))
        let others = [
            document.replacing("$gt", with: "$gte"), document.replacing("3", with: "4"),
            document.replacing("read", with: "write"), document.replacing("editor", with: "author"),
            document + "\n    insert: false", document + "\n    fields: {author: {read: false, write: false}}",
        ]
        var seen: Set<UInt64> = [fingerprint]
        for other in others {
            let rules = try self.rules(other)
            #expect(seen.insert(rules.fingerprint(of: subject(4, projectA, projectB))).inserted, "\(other)")
        }
        // The fingerprint doesn't depend on how the rules are written.
        let json = """
            {"Note": {"roles": [{"read": {"project": {"$in": "%%user.grants.editor"}}, "name": "a",
             "applyWhen": {"%%user.custom_data.level": {"$gt": 3}}}]}}
            """
        #expect(try self.rules(json).fingerprint(of: subject(4, projectA, projectB)) == fingerprint)
    }

    @Test("rules that differ in a literal have different fingerprints, however little of it messages show")
    func theFingerprintTellsLiteralsApart() throws {
        let schema = try Schema([
            ClassSchema(
                name: "Note",
                columns: [
                    Column(name: "_id", type: .objectId, isPrimaryKey: true), Column(name: "text", type: .string),
                    Column(name: "date", type: .date), Column(name: "double", type: .double),
                ])
        ])
        let long = String(repeating: "x", count: 60)
        let filters = [
            "{text: \(long)a}", "{text: \(long)b}", #"{text: "\u00e9"}"#, #"{text: "e\u0301"}"#,
            #"{text: {$in: ["a, b"]}}"#, "{text: {$in: [a, b]}}", #"{date: "1970-01-01T00:00:00.000Z"}"#,
            #"{date: "1970-01-01T00:00:00.001Z"}"#, "{double: 0.1}", "{double: 0.10000000000000002}",
        ]
        let fingerprints = try filters.map { filter in
            let book = try RuleBook(parsing: "Note: [{name: a, applyWhen: {}, read: \(filter)}]", file: "a.yaml")
            return try Rules(schema: schema, book: book).fingerprint(of: .anonymous)
        }
        #expect(Set(fingerprints).count == filters.count)
    }

    // MARK: Several books, grants

    @Test("grants are resolved to columns")
    func grantColumns() throws {
        let rules = try rules("grants: {class: Grant, user: user, role: role, scope: note}")
        let index = try #require(schema.index(of: "Grant"))
        let source = try #require(rules.grantColumns.first)
        #expect(rules.grantColumns.count == 1)
        #expect(source.classIndex == index && source.userColumn == 1 && source.roleColumn == 2)
        #expect(source.scopeColumn == 3)
        #expect(
            try self.rules("grants: [{class: Grant, user: user, role: role}]").grantColumns.first?.scopeColumn == nil)
    }

    @Test("a scope may be a key of any type")
    func scopesOfAnyType() throws {
        let schema = try Schema([
            ClassSchema(
                name: "Room",
                columns: [
                    Column(name: "_id", type: .int(bits: 64), isPrimaryKey: true),
                    Column(name: "token", type: .uuid), Column(name: "name", type: .string),
                ])
        ])
        let token = try #require(UUIDText.value)
        for (column, scope) in [("_id", Value.int(7)), ("token", token), ("name", .string("é"))] {
            let book = try RuleBook(
                parsing: "Room: [{name: a, applyWhen: {}, read: {\(column): {$in: \"%%user.grants.host\"}}}]",
                file: "a.yaml")
            let rules = try Rules(schema: schema, book: book)
            let subject = Subject(user: userID, grants: [RoleGrant(role: Role("host"), scope: scope)])
            #expect(rules.readable(subject)(0) == .compare(PropertyPath(column), .equal, scope))
        }
    }

    @Test("each app's default roles cover its own classes, and a class has only one app's rules")
    func severalBooks() throws {
        var a = try RuleBook(
            parsing: "defaultRoles: [{name: a, applyWhen: {}, read: true, write: false}]", file: "a.yaml")
        var b = try RuleBook(
            parsing: "defaultRoles: [{name: b, applyWhen: {}, read: false, write: false}]", file: "b.yaml")
        #expect(throws: RuleError.self) { try Rules(schema: schema, books: [a, b]) }
        a.scope = ["Note"]
        b.scope = ["Grant"]
        let readable = try Rules(schema: schema, books: [a, b]).readable(Subject(user: userID))
        #expect(readable(note) == .constant(true))
        #expect(readable(try #require(schema.index(of: "Grant"))) == .constant(false))
        let c = try RuleBook(parsing: "Note: []", file: "c.yaml")
        let error = #expect(throws: RuleError.self) {
            try Rules(schema: schema, books: [RuleBook.open(["Note"]), c])
        }
        #expect(
            error?.problems == [
                "c.yaml:1: Note already has rules in development mode; only one document can have them."
            ])
        var stranger = c
        stranger.scope = ["Grant"]
        #expect(throws: RuleError.self) { try Rules(schema: schema, book: stranger) }
    }

    @Test("rules that use a class's former name are refused with its new name")
    func formerNames() throws {
        let key = Column(name: "_id", type: .objectId, isPrimaryKey: true)
        let team = Column(name: "team", type: .string)
        let schema = try Schema([
            ClassSchema(name: "Home", columns: [key, team], previousNames: ["Listing"]),
            ClassSchema(name: "Lead", columns: [key, team], previousNames: ["Client"]),
        ])
        func problems(_ document: String) throws -> [String] {
            var book = try RuleBook(parsing: document, file: "homes.yaml")
            book.scope = ["Home"]
            let error = #expect(throws: RuleError.self) { try Rules(schema: schema, book: book) }
            return error?.problems ?? []
        }
        let renamed = "the class 'Listing' is now called 'Home'; use that name."
        #expect(try problems("Listing: []") == ["homes.yaml:1: \(renamed)"])
        let foreign = "Client belongs to another app, and only that app's rules apply to it."
        #expect(try problems("Client: []") == ["homes.yaml:1: \(foreign)"])
        let matrix = "matrix: {scope: team, services: {homes: Listing}, roles: {lead: {homes: crud}}}"
        #expect(try problems(matrix).contains("homes.yaml:1: matrix: \(renamed)"))
    }

    @Test("in development mode every logged-in user may do everything")
    func developmentMode() throws {
        let rules = try Rules(schema: schema, book: .open(["Note"]))
        let permit = rules.permit(Subject(user: userID))
        for operation in [WriteRequest.Operation.create, .update, .delete] {
            #expect(permit(WriteRequest(operation: operation, classIndex: note, old: row(), new: row())) == nil)
        }
        #expect(rules.readable(Subject(user: userID))(note) == .constant(true))
        #expect(rules.readable(.anonymous)(note) == .constant(false))
    }
}
