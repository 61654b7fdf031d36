import PostgresClient
import TestSupport
import Testing
import TomboloChangesets
import TomboloModel

@testable import TomboloPostgresStore

/// The cost of an upload's locks doesn't grow with the table.
@Suite struct LockPlanTests {
    @Test("Rows to lock are found by key, including the owners of written list elements")
    func indexes() async throws {
        let database = try await TestDatabase.make(try TestModel.schema())
        let connection = try await database.connect()
        try await connection.execute(
            """
            INSERT INTO parent SELECT n, 'p' FROM generate_series(1, 20000) n;
            INSERT INTO tagged SELECT lpad(n::text, 32, '0')::uuid, 't' FROM generate_series(1, 20000) n;
            INSERT INTO tagged_parents SELECT decode(lpad(to_hex(n), 24, '0'), 'hex'), lpad(n::text, 32, '0')::uuid, 'a', n
            FROM generate_series(1, 20000) n;
            ANALYZE parent, tagged, tagged_parents
            """)
        let layout = database.store.layout
        let elements = try TestModel.index("Tagged.parents", database.schema)
        let element = ObjectReference(classIndex: elements, key: .objectId(ObjectId("000000000000000000000007")))
        let changeset = Changeset(
            number: 1, base: 1, stamp: Stamp(microseconds: 1),
            instructions: [
                .set(element, [FieldWrite(column: ElementColumn.target, value: .int(9))]), .erase(element),
            ])
        let plan = try LockPlan(changesets: [changeset], arbiter: layout.arbiter, layout: layout)
        #expect(Set(plan.locks.map { layout.schema[$0.classIndex].name }) == ["Tagged.parents", "Tagged", "Parent"])
        for lock in plan.locks {
            let rows = try await connection.query(
                "EXPLAIN (ANALYZE, TIMING OFF) \(lock.statement.sql)", lock.statement.parameters)
            let lines = try rows.map { try $0[0].string }
            #expect(!lines.contains { $0.contains("Removed by Filter") || $0.contains("Seq Scan") }, "\(lines)")
        }
        await connection.close()
        await database.finish()
    }
}
