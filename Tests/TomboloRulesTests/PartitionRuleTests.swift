import Foundation
import Testing
import TomboloChangesets
import TomboloModel
import TomboloRuleDocuments
import TomboloRules

/// Rules for sessions in a partition.
@Suite struct PartitionRuleTests {
    private static let ann = ObjectId(high: 1, low: 1)
    private static let ben = ObjectId(high: 1, low: 2)

    private static func item(_ name: String, _ columns: Column...) -> ClassSchema {
        ClassSchema(name: name, columns: [Column(name: "_id", type: .string, isPrimaryKey: true)] + columns)
    }

    private static func schema() throws -> Schema {
        try Schema([
            item("Message", Column(name: "partition", type: .string), Column(name: "text", type: .string)),
            item(
                "Task", Column(name: "_partition", type: .string, isOptional: true),
                Column(name: "partition", type: .string), Column(name: "team", type: .objectId, isOptional: true)),
            item("Setting", Column(name: "text", type: .string)),
        ])
    }

    /// The decisions of a chat's two partition functions, in the rule language.
    private static let chat = """
        partition:
          key: partition
          permissions:
            read:
              $or:
                - &own {"%%partition.key": user, "%%partition.value": "%%user.id"}
                - &talk {"%%partition.key": conversation, "%%partition.value": {$in: "%%user.custom_data.conversations"}}
                - {"%%partition": all-users=all-the-users}
            write: {$or: [*own, *talk]}
        """

    private static func rules(_ document: String) throws -> Rules {
        try Rules(schema: schema(), book: RuleBook(parsing: document, file: "rules.yaml"))
    }

    private static func subject(_ partition: Value?) -> Subject {
        let ann = Subject(
            user: ann, customData: ["conversations": .array([.string("7"), .string("a=b"), .string("c d")])])
        return partition.map { ann.inPartition($0) } ?? ann
    }

    /// The access to an object of the partition: `RW`, with a hyphen for what isn't permitted.
    private static func access(_ rules: Rules, _ partition: Value?, object: Value? = nil) throws -> String {
        let index = try #require(rules.schema.index(of: "Message"))
        let row = Row([.string("1"), object ?? partition ?? .string(""), .string("")])
        let subject = subject(partition)
        let readable = rules.readable(subject)(index)
        let permit = rules.permit(subject)
        let writes: [WriteRequest] = [
            .init(operation: .create, classIndex: index, old: nil, new: row),
            .init(operation: .update, classIndex: index, old: row, new: row),
            .init(operation: .delete, classIndex: index, old: row, new: nil),
        ]
        let permitted = writes.map { permit($0) == nil }
        #expect(Set(permitted).count == 1)
        return (readable.matches(row, of: rules.schema[index]) ? "R" : "-") + (permitted[0] ? "W" : "-")
    }

    @Test(
        "a chat's partition functions follow their truth table",
        arguments: [
            ("user=\(ann.stringValue)", "RW"), ("user=\(ben.stringValue)", "--"), ("user=", "--"), ("user", "--"),
            ("user=\(ann.stringValue)=", "--"), ("user=\(ann.stringValue)=b", "--"), ("=\(ann.stringValue)", "--"),
            ("User=\(ann.stringValue)", "--"), (" user=\(ann.stringValue)", "--"),
            ("user=\(ann.stringValue.uppercased())x", "--"),
            ("conversation=7", "RW"), ("conversation=8", "--"), ("conversation=", "--"), ("conversation=c d", "RW"),
            ("conversation=a=b", "RW"), ("conversation=a", "--"), ("conversation=7=7", "--"),
            ("all-users=all-the-users", "R-"), ("all-users=", "--"), ("all-users=a=b", "--"), ("all-users", "--"),
            ("other=\(ann.stringValue)", "--"), ("a=b=c", "--"), ("=", "--"), ("==", "--"), ("", "--"),
            ("=\u{301}7", "--"), ("conversation=\u{301}", "--"),
        ])
    func chatTable(partition: String, expected: String) throws {
        #expect(try Self.access(Self.rules(Self.chat), .string(partition)) == expected)
    }

