import ArgumentParser
import Foundation

/// How to reach the server.
struct ServerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The server's address, http://host:port or https://host. (default: $SUSI_SERVER)", valueName: "url"))
    var server: String?

    @Option(help: ArgumentHelp("How long to wait for a complete answer.", valueName: "seconds"))
    var timeout = 30

    func validate() throws {
        guard (1...3_600).contains(timeout) else {
            throw ValidationError("--timeout must be a number of seconds from 1 to 3600.")
        }
    }

    /// - Throws: ``SusiError`` if there is no address.
    func client() throws -> SusiServer {
        let environment = ProcessInfo.processInfo.environment
        guard let address = server ?? environment["SUSI_SERVER"] else {
            throw SusiError("No server was specified. Pass --server, or set SUSI_SERVER.")
        }
        return try SusiServer(
            address: address, accessToken: environment["SUSI_ACCESS_TOKEN"], timeout: .seconds(timeout))
    }
}
