import Testing

@testable import TomboloChangesets

@Suite("Undoable dictionary")
struct UndoableDictionaryTests {
    /// Tries every sequence of three writes and removals of two keys, from every initial state.
    @Test("Changes can be kept or taken back", arguments: 0..<4)
    func everyOrder(beginning: Int) {
        let initial = [0: 10, 1: 11].filter { beginning & (1 << $0.key) != 0 }
        for order in 0..<64 {
            var kept = UndoableDictionary<Int, Int>()
            for (key, value) in initial { kept[key] = value }
            kept.begin()
            var expected = initial
            for step in 0..<3 {
                let action = order >> (2 * step) & 3
                let key = action & 1
                if action & 2 == 0 {
                    #expect(kept.take(key) == expected.removeValue(forKey: key))
                } else {
                    kept[key] = step
                    expected[key] = step
                }
            }
            var takenBack = kept
            takenBack.takeBack()
            kept.keep()
            // There is nothing left to take back.
            kept.takeBack()
            for key in 0..<2 {
                #expect(kept[key] == expected[key], "order \(order)")
                #expect(takenBack[key] == initial[key], "order \(order)")
            }
        }
    }
}
