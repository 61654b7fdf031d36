public import Tombolo

/// Describes a database: a file with some classes, a version, and a migration to that version. Model classes conform to
/// this protocol and then open their own database. Each name has its own file, with tables only for its own classes:
///
///     extension Student: DatabaseConfigurable {
///         var schemaName: String? { "Student" }
///         var schemaVersion: UInt64? { 0 }
///         var objectTypes: [Object.Type]? { [Student.self] }
///         var migrationBlock: MigrationBlock? { nil }
///     }
///
///     let realm = Student().realm(with: .inStorage)
///
/// A nil name stands for the app's legacy database, whose version and migration are ``legacySchemaVersion`` and
/// ``legacyMigration``.
public protocol DatabaseConfigurable {
    /// The name of the file without its extension, or nil for the legacy file, `Default`. It must not be empty, begin
    /// with a dot, contain a slash or control character, or exceed ``maximumSchemaNameByteCount``.
    var schemaName: String? { get }
    /// The version of the classes. Raise it with each change. Nil for ``legacySchemaVersion``.
    var schemaVersion: UInt64? { get }
    /// The classes of the file. Nil for all of the program's classes, as in `Realm.Configuration`.
    var objectTypes: [Object.Type]? { get }
    /// Converts an earlier version's objects to this version. Nil for ``legacyMigration``.
    var migrationBlock: MigrationBlock? { get }

    /// The version of a database without a ``schemaVersion``. 0 by default.
    var legacySchemaVersion: UInt64 { get }
    /// The migration of a database without a ``migrationBlock``. Empty by default.
    var legacyMigration: MigrationBlock { get }
}
