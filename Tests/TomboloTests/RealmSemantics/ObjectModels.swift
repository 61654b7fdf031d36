import Foundation
import Tombolo

/// A class without a key that links to itself.
class Node: Object {
    @Persisted var name = ""
    @Persisted var next: Node?
    @Persisted var others: List<Node>

    convenience init(_ name: String) {
        self.init()
        self.name = name
    }
}

class Branch: EmbeddedObject {
    @Persisted var label = ""
    @Persisted var node: Node?
    @Persisted var twig: Twig?
    @Persisted var twigs: List<Twig>
}

class Twig: EmbeddedObject {
    @Persisted var label = ""
    @Persisted var nodes: List<Node>
}

class Tree: Object {
    @Persisted var main: Branch?
    @Persisted var branches: List<Branch>
}

struct Metres: CustomPersistable, Equatable {
    var count: Int
    init(_ count: Int) { self.count = count }
    init(persistedValue: Int) { count = persistedValue }
    var persistableValue: Int { count }
}

/// A projection to an embedded object.
struct Corner: CustomPersistable, Equatable {
    var x: Int
    init(_ x: Int) { self.x = x }
    init(persistedValue: CornerPart) { x = persistedValue.x }
    var persistableValue: CornerPart { CornerPart(value: [x]) }
}

class CornerPart: EmbeddedObject {
    @Persisted var x = 0
}

/// Has lists between scalars, LinkingObjects between both, and a default for everything.
class Parcel: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var labels: List<String> = Parcel.list("new", "fragile")
    @Persisted var weight = 1.5
    @Persisted(originProperty: "parcel") var deliveries: LinkingObjects<Delivery>
    @Persisted var sizes: List<Double>
    @Persisted var counts: List<Int?>
    @Persisted var price: Decimal128
    @Persisted var ratio: Float
    @Persisted var sent: Date?
    @Persisted var mood: Mood
    @Persisted var rank: Rank?
    @Persisted var ranks: List<Rank>
    @Persisted var height: Metres
    @Persisted var spot: Corner
    @Persisted var note: String?

    private static func list(_ elements: String...) -> List<String> {
        let list = List<String>()
        list.append(objectsIn: elements)
        return list
    }
}

class Delivery: Object {
    @Persisted var parcel: Parcel?
    @Persisted var parcels: List<Parcel>
}

class Express: Parcel {
    @Persisted var hours = 24
}

let objectClasses: [Object.Type] = [
    Node.self, Tree.self, Parcel.self, Delivery.self, Express.self, Badge.self,
]

/// Overrides equality and the description.
class Badge: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var owner = ""
    override var description: String { "Badge \(id)" }
    override func isEqual(_ object: Any?) -> Bool { (object as? Badge)?.id == id }
    override var hash: Int { id }
}

func objectRealm() throws -> Realm {
    try Realm(configuration: .init(inMemoryIdentifier: UUID().uuidString, objectTypes: objectClasses))
}
