public import Foundation
public import Tombolo

extension DatabaseConfigurable {
    /// The file extension of named databases.
    public var `extension`: String { "realm" }

    /// The file's name, such as `Student.realm`. `Default` if there's no ``schemaName``.
    public var fileName: String { schemaName.map { "\($0).\(`extension`)" } ?? "Default" }

    /// The version used for opening: ``schemaVersion``, or ``legacySchemaVersion`` if that's nil.
    public var absolutelySchemaVersion: UInt64 { schemaVersion ?? legacySchemaVersion }

    /// The migration used for opening: ``migrationBlock``, or ``legacyMigration`` if that's nil.
    public var absolutelyMigrationBlock: MigrationBlock { migrationBlock ?? legacyMigration }

    /// The file in ``DatabaseFolder/url``, or nil if ``schemaName`` isn't a valid file name.
    public var path: URL? { schemaNameProblem == nil ? DatabaseFolder.url.appending(path: fileName) : nil }

    /// The maximum length of ``schemaName`` in bytes. In a file name of 255 bytes, this leaves room for the extension
    /// and SQLite's suffixes.
    public static var maximumSchemaNameByteCount: Int { 200 }

    /// Why ``schemaName`` isn't a valid file name, and what to do. Nil if it's valid.
    var schemaNameProblem: String? {
        guard let schemaName else { return nil }
        let shown = String(reflecting: String(schemaName.unicodeScalars.prefix(60)))
        if schemaName.isEmpty { return "The schemaName is empty: set a name, or nil for the legacy database." }
        if schemaName.utf8.count > Self.maximumSchemaNameByteCount {
            return "The schemaName \(shown)… has \(schemaName.utf8.count) bytes; the limit is "
                + "\(Self.maximumSchemaNameByteCount)."
        }
        if schemaName.hasPrefix(".") { return "The schemaName \(shown) begins with a dot." }
        let forbidden = schemaName.unicodeScalars.contains {
            $0 == "/" || $0 == "\\" || $0 == ":" || $0.properties.generalCategory == .control
        }
        return forbidden
            ? "The schemaName \(shown) contains a slash, a colon or a control character, but it's a file name, not a "
                + "path. To use another folder, set DatabaseFolder.url." : nil
    }
}
