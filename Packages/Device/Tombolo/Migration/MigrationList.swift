internal import Foundation
internal import TomboloModel
internal import TomboloSQLiteStore

/// A list of an object in a migration. Its elements are scalars, or ``MigrationObject`` for links and embedded objects.
/// Lists of old objects are read-only.
public final class MigrationList {
    private let object: MigrationObject
    private let list: StoredClass
    let isNew: Bool
    /// The elements as last read.
    private var known: (changes: Int, rows: [Int64])?

    init(_ object: MigrationObject, _ list: StoredClass, isNew: Bool) {
        self.object = object
        self.list = list
        self.isNew = isNew
    }

    private var migration: Migration { object.migration }
    private var side: MigrationSide { isNew ? migration.store.after : migration.store.before }

    private var rows: [Int64] {
        migration.attempt([]) {
            // The old file doesn't change, so its rows are read once.
            let changes = isNew ? migration.store.rowChanges(of: list) : 0
            if let known, known.changes == changes { return known.rows }
            let (owner, parent) = try object.owner()
            let rows = try side.elements(of: list, owner: owner, parent: list.hasParent ? parent : nil)
            known = (changes, rows)
            return rows
        }
    }

    /// All elements. Elements without a value are nil.
    private var elements: [Any?] { rows.map { row in migration.attempt(nil) { try element(row) } } }

    private func element(_ row: Int64) throws -> Any? {
        if list.embeddedClass != nil { return MigrationObject(migration, list, row: row, isNew: isNew) }
        guard let content = list.content.first else { return nil }
        let value = try side.value(content, of: row, in: list)
        guard case .link(let target) = content.type else { return MigrationValue.any(value, content.type) }
        guard let linked = side.schema[target], let found = try side.row(withKey: value, in: linked) else { return nil }
        return MigrationObject(migration, linked, row: found, isNew: isNew)
    }

    /// Appends an element: a scalar, an object to link to, or the values of an object to create.
    public func append(_ element: Any) {
        migration.attempt(()) { try add(element) }
    }

    /// Removes all elements. Linked objects stay.
    public func removeAll() {
        migration.attempt(()) { try clear() }
    }

    func assign(_ value: Any) throws {
        let items: [Any]
        switch value {
        case let other as MigrationList: items = other.elements.map { $0 as Any }
        case let array as [Any]: items = array
        case let list as any RealmCollection: items = list.map { $0 as Any }
        case _ where MigrationValue.isNil(value): items = []
        default: throw Realm.Error(.invalidInput, "'\(list.name)' is a list and cannot hold a \(type(of: value)).")
        }
        guard list.embeddedClass != nil else {
            try clear()
            for item in items { try add(item) }
            return
        }
        // The new elements may be built from those that they replace.
        let contents = try items.map { try content($0) }
        try clear()
        for content in contents { try add(content) }
    }

    private func content(_ element: Any) throws -> MigrationContent {
        try MigrationContent(element, MigrationPlace(list), migration.store.target)
    }

    private func requireNew() throws {
        guard isNew else {
            throw Realm.Error(
                .invalidInput,
                "'\(list.name)' cannot be changed: objects of the old file are read-only. Change the new one.")
        }
    }

    private func clear() throws {
        try requireNew()
        let (owner, parent) = try object.owner()
        try migration.store.deleteElements(of: list, owner: owner, parent: list.hasParent ? parent : nil)
    }

    private func add(_ element: Any) throws {
        try requireNew()
        if list.embeddedClass != nil { return try add(self.content(element)) }
        guard let content = list.content.first else { return }
        let value: Value =
            if case .link(let target) = content.type {
                try object.link(element, target, list.name)
            } else {
                try MigrationValue.stored(element, content, list.name)
            }
        _ = try addRow([ElementColumn.content: value])
    }

    /// Appends an embedded object.
    private func add(_ content: MigrationContent) throws {
        try MigrationObject(migration, list, row: try addRow([:]), isNew: true).fill(content)
    }

    /// - Returns: the element's row.
    private func addRow(_ values: [Int: Value]) throws -> Int64 {
        let (owner, parent) = try object.owner()
        return try migration.store.append(to: list, owner: owner, parent: list.hasParent ? parent : nil, values)
    }
}

extension MigrationList: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { rows.count }
    public subscript(position: Int) -> Any? {
        migration.attempt(nil) {
            let rows = rows
            return migration.failure == nil ? try element(rows[position]) : nil
        }
    }
    /// Iterates over the elements, which are read once.
    public func makeIterator() -> IndexingIterator<[Any?]> { elements.makeIterator() }
}
