public import TomboloModel

extension Results: ThreadConfined {
    public var isInvalidated: Bool { false }

    public var _confinedPlace: ConfinedPlace? { ConfinedPlace(content: .query(content.query)) }

    public static func _find(_ place: ConfinedPlace, in realm: Realm) -> Results<Element>? {
        guard case .query(let query) = place.content else { return nil }
        return Results(core: realm.core, query: query)
    }
}

extension List: ThreadConfined {
    public var _confinedPlace: ConfinedPlace? {
        switch storage {
        case let list as ManagedList: ConfinedPlace(content: list.place)
        case let array as ArrayList: ConfinedPlace(content: array.confinedPlace)
        default: nil
        }
    }

    public static func _find(_ place: ConfinedPlace, in realm: Realm) -> List<Element>? {
        switch place.content {
        case .list(let row, let elementClass, let itemLayout):
            row.find(in: realm.core).map { host in
                List(
                    storage: ManagedList(
                        host: host, elementType: realm.core.classes[elementClass], itemLayout: itemLayout))
            }
        case .array(let part, let column, let property):
            part.find(in: realm.core).map { List(storage: ArrayList(place: $0, column: column, property: property)) }
        default: nil
        }
    }
}

extension LinkingObjects: ThreadConfined {
    public var _confinedPlace: ConfinedPlace? {
        (storage as? LinkingRows).map { ConfinedPlace(content: $0.place) }
    }

    public static func _find(_ place: ConfinedPlace, in realm: Realm) -> LinkingObjects<Element>? {
        guard case .linkingObjects(let row, let origin) = place.content else { return nil }
        return row.find(in: realm.core).map { LinkingObjects(storage: LinkingRows(row: $0, linkOrigin: origin)) }
    }
}

extension AnyRealmCollection {
    public var _confinedPlace: ConfinedPlace? { base._confinedPlace }

    public static func _find(_ place: ConfinedPlace, in realm: Realm) -> AnyRealmCollection<Element>? {
        switch place.content {
        case .query: Results._find(place, in: realm).map { AnyRealmCollection($0) }
        case .list, .array: List._find(place, in: realm).map { AnyRealmCollection($0) }
        case .linkingObjects(let row, let origin):
            row.find(in: realm.core).map { row in
                AnyRealmCollection(
                    Results(core: realm.core, query: LinkingRows(row: row, linkOrigin: origin).query))
            }
        case .row, .embedded: nil
        }
    }
}
