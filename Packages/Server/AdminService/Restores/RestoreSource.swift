/// What takes the place of the database.
package enum RestoreSource: Hashable, Sendable {
    /// A backup of the folder.
    case backup(BackupName)
    /// A database that was put aside before, by its name.
    case kept(String)

    /// The name of either.
    package var text: String {
        switch self {
        case .backup(let name): name.text
        case .kept(let name): name
        }
    }
}
