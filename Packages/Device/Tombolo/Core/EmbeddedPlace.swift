internal import TomboloChangesets
internal import TomboloModel

/// The place of an object's properties in a row. For an object with a table they start at the first column; for an
/// embedded object they start further on in the row of the containing object or list element.
struct EmbeddedPlace {
    let host: ManagedRow
    /// The layout of the object with these properties.
    let layout: ObjectClass
    /// The host's column with the first property.
    let base: Int
    /// The prefix that the object's list names have in the host: `address.`.
    let prefix: String

    private var core: RealmCore { host.core }

    /// The element class of one of the object's lists.
    func elementType(_ list: Int) -> ManagedClass {
        core.elementType(host.type, prefix, layout.schema.lists[list].name)
    }

    /// The place of the embedded object with this presence column.
    func inner(_ column: Int) -> EmbeddedPlace {
        let property = layout.properties[layout.propertyOfColumn[column]]
        guard let type = property.valueType._targetClass else {
            programError("'\(layout.schema.name).\(property.name)' isn't an embedded object.")
        }
        return EmbeddedPlace(
            host: host, layout: ObjectClass.of(type), base: base + column + 1, prefix: "\(prefix)\(property.name).")
    }

    func object(at column: Int) -> EmbeddedObject? {
        guard !host.value(at: base + column).isNull else { return nil }
        return inner(column).managedObject()
    }

    func managedObject() -> EmbeddedObject? {
        let object = layout.type.init() as? EmbeddedObject
        object?.attach(EmbeddedAccessor(self), layout)
        return object
    }

    /// The host's column that stores whether the object exists. Nil for an element of a list.
    var presence: Int? { base > 0 && !(prefix.isEmpty && host.schema.owner != nil) ? base - 1 : nil }

    /// Replaces an embedded object, or removes it if nil.
    func set(_ object: EmbeddedObject?, at column: Int) {
        core.requireWrite()
        let inner = inner(column)
        if let object, let accessor = object.accessor {
            if let own = accessor as? EmbeddedAccessor, own.place.isSame(as: inner), own.isValid { return }
            Self.refuseManaged(object)
        }
        inner.remove()
        guard let object else { return }
        var addition = Addition(policy: .error)
        var content = AddedContent()
        let (layout, base, prefix) = (inner.layout, inner.base, inner.prefix)
        guard
            core.collect(part: object, layout, host.type, base: base, prefix: prefix, into: &content, &addition)
        else { return }
        host.set(content.fields)
        core.finish(content, in: host, &addition)
        core.addWaiting(&addition)
    }

    /// An embedded object has one parent and can't move.
    static func refuseManaged(_ object: ObjectBase) -> Never {
        programError(
            "Can't set link to existing managed embedded object: this \(object.className) already has a parent. Assign "
                + "a copy: \(object.className)(value: object).")
    }

    /// Removes the object: its columns become nil, its lists empty, and its instances invalid.
    func remove() {
        guard let presence else { return }
        guard !host.value(at: presence).isNull else { return }
        core.noteReplaced(self)
        for list in layout.schema.lists.indices {
            let type = elementType(list)
            ManagedList(host: host, elementType: type, itemLayout: nil).removeAll()
        }
        host.set((presence..<(base + layout.schema.columns.count)).map { FieldWrite(column: $0, value: .null) })
    }

    func list(ofProperty property: Int) -> any ListStorage {
        core.confinement.check()
        let property = layout.properties[property]
        switch property.slot {
        case .list(let list):
            let layout = property.valueType._targetClass.map { ObjectClass.of($0) }
            return ManagedList(host: host, elementType: elementType(list), itemLayout: layout)
        case .array(let column):
            return ArrayList(place: self, column: column, property: property)
        default: programError("'\(layout.schema.name).\(property.name)' isn't a list.")
        }
    }

    /// Identifies the object for observers, in every Realm of the file.
    var identity: PartIdentity {
        PartIdentity(
            hostClass: host.classIndex, host: host.rowid, key: host.lastingKey, layout: layout, base: base,
            prefix: prefix, presence: presence)
    }

    func isSame(as other: EmbeddedPlace) -> Bool {
        base == other.base && prefix == other.prefix && host.isSameObject(as: other.host)
    }
}
