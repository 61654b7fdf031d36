import Dispatch
import Foundation
import PostgresClient
import Synchronization
import TestSupport
import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncSession

@testable import TomboloPostgresStore

/// Transactions that compute for long run on their own threads.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct LongUploadTests {
    /// One more concurrent upload than Swift's pool has threads.
    private static let count = ProcessInfo.processInfo.activeProcessorCount + 1

    private final class Counter: Sendable {
        let count = Atomic(0)
    }

    @Test(
        "changesets that take long to arbitrate don't block Swift's thread pool",
        .enabled(if: count <= 64, "A test database has connections for so many."))
    func threads() async throws {
        let database = try await TestDatabase.make(try TestModel.schema())
        let pool = PostgresPool(
            configuration: database.configuration, options: .init(maximumConnections: Self.count + 1))
        let store = try await PostgresServerStore.open(schema: database.schema, pool: pool)
        let account = try TestModel.index("Account", database.schema)
        let gate = DispatchSemaphore(value: 0)
        let begun = Counter()

        @Sendable func upload(_ number: Int, instructionCount: Int, isHeld: Bool) async throws -> [UploadResult] {
            let client = ClientID(rawValue: Int64(number + 1))
            _ = try await store.openClient(client, user: "user \(number)", acknowledged: 0)
            let instructions = (0..<instructionCount).map { index in
                Instruction.create(
                    ObjectReference(classIndex: account, key: .int(Int64(number * 1_000 + index))),
                    [FieldWrite(column: 1, value: .int(1))])
            }
            let asked = Counter()
            let changeset = Changeset(
                number: 1, base: 0, stamp: Stamp(microseconds: 1), instructions: instructions)
            return try await store.upload([
                Upload(
                    client: client, changeset: changeset,
                    permit: { _ in
                        if isHeld, asked.count.add(1, ordering: .relaxed).oldValue == 0 {
                            begun.count.add(1, ordering: .relaxed)
                            gate.wait()
                        }
                        return nil
                    })
            ])
        }

        try await withThrowingTaskGroup(of: [UploadResult].self) { group in
            for number in 0..<Self.count {
                group.addTask {
                    try await upload(number, instructionCount: LongUploads.minimumInstructionCount, isHeld: true)
                }
            }
            while begun.count.load(ordering: .relaxed) < Self.count { await Task.yield() }
            #expect(try await upload(Self.count, instructionCount: 1, isHeld: false) == [.applied(lost: 0)])
            for _ in 0..<Self.count { gate.signal() }
            for try await results in group { #expect(results == [.applied(lost: 0)]) }
        }
        let written = try await pool.query("SELECT count(*) FROM account")
        #expect(try written[0][0].int == Self.count * LongUploads.minimumInstructionCount + 1)
        await store.resign()
        await pool.shutdown()
        await database.finish()
    }
}
