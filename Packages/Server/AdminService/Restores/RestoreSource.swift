/// What to replace the database with.
package enum RestoreSource: Hashable, Sendable {
    /// A backup in the folder.
    case backup(BackupName)
    /// A database that was put aside earlier, by its name.
    case kept(String)

    /// The name of either.
    package var text: String {
        switch self {
        case .backup(let name): name.text
        case .kept(let name): name
        }
    }
}
