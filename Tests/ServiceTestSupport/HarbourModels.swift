public import Foundation
public import TomboloModel

/// Classes with everything that a record can have: embedded objects, lists of all kinds inside and outside them, bytes and
/// enumerations.
public final class Ship: Object {
    @Persisted(primaryKey: true) public var _id: ObjectId
    @Persisted public var name: String
    @Persisted public var kind: ShipKind
    @Persisted public var former: ShipKind?
    @Persisted public var decks: ShipDeck?
    @Persisted public var home: Quay?
    @Persisted public var holds: List<Hold>
    @Persisted public var tags: List<String>
    @Persisted public var depths: List<Double?>
    @Persisted public var kinds: List<ShipKind>
    @Persisted public var crew: List<Sailor>
    @Persisted public var photo: Data?
    @Persisted public var seal: Data

    override public class func isTrashable() -> Bool { true }
}

public enum ShipKind: String, PersistableEnum, Sendable {
    case freighter, ferry, tug, pilot, yacht, trawler, icebreaker
}

public enum ShipDeck: Int, PersistableEnum, Sendable { case one = 1, two, three }

public final class Sailor: Object {
    @Persisted(primaryKey: true) public var _id: ObjectId
    @Persisted public var name: String

    override public class func isTrashable() -> Bool { true }
}

/// Where a ship is berthed.
public final class Quay: EmbeddedObject {
    @Persisted public var town: String
    @Persisted public var remark: String?
    @Persisted public var opensAt: Date?
    @Persisted public var place: Spot?
    @Persisted public var berths: List<Int>
    @Persisted public var wardens: List<Sailor>
}

public final class Spot: EmbeddedObject {
    @Persisted public var latitude: Double
    @Persisted public var note: String?
}

/// A part of a ship.
public final class Hold: EmbeddedObject {
    @Persisted public var label: String
    @Persisted public var volume: Double
    @Persisted public var isCooled: Bool
    @Persisted public var cargo: ShipKind?
    @Persisted public var stamp: Data?
    @Persisted public var spot: Spot?
    @Persisted public var keeper: Sailor?
    @Persisted public var marks: List<String>
    @Persisted public var boxes: List<Box>
}

public final class Box: EmbeddedObject {
    @Persisted public var content: String
    @Persisted public var count: Int
}
