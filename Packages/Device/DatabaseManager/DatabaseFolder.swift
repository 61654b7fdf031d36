public import Foundation
internal import Synchronization
internal import Tombolo

/// The folder of the app's databases.
public enum DatabaseFolder {
    private static let chosen = Mutex<URL?>(nil)

    /// By default the folder `Database`, in the app's documents folder on Apple platforms, elsewhere in a folder with
    /// the program's name in the user's data folder. Set it before the first database is opened, or to a temporary
    /// folder in tests. It's created when needed.
    public static var url: URL {
        get { chosen.withLock { $0 } ?? standard }
        set { chosen.withLock { $0 = newValue } }
    }

    private static var standard: URL { AppFolder.url.appending(path: "Database") }
}
