import Foundation
import RandomValues
import Testing
import TomboloModel

@Suite("Decimal128")
struct Decimal128Tests {
    // MARK: Text

    @Test(
        "Text round-trips with all its digits",
        arguments: [
            ("0", "0"), ("-0", "-0"), ("0.00", "0.00"), ("1.00", "1.00"), ("+1.50", "1.50"), ("007", "7"),
            ("1E3", "1E+3"), ("10e+2", "1.0E+3"), ("10.100e2", "1010.0"), ("12e0", "12"), (".5", "0.5"),
            ("5.", "5"), ("-3.1416e-4", "-0.00031416"), ("0.000001", "0.000001"), ("0.0000001", "1E-7"),
            ("1.20e-9", "1.20E-9"), ("0e-7", "0E-7"), ("0E+3", "0E+3"), ("1e-00021", "1E-21"),
            ("nan", "NaN"), ("-NaN", "NaN"), ("+Infinity", "Inf"), ("-INF", "-Inf"), ("inf", "Inf"),
            ("3.141592653589793238", "3.141592653589793238"),
            ("1234567890123456789012345678901234", "1234567890123456789012345678901234"),
            ("18446744073709551616", "18446744073709551616"),
            ("10000000000000000000000000000000001", "1.000000000000000000000000000000000E+34"),
            ("10000000000000000000000000000000005", "1.000000000000000000000000000000000E+34"),
            ("10000000000000000000000000000000015", "1.000000000000000000000000000000002E+34"),
            ("100000000000000000000000000000000050000000000001", "1.000000000000000000000000000000001E+47"),
            ("99999999999999999999999999999999995", "1.000000000000000000000000000000000E+35"),
            ("1E+6144", "1.000000000000000000000000000000000E+6144"), ("1E6145", "Inf"), ("-9E999999999999", "-Inf"),
            ("9.999999999999999999999999999999999E6144", "9.999999999999999999999999999999999E+6144"),
            ("9.9999999999999999999999999999999995E6144", "Inf"),
            ("1E-6176", "1E-6176"), ("5E-6177", "0E-6176"), ("5.1E-6177", "1E-6176"), ("15E-6177", "2E-6176"),
            ("-1E-99999999999", "-0E-6176"), ("0E9999", "0E+6111"),
        ])
    func text(given: String, expected: String) throws {
        let number = try Decimal128(string: given)
        #expect(number.description == expected)
        #expect(number.stringValue == expected)
        let back = try Decimal128(string: expected)
        #expect((back.high, back.low) == (number.high, number.low))
        #expect(Decimal128(bid: number.bidBytes)?.bidBytes == number.bidBytes)
    }

    @Test(
        "Text that isn't a number is refused with the position of the first wrong character",
        arguments: [
            ("", "it is empty"), ("-", "it ends where a digit is expected"), (".", "it ends where a digit is expected"),
            ("1e", "it ends where a digit is expected"), ("1e+", "it ends where a digit is expected"),
            ("12x", "unexpected text at byte 2"), (" 1", "unexpected text at byte 0"),
            ("1 ", "unexpected text at byte 1"), ("1.2.3", "unexpected text at byte 3"),
            ("1,5", "unexpected text at byte 1"), ("--1", "unexpected text at byte 1"),
            ("0x10", "unexpected text at byte 1"), ("e5", "unexpected text at byte 0"),
            ("infinit", "unexpected text at byte 0"), ("nan1", "unexpected text at byte 0"),
            ("١٢", "unexpected text at byte 0"), ("1\u{0}", "unexpected text at byte 1"),
            (String(repeating: "1", count: 8_193), "it has 8193 bytes, but the limit is 8192"),
        ])
    func refused(text: String, reason: String) {
        #expect(Decimal128(text) == nil)
        let error = #expect(throws: ValueError.self) { try Decimal128(string: text) }
        #expect(error?.message.contains("is not a Decimal128: \(reason).") == true)
        #expect((error?.message.count ?? 0) < 200)
    }

