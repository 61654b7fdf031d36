import Foundation
import Testing
import TomboloModel
import TomboloRuleDocuments
import TomboloRules

/// `docs/rules.md` is correct and complete.
@Suite struct RuleGuideTests {
    private static let guide = Result {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: root.appending(path: "docs/rules.md"), encoding: .utf8)
    }

    /// The classes used in the guide's examples.
    private static let schema = Result {
        try Schema([
            ClassSchema(
                name: "Listing",
                columns: [
                    Column(name: "_id", type: .objectId, isPrimaryKey: true), Column(name: "owner", type: .objectId),
                    Column(name: "team", type: .link(to: "Team"), isOptional: true),
                    Column(name: "price", type: .int(bits: 64)), Column(name: "isPublic", type: .bool),
                    Column(name: "commission", type: .decimal128),
                    Column(name: "soldAt", type: .date, isOptional: true),
                    Column(name: "address", type: .embedded("Address"), isOptional: true),
                    Column(name: "address.street", type: .string, isOptional: true),
                    Column(name: "address.zip", type: .string, isOptional: true),
                ]),
            ClassSchema(name: "Team", columns: [Column(name: "_id", type: .string, isPrimaryKey: true)]),
            ClassSchema(
                name: "Membership",
                columns: [
                    Column(name: "_id", type: .objectId, isPrimaryKey: true), Column(name: "user", type: .objectId),
                    Column(name: "role", type: .string),
                    Column(name: "team", type: .link(to: "Team"), isOptional: true),
                    Column(name: "owner", type: .objectId),
                ]),
        ])
    }

    private static func examples() throws -> [String] {
        var examples: [String] = []
        var current: [Substring]?
        for line in try guide.get().split(separator: "\n", omittingEmptySubsequences: false) {
            if let lines = current, line == "```" {
                examples.append(lines.joined(separator: "\n"))
                current = nil
            } else if current != nil {
                current?.append(line)
            } else if line == "```yaml" {
                current = []
            }
        }
        return examples
    }

    @Test("every example in the guide is a rule document without mistakes")
    func examplesAreRules() throws {
        let examples = try Self.examples()
        #expect(examples.count == 13)
        for example in examples {
            #expect(throws: Never.self, "\(example)") {
                try Rules(schema: Self.schema.get(), book: RuleBook(parsing: example, file: "example.yaml"))
            }
        }
    }

    @Test("every entry in the guide's table is an expression")
    func entriesAreExpressions() throws {
        let guide = try Self.guide.get()
        let rows = guide.matches(of: #/\n\| `([^|]+)` \| [^|\n]+ \|/#).flatMap { match in
            match.output.1.split(separator: "`, `").map(String.init)
        }
        let entries = rows.filter { $0.contains(": ") && !$0.hasPrefix("{") }.map {
            $0.replacing("[…]", with: "[{price: 1}]").replacing("…", with: "{price: 1}")
        }
        #expect(entries.count == 11)
        for entry in entries {
            let document = "Listing: [{name: a, applyWhen: {}, read: {\(entry)}}]"
            #expect(throws: Never.self, "\(document)") {
                try Rules(schema: Self.schema.get(), book: RuleBook(parsing: document, file: "example.yaml"))
            }
        }
    }

    @Test("the guide names every operator, every expansion and every bound")
    func theGuideIsComplete() throws {
        let guide = try Self.guide.get()
        for name in [
            "$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$exists", "$and", "$or", "$nor", "$not",
            "%stringToOid", "%oidToString", "%stringToUuid", "%uuidToString", "%%user.id", "%%user.data",
            "%%user.custom_data", "%%user.roles", "%%user.grants", "%%user.type", "%%partition", "%%partition.key",
            "%%partition.value", "%%matrix.create", "%%matrix.read", "%%matrix.update", "%%matrix.delete", "%function",
        ] {
            #expect(guide.contains("`\(name)") || guide.contains("\"\(name)"), "\(name)")
        }
        #expect(guide.contains("100,000 values") && RuleNode.maximumCount == 100_000)
        #expect(guide.contains("64 levels") && RuleNode.maximumDepth == 64)
        #expect(guide.contains("1 MiB") && RuleNode.maximumByteCount == 1 << 20)
        #expect(guide.contains("| 1,000, each with 100 roles |"))
        #expect(RuleBook.maximumClassCount == 1_000 && RuleBook.maximumRoleCount == 100)
        // The limits on accounts' custom data; rules can read longer data.
        #expect(guide.contains("16 KiB of JSON, 16 levels"))
        #expect(UserValue.maximumByteCount >= 16 << 10 && UserValue.maximumDepth == 16)
    }
}
