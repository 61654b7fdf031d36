import RandomValues
import Testing

@testable import TomboloRedis

@Suite struct RedisReaderTests {
    static let vectors: [(String, RedisValue)] = [
        ("+OK\r\n", .simple("OK")),
        ("+\r\n", .simple("")),
        ("-ERR unknown command 'AUTH', with args beginning with: 'secret'\r\n", .error(code: "ERR")),
        ("-\r\n", .error(code: "")),
        (":42\r\n", .integer(42)),
        (":-1\r\n", .integer(-1)),
        ("$5\r\na\r\nbc\r\n", .bulk(Array("a\r\nbc".utf8))),
        ("$0\r\n\r\n", .bulk([])),
        ("$-1\r\n", .bulk(nil)),
        ("*-1\r\n", .array(nil)),
        ("*0\r\n", .array([])),
        (
            "*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$2\r\n17\r\n",
            .array([.bulk(Array("message".utf8)), .bulk(Array("c".utf8)), .bulk(Array("17".utf8))])
        ),
        ("*2\r\n*1\r\n:1\r\n+a\r\n", .array([.array([.integer(1)]), .simple("a")])),
    ]

    @Test("every kind of value is read, whole and one byte at a time", arguments: vectors)
    func vector(_ text: String, _ value: RedisValue) throws {
        var whole = RedisReader()
        #expect(try whole.read(Array((text + text).utf8)) == [value, value])
        var dripFed = RedisReader()
        var values: [RedisValue] = []
        for byte in (text + text).utf8 { values += try dripFed.read([byte]) }
        #expect(values == [value, value])
    }

    @Test("an incomplete value isn't returned, wherever it breaks off", arguments: vectors)
    func truncated(_ text: String, _ value: RedisValue) throws {
        let bytes = Array(text.utf8)
        for count in 0..<bytes.count {
            var reader = RedisReader()
            #expect(try reader.read(Array(bytes.prefix(count))) == [])
        }
    }

    @Test(
        "bytes that aren't RESP2 are an error",
        arguments: [
            "HTTP/1.1 400 Bad Request\r\n", "+OK\n", "\n", ":\r\n", ":1x\r\n", ":99999999999999999999\r\n", "$-2\r\n",
            "$1\r\nab\r\n", "$65537\r\n", "*17\r\n", "*1\r\n*1\r\n*1\r\n", "*1\r\n!\r\n", "$x\r\n", "*\r\n",
        ])
    func violations(_ text: String) {
        #expect(throws: RedisError.self) {
            var reader = RedisReader()
            _ = try reader.read(Array(text.utf8))
        }
    }

    @Test("a value that never ends is refused at a size limit", arguments: ["+", "-", ":", "$60000\r\n"])
    func endless(_ beginning: String) throws {
        var reader = RedisReader()
        _ = try reader.read(Array(beginning.utf8))
        var count = 0
        #expect(throws: RedisError.self) {
            while count < 2 * RedisReader.maximumByteCount {
                count += 1_024
                _ = try reader.read([UInt8](repeating: UInt8(ascii: "1"), count: 1_024))
            }
        }
        #expect(count <= RedisReader.maximumByteCount + 1_024)
    }

    @Test("corrupted bytes give values or an error, and nothing else")
    func corrupted() {
        var generator = SeededGenerator.printed(for: "corrupted RESP")
        let good = Self.vectors.flatMap { Array($0.0.utf8) }
        for _ in 0..<2_000 {
            var bytes = good
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let place = bytes.indices.randomElement(using: &generator) ?? 0
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: bytes[place] = .random(in: 0...255, using: &generator)
                case 1: bytes.remove(at: place)
                default: bytes.insert(.random(in: 0...255, using: &generator), at: place)
                }
            }
            var reader = RedisReader()
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Int.random(in: 1...min(16, rest.count), using: &generator)
                guard (try? reader.read(Array(rest.prefix(count)))) != nil else { break }
                rest = rest.dropFirst(count)
            }
        }
    }
}
