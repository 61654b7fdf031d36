import Foundation
import Testing
import TomboloHTTP
import TomboloModel

@Suite struct SchemaJSONTests {
    @Test("Every value type has one JSON form")
    func values() throws {
        let id = try ObjectId(string: "0123456789abcdef01234567")
        let cases: [(Value, JSON)] = [
            (.null, nil), (.bool(true), true), (.int(-5), -5), (.double(1.5), .double(1.5)), (.string("é\""), "é\""),
            (.data(Data([0, 255])), "AP8="), (.objectId(id), "0123456789abcdef01234567"),
            (
                .uuid(UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))),
                "00010203-0405-0607-0809-0a0b0c0d0e0f"
            ),
            (.decimal("1.50"), "1.50"), (.date(0), "1970-01-01T00:00:00.000000Z"),
            (.date(-1), "1969-12-31T23:59:59.999999Z"),
            (.date(1_778_764_938_473_001), "2026-05-14T13:22:18.473001Z"),
        ]
        for (value, json) in cases { #expect(JSON(value) == json) }
    }

    @Test("Text with different bytes is different JSON, at any depth, even if Swift considers it equal")
    func spelling() {
        let (one, two) = ("\u{E9}", "e\u{301}")
        #expect(one == two)
        func all(_ text: String) -> [JSON] { [.string(text), [.string(text)], ["a": [.string(text)]]] }
        for (left, right) in zip(all(one), all(two)) { #expect(left != right && left == left) }
    }

    @Test("A row's JSON has its class's properties, or only the requested ones")
    func rows() throws {
        let item = ClassSchema(
            name: "Note",
            columns: [
                Column(name: "_id", type: .int(bits: 64), isPrimaryKey: true), Column(name: "startsAt", type: .string),
            ])
        #expect(JSON(Row([.int(1), .string("x")]), of: item) == ["_id": 1, "startsAt": "x"])
        #expect(JSON(Row([.int(1), .string("x")]), of: item, properties: ["_id"]) == ["_id": 1])
    }

    @Test("JSON survives encoding and decoding")
    func roundTrip() throws {
        let value: JSON = ["a": [1, .double(2.5), true, nil, "x"], "b": ["c": .int(.max)]]
        let text = String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
        #expect(try JSONDecoding.decode(text) == value)
    }

    @Test("Infinity is encoded as null")
    func infinity() throws {
        #expect(String(decoding: try JSONEncoder().encode(JSON.array([.double(.infinity)])), as: UTF8.self) == "[null]")
    }
}
