import Foundation

/// The executables that were built with the tests.
enum Programs {
    static var gateway: URL { get throws { try find("sync-gateway", "SyncGateway") } }
    static var device: URL { get throws { try find("EndToEndDevice") } }

    private static func find(_ names: String...) throws -> URL {
        let folder = products
        for name in names {
            let candidate = folder.appending(path: name)
            if FileManager.default.isExecutableFile(atPath: candidate.path()) { return candidate }
        }
        throw EndToEndFailure("There is no executable \(names[0]) in \(folder.path()): build the whole package first.")
    }

    private static var products: URL {
        if let bundle = Bundle.allBundles.first(where: { $0.bundlePath.hasSuffix(".xctest") }) {
            return bundle.bundleURL.deletingLastPathComponent()
        }
        return URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
    }
}
