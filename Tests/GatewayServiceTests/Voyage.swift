import Foundation
import Tombolo

/// A class with everything that one object can hold: embedded objects, lists of every kind, and lists in the elements of
/// a list. Log books link to a voyage and are deleted with it.
final class Voyage: Object {
    @Persisted(primaryKey: true) var _id: UUID
    @Persisted var name: String
    @Persisted var start: Harbour?
    @Persisted var legs: List<Leg>
    @Persisted var tags: List<String>
    @Persisted var depths: List<Double?>
    @Persisted var sailors: List<Sailor>
    @Persisted(originProperty: "voyage") var logBooks: LinkingObjects<LogBook>
}

final class Harbour: EmbeddedObject {
    @Persisted var town: String
    @Persisted var place: Position?
    @Persisted var berths: List<Int>
}

final class Position: EmbeddedObject {
    @Persisted var latitude: Double
    @Persisted var longitude: Double
}

final class Leg: EmbeddedObject {
    @Persisted var miles: Int
    @Persisted var end: Harbour?
    @Persisted var stops: List<Position>
}

final class Sailor: Object {
    @Persisted(primaryKey: true) var _id: String
    @Persisted(originProperty: "sailors") var voyages: LinkingObjects<Voyage>
}

final class LogBook: Object {
    @Persisted(primaryKey: true) var _id: Int
    @Persisted var title: String
    @Persisted(onDelete: .cascade) var voyage: Voyage?
}

extension Voyage {
    static let classes: [Object.Type] = [Voyage.self, Sailor.self, LogBook.self]

    /// The whole voyage as one text, for comparisons.
    var summary: String {
        func text(_ place: Position?) -> String { place.map { "(\($0.latitude) \($0.longitude))" } ?? "-" }
        func text(_ harbour: Harbour?) -> String {
            harbour.map { "\($0.town) \(text($0.place)) \(Array($0.berths))" } ?? "-"
        }
        let legs = legs.map { "\($0.miles) to \(text($0.end)) by \(Array($0.stops.map { text($0) }))" }
        return [
            name, text(start), "\(Array(legs))", "\(Array(tags))",
            "\(Array(depths.map { $0.map { "\($0)" } ?? "nil" }))",
            "\(Array(sailors.map(\._id)))", logBooks.first.map { "\($0._id) \($0.title)" } ?? "-",
        ].joined(separator: "; ")
    }
}
