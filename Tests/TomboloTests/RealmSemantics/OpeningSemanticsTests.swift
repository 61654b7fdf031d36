import Dispatch
import Foundation
import Synchronization
import Testing
import TomboloModel

@testable import Tombolo

@Suite("Realm semantics: opening")
struct OpeningSemanticsTests {
    let folder: TemporaryFolder
    var configuration: Realm.Configuration { folder.configuration(types: semanticClasses) }

    init() throws { folder = try TemporaryFolder() }

    @Test("Properties that cannot both be set are named")
    func exclusive() {
        var configuration = configuration
        configuration.readOnly = true
        configuration.deleteRealmIfMigrationNeeded = true
        let error = #expect(throws: Realm.Error.self) { try Realm(configuration: configuration) }
        #expect(error?.code == .invalidInput)
        #expect(error?.message == "Cannot set `deleteRealmIfMigrationNeeded` when `readOnly` is set.")
        configuration.deleteRealmIfMigrationNeeded = false
        configuration.shouldCompactOnLaunch = { _, _ in true }
        #expect(throws: Realm.Error.self) { try Realm(configuration: configuration) }
    }

    @Test("A caught error tells its message, and NSError its code")
    func errors() {
        var configuration = configuration
        configuration.readOnly = true
        do {
            _ = try Realm(configuration: configuration)
            Issue.record("It was opened.")
        } catch Realm.Error.fileNotFound {
        } catch {
            Issue.record(error)
        }
        let error: any Error = Realm.Error(.incompatibleLockFile, "What was wrong")
        #expect(error.localizedDescription == "What was wrong")
        #expect((error as NSError).code == 8 && (error as NSError).domain == "io.realm")
        #expect((error as? Realm.Error)?.code == Realm.Error.incompatibleLockFile)
    }
}
