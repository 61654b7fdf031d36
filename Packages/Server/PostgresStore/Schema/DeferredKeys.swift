internal import TomboloModel

/// The foreign keys that are checked when the transaction ends, once it has deleted certain rows.
///
/// `ON DELETE SET NULL` updates a row. PostgreSQL then checks the row's other keys again if the same transaction wrote the
/// version before: it made the row, or an earlier `SET NULL` of the same deletion changed it. Where another of these keys
/// leads into what is being deleted, its target may be gone while the row's own turn to be deleted, or to lose that link
/// too, is still to come: without deferral the deletion would fail, every time, for a row that it's about to delete.
///
/// That can happen to classes with two links or more, one of them nullified, into what a deletion takes along.
struct DeferredKeys {
    /// Positions of columns whose keys have to be deferrable, by the class's position.
    private(set) var columns: [Int: Set<Int>] = [:]
    /// Positions of the classes whose deletions defer.
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
    /// What becomes of a row when the one that this link leads to is deleted.
    var deleteAction: PostgresCatalog.DeleteAction { isOptional && deleteRule == .nullify ? .setNull : .cascade }
}
