import Foundation
import TomboloModel

/// A class with a property of every type, declared in every possible way.
final class Parcel: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var bool: Bool
    @Persisted var int: Int
    @Persisted var int64: Int64?
    @Persisted var int32: Int32
    @Persisted var int16: Int16?
    @Persisted var int8: Int8
    @Persisted var float: Float
    @Persisted var double: Double?
    @Persisted var string = "declared"
    @Persisted var data: Data?
    @Persisted var date: Date
    @Persisted var objectId: ObjectId?
    @Persisted var uuid: UUID
    @Persisted var decimal: Decimal128
    @Persisted var kind: TalkKind
    @Persisted var level: Level?
    @Persisted(indexed: true) var shortURL: String?
    @Persisted var `class`: String
    @Persisted(encrypted: true) var secret: String?
    @Persisted var depot: Depot?
    @Persisted(onDelete: .cascade) var sender: Depot?
    @Persisted var origin: ParcelPlace?
    @Persisted var corner: ParcelPoint
    @Persisted var maybeCorner: ParcelPoint?
    @Persisted var depots: List<Depot>
    @Persisted var notes: List<String>
    @Persisted var weights: List<Double?>
    @Persisted var levels: List<Level>
    @Persisted var stops: List<ParcelPlace>
    @Persisted var route: List<ParcelPoint>

    override class func tableName() -> String? { "parcel_table" }
    override class func isTrashable() -> Bool { true }
    override class func indexedProperties() -> [String] { ["date"] }
    override class func markdownProperties() -> [String] { ["class"] }
    override class func propertiesMapping() -> [String: String] {
        ["int": "number", "origin": "from_place", "notes": "remarks"]
    }
    override class func uniqueProperties() -> [[String]] { [["string", "int"], ["depot", "origin.town"]] }
}

final class Depot: Object {
    @Persisted(primaryKey: true) var code: String
    @Persisted(originProperty: "depot") var parcels: LinkingObjects<Parcel>
}

final class ParcelPlace: EmbeddedObject {
    @Persisted(indexed: true) var town: String
    @Persisted var depot: Depot?
    @Persisted var directions: String?
    @Persisted var tags: List<String>
    @Persisted var outline: List<ParcelPoint>
    @Persisted var door: ParcelDoor?
    @Persisted var doors: List<ParcelDoor>
    @Persisted var nearby: List<Depot>
    @Persisted(originProperty: "origin") var parcels: LinkingObjects<Parcel>

    override class func propertiesMapping() -> [String: String] { ["town": "city"] }
    override class func markdownProperties() -> [String] { ["directions"] }
}

final class ParcelDoor: EmbeddedObject {
    @Persisted var number: Int
    @Persisted var keyholders: List<Depot>
}

final class StoredParcelPoint: EmbeddedObject {
    @Persisted var x: Double
    @Persisted var y: Float?
}

struct ParcelPoint: CustomPersistable {
    init() {}
    init(persistedValue: StoredParcelPoint) {}
    var persistableValue: StoredParcelPoint { StoredParcelPoint() }
}
