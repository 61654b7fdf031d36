/// One changelog row for many creates, whose objects were inserted by a single statement: plain SQL, or one changeset
/// of an upload. Per object, it costs the writer less than half as much as a row each, and takes a quarter of the
/// space.
///
/// The column `keys` has the keys, roughly in the statement's order. Client, changeset number, time and marks apply
/// to all its objects. Its own key is its sequence number in hexadecimal, so that the index on class and key finds a
/// class's bulk rows from a sequence number on. Its class number is one that no object has. List elements get a row
/// each, and so do the objects of changesets that share a statement.
enum BulkRow {
    /// The most objects in one row. 32 keys of 36 characters stay well below 2 KB, where PostgreSQL moves values out
    /// of line.
    static let keyLimit = 32
    /// Class numbers below this one stand for bulk rows; see ``SchemaIdentifiers`` for the special numbers above.
    private static let firstClassNumber: Int16 = -100

    /// The number of a class's bulk rows in the changelog's column `class`.
    static func classNumber(of classID: Int16) -> Int16 { firstClassNumber - classID }

    /// The class of a changelog row's objects if it's a bulk row, otherwise nil.
    static func classID(_ classNumber: Int16) -> Int16? {
        classNumber < firstClassNumber ? firstClassNumber - classNumber : nil
    }

    /// SQL for the key of the bulk row with the given sequence number.
    static func key(_ sequence: String) -> String {
        "pg_catalog.lpad(pg_catalog.to_hex(\(sequence)), 16, '0')"
    }

    /// SQL for the class that a changelog row is about, whether it's a bulk row or not.
    static func classID(ofRow row: String) -> String {
        "CASE WHEN \(row).class < \(firstClassNumber) THEN \(firstClassNumber) - \(row).class ELSE \(row).class END"
    }

    /// SQL for the keys of all objects that a changelog row is about.
    static func keys(ofRow row: String) -> String {
        "CASE WHEN \(row).class < \(firstClassNumber) THEN \(row).keys ELSE ARRAY[\(row).key] END"
    }
}
