import Foundation
import Testing
import TomboloModel

@Suite("Columns")
struct ColumnTests {
    @Test(
        "Property names become snake case",
        arguments: [
            ("startsAt", "starts_at"), ("_id", "_id"), ("shortURL", "short_url"), ("URL", "url"),
            ("urlString", "url_string"), ("HTMLText", "html_text"), ("a", "a"), ("already_snake", "already_snake"),
            ("isPublic2", "is_public2"), ("TicketType", "ticket_type"), ("x2Y", "x2_y"), ("_Private", "_private"),
        ])
    func sqlName(name: String, expected: String) {
        #expect(Column.sqlName(for: name) == expected)
    }

    @Test(
        "Values that fit are accepted",
        arguments: [
            (.bool, .bool(true)), (.int(bits: 8), .int(-128)), (.int(bits: 8), .int(127)),
            (.int(bits: 16), .int(32_767)), (.int(bits: 32), .int(-2_147_483_648)), (.int(bits: 64), .int(.max)),
            (.double, .double(.infinity)), (.double, .double(-0.0)), (.string, .string("é\u{1}")),
            (.date, .date(Value.dateRange.lowerBound)), (.date, .date(Value.dateRange.upperBound)),
            (.data, .data(Data([0]))), (.link(to: "A"), .objectId(ObjectId())), (.link(to: "A"), .string("x")),
        ] as [(PropertyType, Value)])
    func accepted(type: PropertyType, value: Value) throws {
        try Column(name: "x", type: type).validate(value)
    }

    @Test(
        "Values that no store can hold are refused, naming the property",
        arguments: [
            (.int(bits: 8), .int(128), "'x' is a 8-bit integer and cannot hold 128."),
            (.int(bits: 8), .int(-129), "'x' is a 8-bit integer and cannot hold -129."),
            (.int(bits: 32), .int(2_147_483_648), "'x' is a 32-bit integer and cannot hold 2147483648."),
            (.double, .double(.nan), "'x' cannot be NaN: use an optional and nil instead."),
            (.string, .string("a\0b"), "'x' cannot contain U+0000, which PostgreSQL can't store in text."),
            (
                .data, .data(Data(count: Value.maximumByteCount + 1)),
                "'x' can hold at most 16777216 bytes, not 16777217."
            ),
            (.date, .date(Value.dateRange.lowerBound - 1), "'x' must lie between the years 1 and 9999."),
            (.date, .date(Value.dateRange.upperBound + 1), "'x' must lie between the years 1 and 9999."),
            (.bool, .null, "'x' is required and cannot be nil."),
            (.bool, .int(1), "'x' is of type bool and cannot hold 1."),
            (.link(to: "A"), .bool(true), "'x' links to A and cannot hold true."),
        ] as [(PropertyType, Value, String)])
    func refused(type: PropertyType, value: Value, message: String) {
        let error = #expect(throws: ValueError.self) { try Column(name: "x", type: type).validate(value) }
        #expect(error?.message == message)
    }

    @Test("A link accepts only keys of its target's type")
    func linkKeyType() throws {
        let column = Column(name: "room", type: .link(to: "Room"), isOptional: true)
        try column.validate(.null, linkKeyType: .uuid)
        #expect(throws: ValueError.self) { try column.validate(.string("x"), linkKeyType: .uuid) }
    }

    @Test("A required column accepts its type's zero")
    func zeros() throws {
        for type in [.bool, .int(bits: 8), .double, .string, .data, .date, .objectId, .uuid] as [PropertyType] {
            try Column(name: "x", type: type).validate(type.zero)
        }
    }
}
