import ArgumentParser
import Foundation

/// Where the conversation is stored.
struct DataOptions: ParsableArguments {
    @Option(
        name: .customLong("data"),
        help: ArgumentHelp("The folder of the conversation. (default: the user's data folder)", valueName: "folder"))
    var path: String?

    var folder: URL {
        get throws {
            guard let path else { return Self.defaultFolder }
            guard !path.isEmpty else { throw SusiError("--data is empty: name a folder.") }
            return URL(fileURLWithPath: path, isDirectory: true)
        }
    }

    /// On Linux, see <https://specifications.freedesktop.org/basedir-spec/latest/>.
    private static var defaultFolder: URL {
        #if canImport(Darwin)
            URL.applicationSupportDirectory.appending(path: "susi")
        #else
            if let folder = ProcessInfo.processInfo.environment["XDG_DATA_HOME"], folder.hasPrefix("/") {
                URL(fileURLWithPath: folder).appending(path: "susi")
            } else {
                FileManager.default.homeDirectoryForCurrentUser.appending(path: ".local/share/susi")
            }
        #endif
    }
}
