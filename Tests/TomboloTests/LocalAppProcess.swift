import Foundation

/// A run of the executable LocalApp.
struct LocalAppProcess {
    private let process: Process
    private let output: Pipe

    static func start(_ arguments: String...) throws -> LocalAppProcess { try LocalAppProcess(arguments) }

    /// Runs to the end.
    /// - Returns: the first line of what it printed.
    @discardableResult
    static func run(_ arguments: String...) throws -> String {
        let run = try LocalAppProcess(arguments)
        let text = String(decoding: run.output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        guard try run.wait() == 0 else { throw CocoaError(.executableLoad) }
        return text.split(separator: "\n").first.map(String.init) ?? ""
    }

    private init(_ arguments: [String]) throws {
        process = Process()
        process.executableURL = Self.folder.appending(path: "LocalApp")
        process.arguments = arguments
        output = Pipe()
        process.standardOutput = output
        try process.run()
    }

    /// - Returns: the exit status, or the signal that ended it.
    func wait() throws -> Int32 {
        process.waitUntilExit()
        return process.terminationStatus
    }

    private static var folder: URL {
        if let bundle = Bundle.allBundles.first(where: { $0.bundlePath.hasSuffix(".xctest") }) {
            return bundle.bundleURL.deletingLastPathComponent()
        }
        return URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
    }
}
