import Foundation
import Tombolo

/// A class with decimals wherever one object can hold them.
final class Article: Object {
    @Persisted(primaryKey: true) var _id: Int
    @Persisted var name: String
    @Persisted(indexed: true) var price: Decimal128
    @Persisted var discount: Decimal128?
    @Persisted var tiers: List<Decimal128>
    @Persisted var bids: List<Decimal128?>
    @Persisted var terms: Terms?
    @Persisted var offers: List<Offer>
}

final class Terms: EmbeddedObject {
    @Persisted var fee: Decimal128
    @Persisted var limit: Decimal128?
    @Persisted var steps: List<Decimal128>
}

final class Offer: EmbeddedObject {
    @Persisted var price: Decimal128
}

extension Article {
    /// The whole article as one text, for comparisons. Trailing zeros of numbers are kept.
    var summary: String {
        func text(_ number: Decimal128?) -> String { number.map { "\($0)" } ?? "nil" }
        func text(_ numbers: some Sequence<Decimal128?>) -> String {
            "[\(numbers.map { text($0) }.joined(separator: " "))]"
        }
        return [
            name, text(price), text(discount), text(tiers.map { $0 }), text(bids.map { $0 }),
            terms.map { "\(text($0.fee)) \(text($0.limit)) \(text($0.steps.map { $0 }))" } ?? "-",
            text(offers.map { $0.price }),
        ].joined(separator: "; ")
    }
}
