import Foundation
import Testing
import Tombolo

@Suite("Realm semantics: names of columns and properties")
struct ColumnNameTests {
    @Test("Column names may have spaces and quotation marks, property names emoji")
    func columnNames() throws {
        let realm = try Realm(
            configuration: .init(inMemoryIdentifier: UUID().uuidString, objectTypes: [OddlyNamed.self]))
        try realm.write {
            let made = realm.create(OddlyNamed.self, value: ["first": 2, "list": [3], "grün🌱": "g"] as [String: Any])
            made.link = made
        }
        let all = realm.objects(OddlyNamed.self)
        #expect(all.filter("link.first == 2 AND ANY list == 3 AND grün🌱 == 'g'").count == 1)
        #expect(all.filter("%K == %@", "grün🌱", "g").count == 1 && all.where { $0.grün🌱 == "x" }.isEmpty)
        #expect(OddlyNamed().objectSchema["first"]?.columnName == "the \"first\" one")
    }
}

/// Columns with custom names, including some that SQL must quote.
class OddlyNamed: Object {
    @Persisted var first = 1
    @Persisted var link: OddlyNamed?
    @Persisted var list: List<Int>
    @Persisted var grün🌱 = ""
    override class func propertiesMapping() -> [String: String] {
        ["first": "the \"first\" one", "link": "a link", "list": "some numbers"]
    }
}
