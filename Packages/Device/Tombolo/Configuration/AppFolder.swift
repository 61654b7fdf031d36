package import Foundation

/// Where files lie whose place the app does not choose: the app's documents on Apple platforms, elsewhere a folder in
/// the user's data folder, by the program's name.
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
