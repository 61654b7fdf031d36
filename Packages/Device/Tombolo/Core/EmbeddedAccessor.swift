internal import TomboloModel

/// The accessor of a managed embedded object: a part of the row that contains it.
final class EmbeddedAccessor: ObjectAccessor {
    let place: EmbeddedPlace
    /// The ``RealmCore/replacementCount`` when the object was found.
    private let born: UInt64

    init(_ place: EmbeddedPlace) {
        self.place = place
        born = place.host.core.replacementCount
    }

    private var core: RealmCore { place.host.core }

    var isValid: Bool {
        guard place.host.isValid, !core.wasReplaced(place, since: born) else { return false }
        return place.presence.map { !place.host.value(at: $0).isNull } ?? true
    }

    private func check() {
        if !isValid {
            programError(
                "Object has been deleted or invalidated. It was a \(place.layout.schema.name) that its parent no "
                    + "longer has; check isInvalidated before reading it.")
        }
    }

    func value(at column: Int) -> Value {
        check()
        return place.host.value(at: place.base + column)
    }

    func integer(at column: Int) -> Int64? {
        check()
        return place.host.integer(at: place.base + column)
    }

    func double(at column: Int) -> Double? {
        check()
        return place.host.double(at: place.base + column)
    }

    func text(at column: Int) -> String? {
        check()
        return place.host.text(at: place.base + column)
    }

    func setValue(_ value: Value, at column: Int) {
        core.requireWrite()
        check()
        let definition = place.layout.schema.columns[column]
        if value.isNull, !definition.isOptional {
            core.fail(.invalidInput, "\(place.layout.schema.name): '\(definition.name)' is required and cannot be nil.")
            return
        }
        place.host.setValue(value, at: place.base + column)
    }

    func linkedObject(at column: Int) -> Object? {
        check()
        return place.host.linkedObject(at: place.base + column)
    }

    func setLinkedObject(_ object: Object?, at column: Int) {
        core.requireWrite()
        check()
        place.host.setLinkedObject(object, at: place.base + column)
    }

    func embeddedObject(at column: Int) -> EmbeddedObject? {
        check()
        return place.object(at: column)
    }

    func setEmbeddedObject(_ object: EmbeddedObject?, at column: Int) {
        core.requireWrite()
        check()
        place.set(object, at: column)
    }

    func listStorage(ofProperty property: Int) -> any ListStorage {
        check()
        return place.list(ofProperty: property)
    }

    func linkingStorage(ofProperty property: Int) -> any LinkingStorage {
        programError(
            "\(place.layout.schema.name) is embedded, so it has no LinkingObjects: only its parent refers to it.")
    }

    func isSameObject(as other: any ObjectAccessor) -> Bool {
        guard let other = other as? EmbeddedAccessor else { return false }
        return self === other || place.isSame(as: other.place)
    }

    func hashIdentity(into hasher: inout Hasher) {
        place.host.hashIdentity(into: &hasher)
        hasher.combine(place.base)
    }
}
