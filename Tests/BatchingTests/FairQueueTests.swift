import Batching
import Testing

@Suite struct FairQueueTests {
    @Test("lanes take turns, and a full queue evicts from the longest lane only to be fairer")
    func turnsAreFair() {
        var queue = FairQueue<String>(maximumCount: 4)
        for (number, name) in ["a1", "a2", "a3", "b1"].enumerated() {
            _ = queue.append(name, number: UInt64(number), to: String(name.prefix(1)))
        }
        guard case .addedInPlaceOf("a3") = queue.append("c1", number: 4, to: "c") else {
            Issue.record("c1 didn't replace a3.")
            return
        }
        // Lane a has two, c one. Evicting another of a's would give c more than its fair share.
        guard case .refused = queue.append("c2", number: 5, to: "c") else {
            Issue.record("c2 was admitted.")
            return
        }
        #expect(queue.remove(1, from: "a") == "a2" && queue.remove(1, from: "a") == nil)
        _ = queue.append("a4", number: 6, to: "a")
        #expect((0..<5).map { _ in queue.next() } == ["a1", "b1", "c1", "a4", nil])
        #expect(queue.count == 0)
    }

    @Test("a lane that ran empty doesn't get a second turn when it fills again")
    func emptiedLanes() {
        var queue = FairQueue<String>(maximumCount: 10)
        _ = queue.append("a1", number: 1, to: "a")
        _ = queue.append("b1", number: 2, to: "b")
        #expect(queue.remove(1, from: "a") == "a1")
        for number in 3...5 { _ = queue.append("a\(number)", number: UInt64(number), to: "a") }
        #expect((0..<5).map { _ in queue.next() } == ["a3", "b1", "a4", "a5", nil])
    }

    @Test("an element added after one with a higher number is placed before it, and can be found")
    func lateElements() {
        var queue = FairQueue<String>(maximumCount: 10)
        for number in [2, 4, 3, 1] as [UInt64] { _ = queue.append("a\(number)", number: number, to: "a") }
        #expect(queue.remove(3, from: "a") == "a3")
        #expect((0..<4).map { _ in queue.next() } == ["a1", "a2", "a4", nil])
    }
}
