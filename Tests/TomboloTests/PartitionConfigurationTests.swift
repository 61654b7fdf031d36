import Foundation
import Testing
import TomboloModel

@testable import Tombolo

@Suite("Configurations of partitions")
struct PartitionConfigurationTests {
    private static func user(_ baseURL: String? = nil) async throws -> User {
        let folder = FileManager.default.temporaryDirectory.appending(path: "partitions-\(UUID().uuidString)")
        let app = App(id: "tests", configuration: .init(baseURL: baseURL, rootDirectory: folder))
        let claims = Data(#"{"sub":"ada"}"#.utf8).base64EncodedString().replacing("=", with: "")
        return try await app.login(credentials: .accessToken("e30.\(claims).unsigned"))
    }

    private static func name(_ configuration: Realm.Configuration) -> String {
        (configuration.fileURL?.pathComponents.suffix(3) ?? []).joined(separator: "/")
    }

    @Test("Each partition of a user has its own file, named after its type and value")
    func fileNames() async throws {
        let user = try await Self.user()
        #expect(Self.name(user.configuration(partitionValue: "user=1")) == "tests/ada/s_user%3D1.realm")
        #expect(Self.name(user.configuration(partitionValue: "")) == "tests/ada/s_.realm")
        #expect(Self.name(user.configuration(partitionValue: "../a/b c")) == "tests/ada/s_..%2Fa%2Fb%20c.realm")
        #expect(Self.name(user.configuration(partitionValue: "é")) == "tests/ada/s_%C3%A9.realm")
        #expect(Self.name(user.configuration(partitionValue: 7)) == "tests/ada/l_7.realm")
        #expect(Self.name(user.configuration(partitionValue: Int64(-7))) == "tests/ada/l_-7.realm")
        #expect(Self.name(user.configuration(partitionValue: Int32(7))) == "tests/ada/i_7.realm")
        #expect(Self.name(user.configuration(partitionValue: nil)) == "tests/ada/null.realm")
        #expect(Self.name(user.configuration(partitionValue: NSNull())) == "tests/ada/null.realm")
        #expect(Self.name(user.configuration(partitionValue: String?.none)) == "tests/ada/null.realm")
        #expect(Self.name(user.configuration(partitionValue: String?("null"))) == "tests/ada/s_null.realm")
        let id = ObjectId(high: 1, low: 2)
        #expect(Self.name(user.configuration(partitionValue: id)) == "tests/ada/o_\(id.stringValue).realm")
        let uuid = UUID()
        #expect(
            Self.name(user.configuration(partitionValue: uuid))
                == "tests/ada/u_\(uuid.uuidString.lowercased()).realm")
    }

    @Test("A name that file systems don't accept is hashed")
    func longNames() async throws {
        let user = try await Self.user()
        let long = String(repeating: "x", count: 300)
        let names = [long, long + "y", String(repeating: "é", count: 40)].map {
            user.configuration(partitionValue: $0).fileURL?.lastPathComponent ?? ""
        }
        #expect(Set(names).count == 3)
        #expect(names.allSatisfy { $0.utf8.count <= 206 })
        #expect(names.prefix(2).allSatisfy { $0.hasSuffix(".realm") && $0.count == 70 })
    }

    @Test("A partition's Realm has no subscriptions; asking for them stops the program and says what to do")
    func noSubscriptions() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let user = try await Self.user("http://127.0.0.1:0")
            var configuration = user.configuration(partitionValue: "a")
            configuration.objectTypes = [Session.self, Speaker.self, Room.self]
            configuration.fileURL = FileManager.default.temporaryDirectory
                .appending(path: "partition-\(UUID().uuidString)").appending(path: "a.realm")
            _ = try Realm(configuration: configuration).subscriptions
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("user.flexibleSyncConfiguration()"), "\(text)")
    }

    @Test("The configuration says which partition it belongs to")
    func values() async throws {
        let user = try await Self.user()
        func value(_ configuration: Realm.Configuration) -> (any PartitionValue)? {
            configuration.syncConfiguration?.partitionValue
        }
        #expect(value(user.configuration(partitionValue: "a")) as? String == "a")
        #expect(value(user.configuration(partitionValue: Int32(7))) as? Int64 == 7)
        #expect(value(user.configuration(partitionValue: nil)) is NSNull)
        #expect(value(user.flexibleSyncConfiguration()) == nil)
    }

    @Test("A partition's session that is about to end leaves a newly opened Realm alone")
    func reopened() async throws {
        let folder = try TemporaryFolder()
        let user = try await Self.user("http://127.0.0.1:0")
        var configuration = user.configuration(partitionValue: "a")
        configuration.objectTypes = [Session.self, Speaker.self, Room.self]
        configuration.fileURL = folder.url.appending(path: "a.realm")
        let realm = try Realm.fresh(configuration)
        let session = try #require(realm.syncSession)
        #expect(!session.suspendIfUnused())
        #expect(session.state == .active)
        session.suspend()
        session.closeIfUnused()
        #expect(session.state == .inactive, "The app has suspended it.")
        #expect(realm.objects(Room.self).isEmpty)
        session.closeFile()
    }
}