    @Test("The longest number written without an exponent can be read")
    func longestText() throws {
        let least = "-0." + String(repeating: "0", count: 6_175) + "1"
        #expect(try Decimal128(string: least) == Decimal128(string: "-1E-6176"))
        let greatest = String(repeating: "9", count: 34) + String(repeating: "0", count: 6_111)
        #expect(try Decimal128(string: greatest) == .max)
    }

    @Test("No text or bytes trap, and every number read survives a round trip")
    func anyText() {
        var random = RandomValues(.printed(for: "anyText"))
        let pieces = ["0", "1", "9", "5", "-", "+", ".", "e", "E", "Inf", "nan", "é", "000000", "99999999", "\u{0}"]
        for _ in 0..<20_000 {
            let text = (0..<random.int(0...9)).map { _ in random.pick(pieces) }.joined()
            if let number = Decimal128(text) { #expect(Self.survives(number), "\(text)") }
            let bytes = (0..<16).map { _ in UInt8(random.int(0...255)) }
            guard let number = Decimal128(bid: bytes) else {
                Issue.record("16 bytes weren't read as a number: \(bytes)")
                continue
            }
            #expect(Self.survives(number), "\(bytes)")
        }
    }

    private static func survives(_ number: Decimal128) -> Bool {
        Decimal128(number.description).map { ($0.high, $0.low) == (number.high, number.low) } == true
    }

    // MARK: Encodings

    @Test(
        "The binary form matches BSON's",
        arguments: [
            ("0", "000000000000000000000000000040 30"), ("-0", "000000000000000000000000000040b0"),
            ("1", "01000000000000000000000000004030"), ("0.1", "01000000000000000000000000003e30"),
            ("-0.00100", "6400000000000000000000000000 36b0"),
            ("1234567890123456789012345678901234", "f2af967ed05c82de3297ff6fde3c4030"),
            ("9.999999999999999999999999999999999E+6144", "ffffffff638e8d37c087adbe09edff5f"),
            ("1E-6176", "01000000000000000000000000000000"), ("NaN", "0000000000000000000000000000007c"),
            ("Inf", "00000000000000000000000000000078"), ("-Inf", "000000000000000000000000000000f8"),
        ])
    func bid(text: String, hexadecimal: String) throws {
        let hexadecimal = hexadecimal.filter { $0 != " " }
        let number = try Decimal128(string: text)
        #expect(number.bidBytes.hexadecimal == hexadecimal)
        #expect(Decimal128(bid: number.bidBytes)?.description == text)
        #expect(Decimal128(bid: number.bidBytes.dropLast()) == nil)
    }

    @Test("Bits without meaning in the standard are dropped")
    func meaninglessBits() {
        #expect(Decimal128(highBits: 0xfe00_0000_0000_0001, lowBits: 99).bidBytes == Decimal128.nan.bidBytes)
        #expect(Decimal128(highBits: 0xf800_0000_0000_0001, lowBits: 99).description == "-Inf")
        #expect(Decimal128(highBits: 0x3041_ffff_ffff_ffff, lowBits: .max).description == "0")
        #expect(Decimal128(highBits: 0xe000_0000_0000_0000, lowBits: 7).isZero)
    }

    @Test("JSON contains text; numbers are read too")
    func json() throws {
        let numbers: [Decimal128] = ["1.50", "-1E+3", "NaN", "Inf"]
        let json = try JSONEncoder().encode(numbers)
        #expect(String(decoding: json, as: UTF8.self) == #"["1.50","-1E+3","NaN","Inf"]"#)
        #expect(
            try JSONDecoder().decode([Decimal128].self, from: json).map(\.description) == numbers.map(\.description))
        #expect(try JSONDecoder().decode([Decimal128].self, from: Data("[12, 0.1]".utf8)) == [12, "0.1"])
        for bad in [#"["x"]"#, "[true]", "[null]", "[{}]"] {
            #expect(throws: DecodingError.self) { try JSONDecoder().decode([Decimal128].self, from: Data(bad.utf8)) }
        }
    }

