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

private let longKey = "https://example.org/accounts/0123456789/box"

private func decoded(_ hexadecimal: String) -> Data {
    let digits = hexadecimal.compactMap { $0.hexDigitValue.map(UInt8.init) }
    return Data(stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
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

/// A class without a primary key.
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
        named name: String = "accounts", _ block: MigrationBlock? = nil
    ) -> Realm.Configuration {
        var configuration = folder.release(version, types, name: name, block)
        configuration.encryptionKey = key
        return configuration
    }

    private func fill(named name: String = "accounts") throws {
        let realm = try Realm(configuration: configuration(named: name))
        try realm.write {
            realm.create(
                Account.self,
                value: ["provider": "box", "token": Keys.secret, "blob": Data(Keys.secret.utf8), "visits": 1])
            realm.create(Account.self, value: ["provider": "empty", "token": "", "refresh": ""])
            realm.create(Secret.self)
        }
    }

    /// The files of the folder that contain the text's bytes.
    private func isFound(_ text: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.url.path).filter {
            try Data(contentsOf: folder.url.appending(path: $0)).range(of: Data(text.utf8)) != nil
        }
    }

    @Test("Values round-trip, and no file contains their bytes: neither database, log nor copy")
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
        #expect(try isFound("visits").contains("copy.sqlite"), "the search should find bytes that are there")
        #expect(realm.objects(Account.self).where { $0.visits == 1 }.count == 1)
    }

    @Test("A wrong key is refused at opening, even in an empty file, and the right one still works")
    func wrongKey() throws {
        try fill()
        let error = #expect(throws: Realm.Error.self) { try Realm(configuration: configuration(key: Keys.second)) }
        #expect(error?.code == .invalidDatabase)
        #expect(error?.message.contains("another encryptionKey") == true)
        #expect(try Realm(configuration: configuration()).objects(Account.self).count == 2)
    }

    @Test("A missing key is an error naming class and property; an unused key or one of the wrong length is refused")
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
        #expect(stored?.message.contains("'SyncedSecret.token' is encrypted but its class is synced") == true)
        let indexed = #expect(throws: Realm.Error.self) {
            try Realm(configuration: configuration([IndexedSecret.self]))
        }
        #expect(indexed?.message.contains("can't be the primary key or indexed") == true)
    }

    @Test("Queries, sorts and distinct say why they can't use an encrypted property")
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

    private func open(readOnly: Bool = false) throws -> StoreFile {
        try StoreFile(
            path: folder.url.appending(path: "accounts.sqlite").path,
            schema: Schema.of([Account.self, Secret.self]),
            options: StoreOptions(
                isSynced: false, isReadOnly: readOnly, durability: .full, encryptionKey: Keys.first),
            newClient: .init(rawValue: 1))
    }

    /// An account's token, decrypted.
    private func token(_ provider: String, _ file: StoreFile) throws -> Value {
        let table = file.layout.tables[try #require(file.schema.index(of: "Account"))]
        let statement = try file.connection.statement(table.selectByKey)
        defer { statement.reset() }
        statement.bind(.string(provider), at: 1)
        try #require(try statement.step())
        let column = try #require(table.schema.columnIndex("token"))
        let value = statement.value(at: column, as: table.storedTypes[column])
        return try file.decrypted(value, column, of: table, key: .string(provider))
    }

    private func moveToken(_ file: StoreFile, from source: String, to target: String) throws {
        try file.connection.execute(
            "UPDATE account SET token = (SELECT token FROM account WHERE provider = '\(source)') "
                + "WHERE provider = '\(target)'")
    }

    @Test("A value that was altered or moved to another object is rejected")
    func moved() throws {
        try fill()
        let file = try open()
        try moveToken(file, from: "box", to: "empty")
        let error = #expect(throws: SQLiteStoreError.self) { try token("empty", file) }
        #expect(error?.message.contains("'Account.token' in object \"empty\"") == true, "\(error?.message ?? "")")
    }

    @Test("A value moved between objects whose keys share 40 characters is rejected")
    func movedBetweenLongKeys() throws {
        let keys = ["1", "2"].map { String(repeating: "k", count: 40) + $0 }
        let realm = try Realm(configuration: configuration())
        try realm.write {
            for key in keys { realm.create(Account.self, value: ["provider": key, "token": "of \(key)"]) }
        }
        let file = try open()
        #expect(try token(keys[1], file) == .string("of \(keys[1])"))
        try moveToken(file, from: keys[0], to: keys[1])
        #expect(throws: SQLiteStoreError.self) { try token(keys[1], file) }
    }

    @Test(
        "Values sealed by an independent implementation of either format can be read",
        arguments: [
            (.shortenedKey, .string(longKey), "a5d30c51bead21d0a1c19157078bb102036eb3e04d2111"),
            (.wholeKey, .string(longKey), "a5d30c51bead21f3f5eb5295558ae0b418db9ab1edf208"),
            (.wholeKey, .int(-5), "a5d30c51bead2173d77660ea6930fe3d5705b939605405"),
            (.wholeKey, .objectId(ObjectId(bytes: 0..<12)!), "a5d30c51bead21373fdda22401cb89b6941b76aee734c6"),
            (
                .wholeKey, .uuid(UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))),
                "a5d30c51bead215a265d1536b05cfe837f5cdd7703d934"
            ),
        ] as [(ValuePlace.Form, Value, String)])
    func sealedElsewhere(form: ValuePlace.Form, key: Value, sealed: String) throws {
        let cipher = PropertyCipher(key: Keys.first, salt: Data(repeating: 7, count: 32), form: form)
        let value = Value.data(Data(count: 12) + decoded(sealed))
        #expect(try cipher.open(value, as: .string, "Account", "token", key: key) == .string("a-token"))
        #expect(throws: SQLiteStoreError.self) {
            try cipher.open(value, as: .string, "Account", "token", key: .string("other"))
        }
    }

    /// Rewrites the file's encrypted values, or those of one key, in the format of Tombolo's first version.
    private func makeOld() throws {
        let file = try open()
        let salt = try file.connection.statement("SELECT salt FROM tombolo_key")
        try #require(try salt.step())
        let old = PropertyCipher(key: Keys.first, salt: Data(salt.bytes(at: 0)), form: .shortenedKey)
        salt.reset()
        try file.connection.writeTransaction {
            try Resealing(
                file.connection, from: try #require(file.cipher), to: old, keepsUnreadable: false
            ).run()
            try file.connection.execute("UPDATE tombolo_meta SET format = 1")
        }
    }

    private func format(_ file: StoreFile) throws -> Int64? {
        try file.connection.integer("SELECT format FROM tombolo_meta")
    }

    @Test("A file in the first format is readable, and upgraded when opened for writing")
    func firstFormat() throws {
        let keys = ["1", "2", "3"].map { String(repeating: "k", count: 40) + $0 }
        do {
            let realm = try Realm(configuration: configuration())
            try realm.write {
                for key in keys { realm.create(Account.self, value: ["provider": key, "token": "of \(key)"]) }
                realm.create(Secret.self)
            }
        }
        try makeOld()
        do {
            let file = try open(readOnly: true)
            #expect(try token(keys[0], file) == .string("of \(keys[0])"))
            #expect(try format(file) == 1)
            // Another program damages a value; the others stay readable.
            try SQLiteConnection(path: file.path, durability: .full)
                .execute("UPDATE account SET token = x'00' WHERE provider = '\(keys[2])'")
        }
        // This app has only one of the classes.
        _ = try Realm.fresh(configuration([Account.self]))
        let file = try open()
        #expect(try format(file) == 2)
        #expect(try token(keys[1], file) == .string("of \(keys[1])"))
        #expect(throws: SQLiteStoreError.self) { try token(keys[2], file) }
        #expect(try Realm.fresh(configuration()).objects(Secret.self).first?.text == "declared")
        try moveToken(file, from: keys[0], to: keys[1])
        #expect(throws: SQLiteStoreError.self) { try token(keys[1], file) }
    }

    @Test("A read-only Realm keeps reading while another process upgrades its file")
    func firstFormatMeanwhile() throws {
        try fill()
        try makeOld()
        let reader = try open(readOnly: true)
        #expect(try token("box", reader) == .string(Keys.secret))
        #expect(try format(open()) == 2)
        #expect(try token("box", reader) == .string(Keys.secret))
    }

    @Test("A migration carries over values from a file in the first format")
    func firstFormatMigrated() throws {
        try fill()
        try makeOld()
        let realm = try Realm(
            configuration: configuration([Renamed.Account.self], version: 1) { migration, _ in
                migration.renameProperty(onType: "Account", from: "token", to: "bearer")
                migration.enumerateObjects(ofType: "Account") { old, new in new?["id"] = old?["visits"] as? Int ?? 9 }
            })
        #expect(realm.object(ofType: Renamed.Account.self, forPrimaryKey: 1)?.bearer == Keys.secret)
    }

    @Test("A file without encrypted properties keeps the format that older versions read")
    func formatWithoutEncryption() throws {
        let realm = try Realm(configuration: configuration([Plain.Account.self], key: nil))
        #expect(try format(realm.core.file) == 1)
        try fill(named: "other")
        #expect(try format(Realm(configuration: configuration(named: "other")).core.file) == 2)
    }

    @Test("A copy with another key includes classes the app no longer has")
    func copyOfMissingClass() throws {
        try fill()
        let copy = folder.url.appending(path: "copy.sqlite")
        try Realm.fresh(configuration([Account.self])).writeCopy(toFile: copy, encryptionKey: Keys.second)
        var other = configuration(key: Keys.second)
        other.fileURL = copy
        #expect(try Realm(configuration: other).objects(Secret.self).first?.text == "declared")
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

    @Test("Migrations encrypt plain values, and the plain bytes are gone from the files")
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

    @Test("Encrypted values survive a renamed property and a changed primary key")
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