    @Test("outside partitions, and in partitions that aren't strings, such rules permit nothing")
    func noText() throws {
        let rules = try Self.rules(Self.chat)
        for partition in [Value.null, .int(7), .objectId(Self.ann), .uuid(UUID())] {
            #expect(try Self.access(rules, partition, object: .string("conversation=7")) == "--", "\(partition)")
        }
        #expect(try Self.access(rules, nil, object: .string("user=\(Self.ann.stringValue)")) == "--")
    }

    @Test("a partition session reaches no object of another partition, whatever the role permits")
    func narrowed() throws {
        let rules = try Self.rules("Message: [{name: all, applyWhen: {}, read: true, write: true}]")
        #expect(try Self.access(rules, .string("a")) == "RW")
        #expect(try Self.access(rules, .string("a"), object: .string("b")) == "--")
        #expect(try Self.access(rules, .string("a"), object: .string("")) == "--")
        #expect(try Self.access(rules, nil, object: .string("b")) == "RW")
        let index = try #require(rules.schema.index(of: "Message"))
        let (a, b) = (Row([.string("1"), .string("a"), .null]), Row([.string("1"), .string("b"), .null]))
        let permit = rules.permit(Self.subject(.string("a")))
        for (old, new) in [(a, b), (b, a), (b, b)] {
            let reason = permit(.init(operation: .update, classIndex: index, old: old, new: new))?.reason
            #expect(
                reason
                    == "Not permitted to update this Message: its 'partition' isn't the Realm's partition, \"a\"; leave "
                    + "'partition' empty, or write the object in the Realm of its own partition.")
        }
        let decision = rules.authorize(
            Self.subject(.string("a")), .read, .object(classIndex: index, old: b, new: nil))
        #expect(!decision.isAllowed)
    }

    @Test("the key is the declared one, else _partition, else partition; classes without one are in no partition")
    func keys() throws {
        func columns(_ document: String) throws -> [String: String] {
            let rules = try Self.rules(document)
            return Dictionary(
                uniqueKeysWithValues: rules.partitionColumns.map { index, column in
                    (rules.schema[index].name, rules.schema[index].columns[column].name)
                })
        }
        #expect(try columns("version: 1") == ["Message": "partition", "Task": "_partition"])
        #expect(try columns("partition: {key: team}") == ["Task": "team"])
        #expect(try columns("partition: {key: partition}") == ["Message": "partition", "Task": "partition"])

        let rules = try Self.rules("Setting: [{name: all, applyWhen: {}, read: true, write: true}]")
        let index = try #require(rules.schema.index(of: "Setting"))
        #expect(rules.readable(Self.subject(.string("a")))(index) == .constant(false))
        #expect(rules.readable(Self.subject(nil))(index) == .constant(true))
        let row = Row([.string("1"), .string("x")])
        let reason = rules.permit(Self.subject(.string("a")))(
            .init(operation: .create, classIndex: index, old: nil, new: row))
        #expect(reason?.reason.contains("no partition key") == true)
    }

    @Test("%%partition can stand on either side of a comparison")
    func sides() throws {
        let id = Self.ann.stringValue
        for read in [
            #"{"%%partition": "%%user.id"}"#, #"{"%%user.id": "%%partition"}"#,
            #"{"%%partition": {"$in": ["x", "%%user.id"]}}"#, #"{"text": "%%partition"}"#,
            #"{"$and": [{"text": {"$in": ["%%partition", "y"]}}]}"#, #"{"text": {"$eq": "%%partition"}}"#,
            #"{"%%partition": {"$exists": true, "$ne": "x"}}"#,
        ] {
            let rules = try Self.rules("Message: [{name: a, applyWhen: {}, read: \(read), write: false}]")
            let item = rules.schema[0]
            func reads(_ partition: Value?) -> Bool {
                let text = partition ?? .string(id)
                return rules.readable(Self.subject(partition))(0).matches(Row([.string("1"), text, text]), of: item)
            }
            #expect(reads(.string(id)), "\(read)")
            #expect(!reads(nil), "\(read)")
        }
    }

    @Test("which users a role applies to may depend on the partition")
    func applyWhen() throws {
        let rules = try Self.rules(
            """
            Message:
              - {name: own, applyWhen: {"%%partition.key": user, "%%partition.value": "%%user.id"}, read: true, write: true}
              - {name: guest, applyWhen: {"%%partition.key": public}, read: true}
            """)
        #expect(try Self.access(rules, .string("user=\(Self.ann.stringValue)")) == "RW")
        #expect(try Self.access(rules, .string("public=1")) == "R-")
        #expect(try Self.access(rules, .string("user=1")) == "--")
        #expect(try Self.access(rules, nil, object: .string("public=1")) == "--")
    }

    @Test("an explanation covers the partition's objects, and says what the partition lacks")
    func explanation() throws {
        let rules = try Self.rules(Self.chat)
        func text(_ partition: String) throws -> String {
            "\(try #require(rules.explain(Self.subject(.string(partition)), className: "Message")))"
        }
        let own = "user=\(Self.ann.stringValue)"
        #expect(try text(own).contains("read: objects with partition == \"\(own)\""))
        let other = try text("somebody")
        #expect(other.contains("read: nothing"))
        #expect(other.contains("%%partition.key == \"user\", but the session's partition has no such value"))
    }

    @Test("a role may make the partition property read-only, since the server sets it")
    func fixed() throws {
        let rules = try Self.rules(
            """
            Message:
              - name: all
                applyWhen: {}
                read: true
                write: true
                fields: {partition: {read: true, write: false}}
                additional_fields: {read: true, write: true}
            """)
        #expect(try Self.access(rules, .string("a")) == "RW")
    }

    @Test("each partition has its own fingerprint, and other sessions keep theirs")
    func fingerprints() throws {
        let rules = try Self.rules(Self.chat)
        let values: [Value?] = [nil, .null, .string("a"), .string("b"), .int(1), .string("1")]
        #expect(Set(values.map { rules.fingerprint(of: Self.subject($0)) }).count == values.count)
        let others = try Self.rules("partition: {key: _partition}")
        let plain = try Self.rules("version: 1")
        #expect(others.fingerprint(of: Self.subject(nil)) == plain.fingerprint(of: Self.subject(nil)))
        #expect(others.fingerprint(of: Self.subject(.null)) != plain.fingerprint(of: Self.subject(.null)))
    }

    @Test("the null partition contains the objects whose partition property is nil")
    func nullPartition() throws {
        let rules = try Self.rules("Task: [{name: all, applyWhen: {}, read: true, write: true}]")
        let index = try #require(rules.schema.index(of: "Task"))
        let readable = rules.readable(Self.subject(.null))(index)
        func reads(_ partition: Value) -> Bool {
            readable.matches(Row([.string("1"), partition, .string(""), .null]), of: rules.schema[index])
        }
        #expect(reads(.null))
        #expect(!reads(.string("")))
    }

    @Test(
        "mistakes about partitions are reported with their place",
        arguments: [
            (
                "partition: {key: team1}",
                "rules.yaml:1: partition: no class has a property 'team1'; did you mean 'team'?"
            ),
            (
                "partition: {}",
                "rules.yaml:1: partition: it doesn't say which property holds an object's partition; add key: …."
            ),
            ("partition: {key: 5}", "rules.yaml:1: partition: 'key' must be the name of a property, not 5."),
            (
                "partition: x",
                "rules.yaml:1: 'partition' must be a mapping such as {key: PROPERTY}, not \"x\"."
            ),
            (
                "Message: [{name: a, applyWhen: {}, read: {text: \"%%partition.kye\"}}]",
                "rules.yaml:1: Message, role 'a', read: '%%partition.kye' isn't a partition expansion. The expansions "
                    + "are %%partition, %%partition.key, %%partition.value."
            ),
            (
                "Message: [{name: a, applyWhen: {}, read: {text: {$in: \"%%partition\"}}}]",
                "rules.yaml:1: Message, role 'a', read: $in takes a list, and %%partition isn't one."
            ),
        ])
    func mistakes(document: String, problem: String) throws {
        let error = #expect(throws: RuleError.self) { try Self.rules(document) }
        #expect(error?.problems.first == problem)
    }
}
