import Logging
import Synchronization

/// Keeps the warnings and errors that are logged.
final class RecordingLog: Sendable {
    private struct Handler: LogHandler {
        let log: RecordingLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.warning

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { log.add("\(event.level): \(event.message)") }
    }

    private let recorded = Mutex<[String]>([])

    var lines: [String] { recorded.withLock { $0 } }

    private func add(_ line: String) { recorded.withLock { $0.append(line) } }

    func logger() -> Logger { Logger(label: "tests") { _ in Handler(log: self) } }
}
