import AdminService
import Testing
import TomboloHTTP
import TomboloModel

@testable import AdminPanel

@Suite("The form of a restore is read exactly")
struct RestoreFormTests {
    final class Berth: Object {
        @Persisted(primaryKey: true) var _id: String
        @Persisted var name: String
        @Persisted var place: Int

        override static func isTrashable() -> Bool { true }
        override static func uniqueProperties() -> [[String]] { [["name"], ["place"]] }
    }

    private static func wishes(_ form: [String: String]) throws -> RestoreWishes {
        let document = try ModelDocument(app: "harbour", objectTypes: [Berth.self])
        let fields = form.map { PanelForm.Field(name: $0, value: $1) }
        return try RestoreForm(fields).wishes(try ModelDocument.schema(of: [document]))
    }

    @Test("values go to the right object, even if one key is a prefix of another")
    func keys() throws {
        let (short, long) = (try TrashAddress("Berth:a"), try TrashAddress("Berth:a-b"))
        let fields = ["value-Berth:a-name": "North", "value-Berth:a-b-name": "South", "value-Berth:a-b-place": "7"]
        let both = try Self.wishes(
            fields.merging(["choice-Berth:a": "values", "choice-Berth:a-b": "values"]) { $1 })
        #expect(both.values == [short: ["name": "North"], long: ["name": "South", "place": 7]])
        // The other object stays in the trash, whatever was entered for it.
        let one = try Self.wishes(fields.merging(["choice-Berth:a": "values", "choice-Berth:a-b": "leave"]) { $1 })
        #expect(one.values == [short: ["name": "North"]] && one.leave == [long])
        let other = try Self.wishes(fields.merging(["choice-Berth:a": "swap", "choice-Berth:a-b": "values"]) { $1 })
        #expect(other.values == [long: ["name": "South", "place": 7]] && other.swap == [short])
        #expect(other.leave.isEmpty)
    }

    @Test("keys spelled with different code points are different keys, and may begin with any code point")
    func spelling() throws {
        let document = try ModelDocument(app: "harbour", objectTypes: [Berth.self])
        let (one, other, third) = ("Berth:Caf\u{E9}", "Berth:Cafe\u{301}", "Berth:\u{301}")
        let fields = [
            ("choice-\(one)", "values"), ("value-\(one)-name", "North"), ("choice-\(other)", "leave"),
            ("choice-\(third)", "values"), ("value-\(third)-name", "South"),
        ]
        let wishes = try RestoreForm(fields.map { PanelForm.Field(name: $0, value: $1) }).wishes(
            try ModelDocument.schema(of: [document]))
        #expect(
            wishes.values == [try TrashAddress(one): ["name": "North"], try TrashAddress(third): ["name": "South"]])
        #expect(wishes.leave == [try TrashAddress(other)] && wishes.swap.isEmpty)
        #expect(try [one, other, third].allSatisfy { try TrashAddress($0).text.utf8.elementsEqual($0.utf8) })
    }

    @Test("an empty field requests nothing")
    func empty() throws {
        let fields = ["value-Berth:a-name": "", "value-Berth:a-b-name": "x"]
        let wishes = try Self.wishes(fields.merging(["choice-Berth:a": "values"]) { $1 })
        #expect(wishes.values == [try TrashAddress("Berth:a"): [:]])
    }

    @Test(
        "anything the page can't have sent is refused",
        arguments: [["choice-a": "leave"], ["choice-Berth:a": "explode"]])
    func hostile(form: [String: String]) {
        #expect {
            try Self.wishes(form)
        } throws: { error in
            (error as? RequestFailure)?.code == .unprocessable
        }
    }
}
