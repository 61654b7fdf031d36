import Foundation
import Testing
import TomboloChangesets
import TomboloModel

@testable import Tombolo
@testable import TomboloSQLiteStore

private enum Keys {
    static let first = Data((0..<64).map { UInt8($0) })
    static let second = Data((0..<64).map { UInt8($0 + 100) })
    static let secret = "a-token-that-nobody-may-read"
}

class Account: Release {
    @Persisted(primaryKey: true) var provider: String
    @Persisted(encrypted: true) var token: String
    @Persisted(encrypted: true) var refresh: String?
    @Persisted(encrypted: true) var blob: Data
    @Persisted var visits: Int

    static func realmInMemory() throws -> Realm {
        var configuration = Realm.Configuration(inMemoryIdentifier: "encrypted", objectTypes: [Account.self])
        configuration.encryptionKey = Data(count: 64)
        return try Realm(configuration: configuration)
    }
}

/// Without a primary key.
class Secret: Release {
    @Persisted(encrypted: true) var text = "declared"
}

private enum Plain {
    class Account: Release {
        @Persisted(primaryKey: true) var provider: String
        @Persisted var token: String
        @Persisted var visits: Int
    }
}

private enum Renamed {
    class Account: Release {
        @Persisted(primaryKey: true) var id: Int
        @Persisted(encrypted: true) var bearer: String
        @Persisted(encrypted: true) var refresh: String?
        @Persisted(encrypted: true) var added = "new"
    }
}

class SyncedSecret: Release {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted(encrypted: true) var token: String
}

class IndexedSecret: Release {
    @Persisted(encrypted: true) var token: String

    override class func indexedProperties() -> [String] { ["token"] }
}

