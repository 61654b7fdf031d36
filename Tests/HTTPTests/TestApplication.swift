import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import Synchronization
import TomboloHTTP
import TomboloModel
import TomboloRules

extension HTTPLimits {
    /// Tolerates clients that pause before or during a request, as a test may between any two steps.
    static var patient: HTTPLimits {
        var limits = HTTPLimits()
        limits.firstRequestTimeout = .seconds(600)
        limits.requestTimeout = .seconds(600)
        limits.stallTimeout = .seconds(600)
        return limits
    }
}

/// An application with a few routes, and a log that tests can read.
func application(
    limits: HTTPLimits = .patient, log: LogRecorder = LogRecorder(), _ register: (Routes) -> Void
) -> HTTPApplication {
    HTTPApplication(
        name: "test", host: "127.0.0.1", port: 0, limits: limits, logger: log.logger,
        identify: { token in
            guard token == "good" else { throw RequestFailure(.unauthenticated, "The access token is not valid.") }
            return Subject(user: ObjectId())
        }, register: register)
}

extension TestResponse {
    /// The body as JSON, or null if it isn't JSON.
    var json: JSON {
        (try? JSONDecoding.decode(String(buffer: body))) ?? .null
    }
}

/// Records every line with its metadata.
final class LogRecorder: Sendable {
    private let lines = Mutex<[String]>([])

    var text: String { lines.withLock { $0.joined(separator: "\n") } }

    var logger: Logger {
        var logger = Logger(label: "test") { _ in Handler(recorder: self) }
        logger.logLevel = .trace
        return logger
    }

    private func append(_ line: String) { lines.withLock { $0.append(line) } }

    private struct Handler: LogHandler {
        let recorder: LogRecorder
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let all = metadata.merging(event.metadata ?? [:]) { $1 }
            recorder.append("\(event.level) \(event.message) \(all)")
        }
    }
}
