import PostgresClient
import RandomValues
import Testing
import TomboloModel
import TomboloRuleDocuments
import TomboloRules
import TomboloSQL

@Suite("Rules mean the same to the evaluator, in PostgreSQL and to an oracle", .timeLimit(.minutes(15)))
struct RuleAgreementTests {
    private static let rulesPerRun = 400

    @Test(
        "random rules permit random users the same objects in memory, in PostgreSQL and by the oracle",
        arguments: 0..<4)
    func agreement(run: Int) async throws {
        var world = try RuleWorld(RandomValues(.printed(for: "RuleAgreementTests.agreement \(run)")))
        let item = world.schema.classes[0]
        let rows = world.rows(60)
        let postgres = try await PostgresDatabase(world.schema)
        try await postgres.insert(rows, into: item)
        var tried = 0
        var permitted = 0
        var number = 0
        while tried < Self.rulesPerRun, number < Self.rulesPerRun * 3 {
            number += 1
            let condition = world.expression(isAboutUser: true)
            let filter = world.expression()
            let document =
                #"{"A": [{"name": "a", "applyWhen": \#(condition.text), "read": \#(filter.text), "write": false}]}"#
            let rules: Rules
            do throws(RuleError) {
                rules = try Rules(
                    schema: world.schema, book: RuleBook(parsing: document, file: "random.json"))
            } catch {
                // Rules that can never be true are refused. The oracle agrees that they aren't true.
                let isExpected = error.problems.allSatisfy {
                    $0.contains("is never true") || $0.contains("satisfies all") || $0.contains("never applies")
                }
                #expect(isExpected, "\(error)\n\(document)")
                if error.problems.count == 1, error.problems[0].contains("read: the expression is never true") {
                    for row in rows.prefix(10) {
                        let oracle = RuleOracle(item: item, schema: world.schema, row: row, subject: world.subject())
                        #expect(!oracle.holds(filter), "\(document)")
                    }
                }
                continue
            }
            tried += 1
            for _ in 0..<3 {
                let subject = world.subject()
                let expected = rows.filter { row in
                    let oracle = RuleOracle(item: item, schema: world.schema, row: row, subject: subject)
                    return oracle.isInPartition && oracle.holds(condition) && oracle.holds(filter)
                }.map { $0[0] }
                let predicate = rules.readable(subject)(0)
                #expect(throws: Never.self, "\(document)") { try predicate.check(for: "A", in: world.schema) }
                let found = rows.filter { predicate.matches($0, of: item) }.map { $0[0] }
                #expect(found == expected, "\(document)\n\(subject)\n\(predicate)")
                try Self.expectDecisions(rules, subject, rows, expected, &world, document)
                let sql = try predicate.sql(.postgresql, className: "A", in: world.schema, alias: "x")
                let selected = try await postgres.values(
                    #"SELECT "_id" FROM "a" AS "x" WHERE \#(sql.sql) ORDER BY 1"#, sql.parameters, .int(bits: 64))
                #expect(selected == expected, "\(document)\n\(subject)\n\(sql.sql)")
                permitted += expected.isEmpty || expected.count == rows.count ? 0 : 1
            }
        }
        #expect(tried > Self.rulesPerRun / 2 && permitted > 50, "\(tried) rules, \(permitted) of them tell rows apart")
        await postgres.pool.shutdown()
    }

    /// Checks the decisions about single objects and about objects with some known columns. These don't use the
    /// predicate for everything that the user may read.
    private static func expectDecisions(
        _ rules: Rules, _ subject: Subject, _ rows: [Row], _ expected: [Value], _ world: inout RuleWorld,
        _ document: String
    ) throws {
        let item = world.schema.classes[0]
        let permitted = rows.filter {
            rules.authorize(subject, .read, .object(classIndex: 0, old: $0, new: nil)).isAllowed
        }
        #expect(permitted.map { $0[0] } == expected, "\(document)\n\(subject)")
        let isRefused = rules.refusal(subject, .read, ofClassAt: 0) != nil
        #expect(isRefused == (rules.readable(subject)(0) == .constant(false)), "\(document)\n\(subject)")
        #expect(rules.authorize(subject, .read, .objects(classIndex: 0)).isAllowed == !isRefused)
        guard !isRefused else { return }
        for row in rows.prefix(5) {
            let known = item.columns.indices.filter { _ in world.random.flag() }
            let values = Dictionary(uniqueKeysWithValues: known.map { ($0, row[$0]) })
            let filter = try rules.authorize(subject, .read, .objects(classIndex: 0, having: values)).get()
            let alike = rows.filter { other in known.allSatisfy { other[$0] == row[$0] } }
            let found = alike.filter { filter.matches($0, of: item) }.map { $0[0] }
            #expect(found == alike.map { $0[0] }.filter(expected.contains), "\(document)\n\(subject)\n\(values)")
            if known.count == item.columns.count, subject.partition == nil {
                #expect(filter == .constant(true) || filter == .constant(false), "\(filter)")
            }
        }
    }
}
