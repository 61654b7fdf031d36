import Foundation

/// A gateway with its sequencer, in its own process.
struct GatewayProcess: Sendable {
    let process: BenchProcess
    let port: Int

    var syncURL: String { "ws://127.0.0.1:\(port)/sync" }

    /// Starts it and waits until it accepts connections.
    /// - Parameter isQuiet: whether to log no warnings, for devices that fail by the thousand and are counted.
    static func start(_ database: BenchDatabase, isQuiet: Bool = false) async throws -> GatewayProcess {
        let process = try BenchProcess(
            ["gateway"] + (isQuiet ? ["--quiet"] : []),
            environment: [BenchDatabase.variable: database.url, "TOMBOLO_JWT_SECRET": database.tokenSecret])
        guard let port = Int(try await process.expect("port")) else { throw BenchError("The gateway has no port.") }
        return GatewayProcess(process: process, port: port)
    }

    func end() { process.end() }
}