    // MARK: Order

    @Test("Equal numbers have the same hash and key, however they're written")
    func equality() throws {
        for texts in [
            ["1", "1.0", "1.00", "10E-1", "0.1E1"], ["0", "-0", "0E+6111", "0.000"], ["NaN", "-nan"],
            ["1E+6144", "10E+6143"], ["-Inf", "-infinity"], ["-120", "-1.2E+2"],
        ] {
            let numbers = try texts.map { try Decimal128(string: $0) }
            #expect(Set(numbers).count == 1)
            #expect(Set(numbers.map(\.orderKey)).count == 1)
        }
    }

    @Test("Numbers and their keys sort alike, NaN first")
    func order() throws {
        let ascending = try [
            "NaN", "-Inf", "-9.999999999999999999999999999999999E+6144", "-1E+34", "-10.5", "-10.49", "-1",
            "-0.9999999999999999999999999999999999", "-1E-6175", "-1E-6176", "0", "1E-6176", "1.1E-6175", "1E-7",
            "0.99", "1", "1.000000000000000000000000000000001", "9", "10", "1E+3", "1001", "1E+6144", "Inf",
        ].map { try Decimal128(string: $0) }
        for (i, a) in ascending.enumerated() {
            for (j, b) in ascending.enumerated() {
                #expect((a < b) == (i < j) && (a == b) == (i == j) && (a <= b) == (i <= j), "\(a) \(b)")
                #expect(a.orderKey.lexicographicallyPrecedes(b.orderKey) == (i < j), "\(a) \(b)")
            }
        }
    }

