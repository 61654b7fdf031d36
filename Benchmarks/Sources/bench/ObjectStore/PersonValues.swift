import Foundation

/// The values of the person with a given number, the same on both sides and in every run.
struct PersonValues: Sendable {
    var key: Int
    /// 20 characters.
    var name: String
    var age: Int
    var score: Double
    var isActive: Bool
    var createdAt: Date

    /// Ages are spread evenly over `0..<ageCount`.
    static let ageCount = 100

    init(_ number: Int) {
        var random = SplitMix(state: UInt64(number))
        key = number
        name = "Anna Sample \(10_000_000 + number)"
        age = Int.random(in: 0..<Self.ageCount, using: &random)
        score = Double.random(in: 0..<1_000, using: &random)
        isActive = Bool.random(using: &random)
        createdAt = Date(timeIntervalSince1970: 1_700_000_000 + Double(number))
    }
}
