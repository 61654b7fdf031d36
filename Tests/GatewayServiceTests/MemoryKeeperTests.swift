import Testing

@testable import GatewayService

@Suite struct MemoryKeeperTests {
    private var keeper = MemoryKeeper()

    private mutating func looks(_ counts: Int...) -> [Bool] {
        var answers: [Bool] = []
        for count in counts { answers.append(keeper.look(at: count)) }
        return answers
    }

    @Test(
        "memory is given back once many devices have come, and after the last of many has left, and then once more"
    )
    mutating func afterPeak() {
        let arriving = looks(0, 6_000, 10_000, 10_000, 10_000)
        #expect(arriving == [false, false, false, true, false])
        let leaving = looks(6_000, 200, 200, 200, 200)
        #expect(leaving == [false, false, true, true, false])
    }

    @Test("a few devices that leave don't end a peak")
    mutating func fewLeave() {
        let some = looks(10_000, 10_000, 9_000, 9_000, 8_000, 8_000)
        #expect(some == [false, true, false, false, false, false])
        keeper = MemoryKeeper()
        let few = looks(600, 200, 200)
        #expect(few == [false, false, false])
    }

    @Test("memory is given back now and then even if no devices come or leave")
    mutating func nowAndThen() {
        var isDue: [Bool] = []
        for _ in 0...MemoryKeeper.looksBetweenReturns { isDue.append(keeper.look(at: 10)) }
        #expect(isDue.firstIndex(of: true) == MemoryKeeper.looksBetweenReturns - 1)
        #expect(isDue.last == false)
    }

    @Test("the allocator takes the hint")
    func giveBack() {
        var blocks = (0..<1_000).map { _ in [UInt8](repeating: 1, count: 10_000) }
        blocks.removeAll()
        MemoryKeeper.giveBack()
    }
}
