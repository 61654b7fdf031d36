import ArgumentParser
import Foundation
import TomboloModel
import TomboloSQLiteStore
import TomboloSyncClient
import TomboloSyncProtocol
import TomboloSyncSession

/// Devices with full upload queues. It prints `ready`, connects them all when told to, and prints `done SECONDS` when
/// each has the outcome of its last changeset.
struct UploadDevicesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "upload-devices", shouldDisplay: false)

    @OptionGroup var options: DeviceOptions
    @Option var folder: String
    @Option var devices: Int
    @Option var changesets: Int64

    func run() async throws {
        var lines = Lines.received().makeAsyncIterator()
        let (finished, finish) = AsyncStream.makeStream(of: Int64.self)
        var engines: [SyncEngine] = []
        for device in 0..<devices {
            let file = URL(filePath: folder).appending(path: "device-\(device).sqlite").path
            let last = changesets
            let engine = try SyncEngine(
                configuration: try options.configuration(),
                makeStore: { try SQLiteDeviceStore(path: file, schema: BenchModels.schema) },
                onReport: { report in
                    DeviceOptions.stopOnFailure(report)
                    if case .acknowledged(last) = report { finish.yield(Monotonic.nanoseconds) }
                })
            let own = Predicate.compare(PropertyPath("location"), .equal, .string("device \(device)"))
            let subscription = Subscription(name: "own", className: "Listing", predicate: own)
            try await engine.setSubscriptions(SubscriptionSet(version: 1, subscriptions: [subscription]))
            guard try await engine.state().lastChangeset == last else {
                throw BenchError("The file \(file) doesn't have \(last) changesets.")
            }
            engines.append(engine)
        }
        Lines.say("ready")
        guard await lines.next() != nil else { return }
        let start = Monotonic.nanoseconds
        for engine in engines { await engine.start() }
        var count = 0
        for await end in finished {
            count += 1
            guard count == devices else { continue }
            Lines.say("done \(Double(end - start) / 1e9)")
            break
        }
        _ = await lines.next()
    }
}
