import Foundation
import RandomValues
import Testing
import TomboloModel

@Suite("ObjectId")
struct ObjectIdTests {
    @Test("24 hexadecimal digits are read in either case and written in lower case")
    func text() throws {
        let id = try ObjectId(string: "507F1f77bcf86cd799439011")
        #expect(id.stringValue == "507f1f77bcf86cd799439011")
        #expect(id.bytes == [0x50, 0x7f, 0x1f, 0x77, 0xbc, 0xf8, 0x6c, 0xd7, 0x99, 0x43, 0x90, 0x11])
        #expect(ObjectId(bytes: id.bytes) == id)
        #expect(id.timestamp == Date(timeIntervalSince1970: 1_350_508_407))
    }

    @Test(
        "Anything else is refused",
        arguments: ["", "507f1f77bcf86cd79943901", "507f1f77bcf86cd7994390111", "507f1f77bcf86cd79943901g", "é"])
    func refused(text: String) {
        #expect(throws: ValueError.self) { try ObjectId(string: text) }
    }

    @Test("Only 12 bytes make an identifier")
    func byteCounts() {
        #expect(ObjectId(bytes: [UInt8](repeating: 1, count: 11)) == nil)
        #expect(ObjectId(bytes: [UInt8](repeating: 1, count: 13)) == nil)
    }

    @Test("Identifiers are ordered by bytes")
    func order() {
        var generator = SeededGenerator(seed: 12)
        for _ in 0..<1_000 {
            let a = ObjectId.generate(secondsSince1970: UInt32.random(in: 0...3, using: &generator), &generator)
            let b = ObjectId.generate(secondsSince1970: UInt32.random(in: 0...3, using: &generator), &generator)
            #expect((a < b) == a.bytes.lexicographicallyPrecedes(b.bytes))
            #expect(ObjectId(bytes: a.bytes) == a)
        }
    }

    @Test("Generated identifiers differ and contain the time")
    func generate() {
        let ids = (0..<1_000).map { _ in ObjectId.generate() }
        #expect(Set(ids).count == 1_000)
        #expect(abs(ids[0].timestamp.timeIntervalSinceNow) < 3_600)
    }

    @Test("JSON contains the text form")
    func json() throws {
        let id = try ObjectId(string: "507f1f77bcf86cd799439011")
        let json = try JSONEncoder().encode([id])
        #expect(String(decoding: json, as: UTF8.self) == "[\"507f1f77bcf86cd799439011\"]")
        #expect(try JSONDecoder().decode([ObjectId].self, from: json) == [id])
        #expect(throws: (any Error).self) { try JSONDecoder().decode([ObjectId].self, from: Data("[\"x\"]".utf8)) }
    }

    @Test("An ObjectId can be created from a literal or a time, and decoding anything else throws a DecodingError")
    func objectIds() throws {
        let id = ObjectId("000123450000ffbeef91906c")
        #expect(id.stringValue == "000123450000ffbeef91906c")
        let made = ObjectId(
            timestamp: Date(timeIntervalSince1970: 1_700_000_000), machineId: 0x0a0b0c, processId: 0x0d0e)
        #expect(made.timestamp.timeIntervalSince1970 == 1_700_000_000)
        #expect(Array(made.bytes[4..<9]) == [0x0a, 0x0b, 0x0c, 0x0d, 0x0e])
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([ObjectId].self, from: Data(#"["x"]"#.utf8)) }
    }
}
