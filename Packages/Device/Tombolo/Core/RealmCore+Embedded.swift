internal import TomboloModel

/// Identifies an embedded object until the object is replaced.
struct EmbeddedName: Hashable {
    let classIndex: Int
    let rowid: Int64
    let base: Int

    init(_ place: EmbeddedPlace) {
        classIndex = place.host.classIndex
        rowid = place.host.rowid
        base = place.base
    }
}

extension RealmCore {
    /// How many replaced embedded objects are remembered. Instances of older ones show their replacements.
    private static let maximumReplacements = 10_000

    /// Makes instances of the current embedded object invalid.
    func noteReplaced(_ place: EmbeddedPlace) {
        replacementCount += 1
        if replacements.count >= Self.maximumReplacements { replacements = [:] }
        replacements[EmbeddedName(place)] = replacementCount
    }

    func wasReplaced(_ place: EmbeddedPlace, since born: UInt64) -> Bool {
        guard !replacements.isEmpty, replacementCount > born else { return false }
        return replacements[EmbeddedName(place)].map { $0 > born } ?? false
    }
}
