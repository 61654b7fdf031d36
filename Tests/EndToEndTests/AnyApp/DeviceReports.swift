import Synchronization
import TomboloChangesets
import TomboloSyncProtocol
import TomboloSyncSession

/// What a device's engine reported, including problems that should never occur.
final class DeviceReports: Sendable {
    private let noted = Mutex<(failures: [String], connections: Int)>(([], 0))

    var failures: [String] { noted.withLock { $0.failures } }
    /// How often it connected.
    var connections: Int { noted.withLock { $0.connections } }

    func note(_ report: ClientSession.Report) {
        noted.withLock { noted in
            switch report {
            case .connection(.connected): noted.connections += 1
            // Connection failures don't count: a device that has to reconnect keeps everything.
            case .failure(let failure) where !failure.isRetryable: noted.failures.append("\(failure)")
            case .refused(let refusals): noted.failures += refusals.map { "\($0.refusal)" }
            case .reset(let reason): noted.failures.append("reset: \(reason)")
            default: break
            }
        }
    }
}