    @Test("Random numbers and their keys sort as in exact arithmetic")
    func randomOrder() {
        var random = RandomValues(.printed(for: "randomOrder"))
        for _ in 0..<10_000 {
            let a = Self.number(&random, exponents: -40...40)
            // Half of the time this is a neighbour, or the same number with other digits.
            let b = random.flag() ? Self.number(&random, exponents: -40...40) : Self.neighbour(of: a, &random)
            let isLess = DecimalOracle(a.description) < DecimalOracle(b.description)
            #expect((a < b) == isLess, "\(a) \(b)")
            #expect(a.orderKey.lexicographicallyPrecedes(b.orderKey) == isLess, "\(a) \(b)")
            #expect((a == b) == (a.orderKey == b.orderKey))
            if a == b { #expect(a.hashValue == b.hashValue) }
        }
    }

    /// A number of up to 34 digits: often few, often ending in zeros or nines.
    private static func number(_ random: inout RandomValues, exponents: ClosedRange<Int>) -> Decimal128 {
        let count = random.pick([1, 2, 5, 17, 33, 34, random.int(1...34)])
        var digits = (0..<count).map { _ in String(random.int(0...9)) }.joined()
        if random.flag(3) {
            let kept = random.int(0...count)
            digits = digits.prefix(kept) + String(repeating: random.pick(["0", "9", "5"]), count: count - kept)
        }
        return Decimal128("\(random.flag() ? "-" : "")\(digits)E\(random.int(exponents))")!
    }

    private static func neighbour(of number: Decimal128, _ random: inout RandomValues) -> Decimal128 {
        let exact = DecimalOracle(number.description)
        let zeros = random.int(0...max(0, 34 - exact.digits.count))
        var digits = Array(repeating: 0, count: zeros) + exact.digits
        if !digits.isEmpty, random.flag() { digits[0] = random.int(0...9) }
        let text = digits.reversed().map(String.init).joined()
        return Decimal128("\(exact.isNegative ? "-" : "")0\(text)E\(exact.exponent - zeros)")!
    }

    // MARK: Arithmetic

    @Test(
        "Results have the digits and exponents the standard asks for",
        arguments: [
            ("12", "+", "7.00", "19.00"), ("1.234567", "+", "9.876543", "11.111110"), ("1E+2", "+", "1E+4", "1.01E+4"),
            ("2.5", "-", "3.5", "-1.0"), ("1.3", "-", "1.30", "0.00"), ("1.3", "-", "2.07", "-0.77"),
            ("-0", "+", "-0", "-0"), ("0", "-", "0", "0"), ("-0", "+", "0.0", "0.0"), ("5", "+", "0.00", "5.00"),
            ("1", "+", "1E-50", "1.000000000000000000000000000000000"),
            ("1", "-", "1E-50", "1.000000000000000000000000000000000"),
            ("1", "-", "1E-34", "0.9999999999999999999999999999999999"),
            ("1E+6111", "+", "0E-6176", "1.000000000000000000000000000000000E+6111"),
            ("9.999999999999999999999999999999999E+6144", "+", "1E+6111", "Inf"),
            ("9.999999999999999999999999999999999E+6144", "+", "4E+6110", "9.999999999999999999999999999999999E+6144"),
            ("1.20", "*", "3", "3.60"), ("0.9", "*", "-0.8", "-0.72"), ("-7", "*", "0", "-0"),
            ("0.2", "*", "0.2", "0.04"),
            ("654321", "*", "654321", "428135971041"), ("1E+4000", "*", "-1E+4000", "-Inf"),
            ("1E-4000", "*", "1E-4000", "0E-6176"),
            (
                "9999999999999999999999999999999999", "*", "9999999999999999999999999999999999",
                "9.999999999999999999999999999999998E+67"
            ),
            ("1", "/", "3", "0.3333333333333333333333333333333333"),
            ("2", "/", "3", "0.6666666666666666666666666666666667"),
            ("5", "/", "2", "2.5"), ("1", "/", "10", "0.1"), ("12", "/", "12", "1"), ("8.00", "/", "2", "4.00"),
            ("2.400", "/", "2.0", "1.20"), ("1000", "/", "100", "10"), ("1000", "/", "1", "1000"),
            ("2.40E+6", "/", "2", "1.20E+6"),
            ("0.21", "/", "0.7", "0.3"), ("0", "/", "-2.0", "-0E+1"), ("1", "/", "0", "Inf"), ("-1", "/", "0", "-Inf"),
            ("0", "/", "0", "NaN"), ("Inf", "-", "Inf", "NaN"), ("Inf", "+", "1", "Inf"), ("1", "-", "Inf", "-Inf"),
            ("Inf", "*", "0", "NaN"), ("-Inf", "*", "-2", "Inf"), ("Inf", "/", "Inf", "NaN"),
            ("Inf", "/", "-2", "-Inf"),
            ("-2", "/", "Inf", "-0E-6176"), ("NaN", "+", "1", "NaN"), ("1", "*", "NaN", "NaN"),
            ("NaN", "/", "0", "NaN"),
            ("1E-6176", "/", "1E+6111", "0E-6176"), ("9E+6111", "/", "1E-6176", "Inf"),
        ] as [(String, String, String, String)])
    func arithmetic(left: String, operation: String, right: String, expected: String) throws {
        let (a, b) = try (Decimal128(string: left), Decimal128(string: right))
        var c = a
        switch operation {
        case "+":
            c += b
            #expect((b + a).description == expected)
        case "-": c -= b
        case "*":
            c *= b
            #expect((b * a).description == expected)
        default: c /= b
        }
        #expect(c.description == expected)
    }

    @Test("Random sums, products and quotients are exact and rounded only once")
    func randomArithmetic() {
        var random = RandomValues(.printed(for: "randomArithmetic"))
        for _ in 0..<5_000 {
            let a = Self.number(&random, exponents: random.pick([-3...3, -40...40]))
            let b = random.flag(4) ? -Self.neighbour(of: a, &random) : Self.number(&random, exponents: -40...40)
            let (x, y) = (DecimalOracle(a.description), DecimalOracle(b.description))
            #expect(DecimalOracle((a + b).description).canonical == (x + y).rounded.canonical, "\(a) + \(b)")
            #expect(DecimalOracle((a * b).description).canonical == (x * y).rounded.canonical, "\(a) * \(b)")
            if !b.isZero {
                #expect(DecimalOracle((a / b).description).canonical == (x / y).rounded.canonical, "\(a) / \(b)")
            }
        }
    }

    @Test("Random hundredths behave like integers")
    func hundredths() throws {
        var random = RandomValues(.printed(for: "hundredths"))
        for _ in 0..<10_000 {
            let limit = Int128(10).power(random.int(1...33))
            let (a, b) = (Int128.random(in: -limit...limit, using: &random.generator), Int128(random.number() / 1_000))
            let (x, y) = (Decimal128(a) / 100, Decimal128(b) / 100)
            #expect((x + y) * 100 == Decimal128(a + b))
            #expect((x - y) * 100 == Decimal128(a - b))
            #expect((x < y) == (a < b))
            #expect(Int128(exactly: x * 100) == a)
            #expect(Int64(exactly: y) == (b % 100 == 0 ? Int64(b / 100) : nil))
        }
    }

    @Test("Results equal those of Foundation's Decimal if it can hold all digits")
    func foundation() {
        var random = RandomValues(.printed(for: "foundation"))
        for _ in 0..<5_000 {
            let a = Decimal(sign: .plus, exponent: random.int(-9...9), significand: Decimal(random.number() / 1_000))
            let b = Decimal(
                sign: .minus, exponent: random.int(-9...2), significand: Decimal(random.int(0...99_999_999)))
            let (x, y) = (Decimal128(a), Decimal128(b))
            #expect(x.decimalValue == a && y.decimalValue == b, "\(a) \(b)")
            #expect((x + y).decimalValue == a + b, "\(a) + \(b)")
            #expect((x - y).decimalValue == a - b, "\(a) - \(b)")
            #expect((x * y).decimalValue == a * b, "\(a) * \(b)")
            #expect((x < y) == (a < b), "\(a) \(b)")
        }
    }

    // MARK: Conversions

    @Test("Literals and numbers of every type are converted")
    func conversions() {
        #expect((3.14159 as Decimal128).description == "3.14159")
        #expect((123 as Decimal128).description == "123")
        #expect(("9.876543" as Decimal128).description == "9.876543")
        #expect(Decimal128(number: 3.14159) == 3.14159)
        #expect(Decimal128(number: NSDecimalNumber(string: "1.5")) == 1.5)
        #expect(Decimal128(number: NSNumber(value: UInt64.max)).description == "18446744073709551615")
        #expect(Decimal128(value: 5).description == "5")
        #expect(Decimal128(value: "5.0").description == "5.0")
        #expect(Decimal128(value: 0.1 as Float).description == "0.1")
        #expect(Decimal128(value: NSNumber(value: 0.1 as Float)).description == "0.1")
        #expect(Decimal128(value: Decimal(string: "0.10")!) == 0.1)
        #expect(Decimal128(value: NSNull()).isNaN)
        #expect(Decimal128(exactly: 0b101) == 5)
        #expect(Decimal128(exactly: UInt128.max) == nil)
        #expect(Decimal128(exactly: PowerOfTen.thirtySix)?.description == "1.000000000000000000000000000000000E+36")
        #expect(Decimal128(Int64.min).description == "-9223372036854775808")
        #expect(Decimal128(UInt128.max).description == "3.402823669209384634633746074317682E+38")
        #expect(Decimal128().description == "0")
    }

    @Test(
        "A Double becomes its first 15 digits",
        arguments: [
            (0.1 + 0.2, "0.3"), (100, "100"), (1e20, "1.00000000000000E+20"), (-0.0, "-0"), (0.5, "0.5"),
            (123456.789, "123456.789"), (1e-300, "1E-300"), (.leastNonzeroMagnitude, "4.94065645841247E-324"),
            (.infinity, "Inf"),
            (-.infinity, "-Inf"), (.nan, "NaN"), (2.0 / 3, "0.666666666666667"), (1e15, "1.00000000000000E+15"),
        ])
    func doubles(double: Double, text: String) {
        #expect(Decimal128(double).description == text)
    }

    @Test("Numbers convert to Double, Decimal and integers, or to nil if they don't fit")
    func leaving() {
        #expect((0.1 as Decimal128).doubleValue == 0.1)
        #expect(Decimal128.max.doubleValue == .infinity)
        #expect((-Decimal128.infinity).doubleValue == -.infinity)
        #expect(Decimal128.nan.doubleValue.isNaN)
        #expect(("-1.50" as Decimal128).decimalValue == Decimal(string: "-1.5"))
        #expect(("1E+130" as Decimal128).decimalValue == Decimal(sign: .plus, exponent: 127, significand: 1000))
        #expect(("1E+200" as Decimal128).decimalValue.isNaN)
        #expect(("1.0E-127" as Decimal128).decimalValue == Decimal(sign: .plus, exponent: -127, significand: 1))
        #expect(("15E-129" as Decimal128).decimalValue == Decimal(sign: .plus, exponent: -128, significand: 2))
        #expect(("1E-200" as Decimal128).decimalValue == 0)
        #expect(Decimal128.infinity.decimalValue.isNaN)
        #expect(Decimal128(Decimal.nan).isNaN)
        #expect(Int(exactly: "12.00" as Decimal128) == 12)
        #expect(Int(exactly: "-9223372036854775808" as Decimal128) == .min)
        #expect(Int(exactly: "9223372036854775808" as Decimal128) == nil)
        #expect(UInt8(exactly: "-1" as Decimal128) == nil)
        #expect(UInt8(exactly: "-0.0" as Decimal128) == 0)
        #expect(Int(exactly: "12.5" as Decimal128) == nil)
        #expect(Int(exactly: "1E+6000" as Decimal128) == nil)
        #expect(Int(exactly: Decimal128.nan) == nil)
    }

    @Test("Signs, limits and strides")
    func rest() {
        #expect((-123.321 as Decimal128).magnitude == 123.321)
        var number: Decimal128 = 456.321
        number.negate()
        #expect(number == -456.321)
        #expect((-Decimal128.zero).isSignMinus && (-Decimal128.zero).isZero)
        #expect(!Decimal128.nan.isSignMinus && !(-Decimal128.nan).isSignMinus && Decimal128.nan.isSignalingNaN)
        #expect(Decimal128.infinity.isInfinite && !Decimal128.infinity.isFinite && !Decimal128.nan.isInfinite)
        #expect(Decimal128.min < Decimal128.max && -Decimal128.min == .max)
        #expect((10 as Decimal128).distance(to: 5) == -5)
        #expect((-150 as Decimal128).advanced(by: 300) == 150)
        #expect(stride(from: 0 as Decimal128, through: 1, by: "0.1").map(\.description).last == "1.0")
        #expect(["0.1", "0.2", "-0.3"].compactMap { Decimal128($0) }.reduce(0, +) == 0)
        #expect(MemoryLayout<Decimal128>.size == 16)
    }

    @Test("A literal that isn't a number stops the program with a message")
    func badLiteral() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Decimal128(value: "1,5")
        }
        let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(message.contains("'1,5' is not a Decimal128: unexpected text at byte 1."))
    }

    @Test("A value of the wrong type stops the program, naming the type")
    func badType() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Decimal128(value: [1])
        }
        let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(message.contains("A Decimal128 cannot be created from a Array<Int>"))
    }
}

private enum PowerOfTen {
    static let thirtySix = Int128(10).power(36)
}

extension Int128 {
    fileprivate func power(_ exponent: Int) -> Int128 { (0..<exponent).reduce(1) { result, _ in result * self } }
}

extension Decimal128 {
    fileprivate init?(bid bytes: some Collection<UInt8>) {
        guard let number = Array(bytes).withUnsafeBytes({ Decimal128(bid: $0) }) else { return nil }
        self = number
    }

    fileprivate var bidBytes: [UInt8] { withBIDBytes { Array($0) } }
}
