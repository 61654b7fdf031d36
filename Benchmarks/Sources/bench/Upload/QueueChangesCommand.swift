import ArgumentParser
import ListingModels
import Foundation
import Logging
import Tombolo

/// Creates device files whose upload queues hold new listings that an app wrote offline.
struct QueueChangesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "queue-changes", shouldDisplay: false)

    @Option var token: String
    @Option var folder: String
    @Option var devices: Int
    @Option var changesets: Int
    @Option var objects: Int

    @MainActor
    func run() async throws {
        // Nothing answers on port 9 (discard). The realms stay offline, which is expected, so don't log it.
        LoggingSystem.bootstrap { _ in SwiftLogNoOpLogHandler() }
        let app = App(id: "bench", configuration: AppConfiguration(baseURL: "http://127.0.0.1:9"))
        let user = try await app.login(credentials: .accessToken(token))
        for device in 0..<devices {
            var configuration = user.flexibleSyncConfiguration()
            configuration.fileURL = URL(filePath: folder).appending(path: "device-\(device).sqlite")
            configuration.objectTypes = BenchModels.objectTypes
            let realm = try Realm(configuration: configuration)
            for changeset in 0..<changesets {
                try realm.write {
                    for object in 0..<objects {
                        let listing = Listing()
                        listing.location = "device \(device)"
                        listing.price = 100_000 + changeset * objects + object
                        listing.bedrooms = 1 + object % 6
                        realm.add(listing)
                    }
                }
            }
        }
        Lines.say("queued")
    }
}
