import Foundation

/// The generator SplitMix64; its seed is printed, and can be given again in `TOMBOLO_TEST_SEED`.
struct Generator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    static func printed(for test: String) -> Generator {
        let given = ProcessInfo.processInfo.environment["TOMBOLO_TEST_SEED"].flatMap { UInt64($0) }
        let seed = given ?? UInt64.random(in: 0..<1 << 32)
        print("\(test): seed \(seed) (TOMBOLO_TEST_SEED)")
        return Generator(seed: seed)
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
