import Foundation

/// Runs a program to its end.
enum Tool {
    /// The program's standard output, without the last line break.
    /// - Throws: ``DemoFailure`` with the program's messages when it ends with another code than 0.
    @discardableResult
    static func run(_ program: URL, _ arguments: [String], environment: [String: String] = [:]) throws -> String {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let output = Pipe()
        let messages = FileManager.default.temporaryDirectory.appending(path: "demo-\(UUID().uuidString).log")
        _ = FileManager.default.createFile(atPath: messages.path(), contents: nil)
        defer { try? FileManager.default.removeItem(at: messages) }
        process.standardOutput = output
        process.standardError = try FileHandle(forWritingTo: messages)
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let text = String(decoding: data, as: UTF8.self)
        guard process.terminationStatus == 0 else {
            let reason = (try? String(contentsOf: messages, encoding: .utf8)) ?? ""
            throw DemoFailure(
                "\(program.lastPathComponent) ended with code \(process.terminationStatus).\n\(text)\(reason)")
        }
        return text.hasSuffix("\n") ? String(text.dropLast()) : text
    }

    /// Finds a program on the path.
    static func find(_ name: String, package: String) throws -> URL {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        for folder in path.split(separator: ":") {
            let candidate = URL(fileURLWithPath: String(folder)).appending(path: name)
            if FileManager.default.isExecutableFile(atPath: candidate.path()) { return candidate }
        }
        throw DemoFailure("The tool '\(name)' is not on the PATH; on Debian and Ubuntu: apt-get install \(package)")
    }
}
