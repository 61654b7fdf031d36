internal import TomboloModel

/// Names an embedded object for as long as it is the same one.
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
    /// The most replaced embedded objects that are remembered; instances of older ones show their successor.
    private static let maximumReplacements = 10_000

    /// Instances of the embedded object that is there now become invalid.
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
