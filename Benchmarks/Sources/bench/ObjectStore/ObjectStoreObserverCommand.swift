import ArgumentParser
import Foundation

/// Observes the people of a file while others write, and prints `times JSON`.
struct ObjectStoreObserverCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "object-store-observer", shouldDisplay: false)
    static let manyCount = 1_000

    @Option var file: String
    @Option var objects: Int
    @Option var rounds: Int

    func run() async throws {
        let here = try PeopleWriter(path: file, objects: objects, seed: 1)
        let elsewhere = try BenchProcess(["object-store-writer", "--file", file, "--objects", "\(objects)"])
        defer { elsewhere.end() }
        _ = try await elsewhere.expect("ready")

        let (calls, continuation) = AsyncStream.makeStream(of: PeopleObserver.Call.self)
        var iterator = calls.makeAsyncIterator()
        let start = Monotonic.nanoseconds
        let observer = try PeopleObserver(path: file) { continuation.yield($0) }
        guard let first = await iterator.next(), first.changeCount == nil else {
            throw BenchError("The first call had changes.")
        }
        var times = NotificationTimes(first: Double(first.nanoseconds - start) / 1e6)
        let many = min(Self.manyCount, objects / 2)
        for (name, count, isHere) in [
            ("one change by another Realm", 1, true), ("one change by another process", 1, false),
            ("\(many) changes by another Realm", many, true), ("\(many) changes by another process", many, false),
        ] {
            for _ in 0..<rounds {
                let end: Int64
                if isHere {
                    end = try here.change(count)
                } else {
                    try elsewhere.say("\(count)")
                    end = Int64(try await elsewhere.expect("wrote")) ?? 0
                }
                var changes = 0
                var last: Int64 = 0
                while changes < count {
                    guard let call = await iterator.next() else { throw BenchError("The listener ended.") }
                    changes += call.changeCount ?? 0
                    last = call.nanoseconds
                }
                guard changes == count else { throw BenchError("\(count) changes were reported as \(changes).") }
                // The observer may be called before `write` has returned to the writer.
                times.samples[name, default: []].append(max(0, Double(last - end) / 1e6))
            }
        }
        observer.stop()
        Lines.say("times " + String(decoding: try JSONEncoder().encode(times), as: UTF8.self))
    }
}
