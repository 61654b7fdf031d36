import ArgumentParser
import Foundation
import TomboloModel
import TomboloSQLiteStore
import TomboloSyncClient
import TomboloSyncProtocol
import TomboloSyncSession

/// Connected devices with distinct queries. It prints `ready` when all have their content. In response to `report
/// FILE`, it writes the arrivals since the last report as JSON and prints `written`.
struct LatencyDevicesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "latency-devices", shouldDisplay: false)

    @OptionGroup var options: DeviceOptions
    @Option var folder: String
    @Option var devices: Int

    func run() async throws {
        var lines = Lines.received().makeAsyncIterator()
        let (ready, isReady) = AsyncStream.makeStream(of: Int.self)
        var engines: [SyncEngine] = []
        var watched: [LatencyDevice] = []
        for number in 0..<devices {
            let file = URL(filePath: folder).appending(path: "device-\(number).sqlite").path
            let device = LatencyDevice(path: file)
            let first = FirstTime()
            let engine = try SyncEngine(
                configuration: try options.configuration(),
                makeStore: { try SQLiteDeviceStore(path: file, schema: BenchModels.schema) },
                onReport: { report in
                    DeviceOptions.stopOnFailure(report)
                    guard case .subscriptionsComplete(version: 1) = report else { return }
                    do {
                        try device.look()
                    } catch {
                        FileHandle.standardError.write(Data("\(error)\n".utf8))
                        Foundation.exit(1)
                    }
                    if first.isNow() { isReady.yield(number) }
                })
            try await engine.setSubscriptions(
                SubscriptionSet(
                    version: 1,
                    subscriptions: [
                        Subscription(
                            name: "own", className: "Listing", predicate: LatencyRows.predicate(device: number))
                    ]))
            engines.append(engine)
            watched.append(device)
        }
        for engine in engines { await engine.start() }
        var count = 0
        for await _ in ready {
            count += 1
            if count == devices { break }
        }
        Lines.say("ready")
        while let line = await lines.next() {
            guard line.hasPrefix("report ") else { continue }
            let arrivals = watched.map { $0.takeArrivals() }
            try JSONEncoder().encode(arrivals).write(to: URL(filePath: String(line.dropFirst("report ".count))))
            Lines.say("written")
        }
    }
}
