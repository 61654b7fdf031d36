import Foundation
import GRDB
import PostgresClient
import Synchronization
import TestSupport
import Testing
import Tombolo
import TomboloModel

/// Client resets that a Realm runs into while it opens, resets that recover nothing, and resets that must not repeat
/// what the server already has.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct OpeningResetTests {
    /// A device with an unsynced note, on a database restored to before its newest tick.
    @MainActor
    private func restored(
        _ mode: ResetDevice.Mode, _ name: String, _ stage: ResetServer,
        beforeRestore: (ResetDevice) throws -> Void = { _ in }
    ) async throws -> ResetDevice {
        let device = try await ResetDevice(mode, stage.server, name: name)
        try await device.open()
        let backup = try await stage.cluster.dump(stage.database)
        try device.write("lost \(name)")
        try await device.upload()
        try await device.suspend()
        try device.write("pending \(name)")
        try beforeRestore(device)
        try await stage.cluster.restore(backup, as: stage.database)
        return device
    }

    @Test(
        "Opening with a download ends with the file as the reset left it",
        arguments: [ResetDevice.Mode.recover, .discard, .recoverOrDiscard], [true, false])
    func opening(mode: ResetDevice.Mode, callsBack: Bool) async throws {
        try await ResetServer.with { stage in
            try await stage.insert("old")
            let device = try await restored(mode, mode.rawValue, stage)
            device.close()
            let realm = try await open(device, callsBack)
            #expect(device.record.events == ["before", "after"])
            let expected: Set<String> = mode == .discard ? ["old"] : ["old", "pending \(mode.rawValue)"]
            #expect(ResetDevice.ids(realm) == expected)
            try await realm.syncSession?.waitForUpload()
            #expect(try await stage.ids() == expected)
        }
    }

    @Test("Opening with a download in manual mode fails with the reset's error", arguments: [true, false])
    func manualOpening(callsBack: Bool) async throws {
        try await ResetServer.with { stage in
            let device = try await restored(.manual, "manual", stage)
            device.close()
            do {
                _ = try await open(device, callsBack)
                Issue.record("The Realm was opened despite the reset.")
            } catch let error as SyncError {
                #expect(error.code == .clientResetError && error.clientResetInfo() != nil)
            }
            try await device.eventually("the handler") { device.record.errors.withLock { $0.count } == 1 }
            let local = try await Realm.open(configuration: device.configuration)
            #expect(ResetDevice.ids(local).contains("pending manual"))
        }
    }

    @MainActor
    private func open(_ device: ResetDevice, _ callsBack: Bool) async throws -> Realm {
        guard callsBack else {
            return try await Realm(configuration: device.configuration, downloadBeforeOpen: .always)
        }
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            Realm.asyncOpen(configuration: device.configuration) { continuation.resume(with: $0.map { _ in }) }
        }
        return try await Realm.open(configuration: device.configuration)
    }

    @Test(
        "Unsynced changes that can't be recovered are left to the app, or discarded if the mode says so",
        arguments: [ResetDevice.Mode.recover, .recoverOrDiscard])
    func failedRecovery(mode: ResetDevice.Mode) async throws {
        try await ResetServer.with { stage in
            try await stage.insert("old")
            let device = try await restored(mode, mode.rawValue, stage) { device in
                let queue = try DatabaseQueue(path: device.configuration.fileURL?.path ?? "")
                try queue.write { try $0.execute(sql: "UPDATE tombolo_pending SET changeset = x'ffff'") }
            }
            let had = device.ids
            device.session?.resume()
            if mode == .recover {
                try await device.eventually("the error") { !device.record.errors.withLock { $0.isEmpty } }
                #expect(device.record.errors.withLock { $0.map(\.code) } == [.clientResetError])
                #expect(device.record.errors.withLock { $0.first?.clientResetInfo() } != nil)
                #expect(device.ids == had && device.session?.state == .inactive)
                #expect(!device.record.events.contains("after"))
            } else {
                try await device.eventually("the end of the reset") { device.record.events.last == "after" }
                #expect(device.ids == ["old"])
                try device.write("new")
                try await device.upload()
                #expect(try await stage.ids() == ["old", "new"])
            }
        }
    }

    @Test("Changes that the server has already aren't uploaded again to another cluster", arguments: [true, false])
    func movedUpload(isAhead: Bool) async throws {
        try await ResetServer.with { stage in
            try await stage.insert("old")
            let device = try await ResetDevice(.recover, stage.server)
            try await device.open()
            if isAhead {
                try await stage.giveOutNumbers()
            }
            try await stage.insert("new")
            try await device.eventually("the newest note") { device.ids.contains("new") }
            // Without ticks nothing is acknowledged.
            let lock = try await PostgresConnection.connect(stage.database)
            try await lock.execute("BEGIN; LOCK TABLE tombolo.tick IN EXCLUSIVE MODE")
            try device.realm?.write {
                device.realm?.object(ofType: ResetNote.self, forPrimaryKey: "old")?.increment(\.count, by: 1)
            }
            while try await stage.count(of: "old") != 1 { try await Task.sleep(for: .milliseconds(20)) }
            let backup = try await stage.cluster.dump(stage.database)
            device.session?.suspend()
            try await stage.server.gateway.kill9()
            await lock.close()
            try device.write("pending")

            let cluster = try await TestCluster.start()
            if !isAhead {
                try await stage.giveOutNumbers(in: cluster.configuration)
            }
            let database = try await cluster.createDatabase()
            try await cluster.restore(backup, as: database)
            await stage.server.gateway.set(
                "TOMBOLO_DATABASE_URL",
                to: "host=\(database.keywords["host"] ?? "") port=5432 user=postgres dbname=\(database.database ?? "")")
            try await stage.server.gateway.start()
            device.session?.resume()
            try await device.upload()
            #expect(try await stage.ids(in: database) == ["old", "new", "pending"])
            #expect(try await stage.count(of: "old", in: database) == 1)
            try await stage.insert("the end", in: database)
            try await device.eventually("the newest note") { device.ids.contains("the end") }
            // On a cluster that is ahead of the dump, history simply goes on.
            let expected = isAhead ? ["before", "after"] : []
            try await device.eventually("both blocks") { device.record.events.count >= expected.count }
            #expect(device.record.events == expected)
            await cluster.remove()
        }
    }
}
