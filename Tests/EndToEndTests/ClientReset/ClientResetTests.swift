import Foundation
import PostgresClient
import Synchronization
import TestSupport
import Testing
import Tombolo
import TomboloModel

/// Client resets with the stock gateway: what causes them, and what happens to the device's data in each mode.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct ClientResetTests {
    enum Cause: String, CaseIterable {
        case restoredBackup
        /// The gateway is stopped while the database is restored, as docs/client-resets.md recommends.
        case restoredBackupWithStoppedGateway
        case expiredChangelog
        case otherCluster
    }

    @Test("Every cause of a reset, in every mode", arguments: Cause.allCases)
    func resets(cause: Cause) async throws {
        try await ResetServer.with { stage in
            try await stage.insert("old")
            var devices: [ResetDevice] = []
            for mode in ResetDevice.Mode.allCases {
                let device = try await ResetDevice(mode, stage.server)
                try await device.open()
                try device.write("early \(device.name)")
                try await device.upload()
                devices.append(device)
            }
            for device in devices { try await device.eventually("everybody's notes") { device.ids.count == 6 } }
            if cause == .otherCluster {
                // Makes the old cluster's transaction numbers higher than a new one's, as in a long-lived database.
                try await stage.giveOutNumbers()
            }
            let backup = try await stage.cluster.dump(stage.database)

            // Writes that the backup lacks, whether acknowledged or not.
            try await stage.insert("late")
            for device in devices {
                try device.write("late \(device.name)")
                try await device.upload()
            }
            for device in devices {
                try await device.eventually("everybody's late notes") { device.ids.count == 12 }
                try await device.suspend()
                try device.write("pending \(device.name)")
                try device.realm?.write {
                    let old = device.realm?.object(ofType: ResetNote.self, forPrimaryKey: "old")
                    old?.increment(\.count, by: 1)
                    old?.tags.append(device.name)
                }
            }
            let unsynced = devices.map(\.ids)
            let observed = try devices.map { $0.mode == .manual ? nil : try Observed(#require($0.realm)) }

            var database = stage.database
            var kept: Set<String> = ["old"]
            for device in devices { kept.insert("early \(device.name)") }
            switch cause {
            case .restoredBackup: try await stage.cluster.restore(backup, as: database)
            case .restoredBackupWithStoppedGateway:
                try await stage.server.gateway.kill9()
                try await stage.cluster.restore(backup, as: database)
                try await stage.server.gateway.start()
            case .expiredChangelog:
                try await stage.expireChangelog()
                kept = try await stage.ids()
            case .otherCluster:
                let cluster = try await TestCluster.start()
                database = try await cluster.createDatabase()
                try await cluster.restore(backup, as: database)
                try await stage.server.gateway.kill9()
                let address =
                    "host=\(database.keywords["host"] ?? "") port=5432 user=postgres dbname=\(database.database ?? "")"
                await stage.server.gateway.set("TOMBOLO_DATABASE_URL", to: address)
                try await stage.server.gateway.start()
            }
            if cause == .restoredBackup {
                // First behind the ticks that the gateway and the devices know, then past them.
                let restored = database
                for number in 0..<3 { try await stage.insert("new \(number)", in: restored) }
            }

            for device in devices { device.session?.resume() }
            try await check(devices, unsynced, observed, kept, stage, database)
        }
    }

    @MainActor
    private func check(
        _ devices: [ResetDevice], _ unsynced: [Set<String>], _ observed: [Observed?], _ kept: Set<String>,
        _ stage: ResetServer, _ database: PostgresConfiguration
    ) async throws {
        var expected = kept
        for (device, before) in zip(devices, unsynced) {
            let record = device.record
            switch device.mode {
            case .recover, .discard, .recoverOrDiscard:
                try await device.eventually("both blocks") { record.events == ["before", "after"] }
                let entries = record.entries.withLock { $0 }
                #expect(entries.allSatisfy { $0.isBeforeFrozen && $0.before == before }, "\(device.name)")
                #expect(entries.last?.isAfterFrozen == false)
                if device.mode != .discard { expected.insert("pending \(device.name)") }
                let after = entries.last?.after ?? []
                #expect(after.isSuperset(of: kept), "\(device.name) lacks \(kept.subtracting(after))")
                #expect(after.contains("pending \(device.name)") == (device.mode != .discard), "\(device.name)")
                #expect(record.errors.withLock { $0.map(\.message) } == [])
            case .manual, .manualThenResumed:
                try await device.eventually("the error") { !record.errors.withLock { $0.isEmpty } }
                #expect(record.errors.withLock { $0.map(\.code) } == [.clientResetError], "\(device.name)")
                #expect(device.ids == before, "the file was changed")
                #expect(device.session?.state == .inactive)
                if device.mode == .manual {
                    try await deleteByToken(device, before)
                } else {
                    device.session?.resume()
                    expected.insert("pending \(device.name)")
                }
            }
        }
        for device in devices {
            try await device.upload()
        }
        try await stage.insert("the end", in: database)
        expected.insert("the end")
        for device in devices {
            try await device.eventually("the newest note") { device.ids.contains("the end") }
        }
        // The notes made after the restore were written by the test, not by devices.
        let rows = try await stage.ids(in: database)
        #expect(rows.filter { !$0.hasPrefix("new ") } == expected)
        for device in devices {
            try await device.eventually("what the server has") { device.ids == rows }
            #expect(device.realm?.subscriptions.first?.name == "notes")
            #expect(device.realm?.subscriptions.state == .complete)
            #expect(device.record.events.count <= 2, "\(device.name): \(device.record.events)")
        }
        // Each increment counts once, and the discarded ones don't count.
        #expect(try await stage.count(of: "old", in: database) == 3)
        let tags = Set(devices.filter { $0.mode != .discard && $0.mode != .manual }.map(\.name))
        for (device, observed) in zip(devices, observed) {
            guard let observed else { continue }
            #expect(Set(device.realm?.object(ofType: ResetNote.self, forPrimaryKey: "old")?.tags ?? .init()) == tags)
            try await device.eventually("a notification for the object and the collection") {
                observed.objectChanges > 0 && observed.collectionChanges > 0
            }
            #expect(!observed.isDeleted && observed.object.count == 3, "the live object didn't survive the reset")
        }
    }

    /// What an app does in manual mode.
    @MainActor
    private func deleteByToken(_ device: ResetDevice, _ before: Set<String>) async throws {
        let error = try #require(device.record.errors.withLock { $0.first })
        let (recoveryPath, token) = try #require(error.clientResetInfo())
        #expect(!FileManager.default.fileExists(atPath: recoveryPath), "the copy was made before the token was used")
        #expect(!SyncSession.immediatelyHandleError(token), "the token worked while the Realm was open")
        device.close()
        // Observers may hold the Realm for a moment longer.
        while !SyncSession.immediatelyHandleError(token) { try await Task.sleep(for: .milliseconds(20)) }
        #expect(!SyncSession.immediatelyHandleError(token), "the token worked twice")
        let backup = try Realm(
            configuration: .init(
                fileURL: URL(fileURLWithPath: recoveryPath), readOnly: true, objectTypes: [ResetNote.self]))
        #expect(ResetDevice.ids(backup) == before)
        #expect(device.configuration.fileURL.map { FileManager.default.fileExists(atPath: $0.path) } == false)
        try await device.open()
        #expect(device.ids.contains("pending \(device.name)") == false)
    }

    /// Live objects and collections of a device, observed across the reset.
    @MainActor
    final class Observed {
        let object: ResetNote
        private(set) var objectChanges = 0
        private(set) var collectionChanges = 0
        private(set) var isDeleted = false
        private var tokens: [NotificationToken] = []

        init(_ realm: Realm) throws {
            object = try #require(realm.object(ofType: ResetNote.self, forPrimaryKey: "old"))
            tokens = [
                object.observe { [weak self] change in
                    switch change {
                    case .change: self?.objectChanges += 1
                    case .deleted: self?.isDeleted = true
                    case .error: break
                    }
                },
                realm.objects(ResetNote.self).observe { [weak self] change in
                    if case .update = change { self?.collectionChanges += 1 }
                },
            ]
        }
    }
}
