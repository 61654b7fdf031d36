public import Tombolo

/// What the database manager knows about one database: a file with some classes, a version, and how to come to that
/// version. Model classes conform to it and then open their own database; each with a name of its own has a file of its
/// own, with its own tables only:
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
/// Nil stands for the app's one legacy database, whose version and migration are ``legacySchemaVersion`` and
/// ``legacyMigration``.
public protocol DatabaseConfigurable {
    /// The name of the file without its extension; nil for the legacy file, `Default`. It cannot be empty, begin with a
    /// dot, contain a slash or a control character, or be longer than ``maximumSchemaNameByteCount``.
    var schemaName: String? { get }
    /// How often the classes have changed; nil for ``legacySchemaVersion``.
    var schemaVersion: UInt64? { get }
    /// The classes of the file; nil for all of the program, as in `Realm.Configuration`.
    var objectTypes: [Object.Type]? { get }
    /// What an earlier version's objects need to become this version's; nil for ``legacyMigration``.
    var migrationBlock: MigrationBlock? { get }

    /// The version of a database that gives none: 0 where it is not declared.
    var legacySchemaVersion: UInt64 { get }
    /// The migration of a database that gives none: empty where it is not declared.
    var legacyMigration: MigrationBlock { get }
}
