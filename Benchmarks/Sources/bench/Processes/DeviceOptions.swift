import ArgumentParser
import Foundation
import Logging
import TomboloSyncClient
import TomboloSyncProtocol
import TomboloSyncSession

/// The options of every process with devices.
struct DeviceOptions: ParsableArguments {
    @Option var url: String
    @Option var token: String

    func configuration() throws -> SyncEngine.Configuration {
        guard let url = URL(string: url) else { throw BenchError("'\(url)' isn't a URL.") }
        let token = token
        var logger = Logger(label: "device")
        logger.logLevel = .warning
        return SyncEngine.Configuration(url: url, accessToken: { token }, logger: logger)
    }

    /// Ends the process when a device's session can't continue.
    static func stopOnFailure(_ report: ClientSession.Report) {
        let reason: String
        switch report {
        case .failure(let failure): reason = failure.description
        case .refused(let refusals): reason = "\(refusals.count) changesets were refused: \(refusals[0])"
        case .reset(let text): reason = text
        default: return
        }
        FileHandle.standardError.write(Data("A device failed: \(reason)\n".utf8))
        Foundation.exit(1)
    }
}
