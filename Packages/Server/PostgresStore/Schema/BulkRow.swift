/// One row of the changelog for many creates: one statement inserted their objects, by plain SQL or for one changeset of an
/// upload. It costs the writer less than half of a row for each, and takes a quarter of the room.
///
/// It has the keys in the column `keys`, about in the order of the statement; its client, changeset number, time and marks
/// are those of all its objects. Its own key is its sequence number in hexadecimal, so that the index on class and key finds
/// the bulk rows of a class from a sequence number on; its class number is one that no object has. Elements of lists have a
/// row each, and so have the objects of changesets that share a statement.
enum BulkRow {
    /// The most objects of one row. 32 keys of 36 characters stay well below what PostgreSQL moves out of line (2 KB).
    static let keyLimit = 32
    /// Class numbers from here downwards stand for bulk rows; see ``SchemaIdentifiers`` for those above.
    private static let firstClassNumber: Int16 = -100

    /// The number that bulk rows of a class have in the changelog's column `class`.
    static func classNumber(of classID: Int16) -> Int16 { firstClassNumber - classID }

    /// The class whose objects a changelog row is about, if it's a bulk row.
    static func classID(_ classNumber: Int16) -> Int16? {
        classNumber < firstClassNumber ? firstClassNumber - classNumber : nil
    }

    /// SQL for the key of the bulk row with a sequence number.
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
