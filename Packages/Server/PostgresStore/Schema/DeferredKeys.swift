internal import TomboloModel

/// The foreign keys that must be checked at the end of a transaction that deletes certain rows.
///
/// `ON DELETE SET NULL` updates a row. PostgreSQL then rechecks the row's other keys if the same transaction wrote
/// the row's previous version: because it created the row, or because an earlier `SET NULL` of the same deletion
/// changed it. If one of these other keys leads to a row that is being deleted too, its target may already be gone
/// before the row itself is deleted, or before that link is set to null. Without deferral, the deletion would then
/// always fail because of a row that it's about to delete.
///
/// That can happen to classes with two or more links into what a deletion takes along, if at least one of them is
/// nullified.
struct DeferredKeys {
    /// Positions of columns whose foreign keys have to be deferrable, by the class's position.
    private(set) var columns: [Int: Set<Int>] = [:]
    /// Positions of the classes whose deletions defer the checks.
    private(set) var deleting: Set<Int> = []

    init(_ schema: Schema) {
        let classes = schema.classes
        let positions = Dictionary(
            classes.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        let links = classes.map { item in
            item.columns.enumerated().compactMap { index, column in
                column.linkTarget.flatMap { positions[$0] }.map {
                    (column: index, target: $0, action: column.deleteAction)
                }
            }
        }
        var takenAlong: [Int: [Int]] = [:]
        for (index, links) in links.enumerated() {
            for link in links where link.action == .cascade { takenAlong[link.target, default: []].append(index) }
        }
        for start in classes.indices {
            var deleted: Set<Int> = [start]
            var next = [start]
            while let index = next.popLast() {
                next += takenAlong[index, default: []].filter { deleted.insert($0).inserted }
            }
            for (index, links) in links.enumerated() {
                let endangered = links.filter { deleted.contains($0.target) }
                guard endangered.count > 1, endangered.contains(where: { $0.action == .setNull }) else { continue }
                columns[index, default: []].formUnion(endangered.map(\.column))
                deleting.insert(start)
            }
        }
    }
}

extension Column {
    /// What happens to a row when the target of this link is deleted.
    var deleteAction: PostgresCatalog.DeleteAction { isOptional && deleteRule == .nullify ? .setNull : .cascade }
}
