internal import TomboloModel
internal import TomboloSQLiteStore

/// Finds the rows that lead to other rows.
struct RowHop {
    /// Selects the rowids. The parameter is a JSON array of the rowids they lead to.
    let sql: String

    func sources(of targets: RowIDSet, _ core: RealmCore) -> RowIDSet {
        if targets.isEmpty { return [] }
        return core.query { RowIDSet(try core.rowIDs(sql, [.string(targets.json)])) }
    }
}

extension RowHop {
    /// The keys of the given rows.
    private static func keys(_ table: TableLayout) -> String {
        "SELECT t.\(table.key) FROM \(table.table) AS t WHERE t.rowid IN (SELECT value FROM json_each(?))"
    }

    /// The values of a column in the given rows of `child`.
    private static func values(_ column: Int, of child: TableLayout) -> String {
        "SELECT c.\(child.columnNames[column]) FROM \(child.table) AS c "
            + "WHERE c.rowid IN (SELECT value FROM json_each(?))"
    }

    /// From a link's targets to the rows with the link.
    static func link(_ column: Int, of source: TableLayout, to target: TableLayout) -> RowHop {
        RowHop(
            sql: "SELECT s.rowid FROM \(source.table) AS s WHERE s.\(source.columnNames[column]) IN (\(keys(target)))")
    }

    /// From a list's elements to the rows that own it: their parent elements if nested, otherwise the root objects.
    static func elements(_ elements: TableLayout, of parent: TableLayout) -> RowHop {
        let column = elements.schema.parentColumn ?? ElementColumn.owner
        return RowHop(
            sql: "SELECT p.rowid FROM \(parent.table) AS p WHERE p.\(parent.key) IN (\(values(column, of: elements)))")
    }

    /// From a root object to its elements of a class.
    static func owner(_ root: TableLayout, of elements: TableLayout) -> RowHop {
        .link(ElementColumn.owner, of: elements, to: root)
    }

    /// From the targets of a list's elements to the rows that own the list.
    static func list(
        _ elements: TableLayout, of parent: TableLayout, column: Int = ElementColumn.target, to target: TableLayout
    ) -> RowHop {
        let owner =
            elements.schema.parentColumn.flatMap { parent.schema.owner == nil ? nil : $0 } ?? ElementColumn.owner
        let names = elements.columnNames
        return RowHop(
            sql: "SELECT p.rowid FROM \(parent.table) AS p WHERE p.\(parent.key) IN (SELECT e.\(names[owner]) "
                + "FROM \(elements.table) AS e WHERE e.\(names[column]) IN (\(keys(target))))")
    }

    /// From rows with a link or list of links to its targets.
    static func origins(_ origin: LinkOriginRows, to target: TableLayout) -> RowHop {
        let (holder, source) = (origin.holder, origin.source)
        let column = holder.columnNames[origin.column]
        let keys =
            origin.isList
            ? "SELECT e.\(column) FROM \(holder.table) AS e WHERE e.\(holder.columnNames[ElementColumn.owner]) IN "
                + "(\(Self.keys(source)))"
            : values(origin.column, of: source)
        return RowHop(sql: "SELECT r.rowid FROM \(target.table) AS r WHERE r.\(target.key) IN (\(keys))")
    }
}
