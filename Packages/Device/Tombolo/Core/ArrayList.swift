internal import TomboloModel

/// A list inside an embedded object, stored in one column. It's read and written as a whole.
final class ArrayList: ListStorage {
    let place: EmbeddedPlace
    private let column: Int
    private let property: ObjectProperty
    private let types: [PropertyType]
    /// For a list of projections, the class with an element's properties.
    private let itemLayout: ObjectClass?

    init(place: EmbeddedPlace, column: Int, property: ObjectProperty) {
        self.place = place
        self.column = column
        self.property = property
        if case .array(let types) = place.layout.schema.columns[column].type { self.types = types } else { types = [] }
        itemLayout = property.valueType._targetClass.map { ObjectClass.of($0) }
    }

    /// The list's place, for other Realms of the file.
    var confinedPlace: ConfinedPlace.Content {
        .array(EmbeddedRowPlace(place), column: column, property: property)
    }

    /// Identifies the list for observers, in every Realm of the file.
    var identity: ArrayIdentity {
        ArrayIdentity(part: place.identity, column: place.base + column, types: types)
    }

    func moved(to core: RealmCore) -> ArrayList {
        ArrayList(
            place: EmbeddedPlace(
                host: place.host.moved(to: core), layout: place.layout, base: place.base, prefix: place.prefix),
            column: column, property: property)
    }

    private var elements: [[Value]] {
        get {
            guard case .data(let data) = place.host.value(at: place.base + column) else { return [] }
            return ArrayCoding.decode(data, types) ?? []
        }
        set { place.host.setValue(.data(ArrayCoding.encode(newValue, types)), at: place.base + column) }
    }

    var isValid: Bool { place.host.isValid }

    func isSameList(as other: any ListStorage) -> Bool {
        guard let other = other as? ArrayList else { return false }
        return column == other.column && place.isSame(as: other.place)
    }

    var count: Int { elements.count }

    func element(at position: Int) -> Stored { Self.stored(elements[position], itemLayout) }

    func snapshot() -> AnyIterator<Stored> {
        let layout = itemLayout
        return AnyIterator(elements.lazy.map { Self.stored($0, layout) }.makeIterator())
    }

    private static func stored(_ values: [Value], _ layout: ObjectClass?) -> Stored {
        guard let layout else { return .value(values.first ?? .null) }
        let object = layout.type.init()
        for (column, value) in values.enumerated() {
            _ = layout.properties[layout.propertyOfColumn[column]].setUnmanaged(.value(value), of: object)
        }
        return .object(object)
    }

    /// The values of an element.
    static func values(_ element: Stored, _ layout: ObjectClass?) -> [Value] {
        switch element {
        case .value(let value): return [value]
        case .object(let object):
            guard let layout else { return [] }
            return layout.propertyOfColumn.map { layout.properties[$0].unmanagedValue(of: object).value._tomboloValue }
        }
    }

    func insert(_ elements: [Stored], at position: Int) {
        self.elements.insert(contentsOf: elements.map { Self.values($0, itemLayout) }, at: position)
    }

    func replace(_ element: Stored, at position: Int) { elements[position] = Self.values(element, itemLayout) }
    func remove(_ positions: Range<Int>) { elements.removeSubrange(positions) }

    func move(from source: Int, to target: Int) {
        var elements = elements
        elements.insert(elements.remove(at: source), at: target)
        self.elements = elements
    }
}
