public import Foundation
public import Tombolo

extension DatabaseConfigurable {
    /// The file extension of named databases.
    public var `extension`: String { "realm" }

    /// The file's name, such as `Student.realm`; `Default` without a ``schemaName``.
    public var fileName: String { schemaName.map { "\($0).\(`extension`)" } ?? "Default" }

    /// The version used for opening: ``schemaVersion``, or else ``legacySchemaVersion``.
    public var absolutelySchemaVersion: UInt64 { schemaVersion ?? legacySchemaVersion }

    /// The migration used for opening: ``migrationBlock``, or else ``legacyMigration``.
    public var absolutelyMigrationBlock: MigrationBlock { migrationBlock ?? legacyMigration }

    /// The file in ``DatabaseFolder/url``, or nil if ``schemaName`` can't name one.
    public var path: URL? { schemaNameProblem == nil ? DatabaseFolder.url.appending(path: fileName) : nil }

    /// The maximum length of ``schemaName`` in bytes. Leaves room, in a file name of 255 bytes, for the extension and
    /// SQLite's suffixes.
    public static var maximumSchemaNameByteCount: Int { 200 }

    /// Why ``schemaName`` can't name a file and what to do, or nil if it can.
    var schemaNameProblem: String? {
        guard let schemaName else { return nil }
        let shown = String(reflecting: String(schemaName.unicodeScalars.prefix(60)))
        if schemaName.isEmpty { return "The schemaName is empty: give it a name, or nil for the legacy database." }
        if schemaName.utf8.count > Self.maximumSchemaNameByteCount {
            return "The schemaName \(shown)… has \(schemaName.utf8.count) bytes; the limit is "
                + "\(Self.maximumSchemaNameByteCount)."
        }
        if schemaName.hasPrefix(".") { return "The schemaName \(shown) begins with a dot." }
        let forbidden = schemaName.unicodeScalars.contains {
            $0 == "/" || $0 == "\\" || $0 == ":" || $0.properties.generalCategory == .control
        }
        return forbidden
            ? "The schemaName \(shown) contains a slash, a colon or a control character: it is a file's name, not its "
                + "place. Set DatabaseFolder.url for another folder." : nil
    }
}
