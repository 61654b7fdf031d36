import Foundation
import Testing
import TomboloModel
import TomboloRuleDocuments
import TomboloRules

/// Rule files as published for Device Sync.
@Suite struct PublishedDocumentTests {
    private static let ann = ObjectId(high: 1, low: 1)
    private static let ben = ObjectId(high: 1, low: 2)

    private static func book(_ name: String) throws -> RuleBook {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "Documents")
        return try RuleBook(parsing: Data(contentsOf: folder.appending(path: name)), file: name)
    }

    private static func item(_ name: String, key: PropertyType = .objectId, _ columns: String...) -> ClassSchema {
        ClassSchema(
            name: name,
            columns: [Column(name: "_id", type: key, isPrimaryKey: true)]
                + columns.map { Column(name: $0, type: .string, isOptional: true) })
    }

    /// What a subject may do with one object: C, R, U and D, or a hyphen instead of each.
    private static func permitted(_ rules: Rules, _ subject: Subject, _ className: String, _ row: Row) throws -> String
    {
        let index = try #require(rules.schema.index(of: className))
        let operations: [(String, TomboloRules.Operation)] = [
            ("C", .create), ("R", .read), ("U", .update), ("D", .delete),
        ]
        return operations.map { letter, operation in
            let resource = Resource.object(classIndex: index, old: row, new: row)
            return rules.authorize(subject, operation, resource).isAllowed ? letter : "-"
        }.joined()
    }

    // MARK: Sales

    struct SalesCase: CustomTestStringConvertible {
        let user: String
        let data: [String: UserValue]
        let opportunities: [String]
        let bookings: String

        var testDescription: String { user }
    }

    /// For each user: opportunities owned by Ann in West, by Ann in East, by Ben in West, and without owner and team;
    /// then bookings.
    private static let salesCases: [SalesCase] = [
        SalesCase(user: "salesperson", data: [:], opportunities: ["CRUD", "CRUD", "----", "----"], bookings: "----"),
        SalesCase(
            user: "member of sales", data: ["isSales": .bool(true)], opportunities: ["CRUD", "CRUD", "----", "----"],
            bookings: "-R--"),
        SalesCase(
            user: "manager", data: ["isSalesManager": .bool(true), "teamManager": .string("West")],
            opportunities: ["CRUD", "----", "CRUD", "----"], bookings: "----"),
        SalesCase(
            user: "manager of another team", data: ["isSalesManager": .bool(true), "teamManager": .string("North")],
            opportunities: ["----", "----", "----", "----"], bookings: "----"),
        SalesCase(
            user: "manager without a team", data: ["isSalesManager": .bool(true)],
            opportunities: ["----", "----", "----", "----"], bookings: "----"),
        SalesCase(
            user: "manager whose team is null", data: ["isSalesManager": .bool(true), "teamManager": .null],
            opportunities: ["----", "----", "----", "----"], bookings: "----"),
        SalesCase(
            user: "not a manager", data: ["isSalesManager": .bool(false), "teamManager": .string("West")],
            opportunities: ["CRUD", "CRUD", "----", "----"], bookings: "----"),
        SalesCase(
            user: "manager flag as text", data: ["isSalesManager": .string("true"), "teamManager": .string("West")],
            opportunities: ["CRUD", "CRUD", "----", "----"], bookings: "----"),
        SalesCase(
            user: "accountant", data: ["isAccounting": .bool(true)], opportunities: ["CRUD", "CRUD", "----", "----"],
            bookings: "CRUD"),
        SalesCase(
            user: "accountant of sales", data: ["isAccounting": .bool(true), "isSales": .bool(true)],
            opportunities: ["CRUD", "CRUD", "----", "----"], bookings: "CRUD"),
    ]

    private static let salesSchema = Result {
        try Schema([item("Opportunities", "owner", "team"), item("Bookings", "customer")])
    }

    @Test("access to opportunities and bookings follows the tables", arguments: salesCases)
    func salesTables(_ sample: SalesCase) throws {
        let rules = try Rules(schema: Self.salesSchema.get(), book: Self.book("sales.rules.yaml"))
        let subject = Subject(user: Self.ann, customData: sample.data)
        let rows: [(Value, Value)] = [
            (.string(Self.ann.stringValue), .string("West")), (.string(Self.ann.stringValue), .string("East")),
            (.string(Self.ben.stringValue), .string("West")), (.null, .null),
        ]
        let found = try rows.map { owner, team in
            try Self.permitted(rules, subject, "Opportunities", Row([.objectId(ObjectId()), owner, team]))
        }
        #expect(found == sample.opportunities)
        let booking = Row([.objectId(ObjectId()), .string("Acme")])
        #expect(try Self.permitted(rules, subject, "Bookings", booking) == sample.bookings)
        #expect(try Self.permitted(rules, .anonymous, "Bookings", booking) == "----")
    }

    @Test("nobody can move an opportunity out of their own reach")
    func salesMoves() throws {
        let rules = try Rules(schema: Self.salesSchema.get(), book: Self.book("sales.rules.yaml"))
        let index = try #require(rules.schema.index(of: "Opportunities"))
        let mine = Row([.objectId(ObjectId()), .string(Self.ann.stringValue), .string("West")])
        let others = Row([.objectId(ObjectId()), .string(Self.ben.stringValue), .string("West")])
        func may(_ subject: Subject) -> Bool {
            rules.authorize(subject, .update, .object(classIndex: index, old: mine, new: others)).isAllowed
        }
        #expect(!may(Subject(user: Self.ann)))
        #expect(
            may(Subject(user: Self.ann, customData: ["isSalesManager": .bool(true), "teamManager": .string("West")])))
    }

    // MARK: Chat

    private static let chatSchema = Result {
        try Schema([
            item("ChatMessage", key: .string, "authorID", "text"), item("Chatster", key: .string, "userName"),
            item("User", key: .string, "userName"), item("Log", "text"),
        ])
    }

    @Test("a chat's configuration permits what it says")
    func chat() throws {
        let rules = try Rules(schema: Self.chatSchema.get(), book: Self.book("chat.config.json"))
        let ann = Subject(user: Self.ann)
        let key = Value.string("1")
        let (annID, benID) = (Value.string(Self.ann.stringValue), Value.string(Self.ben.stringValue))
        #expect(try Self.permitted(rules, ann, "ChatMessage", Row([key, annID, .null])) == "CRUD")
        #expect(try Self.permitted(rules, ann, "ChatMessage", Row([key, benID, .null])) == "-R--")
        #expect(try Self.permitted(rules, ann, "Chatster", Row([annID, .null])) == "-R--")
        #expect(try Self.permitted(rules, ann, "User", Row([annID, .null])) == "CRUD")
        #expect(try Self.permitted(rules, ann, "User", Row([benID, .null])) == "----")
        #expect(try Self.permitted(rules, ann, "Log", Row([.objectId(ObjectId()), .null])) == "----")
        #expect(rules.notes.count == 5)
    }

    @Test("a role without document filters denies access, as it did for sync")
    func chatCollection() throws {
        let rules = try Rules(schema: Self.chatSchema.get(), book: Self.book("chat.collection.json"))
        let row = Row([.string("1"), .string(Self.ann.stringValue), .null])
        #expect(try Self.permitted(rules, Subject(user: Self.ann), "ChatMessage", row) == "----")
        #expect(rules.notes.contains { $0.contains("has no document_filters and permits nothing") })
    }

    @Test("partition permissions that call functions are refused, with what to write instead")
    func chatPartition() throws {
        let schema = try Schema([Self.item("ChatMessage", key: .string, "partition", "text")])
        let error = #expect(throws: RuleError.self) {
            try Rules(schema: schema, book: Self.book("chat.partition.json"))
        }
        #expect(error?.problems.count == 2)
        #expect(
            error?.problems.allSatisfy {
                $0.contains("%function") && $0.contains("%%partition.key and %%partition.value")
            }
                == true)
    }

    @Test("partition permissions without functions are read unchanged")
    func partitions() throws {
        let document = """
            {"type": "partition", "state": "enabled", "development_mode_enabled": false,
             "partition": {"key": "owner", "type": "string", "required": false,
              "permissions": {"read": {"%%partition": "%%user.id"}, "write": {"%%partition": "%%user.id"}}}}
            """
        let schema = try Schema([Self.item("Note", key: .string, "owner"), Self.item("Log", "text")])
        let rules = try Rules(schema: schema, book: RuleBook(parsing: document, file: "config.json"))
        let own = Value.string(Self.ann.stringValue)
        let ann = Subject(user: Self.ann)
        #expect(try Self.permitted(rules, ann.inPartition(own), "Note", Row([.string("1"), own])) == "CRUD")
        #expect(try Self.permitted(rules, ann, "Note", Row([.string("1"), own])) == "----")
        #expect(try Self.permitted(rules, ann.inPartition(own), "Note", Row([.string("1"), .null])) == "----")
        let ben = Subject(user: Self.ben).inPartition(own)
        #expect(try Self.permitted(rules, ben, "Note", Row([.string("1"), own])) == "----")
        #expect(
            try Self.permitted(rules, ann.inPartition(own), "Log", Row([.objectId(ObjectId()), .null])) == "----")
    }

    // MARK: Drawing

    @Test("a drawing belongs to the user with its author's email address; other classes are open to everybody")
    func drawing() throws {
        let schema = try Schema([Self.item("Drawing", "author", "name"), Self.item("Palette", "name")])
        let rules = try Rules(schema: schema, book: Self.book("drawing.rules.json"))
        let ann = Subject(user: Self.ann, data: ["email": .string("ann@example.org")])
        let id = Value.objectId(ObjectId())
        #expect(try Self.permitted(rules, ann, "Drawing", Row([id, .string("ann@example.org"), .null])) == "CRUD")
        #expect(try Self.permitted(rules, ann, "Drawing", Row([id, .string("ben@example.org"), .null])) == "----")
        #expect(try Self.permitted(rules, ann, "Drawing", Row([id, .null, .null])) == "----")
        #expect(try Self.permitted(rules, ann, "Palette", Row([id, .null])) == "CRUD")
        let nameless = Subject(user: Self.ann)
        #expect(try Self.permitted(rules, nameless, "Drawing", Row([id, .null, .null])) == "----")
    }
}
