import Foundation

/// `pgbench`: a loop on libpq with prepared statements that reads results and discards them. Shows what PostgreSQL
/// itself can do.
struct PgBench: Sendable {
    private static let places = ["/usr/bin/pgbench", "/usr/local/bin/pgbench", "/opt/homebrew/bin/pgbench"]

    private let program: String
    private let url: String

    /// Nil if `pgbench` isn't installed.
    init?(url: String) throws {
        guard let program = Self.places.first(where: FileManager.default.isExecutableFile) else { return nil }
        (self.program, self.url) = (program, url)
    }

    /// Runs of a script per second.
    /// - Parameter count: the number of runs on each connection.
    func rate(_ script: String, connectionCount: Int, count: Int) async throws -> Double {
        let file = FileManager.default.temporaryDirectory.appending(path: "bench-\(UUID().uuidString).sql")
        try Data(script.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let arguments =
            // Limited by count, not by time: pgbench's timer is a signal, which children of this process don't
            // receive.
            [
                "--no-vacuum", "--protocol=prepared", "--client=\(connectionCount)", "--jobs=1",
                "--transactions=\(count)", "--file=\(file.path)", url,
            ]
        let program = program
        let text = try await Blocking.run {
            let process = Process()
            process.executableURL = URL(filePath: program)
            process.arguments = arguments
            let output = Pipe()
            process.standardOutput = output
            process.standardError = FileHandle.nullDevice
            try process.run()
            let data = output.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            return String(decoding: data, as: UTF8.self)
        }
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("tps = ") }),
            let rate = line.split(separator: " ").dropFirst(2).first.flatMap({ Double($0) })
        else { throw BenchError("pgbench said: \(text)") }
        return rate
    }
}
