import Foundation
import ListingModels
import TomboloModel
import TomboloSyncProtocol

/// The decoded messages of the gateway to light devices of one user. Many devices get the same bytes, which are
/// decoded only once.
struct LightInbox {
    enum Meaning {
        case welcome
        case values([Value])
        case end(Position)
        /// The session has ended, with the reason.
        case over(String)
    }

    /// A listing's number, and the commit that set its price.
    struct Value {
        let listing: Int
        let commit: Int
    }

    /// Messages of this many ticks are kept, two for each.
    private static let rememberedTicks = 4

    static let schema: Schema = {
        do {
            return try Schema.of([Listing.self])
        } catch {
            preconditionFailure("The model of the listings is wrong: \(error)")
        }
    }()

    private static let listing = schema.index(of: "Listing")
    private static let price = schema["Listing"]?.columnIndex("price")

    private let codec = MessageCodec(schema: Self.schema)
    private var remembered: [(bytes: [UInt8], meaning: Meaning)] = []
    private var oldest = 0

    init() {}

    mutating func meaning(of bytes: UnsafeRawBufferPointer) throws -> Meaning {
        for known in remembered where known.bytes.count == bytes.count {
            let isSame = known.bytes.withUnsafeBytes { memcmp($0.baseAddress!, bytes.baseAddress!, bytes.count) == 0 }
            if isSame { return known.meaning }
        }
        let copy = Array(bytes)
        let meaning = try Self.meaning(of: codec.decodeServerMessage(copy))
        if remembered.count < Self.rememberedTicks * 2 {
            remembered.append((copy, meaning))
        } else {
            remembered[oldest] = (copy, meaning)
            oldest = (oldest + 1) % remembered.count
        }
        return meaning
    }

    private static func meaning(of message: ServerMessage) -> Meaning {
        switch message {
        case .welcome: .welcome
        case .end(let end): .end(end.position)
        case .failure(let failure): .over(failure.description)
        case .reset(let reason): .over(reason)
        case .frame(let frame): .values(values(frame))
        }
    }

    private static func values(_ frame: BatchFrame) -> [Value] {
        var values: [Value] = []
        for block in frame.blocks where block.classIndex == listing {
            guard let place = block.columns.firstIndex(where: { $0 == price }) else { continue }
            for row in 0..<block.rowCount {
                guard case .int(let price) = block.value(row: row, position: place, schema: schema),
                    price >= ScaleListings.firstCommit,
                    case .objectId(let key) = block.key(row: row, schema: schema)
                else { continue }
                values.append(Value(listing: Int(key.stringValue, radix: 16) ?? 0, commit: Int(price)))
            }
        }
        return values
    }
}
