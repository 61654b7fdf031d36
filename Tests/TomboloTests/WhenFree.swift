import TomboloSQLiteStore

@testable import Tombolo

/// Retries as long as another writer keeps a file locked for too long, as can happen on a busy machine.
func whenFree(_ body: () throws -> Void) throws {
    while true {
        do {
            return try body()
        } catch let error as SQLiteStoreError where error.code == .busy {
            continue
        } catch let error as Realm.Error where error.message.contains("stayed locked by another writer") {
            continue
        }
    }
}
