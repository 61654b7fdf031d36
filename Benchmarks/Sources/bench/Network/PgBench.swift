import Foundation

/// `pgbench`: a loop on libpq that reads results and throws them away, with prepared statements. What PostgreSQL can do.
struct PgBench: Sendable {
    private static let places = ["/usr/bin/pgbench", "/usr/local/bin/pgbench", "/opt/homebrew/bin/pgbench"]

    private let program: String
    private let url: String

    /// Nil where there is no `pgbench`.
    init?(url: String) throws {
        guard let program = Self.places.first(where: FileManager.default.isExecutableFile) else { return nil }
        (self.program, self.url) = (program, url)
    }

    /// Runs of a script per second.
    /// - Parameter count: of each connection.
    func rate(_ script: String, connectionCount: Int, count: Int) async throws -> Double {
        let file = FileManager.default.temporaryDirectory.appending(path: "bench-\(UUID().uuidString).sql")
        try Data(script.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let arguments =
            // Not by time: the alarm that would end it is a signal that children of this process don't get.
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
