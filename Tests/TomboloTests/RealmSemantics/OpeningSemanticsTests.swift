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
