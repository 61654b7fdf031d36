import Testing
import TomboloChangesets
import TomboloModel

@Suite struct RefusalTests {
    @Test("A refusal stays small: its message is truncated by bytes, and a long key is left out")
    func bounds() {
        let accents = "e" + String(repeating: "\u{301}", count: 100_000)
        let long = Refusal(.invalid, accents, className: "Item", key: .string(accents))
        #expect(long.message.utf8.count <= Refusal.maximumMessageByteCount + 3)
        #expect(long.className == nil)
        #expect(long.key == nil)
        #expect(Refusal(long.code, long.message) == long)
        let short = Refusal(.invalid, "no", className: "Item", key: .string("key"))
        #expect(short.message == "no")
        #expect(short.key == .string("key"))
        #expect(short.className == "Item")
    }
}
