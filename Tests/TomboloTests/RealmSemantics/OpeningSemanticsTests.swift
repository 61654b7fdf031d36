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

    @MainActor
    @Test("The main thread, the main queue and the main actor have the same Realm")
    func main() async throws {
        let realm = try Realm(configuration: configuration)
        #expect(try Realm(configuration: configuration, queue: .main) == realm)
        #expect(try await Realm.open(configuration: configuration) == realm)
        #expect(try await Realm(configuration: configuration, actor: MainActor.shared) == realm)
        await Task.yield()
        let pets = realm.objects(Pet.self)
        let counts = Texts()
        var token: NotificationToken?
        await withCheckedContinuation { continuation in
            token = pets.observe(on: .main) { change in
                guard case .initial(let found) = change else { return }
                #expect(found.realm == realm)
                counts.append("\(found.count)")
                continuation.resume()
            }
        }
        #expect(counts.all == ["0"] && pets.isEmpty)
        token?.invalidate()
    }

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
