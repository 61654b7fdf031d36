import Foundation
import Tombolo

/// An app's own number type.
struct Grams: CustomPersistable, Comparable {
    var count: Int

    init(_ count: Int) { self.count = count }
    init(persistedValue: Int) { count = persistedValue }
    var persistableValue: Int { count }

    static func < (left: Grams, right: Grams) -> Bool { left.count < right.count }
}

/// An app's own string type.
struct Code: CustomPersistable, Equatable {
    var text: String

    init(_ text: String) { self.text = text }
    init(persistedValue: String) { text = persistedValue }
    var persistableValue: String { text }
}

class Consignment: Object {
    @Persisted(primaryKey: true) var _id: Int
    @Persisted var weight: Grams
    @Persisted var tare: Grams?
    @Persisted var weights: List<Grams>
    @Persisted var tares: List<Grams?>
    @Persisted var code: Code
    @Persisted var codes: List<Code>
    @Persisted var rank: Rank
    @Persisted var ranks: List<Rank>
    @Persisted var spareRanks: List<Rank?>
    @Persisted var label: Data
    @Persisted var seal: Data?
    @Persisted var note: String?
    @Persisted var numbers: List<Int>
    @Persisted var prices: List<Float>
    @Persisted var parts: List<Consignment>
    @Persisted(originProperty: "parts") var wholes: LinkingObjects<Consignment>
}
