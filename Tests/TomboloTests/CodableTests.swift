import Foundation
import Testing

@testable import Tombolo

@Suite("Objects as JSON, and as text")
struct CodableTests {
    private let json = """
        {"_id": 7, "name": "Ada", "home": {"street": "Main St", "codes": [1, 2]}, "tags": ["a", "b"], "best": null}
        """

    @Test("Objects decode with embedded objects and lists; optional properties may be absent")
    func decode() throws {
        let person = try JSONDecoder().decode(Contact.self, from: Data(json.utf8))
        #expect(person._id == 7 && person.name == "Ada" && person.nick == nil && person.best == nil)
        #expect(person.home?.street == "Main St" && person.home.map { Array($0.codes) } == [1, 2])
        #expect(Array(person.tags) == ["a", "b"])
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(Contact.self, from: Data("{}".utf8)) }
    }

    @Test("An unmanaged object encodes; a managed one asks for a copy, and the copy encodes")
    func encode() throws {
        let person = try JSONDecoder().decode(Contact.self, from: Data(json.utf8))
        let again = try JSONDecoder().decode(Contact.self, from: JSONEncoder().encode(person))
        #expect(again.name == "Ada" && Array(again.tags) == ["a", "b"] && again.home?.street == "Main St")
        let realm = try Realm(
            configuration: .init(inMemoryIdentifier: UUID().uuidString, objectTypes: [Contact.self]))
        try realm.write { realm.add(person) }
        #expect(throws: EncodingError.self) { try JSONEncoder().encode(person) }
        let copy = try JSONDecoder().decode(Contact.self, from: JSONEncoder().encode(Contact(value: person)))
        #expect(copy.name == "Ada" && copy._id == 7)
    }

    @Test("The description names the class and its properties")
    func description() throws {
        let person = try JSONDecoder().decode(Contact.self, from: Data(json.utf8))
        #expect(person.description.hasPrefix("Contact {\n\t_id = 7;\n\tname = Ada;\n\tnick = nil;\n\thome = Street {"))
        #expect(person.description.contains("tags = List<String> (\n\t\t[0] a,\n\t\t[1] b\n\t);"))
    }
}

private class Contact: Object, Codable {
    @Persisted(primaryKey: true) var _id: Int
    @Persisted var name: String
    @Persisted var nick: String?
    @Persisted var home: Street?
    @Persisted var tags: List<String>
    @Persisted var best: Contact?
}

private class Street: EmbeddedObject, Codable {
    @Persisted var street: String
    @Persisted var codes: List<Int>
}
