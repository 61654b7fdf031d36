import ArgumentParser
import Foundation
import TomboloModel
import TomboloSQLiteStore
import TomboloSyncClient
import TomboloSyncProtocol
import TomboloSyncSession

/// One device that wants all listings. It prints `ready`, begins when told to, prints `done SECONDS ROWS`, and exits
/// when told to.
struct FirstSyncDeviceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "first-sync-device", shouldDisplay: false)

    @OptionGroup var options: DeviceOptions
    @Option var file: String

    func run() async throws {
        var lines = Lines.received().makeAsyncIterator()
        let (finished, finish) = AsyncStream.makeStream(of: Int64.self)
        let file = file
        let engine = try SyncEngine(
            configuration: try options.configuration(),
            makeStore: { try SQLiteDeviceStore(path: file, schema: BenchModels.schema) },
            onReport: { report in
                DeviceOptions.stopOnFailure(report)
                if case .subscriptionsComplete(version: 1) = report { finish.yield(Monotonic.nanoseconds) }
            })
        try await engine.setSubscriptions(
            SubscriptionSet(
                version: 1,
                subscriptions: [Subscription(name: "all", className: "Listing", predicate: .constant(true))]))
        Lines.say("ready")
        guard await lines.next() != nil else { return }
        let start = Monotonic.nanoseconds
        await engine.start()
        for await end in finished {
            let rowCount = try SQLiteFile(path: file).integer("SELECT count(*) FROM listing")
            Lines.say("done \(Double(end - start) / 1e9) \(rowCount)")
            break
        }
        _ = await lines.next()
    }
}
