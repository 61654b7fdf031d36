import Foundation
import Tombolo

/// Stored as a hexadecimal string.
struct Colour: Equatable, CustomPersistable {
    var number: Int

    init(number: Int) { self.number = number }
    init(persistedValue: String) { number = Int(persistedValue, radix: 16) ?? 0 }
    var persistableValue: String { String(number, radix: 16) }
}

class KindsBase: Object {
    @Persisted(primaryKey: true) var _id: Int
    @Persisted var bool: Bool
    @Persisted var text = "declared"

    /// Every stored property as text.
    var content: [String] { ["\(_id)", "\(bool)", text] }

    func fill(_ random: inout some RandomNumberGenerator) {
        bool = .random(using: &random)
        text = Self.text(&random)
    }

    /// Strings that are short, long or empty, and not only ASCII.
    static func text(_ random: inout some RandomNumberGenerator) -> String {
        let count = [0, 1, 15, 16, 40, 5_000].randomElement(using: &random) ?? 0
        return String((0..<count).compactMap { _ in "aÄ😀 '".randomElement(using: &random) })
    }

    static func maybe<Value>(_ value: Value, _ random: inout some RandomNumberGenerator) -> Value? {
        Bool.random(using: &random) ? value : nil
    }
}

/// Scalars of every type, declared after those of a superclass.
class ScalarKinds: KindsBase {
    @Persisted var optionalBool: Bool?
    @Persisted var int: Int
    @Persisted var optionalInt: Int?
    @Persisted var int64: Int64
    @Persisted var int32 = Int32(7)
    @Persisted var int16: Int16
    @Persisted var int8: Int8?
    @Persisted var double: Double
    @Persisted var optionalDouble: Double?
    @Persisted var float: Float
    @Persisted var optionalFloat: Float?
    @Persisted var optionalText: String?
    @Persisted var date: Date
    @Persisted var optionalDate: Date?
    @Persisted var data: Data
    @Persisted var optionalData: Data?
    @Persisted var objectId: ObjectId
    @Persisted var optionalObjectId: ObjectId?
    @Persisted var uuid: UUID
    @Persisted var optionalUUID: UUID?
    @Persisted var level: Level
    @Persisted var optionalLevel: Level?
    @Persisted var colour: Colour
    @Persisted var optionalColour: Colour?

    override var content: [String] {
        let numbers: [Any?] = [
            optionalBool, int, optionalInt, int64, int32, int16, int8, double, optionalDouble, float, optionalFloat,
        ]
        let others: [Any?] = [
            optionalText, date.timeIntervalSince1970, optionalDate?.timeIntervalSince1970, Array(data),
            optionalData.map { Array($0) }, objectId, optionalObjectId, uuid, optionalUUID,
            level, optionalLevel, colour.number, optionalColour?.number,
        ]
        return super.content + (numbers + others).map { $0.map { "\($0)" } ?? "nil" }
    }

    override func fill(_ random: inout some RandomNumberGenerator) {
        super.fill(&random)
        optionalBool = Self.maybe(.random(using: &random), &random)
        int = .random(in: .min ... .max, using: &random)
        optionalInt = Self.maybe(.random(in: -1...1, using: &random), &random)
        int64 = .random(in: .min ... .max, using: &random)
        int32 = .random(in: .min ... .max, using: &random)
        int16 = .random(in: .min ... .max, using: &random)
        int8 = Self.maybe(.random(in: .min ... .max, using: &random), &random)
        double = .random(in: -1e9...1e9, using: &random)
        optionalDouble = Self.maybe(0, &random)
        float = .random(in: -1...1, using: &random)
        optionalFloat = Self.maybe(.random(in: -1...1, using: &random), &random)
        optionalText = Self.maybe(Self.text(&random), &random)
        date = Date(timeIntervalSince1970: Double(Int.random(in: -1_000_000...1_000_000, using: &random)))
        optionalDate = Self.maybe(Date(timeIntervalSince1970: 0), &random)
        data = Data(Self.text(&random).utf8)
        optionalData = Self.maybe(Data([0, 255]), &random)
        optionalObjectId = Self.maybe(.generate(), &random)
        optionalUUID = Self.maybe(UUID(), &random)
        level = Bool.random(using: &random) ? .beginner : .expert
        optionalLevel = Self.maybe(.expert, &random)
        colour = Colour(number: Int.random(in: 0...0xffffff, using: &random))
        optionalColour = Self.maybe(colour, &random)
    }
}

/// For local Realms.
class DecimalKinds: KindsBase {
    @Persisted var decimal: Decimal128
    @Persisted var optionalDecimal: Decimal128?

    override var content: [String] { super.content + ["\(decimal)", optionalDecimal.map { "\($0)" } ?? "nil"] }

    override func fill(_ random: inout some RandomNumberGenerator) {
        super.fill(&random)
        decimal = Decimal128(Int.random(in: -1_000...1_000, using: &random))
        optionalDecimal = Self.maybe(decimal, &random)
    }
}

/// Lists, embedded objects, a link and properties that aren't stored, between columns.
class MixedKinds: KindsBase {
    @Persisted var before: Int
    @Persisted var numbers: List<Int>
    @Persisted var middle: String
    @Persisted var spot: Spot?
    @Persisted var ignored = "kept in memory only"
    @Persisted var link: Room?
    @Persisted var colours: List<Colour>
    @Persisted var after: Double?
    var own = 5

    override class func ignoredProperties() -> [String] { ["ignored"] }

    override var content: [String] {
        let values: [Any?] = [before, Array(numbers), middle, spot?.x, spot?.note, link?.name, after]
        return super.content + values.map { $0.map { "\($0)" } ?? "nil" } + colours.map { "\($0.number)" }
    }

    override func fill(_ random: inout some RandomNumberGenerator) {
        super.fill(&random)
        before = .random(in: 0...9, using: &random)
        numbers.append(objectsIn: (0..<Int.random(in: 0...3, using: &random)))
        middle = Self.text(&random)
        if Bool.random(using: &random) {
            let spot = Spot()
            spot.x = .random(in: 0...1, using: &random)
            spot.note = Self.maybe(Self.text(&random), &random)
            self.spot = spot
        }
        if Bool.random(using: &random) {
            let room = Room()
            room.name = Self.text(&random)
            link = room
        }
        colours.append(Colour(number: before))
        after = Self.maybe(.random(in: 0...1, using: &random), &random)
        ignored = "changed"
        own = 6
    }
}
