public import Foundation

/// An executable of this package, built along with the running program or the tests.
public struct BuiltProgram: Sendable {
    public struct NotBuilt: Error, CustomStringConvertible {
        public let description: String
    }

    public let url: URL

    /// - Parameter names: its names as a product and as a target. SwiftPM builds a test's dependencies under either.
    /// - Throws: ``NotBuilt`` if there is no such executable.
    public init(_ names: String...) throws {
        let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }
        let folder = (bundle?.bundleURL ?? URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath())
            .deletingLastPathComponent()
        for name in names {
            let candidate = folder.appending(path: name)
            var isFolder: ObjCBool = false
            if FileManager.default.fileExists(atPath: candidate.path(), isDirectory: &isFolder), !isFolder.boolValue {
                url = candidate
                return
            }
        }
        throw NotBuilt(
            description: "There's no executable '\(names.first ?? "")' in \(folder.path()): build the whole package "
                + "first.")
    }

    /// Runs the program until it ends: see ``ProgramRun``.
    public func run(
        _ arguments: [String], environment: [String: String] = [:], in folder: URL? = nil, input: String = ""
    ) async throws -> ProgramRun.Outcome {
        try await ProgramRun(url, arguments, environment: environment, in: folder, input: input).outcome()
    }
}
