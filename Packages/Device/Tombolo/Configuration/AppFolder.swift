package import Foundation

/// The default folder for an app's files: the documents folder on Apple platforms, elsewhere a folder with the
/// program's name in the user's data folder.
package enum AppFolder {
    package static var url: URL {
        #if canImport(Darwin)
            URL.documentsDirectory
        #else
            dataFolder.appending(path: ProcessInfo.processInfo.processName)
        #endif
    }

    #if !canImport(Darwin)
        /// <https://specifications.freedesktop.org/basedir-spec/latest/>
        private static var dataFolder: URL {
            if let folder = ProcessInfo.processInfo.environment["XDG_DATA_HOME"], folder.hasPrefix("/") {
                return URL(fileURLWithPath: folder)
            }
            return FileManager.default.homeDirectoryForCurrentUser.appending(path: ".local/share")
        }
    #endif
}
