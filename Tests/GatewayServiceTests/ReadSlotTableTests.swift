import Testing

@testable import GatewayService

/// Who gets a slot and who has to give one up, by the test's own clock.
@Suite struct ReadSlotTableTests {
    private var table = ReadSlotTable(count: 4)
    private var now = ContinuousClock.now
    private let stalled = ReadProgress(isWaitingForDevice: true, takenByteCount: 0)

    private mutating func request(_ id: Int, _ user: String, from address: String = "") -> [Int] {
        table.request(id, Peer(user, from: address), at: now)
    }

    private mutating func pass(_ share: Double = 1) { now += ReadSlotTable.patience * share }

    /// Four reads of four users hold all slots.
    private mutating func fill() {
        for (id, user) in ["a", "b", "c", "d"].enumerated() { #expect(request(id, user) == [id]) }
    }

    @Test("slots are given out in order of arrival, and a slot that becomes free goes to the next read in line")
    mutating func order() {
        fill()
        #expect(request(4, "e").isEmpty)
        #expect(request(5, "f").isEmpty)
        #expect(table.leave(2, at: now) == [4])
        #expect(table.leave(4, at: now) == [5])
        #expect(table.leave(5, at: now).isEmpty)
    }

    @Test("one user's devices get at most half of the slots")
    mutating func share() {
        #expect(request(0, "a") == [0])
        #expect(request(1, "a") == [1])
        #expect(request(2, "a").isEmpty, "Refused even though two slots are free.")
        #expect(request(3, "b") == [3])
        #expect(table.leave(0, at: now) == [2])
    }

    @Test("a free slot goes to the user who holds the fewest, however many devices of another user came earlier")
    mutating func fairness() {
        for (id, user) in ["a", "b", "b", "c"].enumerated() { #expect(request(id, user) == [id]) }
        for id in 4..<100 { #expect(request(id, "a").isEmpty) }
        #expect(request(100, "d").isEmpty)
        #expect(table.leave(3, at: now) == [100])
        #expect(table.leave(100, at: now) == [4])
    }

    @Test("a user with long reads has one slot at a time, until one of the reads is short")
    mutating func longReads() {
        #expect(request(0, "a") == [0])
        #expect(request(1, "a") == [1])
        for id in 2..<6 { #expect(request(id, "a").isEmpty) }
        now += ReadSlotTable.longReadDuration * 2
        #expect(table.leave(0, at: now).isEmpty, "The user's other read is still in progress.")
        #expect(table.leave(1, at: now) == [2])
        #expect(request(6, "b") == [6])
        #expect(request(7, "b") == [7], "The long reads of others don't count against this user.")
        #expect(table.leave(2, at: now) == [3, 4], "That read was short.")
        now += ReadSlotTable.longReadDuration * 2
        for id in [3, 4, 5] { _ = table.leave(id, at: now) }
        #expect(request(8, "a") == [8])
        #expect(request(9, "a") == [9], "Nothing is remembered about a user without reads.")
        for (id, user) in [(13, "c"), (14, "d"), (10, "a")] { #expect(request(id, user).isEmpty) }
        now += ReadSlotTable.longReadDuration * 2
        #expect(table.leave(8, at: now) == [13])
        #expect(table.leave(9, at: now) == [14])
        for id in [10, 13, 14] { #expect(table.leave(id, at: now).isEmpty) }
        #expect(request(11, "a") == [11])
        #expect(request(12, "a") == [12], "Nor about a user whose last read left while waiting.")
    }

    @Test("a single slot is shared too")
    mutating func single() {
        table = ReadSlotTable(count: 1)
        #expect(request(0, "a") == [0])
        #expect(request(1, "a").isEmpty)
        #expect(table.leave(0, at: now) == [1])
    }

    @Test("a read whose device takes nothing gives up its slot after a while, once, and only if others are waiting")
    mutating func standingStill() {
        fill()
        pass(2)
        #expect(table.revocations(at: now).isEmpty, "Nobody is waiting.")
        for id in 0..<4 { table.note(ReadProgress(isWaitingForDevice: false, takenByteCount: 0), of: id, at: now) }
        #expect(request(4, "e").isEmpty)
        pass(0.5)
        #expect(table.revocations(at: now).isEmpty)
        for id in 0..<4 where id != 2 { table.note(progress(10_000), of: id, at: now) }
        table.note(stalled, of: 2, at: now)
        pass(0.5)
        #expect(table.revocations(at: now) == [2])
        pass()
        #expect(table.revocations(at: now).isEmpty, "Its slot will go to the only read that is waiting.")
        #expect(table.leave(2, at: now) == [4])
    }

    private func progress(_ byteCount: Int) -> ReadProgress {
        ReadProgress(isWaitingForDevice: true, takenByteCount: byteCount)
    }

    @Test("a read that waits for the database keeps its slot, however long that takes")
    mutating func slowDatabase() {
        fill()
        #expect(request(4, "e").isEmpty)
        for _ in 0..<100 {
            pass()
            for id in 0..<4 {
                table.note(ReadProgress(isWaitingForDevice: false, takenByteCount: 0), of: id, at: now)
            }
            #expect(table.revocations(at: now).isEmpty)
        }
    }

    @Test("a slow device keeps its slot as long as it takes enough; a trickle doesn't count", arguments: [0, 1])
    mutating func slowDevice(_ missing: Int) {
        fill()
        #expect(request(4, "e").isEmpty)
        var taken = 0
        var revoked: [Int] = []
        for _ in 0..<10 {
            pass()
            taken += ReadSlotTable.minimumProgressByteCount - missing
            for id in 0..<4 { table.note(progress(taken), of: id, at: now) }
            revoked += table.revocations(at: now)
        }
        #expect(revoked.isEmpty == (missing == 0))
    }

    @Test("no more reads give way than are waiting, starting with those that have stalled longest")
    mutating func number() {
        fill()
        pass(0.25)
        table.note(progress(10_000), of: 0, at: now)
        for id in 4..<6 { #expect(request(id, "user \(id)").isEmpty) }
        pass()
        #expect(table.revocations(at: now) == [1, 2])
    }

    @Test("a read gives way only to one that may have its slot: a user with half of the slots takes none from others")
    mutating func eligibility() {
        for (id, user) in ["a", "a", "b", "c"].enumerated() { #expect(request(id, user) == [id]) }
        #expect(request(4, "a").isEmpty)
        for id in 0..<2 { table.note(progress(10_000), of: id, at: now + ReadSlotTable.patience) }
        pass()
        #expect(table.revocations(at: now).isEmpty)
        pass()
        #expect(table.revocations(at: now) == [0], "One of the user's own reads can give way.")
    }

    @Test("while users of several places are connected, no place gets more than three quarters of the slots")
    mutating func places() {
        table.placesAreSeveral = true
        for id in 0..<3 { #expect(request(id, "account \(id)", from: "192.0.2.1") == [id]) }
        #expect(request(3, "account 3", from: "192.0.2.1").isEmpty)
        #expect(request(4, "victim", from: "198.51.100.7") == [4], "A slot was kept free, so there's no wait.")
        #expect(table.leave(0, at: now) == [3])
        table.placesAreSeveral = false
        #expect(request(5, "account 5", from: "192.0.2.1").isEmpty)
        #expect(table.leave(4, at: now) == [5], "Nobody else is connected.")
    }

    @Test("a place gets the next slot if it holds fewer slots for its size than another")
    mutating func placesBySize() {
        for id in 0..<4 { #expect(request(id, "account \(id)", from: "192.0.2.1") == [id]) }
        for id in 4..<68 { #expect(request(id, "account \(id)", from: "192.0.2.1").isEmpty) }
        for id in 100..<103 { #expect(request(id, "victim", from: "198.51.100.7").isEmpty) }
        #expect(table.leave(0, at: now) == [100])
        #expect(table.leave(1, at: now) == [4], "It counts as eight users, and holds two slots.")
        #expect(table.leave(100, at: now) == [101])
    }
}
