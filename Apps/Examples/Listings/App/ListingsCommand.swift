import ArgumentParser
import Foundation
import ListingModels
import Tombolo

/// `listings`: the home-listings app from the article that introduced Flexible Sync, without a user interface.
@main
struct ListingsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "listings",
        abstract:
            "Subscribes to homes in Dallas, prints how many there are, removes the subscription, and prints again.",
        discussion: """
            Start 'make up' first; it prints the demo users and their passwords. Output with the sample data:

              100
              0
            """)

    @Option(help: "The gateway's URL.")
    var url = AppConfiguration.developmentURL

    @Option(help: "The user's e-mail address.")
    var email = "attendee@example.org"

    @Option(help: "The user's password.")
    var password: String

    @Option(help: "The device's file. It's kept, so a second run synchronises only changes.")
    var file = "listings.realm"

    @MainActor
    func run() async throws {
        let app = App(id: "listings", configuration: AppConfiguration(baseURL: url))
        let user = try await app.login(credentials: .emailPassword(email: email, password: password))

        var configuration = user.flexibleSyncConfiguration()
        configuration.fileURL = URL(fileURLWithPath: file)
        configuration.objectTypes = [Listing.self]
        let realm = try await Realm.open(configuration: configuration)

        let subscriptions = realm.subscriptions
        try await subscriptions.write {
            subscriptions.remove(named: "home-search")
            subscriptions.append(
                QuerySubscription<Listing>(name: "home-search") {
                    $0.location == "dallas" && $0.price < 300000 && $0.bedrooms >= 3
                })
        }
        print(realm.objects(Listing.self).count)

        try await subscriptions.write {
            subscriptions.remove(named: "home-search")
        }
        print(realm.objects(Listing.self).count)
    }
}
