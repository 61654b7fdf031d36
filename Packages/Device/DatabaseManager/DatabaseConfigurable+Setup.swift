public import Foundation
public import Tombolo

extension DatabaseConfigurable {
    /// The extension of named databases.
    public var `extension`: String { "realm" }

    /// `Student.realm`; without a name `Default`.
    public var fileName: String { schemaName.map { "\($0).\(`extension`)" } ?? "Default" }

    public var absolutelySchemaVersion: UInt64 { schemaVersion ?? legacySchemaVersion }

    public var absolutelyMigrationBlock: MigrationBlock { migrationBlock ?? legacyMigration }

    /// The file in ``DatabaseFolder/url``; nil where ``schemaName`` cannot name one.
    public var path: URL? { schemaNameProblem == nil ? DatabaseFolder.url.appending(path: fileName) : nil }

    /// Leaves room in a file name of 255 bytes for the extension and for what SQLite keeps beside a file.
    public static var maximumSchemaNameByteCount: Int { 200 }

    /// Why ``schemaName`` cannot name a file, with what to do.
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
