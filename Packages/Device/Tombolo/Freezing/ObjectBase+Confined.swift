public import TomboloModel

extension ObjectBase: ThreadConfined {
    public var _confinedPlace: ConfinedPlace? {
        switch accessor {
        case let row as ManagedRow: ConfinedPlace(content: .row(RowPlace(row)))
        case let part as EmbeddedAccessor: ConfinedPlace(content: .embedded(EmbeddedRowPlace(part.place)))
        default: nil
        }
    }

    public static func _find(_ place: ConfinedPlace, in realm: Realm) -> Self? {
        switch place.content {
        case .row(let row): row.find(in: realm.core)?.managedObject() as? Self
        case .embedded(let part): part.find(in: realm.core)?.managedObject() as? Self
        default: nil
        }
    }
}
