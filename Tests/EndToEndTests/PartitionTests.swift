import Foundation
import GRDB
import PostgresClient
import Synchronization
import Testing
import Tombolo
import TomboloModel

/// Realms opened by partition, with the stock gateway and PostgreSQL.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct PartitionTests {
    /// The decisions of a chat's partition functions.
    private static let rules = """
        version: 1
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

    private final class Errors: Sendable {
        private let all = Mutex<[SyncError]>([])

        var codes: [SyncError.Code] { all.withLock { $0.map(\.code) } }
        var last: String { all.withLock { $0.last?.message ?? "" } }
        func add(_ error: SyncError) {
            if !error.isOfSlowOpening { all.withLock { $0.append(error) } }
        }
    }

    private static func with(
        _ body: @MainActor (AnyAppServer, _ ann: User, _ ben: User) async throws -> Void
    ) async throws {
        let types: [Object.Type] = [PartitionNote.self, PartitionSetting.self]
        let document = try ModelDocument(app: "partitions", objectTypes: types)
        try await AnyAppServer.with { server in
            try await server.apply([(document, rules)])
            try await server.gateway.start()
            var users: [User] = []
            let app = App(
                id: "partitions", configuration: .init(baseURL: await server.gateway.url, rootDirectory: server.folder))
            for name in ["ann", "ben"] {
                let token = try await server.user(name).token
                users.append(try await app.login(credentials: .accessToken(token)))
            }
            try await setConversations(server, #"["7"]"#)
            for (text, partition) in [
                ("Ann's", "user=\(users[0].id)"), ("Ben's", "user=\(users[1].id)"), ("seven", "conversation=7"),
                ("eight", "conversation=8"), ("all", "all-users=all-the-users"), ("nobody's", ""),
            ] {
                try await server.pool.execute(
                    """
                    INSERT INTO partition_note (_id, partition, text)
                    VALUES (decode('\(ObjectId.generate().stringValue)', 'hex'), '\(partition)', $$\(text)$$)
                    """)
            }
            try await body(server, users[0], users[1])
        }
    }

    private static func setConversations(_ server: AnyAppServer, _ list: String) async throws {
        try await server.pool.execute(
            """
            UPDATE tombolo.account SET custom_data = '{"conversations": \(list)}'
            WHERE email = '\(Platform.email("ann"))'
            """)
    }

    private static func configuration(
        _ server: AnyAppServer, _ user: User, _ partition: String, _ errors: Errors = Errors()
    ) -> Realm.Configuration {
        var configuration = user.configuration(partitionValue: partition)
        let name = configuration.fileURL?.lastPathComponent ?? ""
        configuration.fileURL = server.folder.appending(path: user.id).appending(path: name)
        configuration.objectTypes = [PartitionNote.self, PartitionSetting.self]
        configuration.syncConfiguration?.errorHandler = { error, _ in errors.add(error) }
        return configuration
    }

    /// The texts of the notes in a file, as any SQLite tool sees them.
    private static func texts(_ configuration: Realm.Configuration) throws -> [String] {
        // A session locks its file for a moment while it ends.
        var options = GRDB.Configuration()
        options.busyMode = .timeout(30)
        let queue = try DatabaseQueue(path: configuration.fileURL?.path ?? "", configuration: options)
        return try queue.read { try String.fetchAll($0, sql: "SELECT text FROM partition_note ORDER BY text") }
    }

    /// Polls until the condition holds.
    @MainActor
    private static func eventually(_ what: String, _ condition: () throws -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(600)
        while try !condition() {
            guard ContinuousClock.now < deadline else { throw EndToEndFailure("not within ten minutes: \(what)") }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    @Test("Three partitions of one user are open at once, each with only its own objects")
    func threeRealms() async throws {
        try await Self.with { server, ann, _ in
            let partitions = ["user=\(ann.id)", "conversation=7", "all-users=all-the-users"]
            let configurations = partitions.map { Self.configuration(server, ann, $0) }
            var realms: [Realm] = []
            for configuration in configurations {
                realms.append(try await Realm(configuration: configuration, downloadBeforeOpen: .always))
            }
            #expect(try configurations.map(Self.texts) == [["Ann's"], ["seven"], ["all"]])
            #expect(realms.map { $0.objects(PartitionNote.self).map(\.text) } == [["Ann's"], ["seven"], ["all"]])

            // The server assigns new objects and their lists to the partition.
            for realm in realms.prefix(2) {
                let note = PartitionNote("new")
                note.tags.append("tag")
                try realm.write { realm.add(note) }
                try await realm.syncSession?.waitForUpload()
            }
            for (realm, partition) in zip(realms, partitions).prefix(2) {
                try await Self.eventually("the server's partition") {
                    realm.refresh()
                    return realm.objects(PartitionNote.self).allSatisfy { $0.partition == partition }
                }
                #expect(
                    realm.objects(PartitionNote.self).where { $0.text == "new" }.first.map { Array($0.tags) } == ["tag"]
                )
            }
            let found = try await server.pool.rows(
                "SELECT partition FROM partition_note WHERE text = 'new' ORDER BY partition")
            #expect(found == ["conversation=7", "user=\(ann.id)"])
            #expect(try configurations.map(Self.texts) == [["Ann's", "new"], ["new", "seven"], ["all"]])
        }
    }

    @Test("Writes outside the partition are refused and undone, with the reason")
    func refusals() async throws {
        try await Self.with { server, ann, _ in
            let own = Errors()
            let mine = Self.configuration(server, ann, "user=\(ann.id)", own)
            let realm = try await Realm(configuration: mine, downloadBeforeOpen: .always)
            try realm.write { realm.add(PartitionNote("elsewhere", partition: "conversation=7")) }
            try await realm.syncSession?.waitForUpload()
            #expect(own.codes == [.writeRejected])
            #expect(own.last.contains("its 'partition' isn't the Realm's partition"), "\(own.last)")
            try realm.write { realm.add(PartitionSetting()) }
            try await realm.syncSession?.waitForUpload()
            #expect(own.last.contains("no partition key"), "\(own.last)")
            let moved = try #require(realm.objects(PartitionNote.self).where { $0.text == "Ann's" }.first)
            try realm.write { moved.partition = "all-users=all-the-users" }
            try await realm.syncSession?.waitForUpload()
            #expect(own.codes.count == 3)
            try await Self.eventually("the server's values") {
                realm.refresh()
                return try Self.texts(mine) == ["Ann's"] && realm.objects(PartitionSetting.self).isEmpty
                    && moved.partition == "user=\(ann.id)"
            }

            let everybody = Errors()
            let shared = Self.configuration(server, ann, "all-users=all-the-users", everybody)
            let readOnly = try await Realm(configuration: shared, downloadBeforeOpen: .always)
            try readOnly.write { readOnly.add(PartitionNote("not mine")) }
            try await readOnly.syncSession?.waitForUpload()
            #expect(everybody.codes == [.writeRejected])
            try await Self.eventually("the server's values") { try Self.texts(shared) == ["all"] }
        }
    }

    @Test("Another user's partition and a partition with nothing readable don't open")
    func othersPartitions() async throws {
        try await Self.with { server, ann, ben in
            for partition in ["user=\(ben.id)", "conversation=8", "user=", "a=b=c", ""] {
                let errors = Errors()
                let configuration = Self.configuration(server, ann, partition, errors)
                let error = await #expect(throws: SyncError.self) {
                    _ = try await Realm(configuration: configuration, downloadBeforeOpen: .always)
                }
                #expect(error?.code == .permissionDeniedError, "\(partition): \(String(describing: error))")
                #expect(try Self.texts(configuration).isEmpty)
            }
            let configuration = Self.configuration(server, ben, "user=\(ben.id)")
            _ = try await Realm(configuration: configuration, downloadBeforeOpen: .always)
            #expect(try Self.texts(configuration) == ["Ben's"])
        }
    }

    @Test("A change of the user's data takes a partition's objects off the device and brings them back without a reset")
    func customData() async throws {
        try await Self.with { server, ann, _ in
            let errors = Errors()
            let configuration = Self.configuration(server, ann, "conversation=7", errors)
            let realm = try await Realm(configuration: configuration, downloadBeforeOpen: .always)
            #expect(try Self.texts(configuration) == ["seven"])
            try await Self.setConversations(server, #"["8"]"#)
            try await Self.eventually("they leave") { try Self.texts(configuration).isEmpty }
            try await Self.setConversations(server, #"["7", "8"]"#)
            try await Self.eventually("they come back") { try Self.texts(configuration) == ["seven"] }
            // When plain SQL changes rows' partitions, they leave and enter the device's files.
            try await server.pool.execute(
                "UPDATE partition_note SET partition = 'conversation=7' WHERE text = 'eight'")
            try await Self.eventually("one moves in") { try Self.texts(configuration) == ["eight", "seven"] }
            try await server.pool.execute("UPDATE partition_note SET partition = 'x' WHERE text = 'seven'")
            try await Self.eventually("one moves out") { try Self.texts(configuration) == ["eight"] }
            #expect(errors.codes.isEmpty)
            try await Self.eventually("the connection") { realm.syncSession?.connectionState == .connected }
        }
    }

    #if os(Linux)
        /// How many file handles the process has on the Realm's file.
        private static func handleCount(_ configuration: Realm.Configuration) throws -> Int {
            let path = configuration.fileURL?.path ?? ""
            return try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { name in
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
                return target?.hasPrefix(path) ?? false
            }
        }

        @Test("Closing one partition's Realm frees its handles once its changes are uploaded; others stay open")
        func closing() async throws {
            try await Self.with { server, ann, _ in
                let closed = Self.configuration(server, ann, "conversation=7")
                let kept = Self.configuration(server, ann, "user=\(ann.id)")
                let other = try await Realm(configuration: kept, downloadBeforeOpen: .always)
                var realm: Realm? = try await Realm(configuration: closed, downloadBeforeOpen: .always)
                try realm?.write { realm?.add(PartitionNote("the last word")) }
                #expect(try Self.handleCount(closed) > 0)
                realm = nil
                try await Self.eventually("no handles") { try Self.handleCount(closed) == 0 }
                let found = try await server.pool.rows(
                    "SELECT partition FROM partition_note WHERE text = 'the last word'")
                #expect(found == ["conversation=7"])
                #expect(try Self.handleCount(kept) > 0)
                try await Self.eventually("the other's connection") {
                    other.syncSession?.connectionState == .connected
                }

                // Reopened, it goes on where it left off.
                realm = try await Realm(configuration: closed, downloadBeforeOpen: .always)
                #expect(try Self.texts(closed) == ["seven", "the last word"])
                realm = nil
            }
        }
    #endif

    @Test("A partition's file opens neither for another partition nor with subscriptions")
    func oneFileOnePartition() async throws {
        try await Self.with { server, ann, _ in
            let url = server.folder.appending(path: "one.realm")
            var configuration = Self.configuration(server, ann, "conversation=7")
            configuration.fileURL = url
            do { _ = try await Realm(configuration: configuration, downloadBeforeOpen: .always) }
            var others = [
                Self.configuration(server, ann, "user=\(ann.id)"), ann.flexibleSyncConfiguration(),
                ann.configuration(partitionValue: nil), ann.configuration(partitionValue: 7),
            ]
            for index in others.indices {
                others[index].fileURL = url
                others[index].objectTypes = configuration.objectTypes
                let other = others[index]
                let error = #expect(throws: Realm.Error.self) { try Realm(configuration: other) }
                #expect(error?.code == .alreadyOpen || error.map { "\($0)".contains("conversation") } == true)
            }
        }
    }
}

extension PostgresPool {
    /// The first column, as texts.
    fileprivate func rows(_ sql: String) async throws -> [String] {
        try await query(sql).map { try $0[0].string }
    }
}
