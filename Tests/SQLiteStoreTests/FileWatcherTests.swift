import Dispatch
import Foundation
import Synchronization
import Testing

@testable import TomboloSQLiteStore

@Suite("Watching a file")
struct FileWatcherTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("watched")
        try Data().write(to: URL(fileURLWithPath: path))
    }

    private func write(_ count: Int = 1) throws {
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        defer { try? file.close() }
        for _ in 0..<count { try file.write(contentsOf: Data([1])) }
    }

    @Test("A watch reports only the first write until it's armed again")
    func oneWrite() throws {
        let queue = DispatchQueue(label: "test")
        let watch = try #require(OneWriteWatch(path, queue: queue))
        let told = DispatchSemaphore(value: 0)
        let count = Mutex(0)
        watch.source.setEventHandler {
            guard watch.takeWrite() else { return }
            count.withLock { $0 += 1 }
            told.signal()
        }
        watch.source.activate()
        for round in 1...3 {
            try write(20)
            told.wait()
            try write(20)
            #expect(queue.sync { count.withLock { $0 } } == round)
            #expect(queue.sync { watch.arm() })
        }
        watch.source.cancel()
        #expect(queue.sync { !watch.arm() })
    }

    @Test("Every write is followed by a check, however many come at once")
    func everyBurst() throws {
        let looked = DispatchSemaphore(value: 0)
        let watcher = try #require(FileWatcher(path: path) { looked.signal() })
        for _ in 0..<5 {
            // A later check after an earlier write counts too. Without any check, this never ends.
            try write(50)
            looked.wait()
        }
        withExtendedLifetime(watcher) {}
    }

    @Test("The later checks after one write don't delay those after the next")
    func laterChecks() throws {
        let looked = DispatchSemaphore(value: 0)
        let later: [DispatchTimeInterval] = [.milliseconds(10), .seconds(3_600)]
        let watcher = try #require(FileWatcher(path: path, laterLooks: later) { looked.signal() })
        for _ in 0..<3 {
            try write()
            // One check comes at once, the other after ten milliseconds.
            for _ in 0..<2 { looked.wait() }
        }
        withExtendedLifetime(watcher) {}
    }
}
