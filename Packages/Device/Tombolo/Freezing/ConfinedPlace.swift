internal import TomboloModel
internal import TomboloSQL
internal import TomboloSQLiteStore

/// A place in a file, valid in every Realm of the file. May be passed to other threads.
public struct ConfinedPlace: Sendable {
    enum Content: Sendable {
        case row(RowPlace)
        case embedded(EmbeddedRowPlace)
        case list(RowPlace, elementClass: Int, itemLayout: ObjectClass?)
        case array(EmbeddedRowPlace, column: Int, property: ObjectProperty)
        case linkingObjects(RowPlace, LinkOrigin)
        case query(ObjectQuery)
    }

    let content: Content

    /// Gives the same hash for one object in all versions of its file.
    func hashIdentity(into hasher: inout Hasher) {
        switch content {
        case .row(let row), .list(let row, _, _), .linkingObjects(let row, _): row.hashIdentity(into: &hasher)
        case .embedded(let part), .array(let part, _, _): part.hashIdentity(into: &hasher)
        case .query(let query): hasher.combine(query)
        }
    }
}

/// Identifies a row by its rowid; in synced files by its key, because the server's response to an edit may recreate the
/// row.
struct RowPlace: Sendable {
    private let classIndex: Int
    private let rowid: Int64
    private let key: Value?

    init(_ row: ManagedRow) {
        classIndex = row.classIndex
        rowid = row.rowid
        key = row.lastingKey
    }

    func hashIdentity(into hasher: inout Hasher) {
        hasher.combine(classIndex)
        if let key { hasher.combine(key) } else { hasher.combine(rowid) }
    }

    func find(in core: RealmCore) -> ManagedRow? {
        if let key { return core.find(ObjectReference(classIndex: classIndex, key: key)) }
        let row = core.row(core.classes[classIndex], rowid: rowid)
        return row.isValid ? row : nil
    }
}

/// Identifies an embedded object by the row that contains it.
struct EmbeddedRowPlace: Sendable {
    private let row: RowPlace
    private let layout: ObjectClass
    private let base: Int
    private let prefix: String

    init(_ place: EmbeddedPlace) {
        row = RowPlace(place.host)
        layout = place.layout
        base = place.base
        prefix = place.prefix
    }

    func hashIdentity(into hasher: inout Hasher) {
        row.hashIdentity(into: &hasher)
        hasher.combine(base)
        hasher.combine(prefix)
    }

    func find(in core: RealmCore) -> EmbeddedPlace? {
        guard let host = row.find(in: core) else { return nil }
        let place = EmbeddedPlace(host: host, layout: layout, base: base, prefix: prefix)
        if let presence = place.presence, host.value(at: presence).isNull { return nil }
        return place
    }
}
