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
