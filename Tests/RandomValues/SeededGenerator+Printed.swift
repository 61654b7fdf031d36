internal import Foundation

extension SeededGenerator {
    /// A generator whose seed is printed. To repeat a run, pass the seed in `TOMBOLO_TEST_SEED`.
    public static func printed(for test: String) -> SeededGenerator {
        let given = ProcessInfo.processInfo.environment["TOMBOLO_TEST_SEED"].flatMap { UInt64($0) }
        let seed = given ?? UInt64.random(in: 0..<1 << 32)
        print("\(test): seed \(seed) (TOMBOLO_TEST_SEED)")
        return SeededGenerator(seed: seed)
    }
}
