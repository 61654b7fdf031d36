import Foundation
import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

@testable import DeviceStoreConformance
@testable import TomboloSQLiteStore

/// When what batches wrote is copied from the write-ahead log into the file.
@Suite struct LogCheckpointTests {
    private let folder: TemporaryFolder
    private let schema: Schema
    private var server: ConformanceServer

    init() throws {
        folder = try TemporaryFolder()
        schema = try ConformanceSchema.make()
        server = ConformanceServer(schema: schema)
    }

    private static let planByteCount = 100_000

    /// Applies a batch of `count` objects, each with a large plan.
    private mutating func apply(_ count: Int, to store: SQLiteDeviceStore) throws {
        let delivered = server.rows
        for number in 0..<count {
            let plan = Data(repeating: UInt8(number & 255), count: Self.planByteCount)
            server.put(
                ConformanceSchema.room,
                Row([.objectId(ObjectId(high: 1, low: UInt32(number))), .string("Hall"), .bool(true), .data(plan)]))
        }
        _ = try store.apply(
            server.end(frameCount: 1), frames: server.frames(from: delivered), wallMicroseconds: 1)
    }

    /// The size of the file, without the log.
    private func byteCount() throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path("device.tombolo"))
        return attributes[.size] as? Int ?? 0
    }

    private func open() throws -> SQLiteDeviceStore {
        try SQLiteDeviceStore(path: folder.path("device.tombolo"), schema: schema)
    }

    @Test("A log that has grown long is copied into the file by another thread")
    mutating func aside() async throws {
        let store = try open()
        let count = 2 * Int(LogCheckpoints.pageCount) * 4_096 / Self.planByteCount
        try apply(count, to: store)
        let deadline = ContinuousClock.now + .seconds(600)
        while try byteCount() < count * Self.planByteCount, ContinuousClock.now < deadline {
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(try byteCount() >= count * Self.planByteCount)
        #expect(try store.state().position.tick == 1)
    }

    @Test("A log that has grown too long is copied before anything else is written")
    mutating func inLine() throws {
        let store = try open()
        let count = 2 * Int(LogCheckpoints.maximumPageCount) * 4_096 / Self.planByteCount
        try apply(count, to: store)
        #expect(try byteCount() >= count * Self.planByteCount)
    }

    @Test("Closing a file waits until copying has ended, and leaves the file intact")
    mutating func closing() throws {
        for round in 1...5 {
            let store = try open()
            try apply(2 * Int(LogCheckpoints.pageCount) * 4_096 / Self.planByteCount, to: store)
            #expect(try store.state().position.tick == Int64(round))
            server.rows = [:]
        }
        let file = try SQLiteConnection(path: folder.path("device.tombolo"), durability: .normal)
        let check = try file.statement("PRAGMA integrity_check")
        #expect(try check.step() && check.text(at: 0) == "ok")
        check.reset()
    }
}
