import DatabaseManager
import RealmSwift

/// A database with any name and version.
struct NamedDatabase: DatabaseConfigurable {
    var schemaName: String?
    var schemaVersion: UInt64?
    var objectTypes: [Object.Type]? = [StudentRepository.self]
    var migrationBlock: MigrationBlock?
}

/// A legacy database with its own version and migration.
struct VersionedLegacy: DatabaseConfigurable {
    var schemaName: String? { nil }
    var schemaVersion: UInt64? { nil }
    var objectTypes: [Object.Type]? = [StudentRepository.self]
    var migrationBlock: MigrationBlock? { nil }
    var legacySchemaVersion: UInt64
    var legacyMigration: MigrationBlock
}