@Suite("Encrypted properties")
struct EncryptionTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func configuration(
        _ types: [ObjectBase.Type] = [Account.self, Secret.self], key: Data? = Keys.first, version: UInt64 = 0,
        _ block: MigrationBlock? = nil
    ) -> Realm.Configuration {
        var configuration = folder.release(version, types, name: "accounts", block)
        configuration.encryptionKey = key
        return configuration
    }

    private func fill() throws {
        let realm = try Realm(configuration: configuration())
        try realm.write {
            realm.create(
                Account.self,
                value: ["provider": "box", "token": Keys.secret, "blob": Data(Keys.secret.utf8), "visits": 1])
            realm.create(Account.self, value: ["provider": "empty", "token": "", "refresh": ""])
            realm.create(Secret.self)
        }
    }

    /// Whether any file of the folder has the bytes.
    private func isFound(_ text: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.url.path).filter {
            try Data(contentsOf: folder.url.appending(path: $0)).range(of: Data(text.utf8)) != nil
        }
    }

    @Test("Values come back, and their bytes are in no file: not in the database, its log, or a copy")
    func bytes() throws {
        try fill()
        let realm = try Realm(configuration: configuration())
        let account = try #require(realm.object(ofType: Account.self, forPrimaryKey: "box"))
        #expect(account.token == Keys.secret && account.blob == Data(Keys.secret.utf8) && account.refresh == nil)
        let empty = try #require(realm.object(ofType: Account.self, forPrimaryKey: "empty"))
        #expect(empty.token == "" && empty.refresh == "" && empty.blob == Data())
        #expect(realm.objects(Secret.self).first?.text == "declared")
        #expect(try isFound(Keys.secret) == [])
        #expect(try isFound("declared") == [])
        #expect(FileManager.default.fileExists(atPath: folder.url.appending(path: "accounts.sqlite-wal").path))

        let other = Keys.secret + "-changed"
        try realm.write {
            account.token = other
            realm.create(Account.self, value: ["provider": "empty", "refresh": other], update: .modified)
        }
        #expect(account.token == other && empty.refresh == other)
        try realm.writeCopy(toFile: folder.url.appending(path: "copy.sqlite"))
        #expect(try isFound(Keys.secret) == [])
        #expect(try isFound("visits").contains("copy.sqlite"), "the search finds what is there")
        #expect(realm.objects(Account.self).where { $0.visits == 1 }.count == 1)
    }

    @Test("A wrong key is refused at opening, with and without objects, and the right one still works")
    func wrongKey() throws {
        try fill()
        let error = #expect(throws: Realm.Error.self) { try Realm(configuration: configuration(key: Keys.second)) }
        #expect(error?.code == .invalidDatabase)
        #expect(error?.message.contains("another encryptionKey") == true)
        #expect(try Realm(configuration: configuration()).objects(Account.self).count == 2)
    }

    @Test("A missing key names class and property; keys of a wrong length, or for nothing, are refused")
    func keys() throws {
        let missing = #expect(throws: Realm.Error.self) { try Realm(configuration: configuration(key: nil)) }
        #expect(missing?.code == .invalidInput && missing?.message.contains("'Account.token'") == true)
        let short = #expect(throws: Realm.Error.self) { try Realm(configuration: configuration(key: Data(count: 32))) }
        #expect(short?.message.contains("exactly 64 bytes") == true)
        let pointless = #expect(throws: Realm.Error.self) {
            try Realm(configuration: configuration([Plain.Account.self]))
        }
        #expect(pointless?.message.contains("@Persisted(encrypted: true)") == true)
    }

    @Test("Synced classes and indexes are refused")
    func refused() throws {
        var synced = configuration([SyncedSecret.self])
        synced.keepsUploadQueue = true
        let error = #expect(throws: Realm.Error.self) { try Realm(configuration: synced) }
        #expect(error?.code == .invalidInput)
        #expect(error?.message.contains("SyncedSecret.token is encrypted") == true, "\(error?.message ?? "")")
        let stored = #expect(throws: SQLiteStoreError.self) {
            try StoreFile(
                path: folder.url.appending(path: "synced.sqlite").path, schema: Schema.of([SyncedSecret.self]),
                options: StoreOptions(isSynced: true, durability: .full, encryptionKey: Keys.first),
                newClient: .init(rawValue: 1))
        }
        #expect(stored?.message.contains("'SyncedSecret.token' is encrypted, and its class is synced") == true)
        let indexed = #expect(throws: Realm.Error.self) {
            try Realm(configuration: configuration([IndexedSecret.self]))
        }
        #expect(indexed?.message.contains("neither primary key nor indexed") == true)
    }

    @Test("Queries, sorts and distinct say why they cannot look at one")
    func queries() async throws {
        let filtered = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Account.realmInMemory().objects(Account.self).where { $0.token == "x" }.count
        }
        let sorted = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Account.realmInMemory().objects(Account.self).sorted(byKeyPath: "token").first
        }
        for result in [filtered, sorted] {
            let message = String(decoding: result.standardErrorContent, as: UTF8.self)
            #expect(message.contains("Account.token is encrypted"), "\(message)")
        }
    }

    @Test("A value that was moved to another object, or changed, is not accepted")
    func moved() throws {
        try fill()
        let file = try StoreFile(
            path: folder.url.appending(path: "accounts.sqlite").path,
            schema: Schema.of([Account.self, Secret.self]),
            options: StoreOptions(isSynced: false, durability: .full, encryptionKey: Keys.first),
            newClient: .init(rawValue: 1))
        try file.connection.execute(
            "UPDATE account SET token = (SELECT token FROM account WHERE provider = 'box') WHERE provider = 'empty'")
        let table = file.layout.tables[try #require(file.schema.index(of: "Account"))]
        let statement = try file.connection.statement(table.selectByKey)
        statement.bind(.string("empty"), at: 1)
        #expect(try statement.step())
        let column = try #require(table.schema.columnIndex("token"))
        let value = statement.value(at: column, as: table.storedTypes[column])
        statement.reset()
        let error = #expect(throws: SQLiteStoreError.self) {
            try file.decrypted(value, column, of: table, key: .string("empty"))
        }
        #expect(error?.message.contains("'Account.token' of the object \"empty\"") == true, "\(error?.message ?? "")")
    }

    @Test("A copy may have another key")
    func copyWithKey() throws {
        try fill()
        let copy = folder.url.appending(path: "copy.sqlite")
        try Realm(configuration: configuration()).writeCopy(toFile: copy, encryptionKey: Keys.second)
        var other = configuration(key: Keys.second)
        other.fileURL = copy
        #expect(
            try Realm(configuration: other).object(ofType: Account.self, forPrimaryKey: "box")?.token == Keys.secret)
        var wrong = configuration()
        wrong.fileURL = copy
        #expect(throws: Realm.Error.self) { try Realm(configuration: wrong) }
    }

    @Test("Migrations encrypt what was plain, and its bytes are gone from the files")
    func encryptedLater() throws {
        do {
            let realm = try Realm(configuration: configuration([Plain.Account.self], key: nil))
            try realm.write {
                realm.create(Plain.Account.self, value: ["provider": "box", "token": Keys.secret, "visits": 3])
            }
        }
        #expect(try !isFound(Keys.secret).isEmpty)
        do {
            let realm = try Realm(configuration: configuration(version: 1))
            let account = try #require(realm.objects(Account.self).first)
            #expect(account.token == Keys.secret && account.visits == 3 && account.blob == Data())
        }
        #expect(try isFound(Keys.secret) == [])
    }

    @Test("Encrypted values go along when their property is renamed and the primary key becomes another one")
    func renamed() throws {
        try fill()
        let block: MigrationBlock = { migration, _ in
            migration.renameProperty(onType: "Account", from: "token", to: "bearer")
            var number = 0
            migration.enumerateObjects(ofType: "Account") { old, new in
                number += 1
                new?["id"] = number
                #expect(new?["bearer"] as? String == old?["token"] as? String)
            }
        }
        let realm = try Realm(configuration: configuration([Renamed.Account.self], version: 1, block))
        let accounts = realm.objects(Renamed.Account.self).sorted(byKeyPath: "id")
        #expect(accounts.map(\.id) == [1, 2])
        #expect(Set(accounts.map(\.bearer)) == [Keys.secret, ""] && accounts.allSatisfy { $0.added == "new" })
        #expect(try isFound(Keys.secret) == [])
    }
}
