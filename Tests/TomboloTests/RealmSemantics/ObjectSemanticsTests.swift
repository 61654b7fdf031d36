import Foundation
import Testing
import Tombolo

@Suite("Realm semantics: objects")
struct ObjectSemanticsTests {
    let realm: Realm

    init() throws { realm = try objectRealm() }

    @Test("Assigning a list copies its elements, so two objects never share one")
    func assignedLists() throws {
        let (first, second) = (Parcel(), Parcel(value: ["id": 2]))
        let held = first.labels
        let list = List<String>()
        list.append(objectsIn: ["x", "y"])
        first.labels = list
        second.labels = first.labels
        second.labels.append("z")
        list.removeAll()
        #expect(held === first.labels && Array(held) == ["x", "y"] && Array(second.labels) == ["x", "y", "z"])
        first.labels = first.labels
        #expect(Array(held) == ["x", "y"])
        try realm.write {
            realm.add([first, second])
            first.labels = second.labels
            second.labels.removeAll()
        }
        #expect(Array(held) == ["x", "y", "z"] && second.labels.isEmpty)
    }

    @Test("IsSameObject holds for an unmanaged object and itself")
    func sameObject() throws {
        let node = Node("a")
        #expect(node.isSameObject(as: node) && !node.isSameObject(as: Node("a")) && !node.isSameObject(as: nil))
        try realm.write { realm.add(node) }
        let found = try #require(realm.objects(Node.self).first)
        #expect(node.isSameObject(as: found) && node.hash == found.hash && node.isEqual(found) && !node.isEqual("a"))
    }

    @Test("A class may override description, isEqual and hash")
    func overrides() throws {
        let badge = Badge(value: ["id": 4])
        #expect(
            "\(badge)" == "Badge 4" && badge == Badge(value: ["id": 4]) && Set([badge, Badge(value: [4])]).count == 1)
        try realm.write { realm.add(badge) }
        #expect(realm.objects(Badge.self).index(of: Badge(value: ["id": 4])) == nil)
        #expect(Array(realm.objects(Badge.self)).contains(Badge(value: ["id": 4])))
    }

    @Test("A description prints floating-point numbers in their shortest form")
    func floats() {
        #expect(Parcel(value: ["ratio": 1.23 as Float]).description.contains("ratio = 1.23;"))
    }

    @Test("Dates and data follow the encoder's strategies, in required properties too")
    func encoding() throws {
        let letter = Letter(value: ["date": Date(timeIntervalSince1970: 0), "data": Data([1, 2])] as [String: Any])
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = .sortedKeys
        let text = String(decoding: try encoder.encode(letter), as: UTF8.self)
        #expect(text == #"{"data":"AQI=","date":"1970-01-01T00:00:00Z"}"#)
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        #expect(try decoder.decode(Letter.self, from: Data(text.utf8)).data == Data([1, 2]))
    }
}

private class Letter: Object, Codable {
    @Persisted var date: Date
    @Persisted var data: Data
}
