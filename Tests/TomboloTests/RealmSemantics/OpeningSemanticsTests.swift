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

    @Test("asyncOpen opens in the background and calls back with a Realm of the queue")
    func asyncOpen() async throws {
        let queue = DispatchQueue(label: "callbacks")
        let mark = QueueMark(marking: queue)
        do {
            let realm = try Realm.fresh(configuration)
            try realm.write { realm.add(Pet("Rex")) }
        }
        var next = configuration
        next.schemaVersion = 1
        next.migrationBlock = { migration, version in
            #expect(version == 0 && !mark.isCurrent)
            migration.enumerateObjects(ofType: Pet.className()) { _, new in new?["name"] = "Bo" }
        }
        let name: String? = try await withCheckedThrowingContinuation { continuation in
            Realm.asyncOpen(configuration: next, callbackQueue: queue) { result in
                #expect(mark.isCurrent)
                continuation.resume(with: result.map { $0.objects(Pet.self).first?.name })
            }
        }
        #expect(name == "Bo")
        // The callback's Realm is closed once the callback has returned.
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
        #expect(throws: Never.self) { try Realm.deleteFiles(for: next) }
    }

    @Test("asyncOpen reports why it failed, and nothing once cancelled")
    func asyncOpenFails() async throws {
        let queue = DispatchQueue(label: "callbacks")
        var missing = configuration
        // A different file from the cancelled opening's, which may have created its file before it was cancelled.
        missing.fileURL = folder.url.appending(path: "missing.sqlite")
        missing.readOnly = true
        let isCalled = Mutex(false)
        // Suspended, so that no callback can run before the opening is cancelled.
        queue.suspend()
        let cancelled = Realm.asyncOpen(configuration: configuration, callbackQueue: queue) { _ in
            isCalled.withLock { $0 = true }
        }
        cancelled.cancel()
        queue.resume()
        cancelled.addProgressNotification(queue: queue) { _ in }
        let code: Realm.Error.Code? = await withCheckedContinuation { continuation in
            Realm.asyncOpen(configuration: missing, callbackQueue: queue) { result in
                guard case .failure(let error) = result else { return continuation.resume(returning: nil) }
                continuation.resume(returning: (error as? Realm.Error)?.code)
            }
        }
        #expect(code == .fileNotFound && !isCalled.withLock { $0 })
    }

    @Test("A local Realm never waits for a download")
    func downloadBeforeOpen() async throws {
        let realm = try await Realm.open(configuration: configuration, downloadBeforeOpen: .always)
        let other = try await Realm(configuration: configuration, downloadBeforeOpen: .once)
        try realm.write { realm.add(Pet("Rex")) }
        #expect(other.isEmpty)
        #expect(await other.asyncRefresh() && !other.isEmpty)
        #expect(await !other.asyncRefresh())
    }

    @MainActor
    @Test("Main thread, main queue and main actor share one Realm")
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

    @Test("Configuration properties that exclude each other are named")
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

    @Test("A caught error has its message, and its NSError the code")
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
